package propagators

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
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
		Name: named(m.Name, "morphology"), Prev: engine.Fields(m.Field), Full: engine.Fields(m.Output), Scratch: 2 * 2 * regionWords(l.Cells()),
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
	if c.err == nil && defs[m.Output].Type.Kind == fields.CategoricalKind && defs[m.Output].Type.N < 2 {
		c.fail("output", "output has 2 states; field %q holds %d values", defs[m.Output].Name, defs[m.Output].Type.N)
	}
	return c.err
}

// Step implements [engine.Propagator]. Erosion is dilation of the complement.
func (m Morphology) Step(c *engine.Context) error {
	prev, next := c.Prev(m.Field), c.Next(m.Output)
	words, cells := kernel.AsWords(c.Scratch()), len(prev)
	from, to := region{words[:len(words)/2]}, region{words[len(words)/2:]}
	kernel.PackAbove(from.words(cells), prev, float32(m.Threshold))
	if m.Op == Erode {
		from.negate(cells)
	}
	for range m.Radius {
		if !from.spread(to, c.Spans(), cells) {
			break
		}
		from, to = to, from
	}
	if m.Op == Erode {
		from.negate(cells)
	}
	kernel.Unpack(next, from.words(cells))
	c.Valid(m.Output)
	return nil
}

// A region has a bit for each cell of the lattice: which belong to it. A word before and one after
// may be read, but mean nothing.
type region struct{ padded []uint64 }

// regionWords returns how many words a region takes.
func regionWords(cells int) int { return kernel.Words(cells) + 3 }

func (g region) words(cells int) []uint64 { return g.padded[1:][:kernel.Words(cells)] }

// has returns 1 if a cell belongs to the region, else 0.
func (g region) has(cell int) uint64 { return g.padded[cell/64+1] >> (cell % 64) & 1 }

func (g region) negate(cells int) {
	words := g.words(cells)
	for i := range words {
		words[i] ^= 1<<64 - 1
	}
}

// spread makes to the region with all neighbours of its cells, and reports whether it has more
// cells.
func (g region) spread(to region, spans []space.Span, cells int) (more bool) {
	copy(to.words(cells), g.words(cells))
	grown := uint64(0)
	for i := range spans {
		s := &spans[i]
		if s.Stride == 1 {
			grown |= g.spreadRow(to, s)
			continue
		}
		for k, cell := 0, s.First; k < s.Count; k, cell = k+1, cell+s.Stride {
			some := uint64(0)
			for _, o := range s.Pattern.Offsets {
				some |= g.has(cell + o)
			}
			grown |= some &^ g.has(cell)
			to.padded[cell/64+1] |= some << (cell % 64)
		}
	}
	return grown != 0
}

// spreadRow does it for a span of neighbouring cells, word by word. It returns the bits that are new.
func (g region) spreadRow(to region, s *space.Span) (grown uint64) {
	first, end := uint(s.First), uint(s.First+s.Count)
	lo, hi := first/64, (end-1)/64
	row, own := to.padded[lo+1:hi+2], g.padded[lo+1:hi+2]
	left, right := row[0], row[len(row)-1]
	for _, o := range s.Pattern.Offsets {
		at := 64*lo + 64 + uint(o) // of the same bits of the neighbours
		join(row, g.padded[at/64:], at%64)
	}
	// The bits before and after the span are those of other spans.
	before, after := uint64(1)<<(first%64)-1, ^(uint64(2)<<((end-1)%64) - 1)
	row[0] = row[0]&^before | left&before
	row[len(row)-1] = row[len(row)-1]&^after | right&after
	for i, w := range row {
		grown |= w &^ own[i]
	}
	return grown
}

// join adds to dst the bits of src from bit number shift, below 64, on.
func join(dst, src []uint64, shift uint) {
	src = src[:len(dst)+1]
	this := src[0]
	for i := range dst {
		next := src[i+1]
		dst[i] |= this>>(shift&63) | next<<1<<(63-shift&63)
		this = next
	}
}
