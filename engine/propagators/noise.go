package propagators

import (
	"fmt"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A NoiseKind is the distribution of a [Noise].
type NoiseKind uint8

// The kinds of noise. U is uniform in [0, 1), Z standard normal; a product with
// Scale is taken in float64 and rounded once.
const (
	Uniform    NoiseKind = iota // v += Scale·(2U - 1)
	Gaussian                    // v += Scale·Z
	SaltPepper                  // v = 0 or 1 with equal probability where U < Scale; else v stays
)

var noiseNames = [...]string{Uniform: "uniform", Gaussian: "gaussian", SaltPepper: "salt_pepper"}

// String returns the kind's name as it stands in YAML.
func (k NoiseKind) String() string {
	if int(k) < len(noiseNames) {
		return noiseNames[k]
	}
	return fmt.Sprintf("NoiseKind(%d)", k)
}

// ParseNoiseKind is the inverse of [NoiseKind.String].
func ParseNoiseKind(s string) (NoiseKind, error) {
	for k, name := range noiseNames {
		if s == name {
			return NoiseKind(k), nil
		}
	}
	return 0, fmt.Errorf("noise %q is unknown; use uniform, gaussian or salt_pepper", s)
}

// Noise adds random numbers to every element, or scatters ones and zeros. With U
// uniform in [0, 1) and Z standard normal, drawn anew for each element and tick:
//
//	Uniform     v = v + Scale·(2U - 1)
//	Gaussian    v = v + Scale·Z
//	SaltPepper  v = 0 or 1 with equal probability where U < Scale; else v stays
//
// The products are computed in float64 and rounded before the sum.
//
// The draws are bulk draws of stream 0 at the cell's rank: one word for each component in
// turn, and for salt and pepper a second one where an element is hit, whose top bit is its
// value. So they depend on seed, tick, name and cell alone. The variance of a sum
// of such steps grows with their number, not with time: Scale is per tick.
type Noise struct {
	Name  string    // default "noise"; also that of the random stream
	Field fields.ID // of any number of components; written in place
	Kind  NoiseKind
	Scale float64 // in units of the field, at least 0; for SaltPepper the probability that an element is hit

	SeedOffset uint64 // seed of the draws under the rules Murk019, without effect under others
}

// Spec implements [engine.Propagator].
func (z Noise) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(z.Name, "noise"), Incremental: engine.Fields(z.Field), Scratch: longest, Parallel: true, Cost: 5 * time.Microsecond,
	}
}

// Check implements [engine.Checker].
func (z Noise) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.field("field", z.Field)
	if z.Kind != SaltPepper {
		c.real("field", z.Field)
	}
	c.number("scale", z.Scale, 0)
	switch {
	case z.Kind > SaltPepper:
		c.fail("kind", "%v does not exist", z.Kind)
	case z.Kind == SaltPepper && z.Scale > 1:
		c.fail("scale", "scale must be at most 1 for %v, not %v", z.Kind, z.Scale)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (z Noise) Step(c *engine.Context) error {
	n := c.Components(z.Field)
	lo, hi := c.Range()
	v := c.Next(z.Field)[lo*n : hi*n]
	if c.Rules() == engine.Murk019 {
		z.original(v, uint64(lo*n), c.Tick())
		return nil
	}
	bulk := c.Bulk(0)
	switch {
	case n == 1 && z.Kind == Uniform:
		z.uniform(v, bulk, uint64(lo), c.Uncleared())
	case n == 1 && z.Kind == Gaussian:
		if z.gaussian(v, bulk, uint64(lo), c.Uncleared()) {
			c.Finite(z.Field)
		}
	default:
		for cell := lo; cell < hi; cell++ {
			words := bulk.Words(uint64(cell))
			z.cell(v[:n], &words)
			v = v[n:]
		}
	}
	return nil
}

// cell treats the elements of one cell, for any kind of noise.
func (z *Noise) cell(v []float32, words *rng.Words) {
	for i := range v {
		switch z.Kind {
		case Uniform:
			v[i] += z.spread(words.Float32())
		case Gaussian:
			v[i] += float32(z.Scale * words.Normal())
		case SaltPepper:
			if float64(words.Float32()) < z.Scale {
				v[i] = float32(words.Uint32() >> 31)
			}
		}
	}
}

// uniform does what cell does for cells of one component from first on, many at a time.
func (z *Noise) uniform(v []float32, bulk rng.Bulk, first uint64, draws []float32) {
	for len(v) > 0 {
		draws = draws[:min(len(draws), len(v))]
		bulk.FillFloat32(draws, first)
		for i, u := range draws {
			v[i] += z.spread(u)
		}
		v, first = v[len(draws):], first+uint64(len(draws))
	}
}

// gaussian does what cell does for cells of one component from first on, many at a time,
// and reports whether all results are finite.
func (z *Noise) gaussian(v []float32, bulk rng.Bulk, first uint64, draws []float32) (finite bool) {
	finite = true
	for len(v) > 0 {
		draws = draws[:min(len(draws), len(v))]
		bulk.FillScaledNormal(draws, first, z.Scale)
		finite = kernel.Add(v[:len(draws)], draws) && finite
		v, first = v[len(draws):], first+uint64(len(draws))
	}
	return finite
}

// spread moves u from [0, 1) to [-Scale, Scale).
func (z *Noise) spread(u float32) float32 {
	return float32(z.Scale * (float64(2*float64(u)) - 1))
}
