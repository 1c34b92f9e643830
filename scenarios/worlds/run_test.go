package worlds_test

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// Run, which may compute several ticks in one sweep, gives the bits of single steps in every
// scenario that comes with the program.
func TestRunGivesTheSameBits(t *testing.T) {
	const ticks = 60
	for _, info := range worlds.Embedded() {
		s, err := scenariotest.Open(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		run, step := newWorld(t, s), newWorld(t, s)
		for tick := uint64(1); tick <= ticks; tick++ {
			for _, c := range s.CommandsAt(tick) {
				if err := step.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := step.Step(); err != nil {
				t.Fatalf("%s: %v", info.Name, err)
			}
			if tick%7 != 0 && tick != ticks {
				continue
			}
			if err := s.Run(run, tick); err != nil {
				t.Fatalf("%s: %v", info.Name, err)
			}
			if got, want := run.Hash(), step.Hash(); got != want || run.Tick() != tick {
				t.Fatalf("%s: the hash at tick %d is %016x, want %016x at %d", info.Name, run.Tick(), got, want, tick)
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
