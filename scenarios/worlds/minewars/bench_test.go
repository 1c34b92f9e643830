package minewars_test

import (
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// BenchmarkTick is a tick in the middle of a game of six bots on a map of radius 24.
func BenchmarkTick(b *testing.B) {
	s, err := scenariotest.Open("minewars", "space.cols=51", "space.rows=51")
	if err != nil {
		b.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Run(2000); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if w.Tick() > 5000 {
			b.StopTimer()
			if err := w.Reset(s.Seed); err != nil {
				b.Fatal(err)
			}
			if err := w.Run(2000); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
}
