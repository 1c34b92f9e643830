package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/space"
)

// A holder hashes each tick from what it holds of it, and all of it.
type holder struct {
	t      *testing.T
	hasher statehash.Hasher
	last   store.Moment
	delta  store.Delta
	bytes  int // that may have changed
	parts  int // ticks that were not held whole
}

func (h *holder) Record(t *engine.Tick) error {
	h.bytes += t.View().ChangedBytes(h.last)
	h.last = t.View().HoldDelta(&h.delta, h.last)
	if h.delta.Whole() == nil {
		h.parts++
	}
	var sum [1]uint64
	h.hasher.Hash(sum[:], []*store.Delta{&h.delta})
	h.delta.Release()
	if sum[0] != t.Hash() {
		h.t.Errorf("tick %d: %016x from what changed, want %016x", t.Number, sum[0], t.Hash())
	}
	return nil
}

// changer changes some elements, in tick order, and reports it.
func changer(parallel, full bool, report func(c *engine.Context, at int)) propagator {
	spec := engine.Spec{Name: "changer", Prev: engine.Fields(0), Incremental: engine.Fields(0), Parallel: parallel}
	if full {
		spec.Full, spec.Incremental = spec.Incremental, nil
	}
	return propagator{spec, func(c *engine.Context) error {
		lo, hi := c.Range()
		next := c.Next(0)
		if full {
			copy(next[lo:hi], c.Prev(0)[lo:hi])
		}
		at := lo + int(c.Tick()*5003)%(hi-lo)
		next[at] = float32(c.Tick())
		report(c, at)
		return nil
	}}
}

// TestChanged holds that only what is reported counts as changed, that one worker that
// reports nothing spoils it where a writer writes in full, that the changes of incremental
// writers are found where they are not reported, and that Paranoid finds one that a report
// left out.
func TestChanged(t *testing.T) {
	const cells = 32 << 10 // 32 tiles
	honest := func(c *engine.Context, at int) { c.Changed(0, at, at+1) }
	half := func(c *engine.Context, at int) {
		if lo, _ := c.Range(); lo == 0 {
			c.Changed(0, at, at+1)
		}
	}
	lies := func(c *engine.Context, at int) { c.Changed(0, 0, 0) }
	empty := func(c *engine.Context, at int) { c.Changed(0, at, at) }
	none := func(c *engine.Context, at int) {}
	for _, tt := range []struct {
		name    string
		reports []func(*engine.Context, int)
		parts   bool
		lie     bool
	}{
		{"honest", []func(*engine.Context, int){honest}, true, false},
		{"two honest", []func(*engine.Context, int){honest, honest}, true, false},
		{"one reports nothing", []func(*engine.Context, int){honest, none}, false, false},
		{"another reports nothing", []func(*engine.Context, int){none, honest}, false, false},
		{"a worker reports nothing", []func(*engine.Context, int){half}, false, false},
		{"a lie", []func(*engine.Context, int){lies}, true, true},
		{"nothing, where something changed", []func(*engine.Context, int){empty}, true, true},
	} {
		for _, full := range []bool{false, true} {
			c := engine.Config{
				Space: space.Ring{Length: cells}, Workers: 2,
				Fields: []fields.Def{{Name: "v", Initial: fields.Fill(0.5)}},
			}
			for i, report := range tt.reports {
				p := changer(true, full && i == 0, report)
				p.spec.Name = strings.Repeat("c", i+1)
				c.Propagators = append(c.Propagators, p)
			}
			w, err := engine.New(c)
			if err != nil {
				t.Fatal(err)
			}
			h := &holder{t: t}
			if tt.lie {
				h.t = new(testing.T)
			}
			w.Record(h)
			for range 20 {
				if _, err := w.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := h.parts > 0, tt.parts || !full; got != want {
				t.Errorf("%s, full %v: %d ticks held in parts; want some: %v", tt.name, full, h.parts, want)
			}
			c.Paranoid = true
			if w, err = engine.New(c); err != nil {
				t.Fatal(err)
			}
			if _, err = w.Step(); (err != nil) != tt.lie || tt.lie && !strings.Contains(err.Error(), `of field "v" without reporting it`) {
				t.Errorf("%s, full %v, paranoid: Step = %v", tt.name, full, err)
			}
		}
	}
}

// TestChangedWithoutNext holds that a propagator that asks for nothing, because it has
// nothing to do, and reports that, says nothing of what another has changed before it.
func TestChangedWithoutNext(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		all := propagator{engine.Spec{Name: "all", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
			if c.Tick()%3 != 0 {
				c.Changed(0, 0, 0)
				return nil
			}
			for i, next := 0, c.Next(0); i < len(next); i++ {
				next[i]++
			}
			return nil
		}}
		idle := propagator{engine.Spec{Name: "idle", Incremental: engine.Fields(0), Parallel: parallel}, func(c *engine.Context) error {
			c.Changed(0, 0, 0)
			return nil
		}}
		w, err := engine.New(engine.Config{
			Space: space.Ring{Length: 32 << 10}, Fields: []fields.Def{{Name: "v", Initial: fields.Fill(0.5)}},
			Propagators: []engine.Propagator{all, idle},
		})
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{t: t}
		w.Record(h)
		for range 9 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if h.parts != 5 { // of ticks 2, 4, 5, 7 and 8: only then nothing has changed
			t.Errorf("parallel %v: %d ticks held in parts, want 5", parallel, h.parts)
		}
	}
}

// TestDiffusionReports holds that what a diffusion reports is true, on spaces of every
// kind, for fields that mostly stay as they are, and that it reports most of it.
func TestDiffusionReports(t *testing.T) {
	for _, s := range []space.Space{
		space.Square4{Rows: 150, Cols: 201}, space.Square4{Rows: 30, Cols: 1030, Edge: space.Wrap}, space.Square4{Rows: 2000, Cols: 16, Edge: space.Clamp},
		space.Square8{Rows: 181, Cols: 182}, space.Hex{Rows: 171, Cols: 190}, space.FCC12{W: 40, H: 42, D: 40},
		space.Ring{Length: 40_001}, space.Line{Length: 33_000}, space.Product{space.Square4{Rows: 120, Cols: 120}, space.Ring{Length: 3}},
	} {
		for _, components := range []int{1, 3} {
			for workers := 1; workers <= 2; workers++ {
				if testing.Short() && workers == 1 {
					continue
				}
				diffuses(t, s, components, workers)
			}
		}
	}
}

func diffuses(t *testing.T, s space.Space, components, workers int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(components)))
	def := fields.Def{Name: "v", Initial: fields.Fill(0)}
	if components > 1 {
		def.Type = fields.Vector(components)
	}
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	rate := 0.5 / float64(l.MaxDegree())
	c := engine.Config{
		Space: s, Timestep: 1, Workers: workers, Fields: []fields.Def{def, {Name: "w", Initial: fields.Fill(1)}},
		Propagators: []engine.Propagator{propagators.Diffusion{Rate: rate, Hold: []propagators.Hold{
			{Cells: []int{0, l.Cells() / 3}, Value: 0}, {Cells: []int{l.Cells() / 2}, Value: 2},
		}}},
	}
	for _, paranoid := range []bool{false, true} {
		c.Paranoid = paranoid
		w, err := engine.New(c)
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{t: t}
		w.Record(h)
		ticks := 12
		if paranoid {
			ticks = 3
		}
		for range ticks {
			if random.IntN(3) == 0 {
				if _, err := w.Submit(commands.SetField(l.Coord(random.IntN(l.Cells())), 1, random.Float32())); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Step(); err != nil {
				t.Fatalf("%T, %d components, %d workers: %v", s, components, workers, err)
			}
		}
		if h.parts < ticks/2 {
			t.Errorf("%T %v, %d components, %d workers: %d of %d ticks held in parts, %d bytes", s, s, components, workers, h.parts, ticks, h.bytes)
		}
	}
}

// TestChangedOutside holds that a report of elements that do not exist is an error.
func TestChangedOutside(t *testing.T) {
	for _, r := range [][2]int{{-1, 2}, {3, 2}, {0, 11}, {11, 11}, {-5, 1 << 30}} {
		w := build(t, engine.Config{Space: space.Line{Length: 10}, Fields: cells(1), Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Incremental: engine.Fields(0)},
			func(c *engine.Context) error {
				c.Next(0)
				c.Changed(0, r[0], r[1])
				return nil
			},
		}}})
		_, err := w.Step()
		want := fmt.Sprintf("Changed from %d to %d of a field of 10 elements", r[0], r[1])
		if _, ok := errors.AsType[*engine.PanicError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("Changed(%d, %d): %v, want a panic that says %q", r[0], r[1], err, want)
		}
	}
}
