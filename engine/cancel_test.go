package engine_test

import (
	"errors"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// TestCancel holds that a cancelled event does not happen, that it can be cancelled once
// only, and that a failed tick takes a cancellation back.
func TestCancel(t *testing.T) {
	var ids [3]uint64
	fail := false
	w := build(t, engine.Config{Fields: cells(1), Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
		switch c.Tick() {
		case 1:
			for i := range ids {
				var err error
				if ids[i], err = c.Schedule(4, set(space.At(int32(i)), 0, float32(i+1))); err != nil {
					return err
				}
			}
			if !c.Cancel(ids[2]) || c.Cancel(ids[2]) || c.Cancel(12345) {
				return errors.New("an event is cancelled once, and one that is none never")
			}
		case 2:
			if !c.Cancel(ids[0]) {
				return errors.New("the event of the tick before is not found")
			}
			if fail {
				return errPlanned
			}
		}
		return nil
	})}})
	step(t, w)
	fail = true
	if _, err := w.Step(); !errors.Is(err, errPlanned) {
		t.Fatalf("Step = %v, want the planned failure", err)
	}
	if n := w.Pending(); n != 2 {
		t.Errorf("%d events wait after the failure, want 2", n)
	}
	fail = false
	for range 3 {
		step(t, w)
	}
	wantValues(t, w, 0, 0, 2, 0, 0)
	if n := w.Pending(); n != 0 {
		t.Errorf("%d events wait, want none", n)
	}
}

// TestCancelRefused holds that what a handler cancels stays when it refuses.
func TestCancelRefused(t *testing.T) {
	var event uint64
	reason := commands.BadValue
	w := unchecked(t, engine.Config{Space: space.Ring{Length: 4}, Fields: cells(1), Handlers: []engine.Handler{handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason {
		if event == 0 {
			event, _ = c.Schedule(c.Tick()+3, set(space.At(1), 0, 7))
			return commands.Applied
		}
		if !c.Cancel(event) {
			t.Errorf("tick %d: the event is not found", c.Tick())
		}
		return reason
	}}}})
	step(t, w, commands.Custom(5, nil))
	step(t, w, commands.Custom(5, nil))
	if n := w.Pending(); n != 1 {
		t.Errorf("%d events wait after a refusal, want 1", n)
	}
	reason = commands.Applied
	step(t, w, commands.Custom(5, nil))
	if n := w.Pending(); n != 0 {
		t.Errorf("%d events wait, want none", n)
	}
}

// TestCancelTooLate holds that an event of the tick that takes its cancellation happens,
// also if its turn comes after that.
func TestCancelTooLate(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1)})
	event := applied(t, w, commands.Later(2, set(space.At(0), 0, 7)))[0].Made
	cancel := commands.Cancel(event)
	cancel.Priority = commands.PrioritySystem
	receipts := step(t, w, cancel)
	if len(receipts) != 2 || receipts[0].Event || receipts[0].Reason != commands.UnknownEvent || receipts[1].Reason != commands.Applied {
		t.Errorf("receipts %+v, want the cancellation refused, then the event applied", receipts)
	}
	wantValues(t, w, 0, 7, 0, 0, 0)
}
