package runner

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// ErrBuild is in the chain of the errors of a program's own builder.
var ErrBuild = errors.New("runner: the program cannot build the world of the recording")

// ScenarioOf returns the scenario that a header holds; or, if its descriptor is none, that of the world which a program builds for it in Go: see
// [scenarios.Built]. Build may be nil, and gets a header that begins at genesis. The name is the program's. A builder that panics is an error.
func ScenarioOf(r *scenarios.Registry, build replay.Builder, name string, h *replay.Header) (*scenarios.Scenario, error) {
	s, err := r.FromDescriptor(h.World())
	if _, lacks := errors.AsType[*scenarios.IncompatibleError](err); err == nil || build == nil || lacks {
		return s, err
	}
	genesis := *h
	genesis.Descriptor = h.World()
	built, failed := scenarios.Built(name, genesis.Descriptor, func() (c engine.Config, err error) {
		engine.Guard(&err, func() error {
			w, err := build(&genesis)
			if err != nil {
				return err
			}
			if w.Tick() != 0 {
				return fmt.Errorf("it builds the world of tick %d, not that of genesis", w.Tick())
			}
			c = w.Config()
			return nil
		})
		if err != nil {
			err = errors.Join(ErrBuild, err)
		}
		return c, err
	})
	if failed != nil && !Foreign(h, err) { // then it was meant as one
		return nil, err
	}
	return built, failed
}

// Foreign reports whether a descriptor, of which a registry said an error, is no scenario at all.
func Foreign(h *replay.Header, err error) bool {
	return len(h.Descriptor) == 0 || h.Descriptor[0] != '{' || errors.Is(err, scenarios.ErrNoDescriptor)
}
