package propagators

import (
	"fmt"
	"math"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Diffusion gives every cell a share k of what each of its n neighbours has more than it,
// as they stood at the start of the tick, each component of a vector by itself:
//
//	next = here + k·(Σ neighbours - n·here),  k = Rate·dt
//	next = next · exp(-Decay·dt)              if Decay > 0
//
// k and the exponential are computed in float64 and rounded once. This is the explicit Euler
// step of ∂u/∂t = Rate · Σ (neighbour - here). It is stable while Rate·dt·n ≤ 1, which its Spec
// requires. What a cell gets from a neighbour the neighbour loses, so that without decay and holds
// the total changes by roundings alone. Where noise stirs the field they are even, and add up as a random walk does; a field
// at rest rounds the same way tick after tick. At the limit of stability k is the next lower float32 if with it
// a cell could give away more than it has, so a field that is nowhere below 0 stays so: see share. A cell without
// neighbours keeps its value, except for the decay. A change of less than half a unit in the last place of a value is lost.
//
// Under the rules Murk019 the step is that of the original engine, in another form: see original. In a vector
// field that engine takes the first elements for the values of the cells, one each, and leaves the
// others as they are, and so does Diffusion then.
type Diffusion struct {
	Name  string    // default "diffusion"
	Field fields.ID // of any number of components; written in full unless Output is
	Rate  float64   // per second and neighbour, at least 0
	Decay float64   // per second, at least 0

	// BlockedBy makes walls of the cells where this field, of one component, is not
	// zero at the start of the tick: they keep their values, and do not count as
	// neighbours of any cell.
	BlockedBy *fields.ID

	Hold     []Hold     // applied after that, in order, to walls too
	Min, Max *float64   // limits of the result, applied last, rounded to float32; nil: none
	Output   *fields.ID // gets the result in place of Field, and has as many components; nil: Field gets it
	Gradient *fields.ID // gets the gradient too, as Gradient computes it: walls are cells like any other
}

// A Hold keeps cells at a value.
type Hold struct {
	Cells []int   // their ranks
	Value float64 // rounded to float32; for every component
}

// Spec implements [engine.Propagator].
func (d Diffusion) Spec(l *space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(d.Name, "diffusion"), Parallel: true, Cost: 350 * time.Nanosecond, Local: true,
		Prev:  append(optional(d.BlockedBy), d.Field),
		Full:  append(optional(d.Gradient), d.output()),
		MaxDt: positive(1 / (d.Rate * float64(l.MaxDegree()))),
	}
}

func (d *Diffusion) output() fields.ID {
	if d.Output != nil {
		return *d.Output
	}
	return d.Field
}

// Check implements [engine.Checker].
func (d Diffusion) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	n := c.field("field", d.Field)
	if d.Output == nil {
		c.real("field", d.Field)
	}
	c.number("rate", d.Rate, 0)
	c.number("decay", d.Decay, 0)
	if d.BlockedBy != nil {
		c.sized("blocked_by", *d.BlockedBy, 1)
		c.distinct("field", d.Field, "blocked_by", *d.BlockedBy)
	}
	if d.Gradient != nil {
		c.sized("gradient", *d.Gradient, 2)
		if n > 1 {
			c.fail("gradient", "gradient: field %q has %d components; only a field of one has a gradient", defs[d.Field].Name, n)
		}
	}
	if d.Output != nil {
		c.sized("output", *d.Output, n)
		c.real("output", *d.Output)
	}
	least := float64(-maxFloat32)
	if d.Min != nil {
		c.number("min", *d.Min, least)
		least = *d.Min
	}
	if d.Max != nil {
		c.number("max", *d.Max, least)
	}
	for i, h := range d.Hold {
		c.number(fmt.Sprintf("hold.%d.value", i), h.Value, -maxFloat32)
		for _, cell := range h.Cells {
			if cell < 0 || cell >= l.Cells() {
				c.fail(fmt.Sprintf("hold.%d", i), "hold %d: cell %d; the space has %d cells", i, cell, l.Cells())
			}
		}
	}
	return c.err
}

// Step implements [engine.Propagator].
func (d Diffusion) Step(c *engine.Context) error {
	prev, next := c.Prev(d.Field), c.Next(d.output())
	components := c.Components(d.Field)
	if c.Rules() == engine.Murk019 {
		components = 1
	}
	s := diffusing{k: d.share(c), decay: 1, out: d.output()}
	if d.Decay > 0 {
		s.decay = float32(exact.Exp(-float64(d.Decay * c.Dt())))
	}
	if d.BlockedBy != nil {
		s.walls = c.Prev(*d.BlockedBy)
	}
	s.reports = d.output() == d.Field && s.walls == nil && d.Min == nil && d.Max == nil && c.WantsChanges(d.Field)
	var finite bool
	switch {
	case c.Rules() == engine.Murk019:
		s.reports = false
		s.original(c, next, prev, components, float64(d.Rate*c.Dt()))
	case s.walls == nil:
		finite = s.everywhere(c, next, prev, components)
	default:
		finite = s.amongWalls(c, next, prev, components)
	}
	d.hold(c, next, prev, components, s.reports)
	lo, hi := c.Range()
	d.limit(next[lo*components : hi*components])
	if finite && components == c.Components(d.Field) {
		c.Finite(d.output())
	}
	if d.Gradient != nil && (slope{}).step(c, prev, c.Next(*d.Gradient)) {
		c.Finite(*d.Gradient)
	}
	return nil
}

// share returns what a cell gets of the difference to a neighbour: so much that the cell with the most neighbours n, if they are all 0, keeps
// no less than 0. Its n·here is off by a share of 2⁻²⁴ at most, and by nothing where n is a power of 2.
func (d *Diffusion) share(c *engine.Context) float32 {
	const rounding = 1.0 / (1 << 24)
	k, n := float32(d.Rate*c.Dt()), c.Lattice().MaxDegree()
	most := 1.0
	if n&(n-1) != 0 {
		most -= rounding
	}
	if float64(float64(k)*float64(n)) > most { // a product that float64 has in full
		k = math.Nextafter32(k, 0)
	}
	return k
}

func (d Diffusion) hold(c *engine.Context, next, prev []float32, components int, reports bool) {
	lo, hi := c.Range()
	for i := range d.Hold {
		for _, cell := range d.Hold[i].Cells {
			if cell >= lo && cell < hi {
				for e := cell * components; e < (cell+1)*components; e++ {
					next[e] = float32(d.Hold[i].Value)
					if reports {
						reportRange(c, d.Field, next, prev, e, e+1)
					}
				}
			}
		}
	}
}

// limit clamps v to Min and Max. A NaN becomes Min, or Max if there is no Min.
func (d *Diffusion) limit(v []float32) {
	if d.Min != nil {
		for i, least := 0, float32(*d.Min); i < len(v); i++ {
			if !(v[i] >= least) {
				v[i] = least
			}
		}
	}
	if d.Max != nil {
		for i, most := 0, float32(*d.Max); i < len(v); i++ {
			if !(v[i] <= most) {
				v[i] = most
			}
		}
	}
}

// diffusing holds the numbers of one step.
type diffusing struct {
	k       float32   // what a cell gets of the difference to a neighbour
	decay   float32   // factor of a tick
	walls   []float32 // nil: none
	out     fields.ID
	reports bool // whether to report what changes
}

// weights returns the weights for n neighbours.
func (s *diffusing) weights(n int) kernel.Weights { return kernel.NewWeights(s.k, s.decay, n) }

// everywhere computes all cells of a world without walls. Like the methods below it reports
// whether all that it wrote is finite.
func (s *diffusing) everywhere(c *engine.Context, next, prev []float32, components int) bool {
	finite := true
	bands := c.Bands()
	if s.reports {
		c.Changed(s.out, 0, 0)
	}
	var late *space.Band // whose changes are reported when the next one has filled the gaps between its rows
	for i := range bands {
		b := &bands[i]
		if s.reports && wide(b, components) {
			finite = s.inPieces(c, b, next, prev, components) && finite
			continue
		}
		if s.reports && late != nil {
			reportBand(c, s.out, late, next, prev, components)
		}
		late = b
		finite = s.band(b, next, prev, components) && finite
	}
	if s.reports && late != nil {
		reportBand(c, s.out, late, next, prev, components)
	}
	return finite
}

// inPieces computes a band of wide rows a few rows at a time. While rows that may have
// changed are in the cache, it reports their changes.
func (s *diffusing) inPieces(c *engine.Context, b *space.Band, next, prev []float32, components int) (finite bool) {
	const most = 4096 // elements: 32 KiB with those they are compared with
	finite = true
	each := max(1, most/(b.Pitch*components))
	piece := *b
	for row := 0; row < b.Rows; row += each {
		piece.First, piece.Rows = b.First+row*b.Pitch, min(each, b.Rows-row)
		ok, changed := s.seeing(&piece, next, prev, components)
		finite = finite && ok
		if changed {
			reportBand(c, s.out, &piece, next, prev, components)
		}
	}
	return finite
}

// seeing does what band does, and reports whether an element may have changed.
func (s *diffusing) seeing(b *space.Band, next, prev []float32, components int) (finite, changed bool) {
	p := b.Patterns[0]
	if n := len(p.Offsets); len(b.Patterns) == 1 && n > 0 && lanes(b.Stride, components) == 1 {
		w := s.weights(n)
		return kernel.RelaxSeeing(next, prev, rows(b, components, 0, 0), kernel.Neighbours{Offsets: p.Offsets, Scale: components}, &w)
	}
	return s.band(b, next, prev, components), true
}

// band computes a band.
func (s *diffusing) band(b *space.Band, next, prev []float32, components int) bool {
	if len(b.Patterns) > 1 {
		if finite, done := s.woven(b, next, prev, components); done {
			return finite
		}
	}
	finite := true
	for strand, p := range b.Patterns {
		for lane := range lanes(b.Stride, components) {
			finite = s.open(rows(b, components, strand, lane), p, next, prev, components) && finite
		}
	}
	return finite
}

// woven computes a band of several strands at once, if that is faster, and reports whether
// it did.
func (s *diffusing) woven(b *space.Band, next, prev []float32, components int) (finite, done bool) {
	const least = 1024 // elements
	r := whole(b, components)
	if r.Rows*r.Count < least {
		return false, false
	}
	v := kernel.NewWeave()
	defer v.Free()
	if !v.Begin(len(b.Patterns), components, s.k, s.decay) {
		return false, false
	}
	for _, o := range b.Shared {
		if !v.Neighbour(o.Offset, o.Strands) {
			return false, false
		}
	}
	for strand, p := range b.Patterns {
		if len(p.Offsets) == 0 {
			return false, false
		}
		v.Degree(strand, len(p.Offsets))
	}
	if !v.Fits(prev, r) {
		return false, false
	}
	return kernel.RelaxWoven(next, prev, r, v), true
}

// open computes rows without walls in reach.
func (s *diffusing) open(r kernel.Rows, p *space.Pattern, next, prev []float32, components int) bool {
	n := len(p.Offsets)
	if n == 0 {
		return kernel.Scale(next, prev, r, s.decay)
	}
	w := s.weights(n)
	return kernel.Relax(next, prev, r, kernel.Neighbours{Offsets: p.Offsets, Scale: components}, &w)
}

// amongWalls computes all cells where there are walls.
func (s *diffusing) amongWalls(c *engine.Context, next, prev []float32, components int) bool {
	finite := true
	w := kernel.Walled{K: s.k, Decay: s.decay}
	const often = 8
	amid := 0 // runs with walls, one after another: then not each is searched for walls first
	for r := range runs(c, components) {
		if components == 1 && r.stride == 1 && amid%often == 0 && r.clear(s.walls) {
			amid = 0
			finite = s.open(r.rows(), r.pattern, next, prev, components) && finite
		} else {
			finite = w.Relax(next, prev, s.walls, r.rows(), r.neighbours()) && finite
			if r.stride == 1 {
				amid++
			}
		}
	}
	return finite
}

// clear reports whether a field of one component is zero on the run and all its
// neighbours.
func (r *run) clear(field []float32) bool {
	if !kernel.AllZero(r.of(field), r.stride) {
		return false
	}
	for k := range r.degree() {
		if !kernel.AllZero(r.neighbour(field, k), r.stride) {
			return false
		}
	}
	return true
}
