package enginetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/enginetest"
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
	if !ok || e.Tick != 4 || e.Report == nil || !strings.Contains(err.Error(), "ripeness") || e.Part != "ripener" {
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
		if !ok || !e.Order || e.Tick > 2 || !strings.Contains(err.Error(), "in another order\n") || e.Part != "listener" || !strings.Contains(err.Error(), "heard") {
			t.Errorf("Sync = %v, want a difference in heard by another order", err)
		}
	}
}

// TestElsewhere: another process that computes another state is found, at the ticks at which it
// is asked, and always at the last one.
func TestElsewhere(t *testing.T) {
	for _, tt := range []struct{ every, ticks, wrong, asked uint64 }{
		{3, 10, 6, 2}, {0, 10, 10, 1}, {3, 10, 10, 4}, {5, 10, 11, 2}, {100, 1, 2, 1},
	} {
		s := enginetest.Of(func() engine.Config { return orchard(false) })
		asked := uint64(0)
		s.Every = tt.every
		s.Elsewhere = func(state []byte) ([]byte, error) {
			asked++
			at, err := engine.ReadState(state)
			if err != nil {
				return nil, err
			}
			if at.Tick+1 == tt.wrong {
				if state, err = orchardAt(at.Tick, 99); err != nil {
					return nil, err
				}
			}
			return s.Again(state)
		}
		err := enginetest.Sync(s, tt.ticks)
		e, ok := errors.AsType[*enginetest.SyncError](err)
		switch {
		case asked != tt.asked:
			t.Errorf("%+v: asked %d times", tt, asked)
		case tt.wrong > tt.ticks && err != nil:
			t.Errorf("%+v: Sync = %v", tt, err)
		case tt.wrong <= tt.ticks && (!ok || e.Tick != tt.wrong || e.Workers != 0 || e.Part != "ripener"):
			t.Errorf("%+v: Sync = %v, want a difference in another process", tt, err)
		}
	}
}

// orchardAt is the state of an orchard with another first cell.
func orchardAt(tick uint64, first float64) ([]byte, error) {
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
					_, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1))
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

// A sharer sums what its workers have each, by share or over all cells.
type sharer struct{ share bool }

func (sharer) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "sharer", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true}
}

func (p sharer) Step(c *engine.Context) error {
	lo, hi := c.Range()
	prev, next := c.Prev(0), c.Next(0)
	if p.share {
		prev = prev[lo:hi]
	}
	sum := float32(0)
	for _, v := range prev {
		sum += v
	}
	for i := lo; i < hi; i++ {
		next[i] = sum
	}
	return nil
}

// TestShares: a sum over a share is found, and the error names the fewest things that matter:
// with how many workers, not that the world was restored, nor the order.
func TestShares(t *testing.T) {
	for _, share := range []bool{false, true} {
		err := enginetest.Sync(enginetest.Of(func() engine.Config {
			return engine.Config{
				Space: space.Ring{Length: 16}, TickRate: 1, Fields: []fields.Def{{Name: "wealth", Initial: fields.Fill(1)}, {Name: "ripeness"}},
				Propagators: []engine.Propagator{sharer{share}},
			}
		}), 6)
		if !share {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		const want = `enginetest: tick 1 has another result with 2 workers than with 1
  the first part of the tick that differs: propagator "sharer"
  field "wealth", cell [0]: 16 in the run, 8 with 2 workers
`
		e, ok := errors.AsType[*enginetest.SyncError](err)
		if !ok || e.Workers != 2 || e.Order || e.Kind != engine.PartPropagator || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "leave Parallel out") {
			t.Errorf("Sync = %v, want %s", err, want)
		}
	}
}

// A hatchery is a system that spawns an entity in each tick but those at which it has been
// called so often.
type hatchery struct{ calls, rests int }

func (*hatchery) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "hatchery"} }

func (h *hatchery) Update(c *engine.SystemContext) error {
	if h.calls++; h.calls != h.rests {
		_, err := c.Schedule(c.Tick(), commands.Spawn(space.At(0)))
		return err
	}
	return nil
}

// TestEntities: a system that has spawned one entity less is named, and so is the entity.
func TestEntities(t *testing.T) {
	err := enginetest.Sync(enginetest.Of(func() engine.Config {
		return engine.Config{Space: space.Ring{Length: 4}, TickRate: 1, Capacity: 20, Systems: []engine.System{&hatchery{rests: 3}}}
	}), 6)
	e, ok := errors.AsType[*enginetest.SyncError](err)
	if !ok || e.Tick != 3 || e.Kind != engine.PartSystem || e.Part != "hatchery" || !strings.Contains(err.Error(), " only in the restored world\n") {
		t.Errorf("Sync = %v, want an entity more by hatchery at tick 3", err)
	}
}

// TestInputs: inputs that are others when a tick is computed again are found in the commands.
func TestInputs(t *testing.T) {
	s := enginetest.Of(func() engine.Config { return orchard(false) })
	submitted := float32(0)
	s.Submit = func(w *engine.World) error {
		submitted++
		_, err := w.Submit(commands.SetField(space.At(0, 0), 0, submitted))
		return err
	}
	e, ok := errors.AsType[*enginetest.SyncError](enginetest.Sync(s, 6))
	if !ok || e.Tick != 1 || e.Kind != engine.PartCommands || !strings.Contains(e.Error(), "the commands with which it begins") {
		t.Errorf("Sync = %v, want a difference in the commands of tick 1", e)
	}
}

// TestRefuses: a Subject without a Config gives an error, and so does a test of no ticks.
func TestRefuses(t *testing.T) {
	for _, s := range []enginetest.Subject{{}, enginetest.Of(nil)} {
		const want = "enginetest: Subject.Config must not be nil"
		if err := enginetest.Sync(s, 50); err == nil || err.Error() != want {
			t.Errorf("Sync = %v, want %s", err, want)
		}
		if _, err := s.Again(nil); err == nil || err.Error() != want {
			t.Errorf("Again = %v, want %s", err, want)
		}
	}
	s := enginetest.Of(func() engine.Config { return orchard(false) })
	s.Workers = []int{}
	if err := enginetest.Sync(s, 2); err != nil {
		t.Error(err)
	}
	if err := enginetest.Sync(s, 0); err == nil {
		t.Error("Sync of no ticks passes")
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

// The error names the part of the tick, the cells with both values, and what may be the cause.
func ExampleSyncError() {
	err := enginetest.Sync(enginetest.Of(func() engine.Config { return orchard(true) }), 10)
	fmt.Println(err)
	// Output:
	// enginetest: tick 4 has another result in a world restored from the state of tick 3
	//   the first part of the tick that differs: propagator "ripener"
	//   field "ripeness", cell [0, 0]: 1 in the run, 0 in the restored world
	//   field "ripeness", cell [0, 1]: 1 in the run, 0 in the restored world
	//   field "ripeness", cell [0, 2]: 1 in the run, 0 in the restored world
	//   field "ripeness", cell [1, 0]: 1 in the run, 0 in the restored world
	//   field "ripeness", cell [1, 1]: 1 in the run, 0 in the restored world
	//   and 4 more
	// Something outside of the state influences propagator "ripener": a variable that keeps a value, random numbers that are not the world's, a clock, or the order of a map.
	// What must be remembered from one tick to the next is a field, which is part of the state.
}

// A newcomer fails in a world that did not begin at the first tick.
type newcomer struct{ began bool }

func (*newcomer) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "newcomer"} }

func (n *newcomer) Step(c *engine.Context) error {
	if n.began = n.began || c.Tick() == 1; !n.began {
		return errors.New("who are you?")
	}
	return nil
}

// TestFailsOnlyRestored holds that a tick which fails only in a world that was restored is told as that, and not as a failure of the run.
func TestFailsOnlyRestored(t *testing.T) {
	err := enginetest.Sync(enginetest.Of(func() engine.Config {
		return engine.Config{Space: space.Ring{Length: 8}, Fields: []fields.Def{{Name: "heat"}}, Propagators: []engine.Propagator{&newcomer{}}}
	}), 10)
	e, ok := errors.AsType[*enginetest.SyncError](err)
	if want := "enginetest: tick 2 fails, only in a world that was restored from the state of tick 1: newcomer: who are you?"; !ok || e.Tick != 2 || e.From != 1 || e.Err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
