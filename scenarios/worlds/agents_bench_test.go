package worlds_test

import (
	"os"
	"testing"
)

// BenchmarkAgents computes ticks of wolves, sheep and grass; ns/entity is of one that acts.
func BenchmarkAgents(b *testing.B) {
	text, err := os.ReadFile("../../examples/agents/wolves.yaml")
	if err != nil {
		b.Fatal(err)
	}
	w := worldOf(b, string(text), "space.rows=300", "space.cols=300", "entities.capacity=100000", "entities.spawn.0.count=9000", "entities.spawn.1.count=4500", "ticks=100000")
	acted := 0
	b.ReportAllocs()
	for b.Loop() {
		acted += w.Population()
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(acted), "ns/entity")
}
