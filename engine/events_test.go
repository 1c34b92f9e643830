package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// scheduler is a system that calls f in every tick.
func scheduler(f func(*engine.SystemContext) error) engine.System {
	return system{engine.Spec{Name: "scheduler"}, f}
}

func at(due uint64, priority uint8, v float32) (uint64, commands.Command) {
	c := set(space.At(0), 0, v)
	c.Priority = priority
	return due, c
}

func TestEventsComeDueBeforeInputs(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
		if c.Tick() != 1 {
			return nil
		}
		var errs []error
		schedule := func(due uint64, e commands.Command) {
			_, err := c.Schedule(due, e)
			errs = append(errs, err)
		}
		schedule(at(3, 1, 1))
		schedule(at(3, 0, 2))
		schedule(at(2, 1, 3))
		schedule(at(3, 1, 4))
		return errors.Join(errs...)
	})}})
	step(t, w)
	if got := w.Pending(); got != 4 {
		t.Errorf("%d events pending, want 4", got)
	}
	receipts := applied(t, w)
	if len(receipts) != 1 || !receipts[0].Event || receipts[0].Float32() != 3 {
		t.Errorf("tick 2: %v, want the event that sets 3", receipts)
	}
	_, early := at(0, 0, 5)
	_, late := at(0, 1, 6)
	var got []float32
	var events []bool
	for _, r := range applied(t, w, late, early) {
		got, events = append(got, r.Float32()), append(events, r.Event)
	}
	if want := []float32{2, 5, 1, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("tick 3 applied %v, want %v", got, want)
	}
	if want := []bool{true, false, true, true, false}; !slices.Equal(events, want) {
		t.Errorf("tick 3 events %v, want %v", events, want)
	}
	wantValues(t, w, 0, 6, 0, 0, 0)
	if got := w.Pending(); got != 0 {
		t.Errorf("%d events pending, want 0", got)
	}
}

func TestEventsOfTicksGoneByAreRefused(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
		for _, due := range []uint64{0, c.Tick() - 1} {
			if _, err := c.Schedule(at(due, 1, 1)); !errors.Is(err, commands.Expired) {
				t.Errorf("tick %d: Schedule(%d) = %v, want expired", c.Tick(), due, err)
			}
		}
		_, err := c.Schedule(at(c.Tick()+1, 1, float32(c.Tick())))
		return err
	})}})
	step(t, w)
	step(t, w)
	wantValues(t, w, 0, 1, 0, 0, 0)
	if got := w.Pending(); got != 1 {
		t.Errorf("%d events pending, want 1", got)
	}
}

func TestEventsExpire(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
		due, e := at(c.Tick()+2, 1, 1)
		e.Expires = due - 1
		_, err := c.Schedule(due, e)
		return err
	})}})
	step(t, w)
	step(t, w)
	if r := step(t, w)[0]; r.Reason != commands.Expired || !r.Event {
		t.Errorf("%v (event %v), want expired", r.Reason, r.Event)
	}
	wantValues(t, w, 0, 0, 0, 0, 0)
}

func TestEventsKeepTheirData(t *testing.T) {
	var got [][]byte
	keep := handler{1, func(_ *engine.HandlerContext, data []byte) commands.Reason {
		got = append(got, slices.Clone(data))
		return commands.Applied
	}}
	data := []byte("reused")
	w := unchecked(t, engine.Config{Handlers: []engine.Handler{keep}, Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
		data[0] = 'A' + byte(c.Tick())
		_, err := c.Schedule(c.Tick()+3, commands.Custom(1, data))
		return err
	})}})
	for range 5 {
		step(t, w)
	}
	if len(got) != 2 || string(got[0]) != "Beused" || string(got[1]) != "Ceused" {
		t.Errorf("handled %q, want Beused, Ceused", got)
	}
}

func TestEventsSurviveAFailedTick(t *testing.T) {
	fail := true
	config := func() engine.Config {
		return engine.Config{Fields: cells(1), Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
			if _, err := c.Schedule(at(c.Tick()+2, 1, float32(c.Tick()))); err != nil {
				return err
			}
			if c.Tick() == 3 && fail {
				return errors.New("planned")
			}
			return nil
		})}}
	}
	w, calm := build(t, config()), build(t, config())
	for range 2 {
		equal(t, w, calm)
	}
	for range 2 {
		if receipts, err := w.Step(); err == nil || len(receipts) != 1 || receipts[0].Reason != commands.RolledBack {
			t.Fatalf("tick 3: %v, %v, want one event rolled back", receipts, err)
		}
		if got := w.Pending(); got != 2 {
			t.Fatalf("%d events pending, want 2", got)
		}
	}
	fail = false
	for range 4 {
		equal(t, w, calm)
	}
	wantValues(t, w, 0, 4, 0, 0, 0)
}
