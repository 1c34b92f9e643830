package runner

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
)

// A Config describes a Run that [New] makes.
type Config struct {
	Scenario  *scenarios.Scenario // required
	Workers   int                 // see [scenarios.Scenario.Config]
	MaxMemory uint64              // bytes that the world may take; 0: any number
	State     []byte              // a saved state to go on from; nil: genesis

	// Making is called while the world is made, if that takes long: see [scenarios.Scenario.Make].
	Making func(share float64) error
}

// New builds the world of a scenario, at genesis or in the state to go on from, and a
// Checker for what the scenario expects. Totals to be conserved are those at genesis in
// either case.
//
// A world that takes too much memory is a [*MemoryError], found before it is built. A first
// population that breaks the world's own limits is an error, see [scenarios.Scenario.Begin]. A
// state that does not fit is an [*engine.StateError], one that leaves nothing to do a
// [*DoneError], and an error in the scenario points at its place in the document.
func New(c Config) (*Run, error) {
	s := c.Scenario
	if c.MaxMemory > 0 {
		need, err := s.Memory()
		if err != nil {
			return nil, err
		}
		if need > c.MaxMemory {
			return nil, &MemoryError{need, c.MaxMemory}
		}
	}
	var begin []commands.Command
	if c.State == nil {
		var err error
		if begin, err = s.Begin(c.Making); err != nil {
			return nil, err
		}
	}
	w, err := world(c)
	if err != nil {
		return nil, err
	}
	if c.State != nil && w.Tick() >= s.Ticks {
		return nil, &DoneError{w.Tick(), s.Ticks}
	}
	if err := s.CheckKinds(w); err != nil {
		return nil, err
	}
	r := &Run{Scenario: s, World: w, Checker: scenarios.NewChecker(s, w), begin: begin}
	return r, r.meet()
}

// world builds the scenario's world, at genesis or in the state to go on from.
func world(c Config) (*engine.World, error) {
	if c.State == nil {
		return c.Scenario.Make(c.Workers, c.Making)
	}
	return c.Scenario.Restore(c.Workers, c.State, c.Making)
}

// A MemoryError reports a world that would take more memory than it may.
type MemoryError struct{ Need, Limit uint64 } // bytes

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("runner: the world takes about %d bytes of memory, the limit is %d", e.Need, e.Limit)
}

// A DoneError reports a state to go on from that is no earlier than the run's last tick.
type DoneError struct{ Tick, Last uint64 }

// Error implements error.
func (e *DoneError) Error() string {
	return fmt.Sprintf("runner: the state is of tick %d; the run has %d", e.Tick, e.Last)
}
