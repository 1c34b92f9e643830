package engine_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// sweptSpaces are lattices of all kinds, edges and shapes.
func sweptSpaces() (all []space.Space) {
	for _, e := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		all = append(all, space.Line{Length: 61, Edge: e}, space.Square4{Rows: 17, Cols: 13, Edge: e}, space.Square4{Rows: 1, Cols: 7, Edge: e},
			space.Square8{Rows: 23, Cols: 5, Edge: e}, space.FCC12{W: 6, H: 8, D: 6, Edge: e}, space.Hex{Cols: 9, Rows: 31, Edge: e},
			space.Product{space.Line{Length: 19}, space.Square4{Rows: 3, Cols: 2, Edge: e}},
			space.Product{space.Square4{Rows: 9, Cols: 8, Edge: e}, space.Line{Length: 3}})
	}
	return append(all, space.Ring{Length: 40}, space.Product{space.Hex{Cols: 4, Rows: 9}, space.Ring{Length: 3}})
}

// Fields of a swept world.
const (
	sweptHeat fields.ID = iota
	sweptWind
	sweptWall
	sweptSlope
	sweptHeight
	sweptSpeed
	sweptLife
	sweptOut
	sweptU
	sweptV
	sweptFlow
	sweptStates
	sweptGrowth
)

// swept is a world of local propagators only, with random values.
func swept(t testing.TB, s space.Space, r *rand.Rand) engine.Config {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	random := func(components int, value func() float64) fields.Initial {
		v := make([]float64, l.Cells()*components)
		for i := range v {
			v[i] = value()
		}
		return fields.Values(v)
	}
	bit := func() float64 { return float64(r.IntN(2)) }
	c := engine.Config{Space: s, TickRate: 20, Seed: r.Uint64(), Fields: []fields.Def{
		sweptHeat:   {Name: "heat", Initial: random(1, r.NormFloat64)},
		sweptWind:   {Name: "wind", Type: fields.Vector(3), Initial: random(3, r.NormFloat64)},
		sweptWall:   {Name: "wall", Mutability: fields.Sparse, Initial: random(1, func() float64 { return float64(r.IntN(5) / 4) })},
		sweptSlope:  {Name: "slope", Type: fields.Vector(2)},
		sweptHeight: {Name: "height", Initial: random(1, r.NormFloat64)},
		sweptSpeed:  {Name: "speed"},
		sweptLife:   {Name: "life", Type: fields.Categorical(2), Initial: random(1, bit)},
		sweptOut:    {Name: "out"},
		sweptU:      {Name: "u", Initial: random(1, r.Float64)},
		sweptV:      {Name: "v", Initial: random(1, func() float64 { return r.Float64() / 4 })},
		sweptFlow:   {Name: "flow", Type: fields.Vector(2)},
		sweptStates: {Name: "states", Initial: random(1, func() float64 { return float64(r.IntN(4)) })},
		sweptGrowth: {Name: "growth"},
	}}
	all := []engine.Propagator{
		propagators.Diffusion{Name: "heat", Field: sweptHeat, Rate: 0.9, Decay: 0.1, Gradient: new(sweptSlope),
			Hold: []propagators.Hold{{Cells: []int{l.Cells() - 1}, Value: 2}}},
		propagators.Diffusion{Name: "wind", Field: sweptWind, Rate: 0.5},
		propagators.Wave{Displacement: sweptHeight, Velocity: sweptSpeed, Speed: 3},
		propagators.Automaton{Field: sweptLife, Rule: propagators.Rule{Born: 1 << 2, Survive: 1<<1 | 1<<2}},
		propagators.GrayScott{U: sweptU, V: sweptV, DiffU: 0.4, DiffV: 0.2, Feed: 0.04, Kill: 0.06},
		propagators.Flow{Field: sweptHeat, Output: sweptFlow, Normalise: true},
		propagators.Automaton{Name: "states", Field: sweptStates, Rule: propagators.Rule{Born: 1 << 2, Survive: 1 << 1, States: 4}},
		propagators.Diffusion{Name: "out", Field: sweptHeat, Rate: 0.5, BlockedBy: new(sweptWall), Output: new(sweptOut), Max: new(0.5)},
		propagator{engine.Spec{Name: "growth", Prev: engine.Fields(sweptGrowth), Full: engine.Fields(sweptGrowth), Parallel: true, Local: true}, grow},
	}
	for i, p := range all {
		if i == 0 || r.IntN(3) > 0 {
			c.Propagators = append(c.Propagators, p)
		}
	}
	return c
}

// grow doubles every cell, which fails a tick at some time if a command has set one.
func grow(c *engine.Context) error {
	lo, hi := c.Range()
	for i, v := range c.Prev(sweptGrowth)[lo:hi] {
		c.Next(sweptGrowth)[lo+i] = 2 * v
	}
	return nil
}

// wantEqualWorlds compares all that there is of two worlds.
func wantEqualWorlds(t testing.TB, got, want *engine.World) {
	t.Helper()
	if got.Tick() != want.Tick() {
		t.Fatalf("tick %d, want %d", got.Tick(), want.Tick())
	}
	for i, d := range want.Defs() {
		if g, w := values(got, fields.ID(i)), values(want, fields.ID(i)); !slices.Equal(g, w) {
			t.Fatalf("tick %d: field %q is %v, want %v", want.Tick(), d.Name, g, w)
		}
	}
	if g, w := got.Hash(), want.Hash(); g != w {
		t.Fatalf("tick %d: hash %016x, want %016x", want.Tick(), g, w)
	}
	g, err := got.Save(nil)
	w, err2 := want.Save(nil)
	if err != nil || err2 != nil || !bytes.Equal(g, w) {
		t.Fatalf("tick %d: saved states differ (%v, %v)", want.Tick(), err, err2)
	}
}

func TestRunGivesTheSameBits(t *testing.T) {
	failed, shared, rings, variants := 0, 0, 0, 4
	if testing.Short() {
		variants = 1
	}
	for i, s := range append(sweptSpaces(), space.Square4{Rows: 60, Cols: 70}) {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			for variant := range variants {
				r := rand.New(rand.NewPCG(uint64(i), uint64(variant)))
				c := swept(t, s, r)
				want := unchecked(t, c)
				c.Workers = 1 + r.IntN(4)
				got := unchecked(t, c)
				depth, cells := 2+r.IntN(9), 1+r.IntN(40)
				got.Sweeps(depth, cells)
				if got.Lanes() > 1 && got.Sweepable(30) > 1 {
					shared++
				}
				if got.Ring() && got.Sweepable(30) > 1 {
					rings++
				}
				h := &holder{t: t}
				for range 12 {
					if r.IntN(8) == 0 {
						got, want = fork(t, got), fork(t, want)
						got.Sweeps(depth, cells)
					}
					if got.Record(nil); r.IntN(5) == 0 {
						got.Record(h)
					}
					interfere(t, r, got, want)
					var held *engine.Snapshot
					var hash uint64
					if r.IntN(2) == 0 {
						held = got.Snapshot()
						hash = held.Hash()
					}
					if !runBoth(t, got, want, r.Uint64N(30)) {
						failed++
					}
					if held != nil {
						if h := held.Hash(); h != hash {
							t.Fatalf("the snapshot held has the hash %016x, had %016x", h, hash)
						}
						held.Release()
					}
				}
			}
		})
	}
	if failed < 5*variants {
		t.Errorf("%d runs failed; the test wants more", failed)
	}
	if rings < 3*variants {
		t.Errorf("%d worlds that wrap were swept in several tiles; the test wants more", rings)
	}
	if shared < 3*variants {
		t.Errorf("%d worlds were swept by several workers; the test wants more", shared)
	}
}

// TestRunAroundARing: worlds that wrap, of odd sizes and with any number of ticks and lanes.
func TestRunAroundARing(t *testing.T) {
	swept, lanes := 0, 0
	for _, s := range []space.Space{
		space.Ring{Length: 61}, space.Square4{Rows: 37, Cols: 7, Edge: space.Wrap}, space.Square8{Rows: 41, Cols: 5, Edge: space.Wrap},
		space.Square4{Rows: 3, Cols: 30, Edge: space.Wrap}, space.Hex{Cols: 5, Rows: 33, Edge: space.Wrap}, space.FCC12{W: 4, H: 4, D: 30, Edge: space.Wrap},
		space.Product{space.Ring{Length: 23}, space.Square4{Rows: 2, Cols: 3}},
	} {
		r := rand.New(rand.NewPCG(3, 9))
		values := make([]float64, cellsOf(t, s))
		for i := range values {
			values[i] = r.NormFloat64()
		}
		config := engine.Config{
			Space: s, Fields: []fields.Def{{Name: "heat", Initial: fields.Values(values)}},
			Propagators: []engine.Propagator{propagators.Diffusion{Rate: 0.9}},
		}
		for workers := range 4 {
			for cells := 1; cells < 60; cells += 1 + cells/5 {
				config.Workers = workers
				want, got := unchecked(t, config), unchecked(t, config)
				got.Sweeps(engine.MaxSweep, cells)
				if got.Ring() && got.Sweepable(20) > 1 {
					swept++
					lanes = max(lanes, got.Lanes())
				}
				for ticks := range uint64(engine.MaxSweep + 3) {
					runBoth(t, got, want, ticks)
				}
			}
		}
	}
	if swept < 100 || lanes < 3 {
		t.Errorf("%d worlds were swept around, with up to %d lanes; the test wants more", swept, lanes)
	}
}

func cellsOf(t testing.TB, s space.Space) int {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return l.Cells()
}

func fork(t testing.TB, w *engine.World) *engine.World {
	t.Helper()
	f, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// runBoth takes two worlds so many ticks on, the second by single steps, or up to a tick
// that fails, and compares them. It reports whether none failed.
func runBoth(t testing.TB, got, want *engine.World, ticks uint64) (whole bool) {
	t.Helper()
	err, wantErr := got.Run(ticks), error(nil)
	for i := uint64(0); i < ticks && wantErr == nil; i++ {
		_, wantErr = want.Step()
	}
	if (err == nil) != (wantErr == nil) || err != nil && firstLine(err) != firstLine(wantErr) {
		t.Fatalf("Run = %v, want %v", err, wantErr)
	}
	wantEqualWorlds(t, got, want)
	return err == nil
}

// interfere does one of the things that end or shorten sweeps to both worlds, or that
// make one fail.
func interfere(t testing.TB, r *rand.Rand, worlds ...*engine.World) {
	t.Helper()
	var c commands.Command
	at := worlds[0].Lattice().Coord(r.IntN(worlds[0].Lattice().Cells()))
	switch what, seed := r.IntN(6), r.Uint64(); what {
	case 0:
		for _, w := range worlds {
			w.Reset(seed)
		}
		return
	case 1:
		c = set(at, uint32(sweptHeat), r.Float32())
	case 2:
		c = commands.Later(worlds[0].Tick()+2+r.Uint64N(25), set(at, uint32(sweptWall), 1))
	case 3:
		c = set(at, uint32(sweptGrowth), 1e34) // for a dozen ticks
	case 4:
		for _, w := range worlds {
			w.Replay(nil) // which may fail
		}
		return
	default:
		return
	}
	for _, w := range worlds {
		if _, err := w.Submit(c); err != nil { // halted
			w.Reset(7)
		}
	}
}

func TestWhenRunSweeps(t *testing.T) {
	local := func(c *engine.Config) *engine.Spec {
		p := propagator{engine.Spec{Name: "p", Full: engine.Fields(0), Prev: engine.Fields(0), Parallel: true, Local: true}, nothing}
		c.Propagators = []engine.Propagator{&p}
		return &p.spec
	}
	for _, tt := range []struct {
		name   string
		change func(*engine.Config, *engine.Spec)
		live   func(*engine.World)
		want   int
	}{
		{"as it is", nil, nil, 10},
		{"a recorder", func(c *engine.Config, _ *engine.Spec) { c.Recorder = recorder(func(*engine.Tick) error { return nil }) }, nil, 0},
		{"a recorder that came later", nil, func(w *engine.World) { w.Record(recorder(func(*engine.Tick) error { return nil })) }, 0},
		{"paranoid", func(c *engine.Config, _ *engine.Spec) { c.Paranoid = true }, nil, 0},
		{"workers, each with too little", func(c *engine.Config, _ *engine.Spec) { c.Workers = 2 }, nil, 0},
		{"workers", func(c *engine.Config, _ *engine.Spec) { c.Workers, c.Space = 2, space.Line{Length: 1 << 16} }, nil, 4},
		{"other rules", func(c *engine.Config, _ *engine.Spec) { c.Rules = engine.Murk019 }, nil, 0},
		{"bounds", func(c *engine.Config, _ *engine.Spec) { c.Fields[0].Bounds = &fields.Bounds{Max: 1} }, nil, 0},
		{"fixed", func(c *engine.Config, _ *engine.Spec) { c.Fields[0].Element = fields.Fixed }, nil, 0},
		{"not local", func(_ *engine.Config, s *engine.Spec) { s.Local = false }, nil, 0},
		{"now", func(_ *engine.Config, s *engine.Spec) { s.Now = engine.Fields(1) }, nil, 0},
		{"incremental", func(_ *engine.Config, s *engine.Spec) { s.Incremental = engine.Fields(1) }, nil, 0},
		{"reads world.rest", func(_ *engine.Config, s *engine.Spec) { s.Prev = engine.Fields(2) }, nil, 0},
		{"no propagator", func(c *engine.Config, _ *engine.Spec) { c.Propagators = nil }, nil, 0},
		{"a system", func(c *engine.Config, _ *engine.Spec) {
			c.Systems = []engine.System{system{engine.Spec{Name: "s"}, func(*engine.SystemContext) error { return nil }}}
		}, nil, 0},
		{"an input", nil, func(w *engine.World) { submit(t, w, set(space.At(0), 0, 1)) }, 0},
		{"an event", nil, func(w *engine.World) { step(t, w, commands.Later(5, set(space.At(0), 0, 1))) }, 3},
		{"an event of the next tick", nil, func(w *engine.World) { step(t, w, commands.Later(2, set(space.At(0), 0, 1))) }, 0},
		{"an event far off", nil, func(w *engine.World) { step(t, w, commands.Later(50, set(space.At(0), 0, 1))) }, 10},
	} {
		c := engine.Config{Fields: cells(2), Space: space.Ring{Length: 8}}
		spec := local(&c)
		if tt.change != nil {
			tt.change(&c, spec)
		}
		w := unchecked(t, c)
		if tt.live != nil {
			tt.live(w)
		}
		if got := w.Sweepable(10); got != tt.want {
			t.Errorf("%s: a sweep of %d ticks, want %d", tt.name, got, tt.want)
		}
	}
}

// growing multiplies each cell by its tick's factor, and notes what it computes.
type growing struct {
	factor func(tick uint64, cell int) (float32, error)
	seen   *[]visit
}

type visit struct {
	tick uint64
	lo   int
}

func (growing) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "growing", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true, Local: true}
}

func (g growing) Step(c *engine.Context) error {
	lo, hi := c.Range()
	*g.seen = append(*g.seen, visit{c.Tick(), lo})
	for i := lo; i < hi; i++ {
		f, err := g.factor(c.Tick(), i)
		if err != nil {
			return c.Fail(i, "%v", err)
		}
		c.Next(0)[i] = float32(c.Prev(0)[i] * f)
	}
	return nil
}

func TestSweepIsAWave(t *testing.T) {
	var seen []visit
	one := func(uint64, int) (float32, error) { return 1, nil }
	w := unchecked(t, engine.Config{Space: space.Line{Length: 6}, Fields: cells(1), Propagators: []engine.Propagator{growing{one, &seen}}})
	w.Sweeps(3, 2)
	if err := w.Run(3); err != nil {
		t.Fatal(err)
	}
	want := []visit{{1, 0}, {1, 2}, {2, 0}, {1, 4}, {2, 2}, {3, 0}, {2, 4}, {3, 2}, {3, 4}}
	if !slices.Equal(seen, want) {
		t.Errorf("a sweep computes %v, want %v", seen, want)
	}
}

// What fails within a sweep is found by single steps, at its tick, on the state before.
func TestFailureInASweep(t *testing.T) {
	ways := map[string]func() (float32, error){
		"error":     func() (float32, error) { return 0, errPlanned },
		"panic":     func() (float32, error) { panic("planned") },
		"NaN":       func() (float32, error) { return float32(math.NaN()), nil },
		"too large": func() (float32, error) { return math.MaxFloat32, nil },
	}
	for name, how := range ways {
		for tick := uint64(1); tick <= 12; tick++ {
			for _, cell := range []int{0, 7, 29} {
				factor := func(at uint64, i int) (float32, error) {
					if at == tick && i == cell {
						return how()
					}
					return 1 + float32(i)/8, nil
				}
				var seen []visit
				world := func() *engine.World {
					c := engine.Config{Space: space.Line{Length: 30}, Fields: cells(1), Propagators: []engine.Propagator{growing{factor, &seen}}}
					c.Fields[0].Initial = fields.Fill(3)
					return unchecked(t, c)
				}
				got, want := world(), world()
				got.Sweeps(4, 3)
				held := got.Snapshot()
				hash := held.Hash()
				for range engine.DefaultFailures + 1 { // the last finds it halted
					err := got.Run(20)
					wantErr := error(nil)
					for wantErr == nil {
						_, wantErr = want.Step()
					}
					wantEqualWorlds(t, got, want)
					if err == nil || want.Tick() != tick-1 || firstLine(err) != firstLine(wantErr) {
						t.Fatalf("%s at tick %d, cell %d: Run = %v, want %v", name, tick, cell, err, wantErr)
					}
				}
				if held.Hash() != hash {
					t.Errorf("%s at tick %d: a snapshot held has changed", name, tick)
				}
			}
		}
	}
}

// firstLine is an error without the stack of a panic.
func firstLine(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}

// A tick that a command makes possible, and one that it forbids, come in order.
func TestRunTakesInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	w := unchecked(t, swept(t, space.Square4{Rows: 5, Cols: 5}, r))
	submit(t, w, set(space.At(2, 2), uint32(sweptWall), 1))
	if err := w.Run(9); err != nil {
		t.Fatal(err)
	}
	if got := values(w, sweptWall)[12]; got != 1 || w.Tick() != 9 {
		t.Errorf("wall %v at tick %d, want 1 at 9", got, w.Tick())
	}
}

func TestLocalMustKeepItsWord(t *testing.T) {
	draws := propagator{engine.Spec{Name: "p", Full: engine.Fields(0), Parallel: true, Local: true}, func(c *engine.Context) error {
		c.Bulk(0)
		return nil
	}}
	w := unchecked(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{draws}})
	err := w.Run(5)
	wantFailure(t, err, 1, "p", "must not draw")

	draws.spec.Parallel = false
	_, err = engine.New(engine.Config{Space: space.Ring{Length: 3}, Fields: cells(1), Propagators: []engine.Propagator{draws}})
	if want := `engine: propagator "p": its Spec says Local but not Parallel`; err == nil || err.Error() != want {
		t.Errorf("New = %v, want %s", err, want)
	}
}

func TestSweepsAllocateNothing(t *testing.T) {
	for _, workers := range []int{1, 2} {
		c := swept(t, space.Square4{Rows: 140, Cols: 130}, rand.New(rand.NewPCG(3, 3)))
		c.Workers = workers
		w := unchecked(t, c)
		run := func() {
			if err := w.Run(25); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if w.Tiles() < 2 || w.Sweepable(25) < 3 || w.Lanes() != workers {
			t.Fatalf("%d tiles, %d ticks at once, %d lanes; the test wants more", w.Tiles(), w.Sweepable(25), w.Lanes())
		}
		runs := 5
		if testing.Short() {
			runs = 1
		}
		if got := testing.AllocsPerRun(runs, run); got != 0 {
			t.Errorf("%d workers: %v allocations in 25 ticks, want none", workers, got)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, edge := range []space.Edge{space.Absorb, space.Wrap} {
		for _, side := range []int{256, 1024, 4096} {
			for _, workers := range []int{1, 2} {
				w := unchecked(b, engine.Config{
					Space: space.Square4{Rows: side, Cols: side, Edge: edge}, Fields: []fields.Def{{Name: "heat", Initial: fields.Fill(1)}},
					Propagators: []engine.Propagator{propagators.Diffusion{Rate: 1}}, Workers: workers,
				})
				for _, ticks := range []uint64{1, engine.MaxSweep} { // one by one, and in sweeps
					b.Run(fmt.Sprintf("%v/%d/%d/%d", edge, side, workers, ticks), func(b *testing.B) {
						b.SetBytes(int64(4*side*side) * int64(ticks))
						for b.Loop() {
							if err := w.Run(ticks); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}
