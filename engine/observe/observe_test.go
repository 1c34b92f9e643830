package observe_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func build(t testing.TB, s space.Space) *space.Lattice {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLarge compares regions with too many classes of places for tables.
func TestLarge(t *testing.T) {
	part := func(s space.Space, p shape) ground { return ground{build(t, s), []shape{p}} }
	line := shape{[]int{2}, true, []int{0}, false, false, sum}
	for _, tt := range []struct {
		ground ground
		region region
	}{
		{part(space.Hex{Cols: 300, Rows: 290, Edge: space.Wrap}, shape{[]int{300, 290}, true, []int{1, 0}, false, false, hexes}), region{radius: 140}},
		{part(space.Square8{Rows: 280, Cols: 300}, shape{[]int{280, 300}, false, []int{0, 1}, true, false, most}), region{radius: 130}},
		{part(space.Line{Length: 90000}, shape{[]int{90000}, false, []int{0}, false, false, sum}), region{radius: -1, half: []int{40000}}},
		{part(space.Ring{Length: 90000}, shape{[]int{90000}, true, []int{0}, false, false, sum}), region{radius: 100000}},
		{part(space.FCC12{W: 51, H: 50, D: 53}, shape{[]int{51, 50, 53}, false, []int{2, 1, 0}, false, true, balls}), region{radius: 12}},
		{part(space.FCC12{W: 50, H: 52, D: 54, Edge: space.Wrap}, shape{[]int{50, 52, 54}, true, []int{2, 1, 0}, false, true, balls}), region{radius: -1, half: []int{30, 2, 20}}},
		{ground{build(t, space.Product{space.Ring{Length: 2}, space.FCC12{W: 51, H: 50, D: 20}}),
			[]shape{line, {[]int{51, 50, 20}, false, []int{2, 1, 0}, false, true, balls}}}, region{radius: 8}},
		{ground{build(t, space.Product{space.FCC12{W: 51, H: 50, D: 20}, space.Ring{Length: 2}}),
			[]shape{{[]int{51, 50, 20}, false, []int{2, 1, 0}, false, true, balls}, line}}, region{radius: 8}},
	} {
		t.Run(tt.ground.lattice.Space().String(), func(t *testing.T) {
			for _, original := range []bool{false, true} {
				r := rand.New(rand.NewPCG(1, 1))
				o := newNaive(r, tt.ground, original)
				views := []view{{region: tt.region}, {region: tt.region, transform: transform{kind: "normalize", max: 3}}}
				if !original {
					views = append(views, view{source: observe.Source{Count: true}, region: tt.region})
				}
				spec := observe.Spec{}
				if original {
					spec.Rules = engine.Murk019
				}
				for i := range views {
					spec.Entries = append(spec.Entries, views[i].entry())
				}
				plan, err := observe.Compile(spec, tt.ground.lattice, o.defs)
				if err != nil {
					t.Fatal(err)
				}
				agents := []observe.Agent{{Cell: 0, Slot: -1}, {Cell: int32(tt.ground.lattice.Cells() - 1)}, {Cell: int32(r.IntN(tt.ground.lattice.Cells()))}}
				o.compare(t, plan.Observer(), plan, views, agents)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	l := build(t, space.Square4{Rows: 8, Cols: 8})
	huge := build(t, space.Line{Length: 1 << 30})
	defs := slices.Clone(randomDefs)
	far := observe.Entry{Region: observe.AgentDisk(1e9)}
	for _, tt := range []struct {
		name    string
		lattice *space.Lattice
		rules   engine.Rules
		entry   observe.Entry
		want    observe.Fault
	}{
		{"field", l, 0, observe.Entry{Source: observe.Source{Field: 10}}, observe.ErrField},
		{"kinds of a field", l, 0, observe.Entry{Source: observe.Source{Kinds: []int32{1}}}, observe.ErrSource},
		{"others of a field", l, 0, observe.Entry{Source: observe.Source{Others: true}}, observe.ErrSource},
		{"no kinds", l, 0, observe.Entry{Source: observe.Source{Count: true, Kinds: []int32{}}}, observe.ErrSource},
		{"own value of others", l, 0, observe.Entry{Source: observe.Source{Field: 7, Others: true}, Region: observe.Self()}, observe.ErrSource},
		{"radius", l, 0, observe.Entry{Region: observe.AgentDisk(-1)}, observe.ErrRegion},
		{"half extents", l, 0, observe.Entry{Region: observe.AgentRect(1, 2, 3)}, observe.ErrRegion},
		{"a cell outside", l, 0, observe.Entry{Region: observe.Fixed(space.Cells{space.At(8, 0)})}, observe.ErrRegion},
		{"no region", l, 0, observe.Entry{Region: observe.Fixed(nil)}, observe.ErrRegion},
		{"far", l, 0, far, observe.ErrLimit},
		{"far on a line", huge, 0, far, observe.ErrLimit},
		{"all of too much", huge, 0, observe.Entry{}, observe.ErrLimit},
		{"disk of too much", huge, 0, observe.Entry{Region: observe.Fixed(space.Disk{Center: space.At(0), Radius: 1e9})}, observe.ErrLimit},
		{"neighbours of too much", huge, 0, observe.Entry{Region: observe.Fixed(space.Neighbours{Center: space.At(0), Depth: 1e9})}, observe.ErrLimit},
		{"rect of too much", huge, 0, observe.Entry{Region: observe.Fixed(space.Rect{Min: space.At(0), Max: space.At(1<<30 - 1)})}, observe.ErrLimit},
		{"channels", l, 0, observe.Entry{Region: observe.AgentRect(100, 100), Transform: observe.OneHot(1 << 16)}, observe.ErrLimit},
		{"kernel", l, 0, observe.Entry{Pool: observe.Pool{Kernel: 9, Size: 1, Stride: 1}}, observe.ErrPool},
		{"no kernel", l, 0, observe.Entry{Pool: observe.Pool{Size: 1, Stride: 1}}, observe.ErrPool},
		{"size", l, 0, observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Stride: 1}}, observe.ErrPool},
		{"stride", l, 0, observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Size: 1}}, observe.ErrPool},
		{"window", l, 0, observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Size: 9, Stride: 1}}, observe.ErrPool},
		{"high window", l, 0, observe.Entry{Region: observe.AgentRect(0, 2), Pool: observe.Pool{Kernel: observe.Max, Size: 3, Stride: 1}}, observe.ErrPool},
		{"wide window", l, 0, observe.Entry{Region: observe.AgentRect(2, 0), Pool: observe.Pool{Kernel: observe.Max, Size: 3, Stride: 1}}, observe.ErrPool},
		{"pooled value", l, 0, observe.Entry{Region: observe.Self(), Pool: observe.Pool{Kernel: observe.Max, Size: 1, Stride: 1}}, observe.ErrPool},
		{"pooled fixed", l, engine.Murk019, observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Size: 1, Stride: 1}}, observe.ErrPool},
		{"NaN", l, 0, observe.Entry{Transform: observe.Normalize(math.NaN(), 1)}, observe.ErrTransform},
		{"infinite", l, 0, observe.Entry{Transform: observe.Normalize(0, math.Inf(1))}, observe.ErrTransform},
		{"too wide", l, 0, observe.Entry{Transform: observe.Normalize(-1.7e308, 1.7e308)}, observe.ErrTransform},
		{"min above max", l, 0, observe.Entry{Transform: observe.Clip(2, 1)}, observe.ErrTransform},
		{"clip to NaN", l, 0, observe.Entry{Transform: observe.Clip(0, math.NaN())}, observe.ErrTransform},
		{"no category", l, 0, observe.Entry{Transform: observe.OneHot(0)}, observe.ErrTransform},
		{"categories", l, 0, observe.Entry{Transform: observe.OneHot(1e6)}, observe.ErrTransform},
		{"one-hot of a vector", l, 0, observe.Entry{Source: observe.Source{Field: 1}, Transform: observe.OneHot(2)}, observe.ErrTransform},
		{"element", l, 0, observe.Entry{Element: 3}, observe.ErrElement},
		{"other element", l, 0, observe.Entry{Element: observe.Uint8}, observe.ErrElement},
		{"count in the original", l, engine.Murk019, observe.Entry{Source: observe.Source{Count: true}}, observe.ErrRules},
		{"fixed in the original", l, engine.Murk019, observe.Entry{Source: observe.Source{Field: 2}}, observe.ErrRules},
		{"attribute in the original", l, engine.Murk019, observe.Entry{Source: observe.Source{Field: 7}}, observe.ErrRules},
		{"self in the original", l, engine.Murk019, observe.Entry{Region: observe.Self()}, observe.ErrRules},
		{"clip in the original", l, engine.Murk019, observe.Entry{Transform: observe.Clip(0, 1)}, observe.ErrRules},
		{"no cells in the original", l, engine.Murk019, observe.Entry{Region: observe.Fixed(space.Cells{})}, observe.ErrCoverage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.entry.Name = "this one"
			s := observe.Spec{Rules: tt.rules, Entries: []observe.Entry{{Region: observe.Fixed(space.Cells{tt.lattice.Coord(0)})}, tt.entry}}
			_, err := observe.Compile(s, tt.lattice, defs)
			e, ok := errors.AsType[*observe.Error](err)
			if !ok || e.Fault != tt.want || e.Entry != 1 || e.Name != "this one" || !errors.Is(err, tt.want) {
				t.Errorf("Compile = %v, want %q of entry 1", err, tt.want)
			} else if text := err.Error(); !strings.HasPrefix(text, "observe: entry 1 (this one): "+string(tt.want)+": ") {
				t.Errorf("the error reads %q", text)
			}
		})
	}
	for _, tt := range []struct {
		name    string
		lattice *space.Lattice
		spec    observe.Spec
		want    observe.Fault
	}{
		{"no entries", l, observe.Spec{}, observe.ErrEmpty},
		{"no entities", l, observe.Spec{Entries: []observe.Entry{{Source: observe.Source{Count: true}}}}, observe.ErrSource},
		{"no lattice", nil, observe.Spec{Entries: make([]observe.Entry, 1)}, observe.ErrRegion},
		{"no such rules", l, observe.Spec{Rules: 9, Entries: make([]observe.Entry, 1)}, observe.ErrRules},
		{"too many cells", build(t, space.Line{Length: 1<<30 + 1}), observe.Spec{Entries: make([]observe.Entry, 1)}, observe.ErrLimit},
	} {
		if _, err := observe.Compile(tt.spec, tt.lattice, append(defs, fields.Def{Name: engine.WorldRest, Element: fields.Uint64})); !errors.Is(err, tt.want) {
			t.Errorf("%s: Compile = %v, want %q", tt.name, err, tt.want)
		}
	}
	var cause *space.Error
	_, err := observe.Compile(observe.Spec{Entries: []observe.Entry{{Region: observe.Fixed(space.Cells{space.At(8, 0)})}}}, l, defs)
	if !errors.As(err, &cause) || cause.Fault != space.ErrBounds {
		t.Errorf("Compile = %v, want one with the cause %q", err, space.ErrBounds)
	}
}

// TestRefusedCalls: a call that does not fit changes nothing.
func TestRefusedCalls(t *testing.T) {
	l := build(t, space.Square4{Rows: 4, Cols: 4})
	r := rand.New(rand.NewPCG(3, 3))
	o := newNaive(r, ground{l, nil}, false)
	spec := observe.Spec{Entries: []observe.Entry{{Region: observe.AgentDisk(1)}, {Source: observe.Source{Field: 7}, Region: observe.Self()}}}
	plan, err := observe.Compile(spec, l, o.defs)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Len() != 10 || plan.MaskLen() != 10 || !plan.Agents() || plan.Element() != observe.Float32 {
		t.Fatalf("the plan has %d elements, %d in the mask", plan.Len(), plan.MaskLen())
	}
	one := []observe.Agent{{Cell: 3, Slot: 0}}
	short, other, wrong := slices.Clone(o.world), slices.Clone(o.world), slices.Clone(o.world)
	short[0] = fields.NewColumn(fields.Float32, 15)
	other[0] = fields.NewColumn(fields.Int32, 16)
	wrong[7] = fields.NewColumn(fields.Float32, len(o.cell)+1)
	for _, tt := range []struct {
		name      string
		world     snapshot
		agents    []observe.Agent
		out, mask int
		want      observe.Fault
	}{
		{"short", o.world, one, 9, 10, observe.ErrBuffer},
		{"long", o.world, one, 11, 10, observe.ErrBuffer},
		{"short mask", o.world, one, 10, 9, observe.ErrBuffer},
		{"cell", o.world, []observe.Agent{{Cell: 16}}, 10, 10, observe.ErrAgent},
		{"cell below", o.world, []observe.Agent{{Cell: -2}}, 10, 10, observe.ErrAgent},
		{"slot", o.world, []observe.Agent{{Slot: int32(len(o.cell))}}, 10, 10, observe.ErrAgent},
		{"slot below", o.world, []observe.Agent{{Slot: -2}}, 10, 10, observe.ErrAgent},
		{"short column", short, one, 10, 10, observe.ErrWorld},
		{"other column", other, one, 10, 10, observe.ErrWorld},
		{"slots", wrong, one, 10, 10, observe.ErrWorld},
	} {
		out, mask := slices.Repeat([]float32{7}, tt.out), slices.Repeat([]uint8{7}, tt.mask)
		err := plan.Observer().Float32(tt.world, tt.agents, out, mask)
		if e, ok := errors.AsType[*observe.Error](err); !ok || e.Fault != tt.want || e.Entry != -1 {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if slices.Max(out) != 7 || slices.Min(out) != 7 || slices.Max(mask) != 7 || slices.Min(mask) != 7 {
			t.Errorf("%s: the buffers were changed", tt.name)
		}
	}
	if err := plan.Observer().Uint8(o.world, one, make([]uint8, 10), nil); !errors.Is(err, observe.ErrElement) {
		t.Errorf("Uint8 = %v, want %q", err, observe.ErrElement)
	}
	if err := plan.Observer().Float32(o.world, nil, nil, nil); err != nil {
		t.Errorf("no agents: %v", err)
	}
}

func TestShape(t *testing.T) {
	l := build(t, space.Hex{Cols: 9, Rows: 7})
	wind := observe.Source{Field: 1}
	disk := observe.AgentDisk(2)
	for _, tt := range []struct {
		name    string
		entries []observe.Entry
		want    []int
	}{
		{"one", []observe.Entry{{}}, []int{1, 7, 9}},
		{"vector and one-hot", []observe.Entry{{Source: wind, Region: disk}, {Source: observe.Source{Field: 3}, Region: disk, Transform: observe.OneHot(5)}, {Region: observe.AgentRect(2, 2)}}, []int{9, 5, 5}},
		{"rows first", []observe.Entry{{Region: observe.AgentRect(1, 3)}}, []int{1, 7, 3}},
		{"two shapes", []observe.Entry{{Region: disk}, {Region: observe.AgentDisk(1)}}, []int{34}},
		{"values", []observe.Entry{{Region: observe.Self()}, {Source: observe.Source{Field: 8}, Region: observe.Self()}}, []int{3}},
		{"pooled", []observe.Entry{{Source: wind, Region: disk, Pool: observe.Pool{Kernel: observe.Sum, Size: 2, Stride: 3}}}, []int{3, 2, 2}},
	} {
		plan, err := observe.Compile(observe.Spec{Entries: tt.entries}, l, randomDefs)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Shape(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: shape %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	l := build(t, space.Square4{Rows: 4, Cols: 4})
	inf, pool := math.Inf(1), observe.Pool{Kernel: observe.Max, Size: 2, Stride: 2}
	defs := []fields.Def{
		{Name: "free"}, {Name: "soil", Type: fields.Categorical(5), Element: fields.Int32}, {Name: "number", Element: fields.Uint64},
		{Name: "warm", Bounds: &fields.Bounds{Min: 2, Max: 3.3}}, {Name: "fixed", Element: fields.Fixed, Bounds: &fields.Bounds{Min: -0.1, Max: 300.3}},
		{Name: "energy", Domain: fields.Entities, Bounds: &fields.Bounds{Min: 1, Max: 2}},
	}
	sum, mean := pool, pool
	sum.Kernel, mean.Kernel = observe.Sum, observe.Mean
	for _, tt := range []struct {
		name      string
		entry     observe.Entry
		low, high float64
	}{
		{"free", observe.Entry{}, -inf, inf},
		{"category", observe.Entry{Source: observe.Source{Field: 1}}, 0, 4},
		{"unsigned", observe.Entry{Source: observe.Source{Field: 2}}, 0, inf},
		{"with 0", observe.Entry{Source: observe.Source{Field: 3}}, 0, float64(float32(3.3))},
		{"fixed", observe.Entry{Source: observe.Source{Field: 4}}, float64(float32(-6554.0 / 65536)), float64(float32(19680461.0 / 65536))},
		{"greatest", observe.Entry{Source: observe.Source{Field: 3}, Pool: pool}, 0, float64(float32(3.3))},
		{"mean", observe.Entry{Source: observe.Source{Field: 3}, Pool: mean}, 0, float64(float32(3.3))},
		{"mean of all", observe.Entry{Pool: mean}, -inf, inf},
		{"sum", observe.Entry{Source: observe.Source{Field: 3}, Pool: sum}, -inf, inf},
		{"count", observe.Entry{Source: observe.Source{Count: true}}, 0, inf},
		{"attribute", observe.Entry{Source: observe.Source{Field: 5}}, -inf, inf},
		{"own value", observe.Entry{Source: observe.Source{Field: 5}, Region: observe.Self()}, 0, 2},
		{"normalized", observe.Entry{Transform: observe.Normalize(5, 9)}, 0, 1},
		{"clipped", observe.Entry{Transform: observe.Clip(-3, -1)}, -3, 0},
		{"clipped below", observe.Entry{Transform: observe.Clip(-0.1, inf)}, float64(float32(-0.1)), inf},
		{"one-hot", observe.Entry{Transform: observe.OneHot(3)}, 0, 1},
		{"bytes", observe.Entry{Source: observe.Source{Field: 4}, Element: observe.Uint8}, 0, 255},
		{"few bytes", observe.Entry{Source: observe.Source{Field: 1}, Element: observe.Uint8}, 0, 4},
		{"normalized bytes", observe.Entry{Transform: observe.Normalize(5, 9), Element: observe.Uint8}, 0, 255},
		{"halves", observe.Entry{Transform: observe.Clip(-70000, 0.1), Element: observe.Float16}, -inf, 0x1.998p-4},
	} {
		plan, err := observe.Compile(observe.Spec{Entries: []observe.Entry{tt.entry}}, l, defs)
		if err != nil {
			t.Fatal(err)
		}
		if p := plan.Parts()[0]; p.Low != tt.low || p.High != tt.high {
			t.Errorf("%s: %v to %v, want %v to %v", tt.name, p.Low, p.High, tt.low, tt.high)
		}
	}
}

// TestNoAllocation: once an observer has been used, it allocates nothing.
func TestNoAllocation(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := randomGround(r)
		o := newNaive(r, g, false)
		spec := observe.Spec{}
		for range 4 {
			v := o.randomView(r)
			spec.Entries = append(spec.Entries, v.entry())
		}
		plan, err := observe.Compile(spec, g.lattice, o.defs)
		if err != nil {
			t.Fatal(err)
		}
		observer := plan.Observer()
		agents := []observe.Agent{{Cell: 0, Slot: 0}, {Cell: -1, Slot: -1}, {Cell: int32(r.IntN(g.lattice.Cells())), Slot: -1}}
		out, mask := make([]float32, 3*plan.Len()), make([]uint8, 3*plan.MaskLen())
		world := observe.World(o.world)
		if n := testing.AllocsPerRun(20, func() {
			if err := observer.Float32(world, agents, out, mask); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("seed %d, %v: %v allocations", seed, g.lattice.Space(), n)
		}
	}
}

// TestWorld observes a world of the engine as it goes on.
func TestWorld(t *testing.T) {
	w, err := engine.New(engine.Config{
		Space: space.Ring{Length: 6}, Capacity: 4,
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values([]float64{0, 1, 2, 3, 4, 5})}, {Name: "energy", Domain: fields.Entities}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []int32{5, 1, 1} {
		if _, err := w.Submit(commands.Spawn(space.At(cell), commands.FieldValue{Field: 1, Value: float32(cell) + 0.5})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	near := observe.AgentDisk(1)
	spec := observe.Spec{Entries: []observe.Entry{
		{Region: near},
		{Source: observe.Source{Count: true, Others: true}, Region: near},
		{Source: observe.Source{Field: 1}, Region: near},
		{Source: observe.Source{Field: 1}, Region: observe.Self()},
	}}
	for _, defs := range [][]fields.Def{w.Defs(), w.Defs()[:2]} {
		plan, err := observe.Compile(spec, w.Lattice(), defs)
		if err != nil {
			t.Fatal(err)
		}
		all, out := w.Entities(), make([]float32, 2*plan.Len())
		agents := []observe.Agent{{Cell: all.Cell[0], Slot: 0}, {Cell: all.Cell[1], Slot: 1}}
		if err := plan.Observer().Float32(w, agents, out, nil); err != nil {
			t.Fatal(err)
		}
		want := []float32{4, 5, 0, 0, 0, 0, 0, 5.5, 0, 5.5, 0, 1, 2, 0, 1, 0, 0, 3, 0, 1.5}
		if !reflect.DeepEqual(out, want) {
			t.Errorf("observed %v, want %v", out, want)
		}
	}
}

// TestFloat16 compares every half, and what lies between two of them, with a search.
func TestFloat16(t *testing.T) {
	l := build(t, space.Line{Length: 8})
	plan, err := observe.Compile(observe.Spec{Entries: []observe.Entry{{Source: observe.Source{Field: 0}, Element: observe.Float16}}}, l, randomDefs[:1])
	if err != nil {
		t.Fatal(err)
	}
	o, world, out := plan.Observer(), snapshot{fields.NewColumn(fields.Float32, 8)}, make([]uint16, 8)
	for i, v := range halves {
		next := 65536.0
		if i+1 < len(halves) {
			next = halves[i+1]
		}
		middle := float32((v + next) / 2)
		in := []float32{float32(v), middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e6), -float32(v), -middle, 1e30, float32(math.Inf(-1))}
		copy(world[0].Float32, in)
		if err := o.Float16(world, nil, out, nil); err != nil {
			t.Fatal(err)
		}
		for k, x := range in {
			if want := nearestHalf(float64(x)); out[k] != want {
				t.Fatalf("%v becomes %04x, want %04x", x, out[k], want)
			}
		}
	}
}

func TestNames(t *testing.T) {
	if got := fmt.Sprint(observe.Float32, observe.Uint8, observe.Float16, observe.Element(9)); got != "float32 uint8 float16 invalid" {
		t.Errorf("elements are called %q", got)
	}
	if got := (observe.Moment{Observed: 5, Now: 3}).Age(); got != 0 || observe.Coverage(nil) != 0 {
		t.Errorf("an observation of the future is %d ticks old", got)
	}
}
