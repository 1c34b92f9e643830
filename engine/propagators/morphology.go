package propagators

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A MorphologyOp is the question of a [Morphology] about the cells around a cell.
type MorphologyOp uint8

// The operations.
const (
	Dilate MorphologyOp = iota // is any of them present?
	Erode                      // are all of them present?
)

var morphologyNames = [...]string{Dilate: "dilate", Erode: "erode"}

// String returns the operation's name as it stands in YAML.
func (o MorphologyOp) String() string {
	if int(o) < len(morphologyNames) {
		return morphologyNames[o]
	}
	return fmt.Sprintf("MorphologyOp(%d)", uint8(o))
}

// ParseMorphologyOp is the inverse of [MorphologyOp.String].
func ParseMorphologyOp(s string) (MorphologyOp, error) {
	for o, name := range morphologyNames {
		if s == name {
			return MorphologyOp(o), nil
		}
	}
	return 0, fmt.Errorf("operation %q is unknown; use dilate or erode", s)
}

// Morphology grows or shrinks the region where a field exceeds a threshold:
//
//	output = 1 if any (Dilate) or all (Erode) cells within Radius steps of the cell,
//	         itself included, hold more than Threshold at the start of the tick; else 0
//
// A step leads to a neighbour, so the lattice gives the ball its shape: a diamond
// on a square4, a square on a square8, a hexagon on a hex. Nothing beyond an edge
// that absorbs or clamps counts for either operation. Threshold is rounded to
// float32. It works on any lattice and any dt.
//
// A tick makes at most Radius passes over the neighbours and ends as soon as a pass
// changes nothing; if that may be more than some 34 billion steps, a minute or two, [engine.New]
// returns [engine.ErrWork]. Each pass needs the result of the one before across the
// whole lattice, so it does not run in parallel. The operations are those of
// mathematical morphology (Serra 1982) on a graph, as in the original Murk engine.
type Morphology struct {
	Name      string    // default "morphology"
	Field     fields.ID // of one component
	Output    fields.ID // of one component, scalar or categorical; written in full; may be Field
	Op        MorphologyOp
	Radius    int // in steps, at least 0; 0 only compares with the threshold
	Threshold float64
}

// Spec implements [engine.Propagator].
func (m Morphology) Spec(l *space.Lattice) engine.Spec {
	return engine.Spec{
		Name: named(m.Name, "morphology"), Prev: engine.Fields(m.Field), Full: engine.Fields(m.Output), Scratch: l.Cells(),
	}
}

// Check implements [engine.Checker].
func (m Morphology) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", m.Field, 1)
	c.sized("output", m.Output, 1)
	c.number("threshold", m.Threshold, -maxFloat32)
	switch {
	case m.Op > Erode:
		c.fail("op", "%v does not exist", m.Op)
	case m.Radius < 0:
		c.fail("radius", "radius must be at least 0, not %d", m.Radius)
	default:
		pass := product(uint64(l.Cells()), uint64(l.MaxDegree())+1)
		if product(pass, across(l, m.Radius)) > maxSteps {
			c.fail("radius", "a radius of %d may be %w (%d steps); lower it to %d",
				m.Radius, engine.ErrWork, uint64(maxSteps), maxSteps/pass)
		}
	}
	return c.err
}

// Step implements [engine.Propagator]. Erosion is dilation of the complement.
func (m Morphology) Step(c *engine.Context) error {
	out := c.Next(m.Output)
	from, to := c.Scratch(), out
	if m.Radius%2 == 0 { // so that the last pass ends in out
		from, to = to, from
	}
	mark(from, c.Prev(m.Field), float32(m.Threshold))
	if m.Op == Erode {
		negate(from)
	}
	for range m.Radius {
		for r := range runs(c, 1) {
			r.spread(to, from)
		}
		if slices.Equal(to, from) {
			break
		}
		from, to = to, from
	}
	if m.Op == Erode {
		negate(out)
	}
	return nil
}

// The bits of the float32 1.
const oneBits = 0x3f800000

// mark writes 1 where v is above the threshold, else 0, without an unpredictable branch.
func mark(dst, v []float32, threshold float32) {
	v = v[:len(dst)]
	for i, x := range v {
		above := uint32(0)
		if x > threshold {
			above = 1
		}
		dst[i] = math.Float32frombits(-above & oneBits)
	}
}

// negate swaps 0 and 1.
func negate(v []float32) {
	for i, x := range v {
		v[i] = math.Float32frombits(math.Float32bits(x) ^ oneBits)
	}
}

// spread writes 1 to the cells of the run in dst that are 1 in src or have a neighbour
// that is, and 0 to the others. The sums are small whole numbers, hence exact.
func (r *run) spread(dst, src []float32) {
	if r.degree() == 0 {
		r.copy(dst, src)
		return
	}
	r.sum(dst, src)
	out, own := r.of(dst), r.of(src)
	own = own[:len(out)]
	for i := uint(0); i < uint(len(out)); i += uint(r.stride) {
		some := (math.Float32bits(out[i]+own[i]) + math.MaxInt32) >> 31 // 1 unless the sum is 0
		out[i] = math.Float32frombits(-some & oneBits)
	}
}
