package runner_test

import (
	"errors"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/runner"
)

// A run that goes on from a state comes to the same world, and to the same verdict about
// what is to be conserved since genesis.
func TestResume(t *testing.T) {
	for _, name := range []string{"heat", "predators", "waves"} {
		s := open(t, name, "ticks=60")
		whole, err := runner.New(runner.Config{Scenario: s, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var state []byte
		whole.Watchers = append(whole.Watchers, runner.EveryTick(func(w *engine.World) (err error) {
			if w.Tick() == 25 {
				state, err = w.Save(s.Descriptor())
			}
			return err
		}))
		if err := whole.To(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		rest, err := runner.New(runner.Config{Scenario: s, Workers: 2, State: state})
		if err != nil {
			t.Fatal(err)
		}
		if rest.World.Tick() != 25 {
			t.Errorf("%s: the run goes on from tick %d, want 25", name, rest.World.Tick())
		}
		if err := rest.To(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		if got, want := rest.World.Hash(), whole.World.Hash(); got != want {
			t.Errorf("%s: hash %016x, want %016x", name, got, want)
		}
		for i, want := range whole.Checker.Results() {
			got := rest.Checker.Results()[i]
			if want.OK && s.Expect[i].Tick == 0 { // it says that it was not looked at before
				want.From, want.Text = 26, want.Text+" from tick 26 on"
			}
			if got != want && want.OK && got.Reached {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// What cannot be run is refused with an error of its own type.
func TestNewRefuses(t *testing.T) {
	s, short, other := open(t, "heat", "ticks=60"), open(t, "heat", "ticks=60"), open(t, "waves", "ticks=60")
	r, err := runner.New(runner.Config{Scenario: s, Workers: 1, MaxMemory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.To(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	state, err := r.World.Save(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	_, err = runner.New(runner.Config{Scenario: s, MaxMemory: 1000})
	if e, ok := errors.AsType[*runner.MemoryError](err); !ok || e.Limit != 1000 || e.Need < 4*128*128 {
		t.Errorf("too large: %v, want a MemoryError", err)
	}
	_, err = runner.New(runner.Config{Scenario: other, State: state})
	if _, ok := errors.AsType[*engine.StateError](err); !ok {
		t.Errorf("another scenario: %v, want a StateError", err)
	}
	if err := r.To(t.Context(), 60); err != nil {
		t.Fatal(err)
	}
	if state, err = r.World.Save(s.Descriptor()); err != nil {
		t.Fatal(err)
	}
	_, err = runner.New(runner.Config{Scenario: short, State: state})
	if e, ok := errors.AsType[*runner.DoneError](err); !ok || *e != (runner.DoneError{Tick: 60, Last: 60}) {
		t.Errorf("nothing left: %v, want a DoneError of 60 and 60", err)
	}
}
