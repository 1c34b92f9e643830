package worlds_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// BenchmarkAgents computes ticks of many sheep on grass that they eat; ns/entity is of one that acts. The rules of the first three are those of an example, with wolves or
// without; few are a thousand wolves among a million sheep that do nothing; grazing is the component in Go that does about as much.
func BenchmarkAgents(b *testing.B) {
	text, err := os.ReadFile("../../examples/agents/wolves.yaml")
	if err != nil {
		b.Fatal(err)
	}
	sheep, _, _ := strings.Cut(string(text), "  - rule:\n      for: wolf")
	meadow := []string{"space.rows=900", "space.cols=900", "entities.capacity=200000", "entities.spawn.1.count=1", "ticks=100000"}
	for _, x := range []struct {
		name, text string
		herd       int
		sets       []string
	}{
		{"wolves", string(text), 0, []string{"space.rows=300", "space.cols=300", "entities.capacity=100000", "entities.spawn.0.count=9000", "entities.spawn.1.count=4500", "ticks=100000"}},
		{"random", sheep, 100_000, meadow},
		{"id", strings.Replace(sheep, "order: random", "order: id", 1), 100_000, meadow},
		{"few", few, 1_000_000, nil},
		{"grazing", grazers, 100_000, nil},
	} {
		b.Run(x.name, func(b *testing.B) { benchAgents(b, worldOf(b, x.text, x.sets...), x.herd) })
	}
}

// grazers are as many as the sheep.
const grazers = `murksim: 1
name: grazers
ticks: 100000
tick_rate: 1
space: {kind: square8, rows: 900, cols: 900, edge: wrap}
fields:
  - {name: grass, initial: {noise: {from: 0, to: 1}}}
  - {name: energy, domain: entities, initial: 2}
entities: {capacity: 200000, kinds: [hare], spawn: [{kind: hare, count: 100}]}
propagators:
  - rule: {set: {grass: "min(grass + 0.02, 1)"}}
systems:
  - grazing: {kind: hare, energy: energy, food: grass, pace: 1, bite: 1, cost: 0.16, breed_at: 8}
`

// few are a thousand wolves that walk among a million sheep that do nothing.
const few = `{murksim: 1, name: few, ticks: 100000, tick_rate: 1, space: {kind: square8, rows: 1000, cols: 1000, edge: wrap}, fields: [{name: energy, domain: entities}],
entities: {capacity: 1100000, kinds: [sheep, wolf], spawn: [{kind: wolf, count: 1000}]}, systems: [{rule: {for: wolf, order: random, do: [{set: {energy: energy + 1}}, {move: any}]}}]}`

// benchAgents steps a world to which a herd comes, once it has settled.
func benchAgents(b *testing.B, w *engine.World, herd int) {
	acted := 0
	step := func() {
		acted += w.Population()
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
	energy := slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == "energy" })
	for i := range herd {
		c := commands.Spawn(w.Lattice().Coord(i*7919%w.Lattice().Cells()), commands.FieldValue{Field: uint32(energy), Value: 4})
		if _, err := w.Submit(c); err != nil {
			b.Fatal(err)
		}
		if i%20_000 == 0 {
			step()
		}
	}
	for range 40 {
		step()
	}
	acted = 0
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(acted), "ns/entity")
	b.ReportMetric(float64(acted)/float64(b.N), "entities")
}
