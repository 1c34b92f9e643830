package enginetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/enginetest"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// A ripener adds to a field from the fourth tick on, by a counter of its own or by the world's.
type ripener struct {
	hidden  bool
	counted uint64
}

func (r *ripener) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "ripener", Prev: engine.Fields(0), Full: engine.Fields(0)}
}

func (r *ripener) Step(c *engine.Context) error {
	r.counted++
	tick := c.Tick()
	if r.hidden {
		tick = r.counted
	}
	prev, next := c.Prev(0), c.Next(0)
	for i := range next {
		next[i] = prev[i]
		if tick > 3 {
			next[i]++
		}
	}
	return nil
}

func orchard(hidden bool) engine.Config {
	return engine.Config{
		Space: space.Square4{Rows: 3, Cols: 3}, Seed: 1, TickRate: 1,
		Fields:      []fields.Def{{Name: "ripeness"}},
		Propagators: []engine.Propagator{&ripener{hidden: hidden}},
	}
}

// TestHiddenState: a counter in a propagator is found at the first tick that depends on it, and
// the error names the field and the cells. The same world without it passes.
func TestHiddenState(t *testing.T) {
	err := enginetest.Sync(enginetest.Of(func() engine.Config { return orchard(true) }), 10)
	e, ok := errors.AsType[*enginetest.SyncError](err)
	if !ok || e.Tick != 4 || e.Report == nil || !strings.Contains(err.Error(), "ripeness") {
		t.Errorf("Sync = %v, want a difference in ripeness at tick 4", err)
	}
	if err := enginetest.Sync(enginetest.Of(func() engine.Config { return orchard(false) }), 10); err != nil {
		t.Error(err)
	}
}

// A talker tells a number to a listener, not by way of a field.
type talker struct{ told *float32 }

func (talker) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "talker", Prev: engine.Fields(0), Full: engine.Fields(0)}
}

func (p talker) Step(c *engine.Context) error {
	copy(c.Next(0), c.Prev(0))
	*p.told = float32(c.Tick())
	return nil
}

type listener struct {
	told   *float32
	listed []fields.ID // what it says that it reads with Now
}

func (p listener) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "listener", Now: p.listed, Full: engine.Fields(1)}
}

func (p listener) Step(c *engine.Context) error {
	next := c.Next(1)
	for i := range next {
		next[i] = *p.told
	}
	return nil
}

// TestHiddenDependence: a propagator that gets something from another one, which its Spec does
// not say, is found by another order of the two. One whose Spec says that it comes after the
// other keeps its place.
func TestHiddenDependence(t *testing.T) {
	for _, listed := range [][]fields.ID{nil, {0}} {
		err := enginetest.Sync(enginetest.Of(func() engine.Config {
			told := new(float32)
			return engine.Config{
				Space: space.Ring{Length: 4}, TickRate: 1,
				Fields:      []fields.Def{{Name: "talk"}, {Name: "heard"}},
				Propagators: []engine.Propagator{talker{told}, listener{told, listed}},
			}
		}), 10)
		if listed != nil {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		e, ok := errors.AsType[*enginetest.SyncError](err)
		if !ok || !e.Order || e.Tick > 2 || !strings.Contains(err.Error(), "in another order\n") || !strings.Contains(err.Error(), "heard") {
			t.Errorf("Sync = %v, want a difference in heard by another order", err)
		}
	}
}

// TestElsewhere: another process that computes another state is found, at the ticks at which it
// is asked.
func TestElsewhere(t *testing.T) {
	s := enginetest.Of(func() engine.Config { return orchard(false) })
	asked := 0
	s.Every = 3
	s.Elsewhere = func(state []byte) ([]byte, error) {
		asked++
		w, err := engine.Restore(orchard(false), nil, state)
		if err != nil {
			return nil, err
		}
		if asked == 2 {
			return orchardAt(6, 99)
		}
		if _, err := w.Step(); err != nil {
			return nil, err
		}
		return w.Save(nil)
	}
	err := enginetest.Sync(s, 10)
	if e, ok := errors.AsType[*enginetest.SyncError](err); !ok || e.Tick != 6 || e.Workers != 0 {
		t.Errorf("Sync = %v, want a difference in another process at tick 6", err)
	}
}

// orchardAt is the state of an orchard with another first cell.
func orchardAt(tick int, first float64) ([]byte, error) {
	c := orchard(false)
	c.Fields[0].Initial = fields.Fill(first)
	w, err := engine.New(c)
	if err != nil {
		return nil, err
	}
	for range tick {
		if _, err := w.Step(); err != nil {
			return nil, err
		}
	}
	return w.Save(nil)
}

// TestEveryScenario: no scenario that comes with murksim keeps anything outside of its state.
func TestEveryScenario(t *testing.T) {
	ticks := uint64(12)
	if testing.Short() {
		ticks = 4
	}
	for _, info := range worlds.Embedded() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			s, err := worlds.Open(worlds.Registry(), info.Name)
			if err != nil {
				t.Fatal(err)
			}
			err = enginetest.Sync(enginetest.Subject{
				Config: s.Config,
				Submit: func(w *engine.World) error {
					_, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1))
					return err
				},
				Descriptor: s.Descriptor(),
			}, ticks)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A world of one's own is tested in one line.
func ExampleSync() {
	err := enginetest.Sync(enginetest.Of(func() engine.Config {
		return engine.Config{
			Space: space.Ring{Length: 8}, Seed: 7, TickRate: 10,
			Fields:      []fields.Def{{Name: "heat", Initial: fields.Fill(20)}},
			Propagators: []engine.Propagator{&propagators.Diffusion{Field: 0, Rate: 1}},
		}
	}), 100)
	fmt.Println(err)
	// Output: <nil>
}
