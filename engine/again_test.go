package engine_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// unrepeated steps a world until Paranoid finds a part that does not do the same twice, and
// returns the error.
func unrepeated(t *testing.T, w *engine.World, list ...commands.Command) (*engine.TickError, *engine.RepeatError) {
	t.Helper()
	for range 100 {
		hash := w.Hash()
		submit(t, w, list...)
		_, err := w.Step()
		if err == nil {
			continue
		}
		tick, ok := errors.AsType[*engine.TickError](err)
		repeat, is := errors.AsType[*engine.RepeatError](err)
		if !ok || !is || tick.Tick != w.Tick()+1 || w.Hash() != hash {
			t.Fatalf("Step = %v, want a RepeatError of tick %d that leaves the state alone", err, w.Tick()+1)
		}
		return tick, repeat
	}
	t.Fatal("100 ticks went by without an error")
	return nil, nil
}

// TestParanoidFindsWhatNoStateHolds holds that a part which keeps something between its
// calls, or takes something that the seed does not fix, is named with the tick, the place
// and both values.
func TestParanoidFindsWhatNoStateHolds(t *testing.T) {
	calls, kept := 0, []float32{0}
	inc := engine.Spec{Name: "p", Incremental: engine.Fields(1)}
	for _, tt := range []struct {
		name string
		spec engine.Spec
		step func(*engine.Context) error
		want string // a pattern
	}{
		{"counter", engine.Spec{Name: "p", Full: engine.Fields(0)}, func(c *engine.Context) error {
			clear(c.Next(0))
			c.Next(0)[2] = float32(calls)
			return nil
		}, `^engine: tick 1: p: field "a", cell \[0, 2\]: 1 at first, and 2 when computed again from the same state$`},
		{"component", inc, func(c *engine.Context) error { c.Next(1)[3] = float32(calls); return nil },
			`tick 1: p: field "v", component 1 of cell \[0, 1\]: 1 at first, and 2 `},
		{"sign of a zero", inc, func(c *engine.Context) error {
			c.Next(1)[0] = float32(math.Copysign(0, float64(calls%2)-1))
			return nil
		}, `field "v", component 0 of cell \[0, 0\]: 0 at first, and -0 `},
		{"numbers of math/rand", inc, func(c *engine.Context) error { c.Next(1)[0] = rand.Float32(); return nil }, `tick 1: p: field "v"`},
		{"order of a map", inc, func(c *engine.Context) error {
			n := 0
			for cell := range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true} {
				c.Next(1)[cell] = float32(n)
				n++
			}
			return nil
		}, `tick \d+: p: field "v"`},
		{"memory of the tick before", inc, func(c *engine.Context) error {
			c.Next(1)[0] = kept[0] + 1
			kept[0] = c.Next(1)[0]
			return nil
		}, `field "v", component 0 of cell \[0, 0\]: 1 at first, and 2 `},
		{"every other time", inc, func(c *engine.Context) error {
			if calls%2 == 0 {
				c.Next(1)[0] = 5
			}
			return nil
		}, `field "v", component 0 of cell \[0, 0\]: 0 at first, and 5 `},
		{"every other time first", inc, func(c *engine.Context) error {
			if calls%2 == 1 {
				c.Next(1)[0] = 5
			}
			return nil
		}, `field "v", component 0 of cell \[0, 0\]: 5 at first, and 0 `},
		{"draws", engine.Spec{Name: "p"}, func(c *engine.Context) error {
			for range calls {
				c.Stream(7).Uint64()
			}
			return nil
		}, `tick 1: p: random stream 7: 1 draws, the last \d+ at first, and 2 draws, the last \d+ when`},
		{"draws in bulk", engine.Spec{Name: "p"}, func(c *engine.Context) error {
			if calls == 2 {
				c.Bulk(3)
			}
			return nil
		}, `tick 1: p: random stream 3: no draws at first, and 1 draws, the last 6 when`},
		{"scratch", engine.Spec{Name: "p", Scratch: 4}, func(c *engine.Context) error { c.Scratch()[3] = float32(calls); return nil },
			`tick 1: p: element 3 of the scratch memory of worker 0: 1 at first, and 2 when`},
		{"error", engine.Spec{Name: "p"}, func(c *engine.Context) error {
			if calls == 2 {
				return c.Fail(3, "full")
			}
			return nil
		}, `tick 1: p: its result: no error at first, and the error "cell \[1, 0\]: full" when`},
		{"claim", engine.Spec{Name: "p", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
			if c.Next(0)[0] = 1; calls == 2 {
				c.Finite(0)
			}
			return nil
		}, `tick 1: p: whether it calls field "a" finite: false at first, and true when`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, kept[0] = 0, 0
			w := build(t, engine.Config{
				Space: space.Square4{Rows: 2, Cols: 3}, Fields: []fields.Def{{Name: "a"}, {Name: "v", Type: fields.Vector(2)}},
				Propagators: []engine.Propagator{propagator{tt.spec, func(c *engine.Context) error { calls++; return tt.step(c) }}},
			})
			if err, _ := unrepeated(t, w); !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Errorf("Step = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestParanoidFindsWhatWorkersShare holds that parallel parts are run twice, too.
func TestParanoidFindsWhatWorkersShare(t *testing.T) {
	for _, workers := range []int{1, 2} {
		var calls atomic.Int32
		w := build(t, engine.Config{Fields: cells(1), Workers: workers, Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Full: engine.Fields(0), Parallel: true}, func(c *engine.Context) error {
				lo, hi := c.Range()
				for cell := lo; cell < hi; cell++ {
					c.Next(0)[cell] = float32(cell)
				}
				if n := calls.Add(1); lo == 0 && int(n) > workers {
					c.Next(0)[0] = 9
				}
				return nil
			},
		}}})
		if _, err := unrepeated(t, w); *err != (engine.RepeatError{What: `field "a", cell [0]`, First: "0", Second: "9"}) {
			t.Errorf("%d workers: %+v, want 0 and 9 in cell 0", workers, err)
		}
	}
}

// TestParanoidRunsSystemsTwice holds the same for entities and events.
func TestParanoidRunsSystemsTwice(t *testing.T) {
	calls, ids := 0, []uint64(nil)
	for _, tt := range []struct {
		name   string
		update func(*engine.SystemContext) error
		want   string
	}{
		{"attribute", func(c *engine.SystemContext) error { c.Next(energy)[1] = float32(calls); return nil },
			`tick 1: s: field "energy", slot 1: 1 at first, and 2 `},
		{"place", func(c *engine.SystemContext) error {
			c.NextColumn(entityCell).Int32[0] = int32(calls % 3)
			return nil
		}, `tick 1: s: field "entity.cell", slot 0: 1 at first, and 2 `},
		{"event", func(c *engine.SystemContext) error {
			_, err := c.Schedule(c.Tick()+uint64(calls), commands.Despawn(4))
			return err
		}, `tick 1: s: event 1 of those that wait: despawn 1048577 due at tick 2 \(.*\) at first, and despawn 1048577 due at tick 3 `},
		{"data of an event", func(c *engine.SystemContext) error {
			_, err := c.Schedule(c.Tick()+1, commands.Custom(4, []byte{byte(calls)}))
			return err
		}, `tick 1: s: event 1 of those that wait: custom 1048577 due at tick 2 `},
		{"number of events", func(c *engine.SystemContext) error {
			if calls == 1 {
				return nil
			}
			_, err := c.Schedule(c.Tick()+1, commands.Despawn(4))
			return err
		}, `tick 1: s: event 1 of those that wait: none at first, and despawn `},
		{"cancelled event", func(c *engine.SystemContext) error {
			if c.Tick() == 1 {
				id, err := c.Schedule(5, commands.Despawn(4))
				ids = append(ids, id)
				return err
			}
			if calls == 3 {
				c.Cancel(ids[0])
			}
			return nil
		}, `tick 2: s: event 1 of those that wait: none at first, and despawn `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, ids = 0, nil
			w := herd(t, 3, system{engine.Spec{Name: "s", Incremental: engine.Fields(energy, entityCell)}, func(c *engine.SystemContext) error {
				calls++
				return tt.update(c)
			}})
			submit(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(1)))
			if err, _ := unrepeated(t, w); !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Errorf("Step = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestParanoidRunsHandlersTwice holds the same for handlers of commands from outside and of
// events, at the end of a tick as well.
func TestParanoidRunsHandlersTwice(t *testing.T) {
	calls := 0
	for _, tt := range []struct {
		name   string
		handle func(*engine.HandlerContext) commands.Reason
		want   string
	}{
		{"field", func(c *engine.HandlerContext) commands.Reason { return c.Set(0, 1, float64(calls)) }, `custom:5: field "a", cell \[1\]: 1 at first, and 2 `},
		{"parameter", func(c *engine.HandlerContext) commands.Reason {
			_, reason := c.Apply(commands.SetParameter(4, float64(calls)))
			return reason
		}, `custom:5: parameter 4: 1 at first, and 2 `},
		{"entity", func(c *engine.HandlerContext) commands.Reason {
			_, reason := c.Apply(commands.Spawn(space.At(int32(calls))))
			return reason
		}, `custom:5: field "entity.cell", slot 0: 1 at first, and 2 `},
		{"event", func(c *engine.HandlerContext) commands.Reason {
			if _, err := c.Schedule(c.Tick()+uint64(calls), commands.Despawn(3)); err != nil {
				return commands.BadValue
			}
			return commands.Applied
		}, `custom:5: event 1 of those that wait: despawn`},
		{"draws", func(c *engine.HandlerContext) commands.Reason {
			for range calls {
				c.Stream(0).Uint64()
			}
			return commands.Applied
		}, `custom:5: random stream 0: 1 draws, the last \d+ at first, and 2 draws`},
		{"answer", func(*engine.HandlerContext) commands.Reason {
			return []commands.Reason{commands.BadValue, commands.Applied}[calls%2]
		}, `custom:5: its answer: "applied" at first, and "bad value" when`},
	} {
		for _, late := range []bool{false, true} {
			calls = 0
			s := scheduler(func(c *engine.SystemContext) error {
				if !late {
					return nil
				}
				_, err := c.Schedule(c.Tick(), commands.Custom(5, nil))
				return err
			})
			w := build(t, engine.Config{
				Fields: cells(1), Capacity: 2, Parameters: []engine.Parameter{{Key: 4}}, Systems: []engine.System{s},
				Handlers: []engine.Handler{handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason { calls++; return tt.handle(c) }}},
			})
			if !late {
				submit(t, w, commands.Custom(5, nil))
			}
			if err, _ := unrepeated(t, w); !regexp.MustCompile("^engine: tick 1: " + tt.want).MatchString(err.Error()) {
				t.Errorf("%s, late %v: Step = %v, want %s", tt.name, late, err, tt.want)
			}
		}
	}
}

// TestParanoidForgives holds that a handler which does not do the same twice fails one tick, and
// not those after it.
func TestParanoidForgives(t *testing.T) {
	calls := 0
	w := build(t, engine.Config{Fields: cells(1), Handlers: []engine.Handler{handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason {
		calls++
		return c.Set(0, 1, float64(min(calls, 2)))
	}}}})
	unrepeated(t, w, commands.Custom(5, nil))
	step(t, w)
	applied(t, w, commands.Custom(5, nil))
	wantValues(t, w, 0, 0, 2, 0, 0)
}

// TestParanoidRunsNothingTwiceForTheWorld holds that a world in which all kinds of things
// happen has the same bits with Paranoid as without, tick by tick, after a failure too.
func TestParanoidRunsNothingTwiceForTheWorld(t *testing.T) {
	fails, calm := &saboteur{stage: "late"}, &saboteur{stage: "late"}
	w, v := busy(t, fails), unchecked(t, busyConfig(calm))
	for tick := range 20 {
		var planned error
		if tick%5 == 4 {
			planned = errPlanned
		}
		fails.how, calm.how = func() error { return planned }, func() error { return planned }
		submit(t, w, busyInputs(w)...)
		submit(t, v, busyInputs(v)...)
		a, err := w.Step()
		b, want := v.Step()
		if (err == nil) != (planned == nil) || (want == nil) != (planned == nil) || len(a) != len(b) {
			t.Fatalf("tick %d: Step = %v and %v with %d and %d receipts", tick+1, err, want, len(a), len(b))
		}
		for i := range a {
			if a[i].Reason != b[i].Reason || a[i].Made != b[i].Made || a[i].Event != b[i].Event {
				t.Fatalf("tick %d: receipt %d is %+v with Paranoid and %+v without", tick+1, i, a[i], b[i])
			}
		}
		wantSame(t, w, stateOf(v))
	}
}

// TestParanoidLeavesOtherRulesAlone holds that under the rules of the original engine, which
// let propagators keep things outside of the state, nothing is run twice.
func TestParanoidLeavesOtherRulesAlone(t *testing.T) {
	calls := 0
	w := originalWorld(t, propagator{engine.Spec{Name: "p", Full: engine.Fields(output)}, func(c *engine.Context) error {
		calls++
		c.Next(output)[0] = float32(calls)
		return nil
	}})
	for tick := 1; tick <= 3; tick++ {
		step(t, w)
		wantValues(t, w, output, float64(tick), 0, 0, 0)
	}
}

// TestParanoidNamesTheSpecFirst holds that a part which writes what it must not is told so,
// not that it does something else the second time.
func TestParanoidNamesTheSpecFirst(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p", Prev: engine.Fields(0), Full: engine.Fields(1)}, func(c *engine.Context) error {
			c.Prev(0)[1]++
			copy(c.Next(1), c.Prev(0))
			return nil
		},
	}}})
	if _, err := w.Step(); err == nil || !strings.Contains(err.Error(), `p: wrote to field "a" as it stood at the start`) {
		t.Errorf("Step = %v, want the write to Prev", err)
	}
}
