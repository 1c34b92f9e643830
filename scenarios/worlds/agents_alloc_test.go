package worlds_test

import (
	"testing"
)

// TestAgentsAllocate: once a model has run for a while, its ticks allocate nothing.
func TestAgentsAllocate(t *testing.T) {
	for _, name := range []string{"ant", "crystal", "people", "segregation", "wolves"} {
		w := agents(t, name, "ticks=100000")
		steps(t, w, 400)
		if n := testing.AllocsPerRun(100, func() { steps(t, w, 1) }); n > 0 {
			t.Errorf("%s: a tick allocates %v times", name, n)
		}
	}
}
