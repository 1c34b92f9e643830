package physics_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/engine"
)

// crowd is a world of many bodies, all in motion or all at rest.
func crowd(tb testing.TB, n int, moving bool) *engine.World {
	tb.Helper()
	const side = 256
	land := rolling(side, side, hills)
	land.surface.Friction = 20 * one
	if moving {
		land.surface.Restitution, land.surface.Friction = one, 0
	}
	c := land.config(n)
	c.QueueSize = n
	w, err := engine.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		f := float64(i)
		s := start{x: float64(i%side) + 0.25, y: float64(i/side%side) + 0.75}
		if moving {
			s.z, s.vx = 10+float64(i%7), f/float64(n)-0.5
		}
		put(tb, w, s)
	}
	steps(tb, w, 100)
	return w
}

func TestNoAllocation(t *testing.T) {
	w := crowd(t, 1000, true)
	if got := testing.AllocsPerRun(50, func() { steps(t, w, 1) }); got != 0 {
		t.Errorf("%v allocations a tick, want none", got)
	}
}

func BenchmarkBodies(b *testing.B) {
	const n = 100_000
	for _, moving := range []bool{true, false} {
		b.Run(fmt.Sprintf("moving=%v", moving), func(b *testing.B) {
			w := crowd(b, n, moving)
			b.ReportAllocs()
			for b.Loop() {
				steps(b, w, 1)
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "bodies/s")
		})
	}
}
