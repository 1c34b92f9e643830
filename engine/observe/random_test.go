package observe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The fields of random worlds.
var randomDefs = []fields.Def{
	{Name: "heat"},
	{Name: "wind", Type: fields.Vector(3)},
	{Name: "water", Element: fields.Fixed},
	{Name: "soil", Type: fields.Categorical(5), Element: fields.Int32},
	{Name: "count", Element: fields.Uint64},
	{Name: "flow", Type: fields.Vector(2), Element: fields.Fixed},
	{Name: "wall", Type: fields.Categorical(3)},
	{Name: "energy", Domain: fields.Entities},
	{Name: "speed", Domain: fields.Entities, Type: fields.Vector(2), Element: fields.Fixed},
	{Name: "team", Domain: fields.Entities, Type: fields.Categorical(4), Element: fields.Int32},
}

const cellFields = 7

// A snapshot is a world of columns alone.
type snapshot []fields.Column

func (s snapshot) Borrow(id fields.ID) *fields.Column { return &s[id] }

// newNaive makes a random world.
func newNaive(r *rand.Rand, g ground, original bool) *naive {
	o := &naive{ground: g, defs: randomDefs, original: original}
	slots := 1 + r.IntN(12)
	for i := range o.defs {
		d := &o.defs[i]
		n := g.lattice.Cells()
		if d.Domain == fields.Entities {
			n = slots
		}
		c := fields.NewColumn(d.Element, n*d.Type.Components())
		for k := range c.Len() {
			v := float64(r.IntN(2000)-1000) / 128
			switch {
			case d.Type.Kind == fields.CategoricalKind:
				v = float64(r.IntN(d.Type.N))
			case d.Element == fields.Uint64:
				v = float64(r.Uint64N(300))
			case r.IntN(3) == 0:
				v = float64(r.NormFloat64() * math.Pow(10, float64(r.IntN(12)-6)))
			}
			bits, ok := d.Bits(v)
			if !ok {
				panic(fmt.Sprint(d.Name, " cannot be ", v))
			}
			if c.SetBits(k, bits); original && r.IntN(9) == 0 {
				c.SetBits(k, uint64(math.Float32bits([]float32{float32(math.NaN()), 0, float32(math.Copysign(0, -1))}[r.IntN(3)])))
			}
		}
		o.world = append(o.world, c)
	}
	o.kind, o.cell = make([]int32, slots), make([]int32, slots)
	for i := range slots {
		o.kind[i], o.cell[i] = int32(r.IntN(3)), int32(r.IntN(g.lattice.Cells()+1))-1
	}
	o.world = append(o.world, fields.Column{Uint64: make([]uint64, slots)}, fields.Column{Int32: o.kind}, fields.Column{Int32: o.cell})
	return o
}

func (o *naive) randomView(r *rand.Rand) (v view) {
	switch kind := r.IntN(4); {
	case o.original:
		v.source.Field = fields.ID(r.IntN(2))
	case kind < 2:
		v.source.Field = fields.ID(r.IntN(cellFields))
	default:
		v.source = observe.Source{Count: kind == 2, Others: r.IntN(2) == 0}
		if kind == 3 {
			v.source.Field = fields.ID(cellFields + r.IntN(len(o.defs)-cellFields))
		}
		if r.IntN(2) == 0 {
			v.source.Kinds = []int32{2, int32(r.IntN(2))}
		}
	}
	l := o.ground.lattice
	reach := []int{4, 4, 4, 4, 2, 2}[min(l.Dim(), 5)]
	if l.Dim() > 5 {
		reach = 1 + r.IntN(2)*r.IntN(2)
	}
	switch k := r.IntN(9); {
	case k < 3:
		v.region.radius = r.IntN(reach)
	case k < 6:
		v.region.radius = -1
		for range l.Dim() {
			v.region.half = append(v.region.half, r.IntN(reach))
		}
	case k == 6 && !o.original:
		if v.region.self = true; !v.source.Count && int(v.source.Field) >= cellFields {
			v.source.Kinds, v.source.Others = nil, false
		}
	default:
		v.region.fixed = randomRegion(r, l)
	}
	switch r.IntN(3) {
	case 0:
		v.transform = transform{kind: "normalize", min: float64(r.IntN(5)) - 4, max: float64(r.IntN(5))}
	case 1:
		if o.original {
			break
		}
		if v.transform = (transform{kind: "clip", min: -2.3, max: float64(r.IntN(200))}); r.IntN(2) == 0 {
			v.transform = transform{kind: "onehot", n: 1 + r.IntN(6)}
		}
	}
	if _, vector := o.components(&v); vector && v.transform.kind == "onehot" {
		v.transform = transform{}
	}
	if p := o.patch(&v, observe.Agent{}); len(p.shape) == 2 && r.IntN(2) == 0 && (!o.original || v.region.fixed == nil) {
		v.pool = observe.Pool{Kernel: observe.Kernel(1 + r.IntN(4)), Size: 1 + r.IntN(min(p.shape[0], p.shape[1], 4)), Stride: 1 + r.IntN(3)}
	}
	return v
}

func randomRegion(r *rand.Rand, l *space.Lattice) space.Region {
	center := l.Coord(r.IntN(l.Cells()))
	switch r.IntN(5) {
	case 0:
		return space.All{}
	case 1:
		return space.Disk{Center: center, Radius: r.IntN(3)}
	case 2:
		return space.Neighbours{Center: center, Depth: r.IntN(3)}
	case 3:
		other := l.Coord(r.IntN(l.Cells()))
		for i := range center.Dim() {
			if other.At(i) < center.At(i) {
				return space.Rect{Min: center, Max: center}
			}
		}
		return space.Rect{Min: center, Max: other}
	}
	return space.Cells{center, l.Coord(0), l.Coord(l.Cells() - 1)}
}

// compare observes with a plan and naively, and compares each bit.
func (o *naive) compare(t *testing.T, observer *observe.Observer, plan *observe.Plan, views []view, agents []observe.Agent) {
	t.Helper()
	n := len(agents)
	if agents == nil {
		n, agents = 1, []observe.Agent{{Cell: 0, Slot: -1}}
	}
	out, mask := buffer{}, make([]uint8, n*plan.MaskLen())
	var err error
	given := agents
	if !plan.Agents() && n == 1 && agents[0].Cell >= 0 {
		given = nil
	}
	for i := range mask {
		mask[i] = 7
	}
	switch o.element {
	case observe.Float32:
		out.float32 = slices.Repeat([]float32{7}, n*plan.Len())
		err = observer.Float32(o.world, given, out.float32, mask)
	case observe.Uint8:
		out.uint8 = slices.Repeat([]uint8{7}, n*plan.Len())
		err = observer.Uint8(o.world, given, out.uint8, mask)
	default:
		out.float16 = slices.Repeat([]uint16{7}, n*plan.Len())
		err = observer.Float16(o.world, given, out.float16, mask)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range plan.Parts() {
		for k, a := range agents {
			shape, want, wantMask := o.part(&views[i], a)
			if !slices.Equal(part.Shape, shape) || part.Len != len(want) || part.MaskLen != len(wantMask) {
				t.Fatalf("part %d %+v has shape %v, %d elements and %d in the mask; want %v, %d, %d", i, views[i], part.Shape, part.Len, part.MaskLen, shape, len(want), len(wantMask))
			}
			if got := mask[k*plan.MaskLen()+part.MaskOffset:][:part.MaskLen]; !slices.Equal(got, wantMask) {
				t.Fatalf("part %d %+v of agent %+v: mask %v, want %v", i, views[i], a, got, wantMask)
			}
			for j, x := range want {
				if got, want := out.bits(k*plan.Len()+part.Offset+j), elementBits(o.element, x); got != want {
					t.Fatalf("part %d %+v of agent %+v: element %d is %x, want %x of %v", i, views[i], a, j, got, want, x)
				}
				if x < part.Low-1e-3*abs64(part.Low) || x > part.High+1e-3*abs64(part.High) {
					if o.element != observe.Uint8 || x > part.Low && x < part.High {
						t.Fatalf("part %d %+v: %v is not within %v to %v", i, views[i], x, part.Low, part.High)
					}
				}
			}
		}
	}
}

func abs64(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return math.Abs(v)
}

// TestRandom compares random specs on random lattices with the naive observer.
func TestRandom(t *testing.T) {
	const seeds = 3000
	compared := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 0))
		g := randomGround(r)
		o := newNaive(r, g, seed%3 == 0)
		if !o.original {
			o.element = observe.Element(r.IntN(3))
		}
		spec, views := observe.Spec{}, []view(nil)
		if o.original {
			spec.Rules = engine.Murk019
		}
		for range 1 + r.IntN(4) {
			v := o.randomView(r)
			e := v.entry()
			e.Element = o.element
			spec.Entries, views = append(spec.Entries, e), append(views, v)
		}
		t.Run(fmt.Sprintf("seed%d %v", seed, g.lattice.Space()), func(t *testing.T) {
			defs := o.defs
			if seed%2 == 0 { // as a world has them, with the engine's own
				defs = append(slices.Clone(defs), fields.Def{Name: engine.EntityID, Element: fields.Uint64, Domain: fields.Entities},
					fields.Def{Name: engine.EntityKind, Element: fields.Int32, Domain: fields.Entities},
					fields.Def{Name: engine.EntityCell, Element: fields.Int32, Domain: fields.Entities})
			}
			plan, err := observe.Compile(spec, g.lattice, defs)
			if f, ok := err.(*observe.Error); ok && f.Fault == observe.ErrCoverage && o.original {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compared++
			observer := plan.Observer()
			for range 3 { // worlds
				agents := []observe.Agent{}
				for range 1 + r.IntN(4) {
					agents = append(agents, observe.Agent{Cell: int32(r.IntN(g.lattice.Cells()+1)) - 1, Slot: int32(r.IntN(len(o.cell)+1)) - 1})
				}
				o.compare(t, observer, plan, views, agents)
				element := o.element
				o = newNaive(r, g, o.original)
				o.element = element
			}
		})
	}
	if compared < seeds*9/10 {
		t.Errorf("only %d of %d specs were compared", compared, seeds)
	}
}
