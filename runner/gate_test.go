package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/runner"
)

// TestGate holds that a gate is asked before each tick, also of a world that could compute several in a sweep, and
// that its error ends the run at a whole tick.
func TestGate(t *testing.T) {
	s := open(t, "life")
	wrong, asked := errors.New("closed"), uint64(0)
	r := &runner.Run{Scenario: s, World: world(t, s, 1), Gate: func(context.Context) error {
		if asked++; asked == 8 {
			return wrong
		}
		return nil
	}}
	if err := r.To(t.Context(), 100); err != wrong || r.World.Tick() != 7 || asked != 8 {
		t.Errorf("%v at tick %d, after %d questions", err, r.World.Tick(), asked)
	}
}

// TestDue holds that a run submits what Due lists and nothing else: here the scenario's commands, a tick late.
func TestDue(t *testing.T) {
	s := open(t, "heat")
	late, own := &runner.Run{Scenario: s, World: world(t, s, 1)}, world(t, s, 1)
	late.Due = func(tick uint64) ([]commands.Command, error) { return s.CommandsAt(tick - 1), nil }
	for tick := uint64(1); tick <= 160; tick++ {
		if _, _, err := own.SubmitAll(s.CommandsAt(tick - 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := own.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := late.To(t.Context(), 160); err != nil || late.World.Hash() != own.Hash() {
		t.Errorf("%v, hash %016x, want %016x", err, late.World.Hash(), own.Hash())
	}
	wrong := errors.New("unreadable")
	late.Due = func(uint64) ([]commands.Command, error) { return nil, wrong }
	if err := late.To(t.Context(), 200); !errors.Is(err, wrong) || late.World.Tick() != 160 {
		t.Errorf("%v at tick %d", err, late.World.Tick())
	}
}
