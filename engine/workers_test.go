package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

func TestWorkersGiveTheSameBits(t *testing.T) {
	for _, s := range []space.Space{
		space.Line{Length: 1}, space.Ring{Length: 5}, space.Square4{Rows: 7, Cols: 11}, space.Square8{Rows: 20, Cols: 3, Edge: space.Wrap},
		space.Hex{Cols: 9, Rows: 8}, space.FCC12{W: 5, H: 4, D: 6}, space.Product{space.Ring{Length: 9}, space.Line{Length: 2}},
	} {
		t.Run(s.String(), func(t *testing.T) {
			one := diffusing(t, engine.Config{Space: s, Seed: 3, Paranoid: true})
			var worlds []*engine.World
			for _, n := range []int{2, 3, 8, engine.MaxWorkers} {
				worlds = append(worlds, diffusing(t, engine.Config{Space: s, Seed: 3, Paranoid: true, Workers: n}))
			}
			for range 10 {
				step(t, one)
				for i, w := range worlds {
					if step(t, w); w.Hash() != one.Hash() {
						t.Fatalf("world %d, tick %d: hash %016x, want %016x", i, w.Tick(), w.Hash(), one.Hash())
					}
				}
			}
		})
	}
}

func TestWorkersGiveTheSameError(t *testing.T) {
	for _, panics := range []bool{false, true} {
		want := "engine: tick 1: p: cell [3]: bad"
		if panics {
			want = "engine: tick 1: p: panic: cell 3"
		}
		for _, n := range []int{1, 2, 3, 8, 100} {
			w := build(t, engine.Config{Space: space.Line{Length: 40}, Fields: cells(1), Workers: n, Propagators: []engine.Propagator{propagator{
				engine.Spec{Name: "p", Incremental: engine.Fields(0), Parallel: true},
				func(c *engine.Context) error {
					lo, hi := c.Range()
					for cell := lo; cell < hi; cell++ {
						if cell%4 == 3 && panics {
							panic(fmt.Sprintf("cell %d", cell))
						} else if cell%4 == 3 {
							return c.Fail(cell, "bad")
						}
					}
					return nil
				},
			}}})
			if _, err := w.Step(); err == nil || err.Error() != want {
				t.Errorf("%d workers, panics %v: %v, want %s", n, panics, err, want)
			}
		}
	}
}

// TestShare: there are as many workers as Share leaves work for.
func TestShare(t *testing.T) {
	const us = time.Microsecond
	for _, tt := range []struct {
		workers     int
		share, cost time.Duration
		want        int
	}{
		{0, 0, 0, 1}, {8, 0, 0, 8}, {100, 0, us, 40}, {8, 50 * time.Nanosecond, 0, 8}, {8, 51 * time.Nanosecond, 0, 7},
		{8, 200 * time.Nanosecond, 0, 2}, {8, 201 * time.Nanosecond, 0, 1}, {8, us, 100 * us, 4}, {8, engine.GoodShare, us, 1},
		{8, engine.GoodShare, 900 * us, 2}, {100, 1, 0, 40}, {1, 1, us, 1},
	} {
		var steps atomic.Int32
		step(t, unchecked(t, engine.Config{
			Space: space.Line{Length: 40}, Fields: cells(1), Workers: tt.workers, Share: tt.share,
			Propagators: []engine.Propagator{propagator{
				engine.Spec{Name: "p", Incremental: engine.Fields(0), Parallel: true, Cost: tt.cost},
				func(*engine.Context) error { steps.Add(1); return nil },
			}},
		}))
		if got := int(steps.Load()); got != tt.want {
			t.Errorf("Workers %d, Share %v, Cost %v: %d workers, want %d", tt.workers, tt.share, tt.cost, got, tt.want)
		}
	}
}

// TestHelpersEnd: soon after a tick a world has no goroutines, however many workers it has and
// whatever became of the tick.
func TestHelpersEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 40 {
		w := diffusing(t, engine.Config{Space: space.Square4{Rows: 64, Cols: 64}, Workers: 1 + i%5})
		for range 20 {
			step(t, w)
		}
		bad := unchecked(t, exitConfig(4, func(lo int) bool { return lo == 16*(i%4) }))
		if err := stepApart(bad); !errors.Is(err, engine.ErrGoexit) {
			t.Fatal(err)
		}
	}
	if !waiting.Until(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines long after the last tick, %d before the first", runtime.NumGoroutine(), before)
	}
}

// TestParanoidFindsForeignCells holds that Paranoid finds a parallel part that writes a cell
// of another's share, before or after it.
func TestParanoidFindsForeignCells(t *testing.T) {
	for _, full := range []bool{false, true} {
		for _, cell := range []int{0, 39} {
			for _, workers := range []int{1, 2, 8} {
				spec := engine.Spec{Name: "p", Incremental: engine.Fields(0), Parallel: true}
				if full {
					spec.Full, spec.Incremental = spec.Incremental, nil
				}
				w := build(t, engine.Config{Space: space.Line{Length: 40}, Fields: cells(1), Workers: workers, Propagators: []engine.Propagator{propagator{
					spec,
					func(c *engine.Context) error {
						next := c.Next(0)
						lo, hi := c.Range()
						for i := lo; i < hi; i++ {
							next[i] = float32(c.Tick())
						}
						if lo <= 20 && 20 < hi && c.Tick() == 2 {
							next[cell] = 2.5
						}
						return nil
					},
				}}})
				step(t, w)
				_, err := w.Step()
				if workers == 1 {
					if err != nil {
						t.Errorf("one worker: %v", err)
					}
					continue
				}
				e, ok := errors.AsType[*engine.CellError](err)
				if mine := workers == 2 && cell == 39; !mine && (!ok || e.Cell != cell) || mine && err != nil {
					t.Errorf("full %v, cell %d, %d workers: %v", full, cell, workers, err)
				}
				if want := "was written for cells 20 to 40, this is another"; workers == 2 && cell == 0 && (err == nil || !strings.HasSuffix(err.Error(), want)) {
					t.Errorf("two workers: %v, want an error that ends in %q", err, want)
				}
			}
		}
	}
}

// TestParanoidFindsFarCells holds that Paranoid finds a part that says Local and reads a cell
// two steps away, whatever numbers are there.
func TestParanoidFindsFarCells(t *testing.T) {
	for _, tt := range []struct {
		way   int
		value float64
	}{{1, 1}, {2, 1}, {1, 1.5}, {2, 1.5}} {
		defs := []fields.Def{{Name: "v", Initial: fields.Fill(tt.value)}}
		w := build(t, engine.Config{Space: space.Line{Length: 40}, Fields: defs, Workers: 5, Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true, Local: true},
			func(c *engine.Context) error {
				prev, next := c.Prev(0), c.Next(0)
				lo, hi := c.Range()
				for i := lo; i < hi; i++ {
					next[i] = prev[max(i-tt.way, 0)]
				}
				return nil
			},
		}}})
		step(t, w)
		_, err := w.Step()
		if tt.way == 1 {
			if err != nil {
				t.Errorf("a neighbour: %v", err)
			}
			continue
		}
		if e, ok := errors.AsType[*engine.CellError](err); !ok || e.Cell != 8 || !strings.Contains(err.Error(), "Local") {
			t.Errorf("two steps away: %v, want an error at cell 8", err)
		}
	}
}

func TestParallelPartsHaveNoStreams(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Workers: 2, Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p", Parallel: true}, func(c *engine.Context) error {
			c.Stream(0)
			return nil
		},
	}}})
	_, err := w.Step()
	if _, ok := errors.AsType[*engine.PanicError](err); !ok {
		t.Errorf("Step = %v, want a PanicError", err)
	}
}

// One more draw here changes no value there: streams are apart. Only the count of
// draws in world.rest tells.
func TestAnExtraDrawShiftsNothingElse(t *testing.T) {
	noise := func(name string, id int, draws int) engine.Propagator {
		f := engine.Fields(0, 1)[id : id+1]
		return propagator{engine.Spec{Name: name, Incremental: f}, func(c *engine.Context) error {
			for i := range c.Next(f[0]) {
				c.Next(f[0])[i] = c.Stream(0).Float32()
			}
			for range draws {
				c.Stream(0).Uint64()
			}
			return nil
		}}
	}
	world := func(draws int) *engine.World {
		return build(t, engine.Config{Fields: cells(2), Seed: 12, Propagators: []engine.Propagator{noise("x", 0, draws), noise("y", 1, 0)}})
	}
	a, b := world(0), world(1)
	for range 3 {
		step(t, a)
		step(t, b)
		for id := range engine.Fields(0, 1) {
			if id := engine.Fields(0, 1)[id]; a.FieldHash(id) != b.FieldHash(id) {
				t.Errorf("tick %d: field %d differs", a.Tick(), id)
			}
		}
		if restOf(a) == restOf(b) {
			t.Errorf("tick %d: world.rest does not show the extra draw", a.Tick())
		}
	}
}

// Bulk draws are those of rng for this tick, and new in each.
func TestBulkDraws(t *testing.T) {
	w := build(t, engine.Config{Seed: 8, Fields: cells(1), Workers: 2, Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p", Full: engine.Fields(0), Parallel: true}, func(c *engine.Context) error {
			lo, hi := c.Range()
			c.Bulk(3).FillFloat32(c.Next(0)[lo:hi], uint64(lo))
			return nil
		},
	}}})
	for range 3 {
		step(t, w)
		bulk := rng.Seed(8).Tick(w.Tick()).Stream("p", 3).Bulk()
		want := make([]float64, 4)
		for i := range want {
			want[i] = float64(bulk.Float32(uint64(i)))
		}
		wantValues(t, w, 0, want...)
	}
}

func TestSeedsDiffer(t *testing.T) {
	a := diffusing(t, engine.Config{Space: space.Ring{Length: 9}, Seed: 1})
	b := diffusing(t, engine.Config{Space: space.Ring{Length: 9}, Seed: 2})
	step(t, a)
	step(t, b)
	if a.FieldHash(0) == b.FieldHash(0) {
		t.Errorf("seeds 1 and 2 both give %v", values(a, 0))
	}
}
