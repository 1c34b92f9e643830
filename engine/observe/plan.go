package observe

import (
	"errors"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// maxLen is the most numbers that an observation may have.
const maxLen = 1 << 28

// A Plan is a spec compiled for a lattice and its fields. It does not change, and any number of goroutines may
// use it.
type Plan struct {
	lattice *space.Lattice
	defs    []fields.Def
	rules   engine.Rules
	parts   []part
	shown   []Part
	len     int
	agents  bool
	element Element

	id, kind, cell fields.ID // of entities
}

// A Part says where an entry lies in an observation, and what its numbers are.
type Part struct {
	Name        string
	Shape       []int // channels first, if there are several: components of a vector, or places of one-hot
	Offset, Len int   // in elements; the mask has the same
	MaskOffset  int
	MaskLen     int
	Low, High   float64 // between which all numbers lie; infinities if nothing is known
}

// A part is an entry made ready.
type part struct {
	Entry
	def      *fields.Def // nil for a count
	entities bool
	comps    int   // of the source
	channels int   // of the result
	shape    []int // of places before pooling
	places   int   // before pooling
	out      int   // after it
	offset   int

	ranks []int32 // of a fixed region, by place; none: no cell
	table *table  // of a region around an agent
	plain bool    // float32 numbers of a field of cells, as they are
}

// none is the rank, or the way to a rank, of a place where there is no cell.
const none = math.MinInt32

// Compile checks a spec and makes a plan of it. Defs are the fields of the worlds to be seen, by id; the engine's own
// may be left out. An error is an [*Error].
func Compile(s Spec, l *space.Lattice, defs []fields.Def) (*Plan, error) {
	if len(s.Entries) == 0 {
		return nil, &Error{Entry: -1, Fault: ErrEmpty, Err: errors.New("the spec has no entries")}
	}
	p := &Plan{lattice: l, defs: defs, rules: s.Rules, element: s.Entries[0].Element}
	user := len(defs)
	for i := range defs {
		if defs[i].Name == engine.EntityID || defs[i].Name == engine.WorldRest {
			user = i
			break
		}
	}
	p.id, p.kind, p.cell = engine.EntityColumns(user)
	for i := range s.Entries {
		x, err := p.compile(&s.Entries[i])
		if err == nil && x.Element != p.element {
			err = faultf(ErrElement, "all entries have the same element; the first has another")
		}
		if err == nil && p.len+x.channels*x.out > maxLen {
			err = faultf(ErrSize, "with it the observation has more than %d numbers", maxLen)
		}
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok {
				e = &Error{Fault: ErrRegion, Err: err}
			}
			e.Entry, e.Name = i, s.Entries[i].Name
			return nil, e
		}
		x.offset = p.len
		p.len += x.channels * x.out
		p.agents = p.agents || x.Region.around != 0
		p.parts = append(p.parts, x)
		p.shown = append(p.shown, x.shown())
	}
	return p, nil
}

func (p *Plan) compile(e *Entry) (x part, err error) {
	if err := e.check(p.rules, p.defs); err != nil {
		return x, err
	}
	x = part{Entry: *e, comps: 1, entities: e.Source.entities(p.defs)}
	if !e.Source.Count {
		x.def = &p.defs[e.Source.Field]
		if p.rules != engine.Murk019 {
			x.comps = x.def.Type.Components()
		}
	}
	x.channels = x.comps
	if e.Transform.kind == oneHot {
		x.channels = e.Transform.n
	}
	if err := p.place(&x); err != nil {
		return x, err
	}
	x.places, x.out = product(x.shape), product(x.shape)
	if err := x.pooled(); err != nil {
		return x, err
	}
	x.plain = !x.entities && x.comps == 1 && x.def.Element == fields.Float32 && e.Pool.Kernel == NoPool && e.Transform.kind == identity
	return x, nil
}

// place lays out the region of a part.
func (p *Plan) place(x *part) error {
	switch x.Region.around {
	case self:
		return nil
	case disk, rect:
		var err error
		x.table, err = p.around(&x.Region)
		if err == nil {
			x.shape = x.table.shape
		}
		return err
	}
	region := x.Region.fixed
	if region == nil {
		region = space.All{}
	}
	plan, err := p.lattice.Compile(region)
	if err != nil {
		return err
	}
	n := product(plan.BoundingShape)
	if p.rules == engine.Murk019 && n > 0 {
		const least = 0.35
		if ratio := float64(len(plan.Ranks)) / float64(n); ratio < least {
			return faultf(ErrCoverage, "the region covers %.3f of its box, less than %v", ratio, least)
		}
	}
	x.shape, x.ranks = plan.BoundingShape, make([]int32, n)
	for i := range x.ranks {
		x.ranks[i] = none
	}
	for i, r := range plan.Ranks {
		x.ranks[plan.TensorIndices[i]] = r
	}
	return nil
}

// pooled works out the shape after pooling.
func (x *part) pooled() error {
	k := &x.Pool
	if k.Kernel == NoPool {
		return nil
	}
	if len(x.shape) != 2 {
		return faultf(ErrPool, "a pool needs a region with two extents; this one has %d", len(x.shape))
	}
	if k.Size < 1 || k.Stride < 1 {
		return faultf(ErrPool, "size and stride of a pool must be at least 1, not %d and %d", k.Size, k.Stride)
	}
	if k.Size > x.shape[0] || k.Size > x.shape[1] {
		return faultf(ErrPool, "a square of %d cells does not fit into a region of %d × %d", k.Size, x.shape[0], x.shape[1])
	}
	x.out = x.pooledExtent(0) * x.pooledExtent(1)
	return nil
}

func (x *part) pooledExtent(axis int) int { return (x.shape[axis]-x.Pool.Size)/x.Pool.Stride + 1 }

func product(shape []int) int {
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	return n
}

// shown describes the part.
func (x *part) shown() Part {
	s := Part{Name: x.Name, Offset: x.offset, Len: x.channels * x.out, MaskOffset: x.offset, MaskLen: x.channels * x.out}
	if x.channels > 1 || x.Transform.kind == oneHot {
		s.Shape = append(s.Shape, x.channels)
	}
	if x.Pool.Kernel != NoPool {
		s.Shape = append(s.Shape, x.pooledExtent(0), x.pooledExtent(1))
	} else {
		s.Shape = append(s.Shape, x.shape...)
	}
	s.Low, s.High = x.bounds()
	return s
}

// bounds returns between what the numbers lie; what is not there is 0.
func (x *part) bounds() (low, high float64) {
	t := &x.Transform
	switch {
	case t.kind == normalize && x.Element == Uint8:
		return 0, 255
	case t.kind == normalize, t.kind == oneHot:
		return 0, 1
	case x.Element == Uint8:
		return 0, 255
	case t.kind == clip:
		return min(0, float64(float32(t.min))), max(0, float64(float32(t.max)))
	case x.Source.Count && x.Pool.Kernel != Sum:
		return 0, math.Inf(1)
	case x.def != nil && x.def.Bounds != nil && x.Pool.Kernel != Sum && !x.entities && x.Element == Float32:
		return min(0, float64(float32(x.def.Bounds.Min))), max(0, float64(float32(x.def.Bounds.Max)))
	case x.def != nil && x.def.Type.Kind == fields.CategoricalKind && x.Pool.Kernel != Sum && !x.entities:
		return 0, float64(x.def.Type.N - 1)
	}
	return math.Inf(-1), math.Inf(1)
}

// Len is how many numbers an observation of an agent has, or that of a world if no region is around an agent.
func (p *Plan) Len() int { return p.len }

// MaskLen is the length of its mask: one for each number.
func (p *Plan) MaskLen() int { return p.len }

// Parts describes the entries, in their order. The list must not be changed.
func (p *Plan) Parts() []Part { return p.shown }

// Element is the type of the numbers.
func (p *Plan) Element() Element { return p.element }

// Agents reports whether a region is around an agent.
func (p *Plan) Agents() bool { return p.agents }

// Shape is how an observation can be looked at: the channels of all parts, then the extents that they have in common; or its length alone, if
// the parts have different extents, or none.
func (p *Plan) Shape() []int {
	channels := 0
	var common []int
	for i := range p.parts {
		x := &p.parts[i]
		shape := x.shape
		if x.Pool.Kernel != NoPool {
			shape = []int{x.pooledExtent(0), x.pooledExtent(1)}
		}
		if len(shape) == 0 || i > 0 && !equal(shape, common) {
			return []int{p.len}
		}
		channels, common = channels+x.channels, shape
	}
	return append([]int{channels}, common...)
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
