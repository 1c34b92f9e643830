package propagators_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// refused checks that a world with a propagator and the fields of the zoo is refused.
func refused(t *testing.T, s space.Space, p engine.Propagator, want string) {
	t.Helper()
	_, err := engine.New(zoo(s, p))
	if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("%+v: %v, want a ConfigError with %q", p, err, want)
	}
}

// rules are propagators that the zoo cannot have as they are, because they need its lattice or more fields.
func rules(t testing.TB, l *space.Lattice) map[string]engine.Propagator {
	all := map[string]engine.Propagator{
		"table": propagators.Automaton{Field: 2, Table: table(t, l, 4, wireWorld...)},
		"sight": propagators.Sight{Viewer: 2, Visible: 0, Blocks: new(fields.ID(1)), Radius: 3},
	}
	if y, ok := l.Layout(); ok && l.Dim() == 2 && y.Shift == 0 {
		all["larger"] = propagators.Automaton{Field: 2, Larger: &propagators.Larger{Range: 3, Shape: propagators.Circular, Born: []propagators.Interval{{Lo: 2, Hi: 9}}}}
		all["larger moore"] = propagators.Automaton{Field: 2, Larger: &propagators.Larger{Range: 4, Shape: propagators.Moore, States: 3, Born: []propagators.Interval{{Lo: 2, Hi: 9}}}}
	}
	return all
}

// TestRulesAllocate: none of them allocates in a tick.
func TestRulesAllocate(t *testing.T) {
	for _, s := range smallSpaces {
		for name, p := range rules(t, lattice(t, s)) {
			for _, workers := range []int{1, 2} {
				c := zoo(s, p)
				c.Workers = workers
				w := newWorld(t, c)
				steps(t, w, 3)
				if got := testing.AllocsPerRun(20, func() { steps(t, w, 1) }); got != 0 {
					t.Errorf("%s on %v, %d workers: %v allocations a tick, want 0", name, s, workers, got)
				}
			}
		}
	}
}
