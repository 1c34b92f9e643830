package propagators

import (
	"math"
	"slices"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Gradient computes the slope of a field, as it stood at the start of the tick.
// Component 0 of the output is the slope along the coordinate's component 1 (on a
// square: eastward), component 1 that along component 0 (on a square: southward; on
// a line, the only one):
//
//	square4   (east - west)/2 and (south - north)/2, a missing neighbour being the cell itself
//	others    the mean of (neighbour - here)/step over the neighbours with a step along the axis,
//	          summed from +0; +0 if there is none
//
// Steps across a wrapped edge are the short ones. Axes beyond the first two are ignored.
// The formulas are those of the original Murk engine, except that it takes
// the difference of two coordinates for the step, which is the long way across a wrapped
// edge; under the rules Murk019, Gradient does so too.
type Gradient struct {
	Name   string    // default "gradient"
	Field  fields.ID // of one component
	Output fields.ID // of two components; written in full, in units of the field per cell
}

// Spec implements [engine.Propagator].
func (g Gradient) Spec(*space.Lattice) engine.Spec {
	return slopeSpec(named(g.Name, "gradient"), g.Field, g.Output)
}

// Check implements [engine.Checker].
func (g Gradient) Check(_ *space.Lattice, defs []fields.Def) error {
	return checkSlope(defs, g.Field, g.Output)
}

// Step implements [engine.Propagator].
func (g Gradient) Step(c *engine.Context) error {
	if (slope{}).step(c, c.Prev(g.Field), c.Next(g.Output)) {
		c.Finite(g.Output)
	}
	return nil
}

// Flow computes the direction in which a field falls: the negative of its [Gradient].
type Flow struct {
	Name      string    // default "flow"
	Field     fields.ID // of one component
	Output    fields.ID // of two components; written in full
	Normalise bool      // divide by the length where it is above 1e-12
}

// Spec implements [engine.Propagator].
func (f Flow) Spec(*space.Lattice) engine.Spec {
	return slopeSpec(named(f.Name, "flow"), f.Field, f.Output)
}

// Check implements [engine.Checker].
func (f Flow) Check(_ *space.Lattice, defs []fields.Def) error {
	return checkSlope(defs, f.Field, f.Output)
}

// Step implements [engine.Propagator].
func (f Flow) Step(c *engine.Context) error {
	if (slope{down: true, unit: f.Normalise}).step(c, c.Prev(f.Field), c.Next(f.Output)) {
		c.Finite(f.Output)
	}
	return nil
}

func slopeSpec(name string, field, output fields.ID) engine.Spec {
	return engine.Spec{Name: name, Prev: engine.Fields(field), Full: engine.Fields(output), Parallel: true, Local: true, Cost: time.Microsecond}
}

func checkSlope(defs []fields.Def, field, output fields.ID) error {
	c := checker{defs: defs}
	c.sized("field", field, 1)
	c.sized("output", output, 2)
	return c.err
}

// slope is what Gradient and Flow share.
type slope struct{ down, unit bool }

// terms are a pattern's neighbours along one axis.
type terms struct {
	n      int
	offset [maxTerms]int
	step   [maxTerms]float32
}

const maxTerms = 8 // on fcc12, for which eight of twelve directions move along an axis

func (t *terms) set(p *space.Pattern, axis int, rules engine.Rules) {
	t.n = 0
	steps := p.Deltas
	if rules == engine.Murk019 {
		steps = p.Jumps
	}
	for k, d := range steps {
		if axis < d.Dim() && d.At(axis) != 0 {
			t.offset[t.n], t.step[t.n] = p.Offsets[k], float32(d.At(axis))
			t.n++
		}
	}
}

// mean returns the mean slope at a cell.
func (t *terms) mean(src []float32, cell int) float32 {
	g := float32(0)
	for k := range t.n {
		g += (src[cell+t.offset[k]] - src[cell]) / t.step[k]
	}
	return g / float32(t.n)
}

// step computes all slopes. It reports whether they are known to be finite.
func (s slope) step(c *engine.Context, src, dst []float32) (finite bool) {
	if compass, ok := c.Lattice().Compass(); ok {
		return s.cross(c, compass, src, dst)
	}
	var x, y terms
	for _, span := range c.Spans() {
		x.set(span.Pattern, 1, c.Rules())
		y.set(span.Pattern, 0, c.Rules())
		for i, cell := 0, span.First; i < span.Count; i, cell = i+1, cell+span.Stride {
			var gx, gy float32
			if x.n > 0 {
				gx = s.sign(x.mean(src, cell))
			}
			if y.n > 0 {
				gy = s.sign(y.mean(src, cell))
			}
			dst[2*cell], dst[2*cell+1] = s.finish(gx, gy)
		}
	}
	return false
}

// cross computes the slopes where the neighbours are in the directions of the compass,
// and reports whether they are finite.
func (s slope) cross(c *engine.Context, compass [4]int, src, dst []float32) (finite bool) {
	finite = true
	bands := c.Bands()
	for i := range bands {
		b := &bands[i]
		for strand, p := range b.Patterns {
			var o [4]int // north, south, west, east; the cell itself where there is none
			for k, dir := range p.Dirs {
				o[slices.Index(compass[:], int(dir))] = p.Offsets[k]
			}
			k := kernel.Slope{North: o[0], South: o[1], West: o[2], East: o[3], Down: s.down, Least: float32(math.Inf(1))}
			if s.unit {
				k.Least = shortest
			}
			finite = k.Climb(dst, src, rows(b, 1, strand, 0)) && finite
		}
	}
	return finite
}

func (s slope) sign(g float32) float32 {
	if s.down {
		return -g
	}
	return g
}

// shortest is the length up to which a slope is not normalised.
const shortest = 1e-12

// finish normalises a slope, if unit says so.
func (s slope) finish(x, y float32) (float32, float32) {
	if s.unit {
		length := float32(math.Sqrt(float64(float32(x*x) + float32(y*y))))
		if length > shortest {
			return x / length, y / length
		}
	}
	return x, y
}
