package kernel_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/internal/kernel"
)

// TestQuantiles compares the two formulas at all kinds of words, the first and the last
// among them, with coefficients that let no term vanish. Package rng compares the whole.
func TestQuantiles(t *testing.T) {
	for seed := range uint64(rounds) {
		s := newSource(seed)
		var c kernel.Quantile
		for _, p := range []*[8]float64{&c.Centre, &c.CentreBelow, &c.Middle, &c.MiddleBelow} {
			for k := range p {
				p[k] = s.Float64() * 4
			}
		}
		q := make([]float64, 48)
		for i := range q {
			word := []uint32{0, math.MaxUint32, 1 << 31, s.Uint32(), s.Uint32() >> s.IntN(32), ^(s.Uint32() >> s.IntN(32))}[s.IntN(6)]
			q[i] = (float64(word)+0.5)*0x1p-32 - 0.5
		}
		scale := []float64{0, 1, 0.01, s.Float64(), 1e40}[s.IntN(5)]
		centre, tails := kernel.Quantiles(q, scale, &c)
		if centre == nil {
			continue
		}
		var wantCentre, wantTails []float32
		for _, q := range q {
			r := 0.180625 - float64(q*q)
			z := q * horner(&c.Centre, r) / horner(&c.CentreBelow, r)
			wantCentre = append(wantCentre, float32(scale*z))
			r = math.Sqrt(-exact.Log(0.5-math.Abs(q))) - 1.6
			z = math.Copysign(1, q) * (horner(&c.Middle, r) / horner(&c.MiddleBelow, r))
			wantTails = append(wantTails, float32(scale*z))
		}
		same(t, "centre", centre, wantCentre)
		same(t, "tails", tails, wantTails)
	}
}

func horner(c *[8]float64, r float64) (p float64) {
	for k := 7; k >= 0; k-- {
		p = float64(p*r) + c[k]
	}
	return p
}
