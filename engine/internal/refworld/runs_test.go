package refworld_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/fields"
)

// TestRandomRuns holds World.Run to the reference, in worlds in which it computes
// several ticks in one sweep: after every Run all state is what so many ticks give.
func TestRandomRuns(t *testing.T) {
	inParallel(*worlds/4, func(i int) bool {
		if err := compareRuns(localScenario(rand.New(rand.NewPCG(7, uint64(i))))); err != nil {
			t.Errorf("world %d: %v", i, err)
			return false
		}
		return true
	})
}

// localScenario is a random world whose propagators are local.
func localScenario(r *rand.Rand) *scenario {
	s := newScenario(r)
	s.engine.Propagators, s.engine.Systems, s.ref.Parts, s.written = nil, nil, nil, map[fields.ID]bool{}
	s.engine.Workers, s.engine.Paranoid = 1, r.IntN(10) == 0
	for i := range s.engine.Fields {
		s.engine.Fields[i].Bounds = nil
	}
	for range 1 + r.IntN(3) {
		pick(r, s.addDiffusion, s.addWave, s.addGradient, s.addFlow, s.addAutomaton)()
	}
	return s
}

func compareRuns(s *scenario) (err error) {
	p := &pair{scenario: s, cover: newCoverage()}
	if p.engine, err = engine.New(s.engine); err != nil {
		return fmt.Errorf("the engine refuses the world: %v", err)
	}
	p.ref = refworld.New(s.ref)
	for range s.ticks {
		tick := p.ref.Tick() + 1
		if p.IntN(3) == 0 {
			err = p.submit(p.commands(p.entities(), tick))
		}
		if err == nil {
			err = p.runBoth(p.Uint64N(3 * engine.MaxSweep))
		}
		if err != nil {
			return fmt.Errorf("%v: after tick %d: %w", s.lattice.Space(), tick-1, err)
		}
	}
	return nil
}

// runBoth takes both worlds so many ticks on, or up to one that fails.
func (p *pair) runBoth(ticks uint64) error {
	got, want := p.engine.Run(ticks), error(nil)
	for i := uint64(0); i < ticks && want == nil; i++ {
		_, want = p.ref.Step(p.ref.Take())
	}
	if err := compareErrors(got, want); err != nil {
		return err
	}
	if err := p.compareState(); err != nil {
		return err
	}
	p.hold()
	return nil
}
