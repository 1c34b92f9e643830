package scenarios_test

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
)

// World.Run, which may compute several ticks in one sweep, gives the bits of Step in
// every scenario that comes with the program.
func TestRunGivesTheSameBits(t *testing.T) {
	const ticks = 60
	for _, info := range scenarios.Embedded() {
		s, err := scenarios.Open(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		run, step := newWorld(t, s), newWorld(t, s)
		for done := uint64(0); done < ticks; {
			n := uint64(1) // up to the tick before the next with commands
			for done+n < ticks && len(s.CommandsAt(done+n+1)) == 0 {
				n++
			}
			submitAt(t, s, run, done+1)
			submitAt(t, s, step, done+1)
			if err := run.Run(n); err != nil {
				t.Fatalf("%s: %v", info.Name, err)
			}
			for range n {
				if _, err := step.Step(); err != nil {
					t.Fatalf("%s: %v", info.Name, err)
				}
			}
			done += n
			if got, want := run.Hash(), step.Hash(); got != want || run.Tick() != done {
				t.Fatalf("%s: after a run of %d ticks the hash at tick %d is %016x, want %016x at %d", info.Name, n, run.Tick(), got, want, done)
			}
		}
	}
}

func newWorld(t *testing.T, s *scenarios.Scenario) *engine.World {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func submitAt(t *testing.T, s *scenarios.Scenario, w *engine.World, tick uint64) {
	t.Helper()
	for _, c := range s.CommandsAt(tick) {
		if err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
}
