//go:build !race

package colony_test // no goroutines here, and 35,000 ticks would take the race detector minutes

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestColonyBalance holds for several seeds that in 5,000 ticks, long after the start,
// each action is one per cent of the decisions at least, that people are born and
// starve, and that there are neither few nor all that fit.
func TestColonyBalance(t *testing.T) {
	const start, window = 2000, 5000
	for _, seed := range []string{"1", "2", "3", "4", "5"} {
		t.Run(seed, func(t *testing.T) {
			t.Parallel()
			s, err := scenariotest.Open("colony", "seed="+seed, "expect=[]")
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			var decided, lives []float64
			for w.Tick() < start+window {
				scenariotest.Step(t, s, w)
				if w.Tick() == start {
					decided, lives = sums(t, w, "decided"), sums(t, w, "lives")
				}
				if n := w.Population(); n < 130 || n > 500 {
					t.Fatalf("tick %d: %d live, want 130 to 500", w.Tick(), n)
				}
			}
			all := 0.0
			now := sums(t, w, "decided")
			for i := range now {
				now[i] -= decided[i]
				all += now[i]
			}
			for action, n := range now {
				if n < all/100 {
					t.Errorf("action %d is %.2f %% of the decisions, want 1 %% at least", action, 100*n/all)
				}
			}
			for i, n := range sums(t, w, "lives") {
				if n -= lives[i]; n < 10 {
					t.Errorf("%v lives began or ended in way %d, want 10 at least", n, i)
				}
			}
		})
	}
}

// sums adds up each component of a vector field.
func sums(t *testing.T, w *engine.World, name string) []float64 {
	id := scenariotest.Column(t, w, name)
	n := w.Defs()[id].Type.Components()
	s := make([]float64, n)
	for i := range w.Lattice().Cells() * n {
		s[i%n] += w.Value(id, i)
	}
	return s
}
