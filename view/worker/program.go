package worker

import (
	"cmp"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/view"
)

// A Program is what the engine in a page knows besides what comes with murksim: the same that cli.Program says of the program that writes the page.
type Program struct {
	Name       string                // as people call it
	Components []scenarios.Component // with names of their own
	Build      replay.Builder        // of worlds that it builds in Go; nil: there are none
}

// builder builds the worlds of recordings. One that would take too much, as a forged header may ask for, is an error: a browser would end the page.
func (p *Program) builder(registry *scenarios.Registry, limit uint64) func(*replay.Header) (*engine.World, *scenarios.Scenario, error) {
	return func(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
		s, err := runner.ScenarioOf(registry, p.Build, cmp.Or(p.Name, "a world in Go"), h)
		if err != nil {
			return nil, nil, err
		}
		if err := h.Check(s.Setup(h.Descriptor)); err != nil {
			return nil, nil, err
		}
		if err := view.CheckMemory(s, limit); err != nil {
			return nil, nil, fmt.Errorf("%w; a page cannot have more", err)
		}
		begin, err := h.Begin()
		switch {
		case err != nil:
			return nil, nil, err
		case begin != nil:
			w, err := s.Restore(1, begin.State, nil)
			return w, s, err
		}
		w, err := s.World(1)
		return w, s, err
	}
}
