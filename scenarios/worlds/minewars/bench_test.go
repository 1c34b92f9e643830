package minewars_test

import (
	"testing"

	stream "github.com/murksim/murksim/replay/minewars"
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

// BenchmarkTell is what a Teller needs for a tick of the same game.
func BenchmarkTell(b *testing.B) {
	p := open(b, "space.cols=51", "space.rows=51")
	if err := p.w.Run(2000); err != nil {
		b.Fatal(err)
	}
	host := p.host()
	var u stream.Update
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		p.step()
		u.Reset(p.w.Tick())
		b.StartTimer()
		if err := host.Tell(p.w, &u); err != nil {
			b.Fatal(err)
		}
	}
}
