package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

func column(t *testing.T, w *engine.World, name string) fields.ID {
	t.Helper()
	i := slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == name })
	if i < 0 {
		t.Fatalf("the world has no column %q", name)
	}
	return fields.ID(i)
}

// TestColonyTorn holds that who is as hungry as tired eats under one seed and sleeps
// under another.
func TestColonyTorn(t *testing.T) {
	const eats, sleeps = 1, 2
	for seed, want := range map[string]float64{"7": eats, "8": sleeps} {
		w := run(t, "colony", 1, "seed="+seed)
		if got := w.Value(column(t, w, "action"), 0); got != want {
			t.Errorf("seed %s: the torn colonist does %v, want %v", seed, got, want)
		}
	}
}

// TestColonyIsolated holds that draws elsewhere shift nothing in the decisions: the
// terrain grows at another pace, and the first decisions are the same.
func TestColonyIsolated(t *testing.T) {
	decided := func(sets ...string) uint64 {
		w := run(t, "colony", 1, append(sets, "expect=[]")...)
		return w.FieldHash(column(t, w, "decided"))
	}
	if got, want := decided("systems.terrain.food=1", "systems.bio.young=1"), decided(); got != want {
		t.Errorf("with other terrain and biology the decisions hash to %016x, want %016x", got, want)
	}
}

// TestColonyRefuses holds that a missing or wrong column is named.
func TestColonyRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"fields.hormones.type=vector(7)":          `needs a field "hormones" of entities: vector(8)`,
		"space={kind: square4, rows: 9, cols: 9}": "needs a space of square8",
	} {
		s, err := scenarios.Open("colony", set, "expect=[]")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// TestExpectShares holds the checks of sums, shares and attributes.
func TestExpectShares(t *testing.T) {
	const text = `murksim: 1
name: few
ticks: 2
space: {kind: line, length: 2}
fields: [{name: v, type: vector(2), initial: [1, 3]}, {name: a, domain: entities, initial: 9}]
entities: {capacity: 3, kinds: [x, y], spawn: [{kind: x, count: 1, set: {a: 5}}]}
expect: [{%s}]
`
	for expect, want := range map[string]string{
		"field: v, component: 1, sum: [6, 6]":       "sum of v[1] from 6 to 6: ok",
		"field: v, sum: [1, 7]":                     "sum of v from 1 to 7: FAILED at tick 1: it is 8",
		"field: v, shares: [0.25, 0.75]":            "shares of v from 0.25 to 0.75: ok",
		"field: v, shares: [0.3, 1]":                "shares of v from 0.3 to 1: FAILED at tick 1: that of component 0 is 0.25",
		"field: a, range: [5, 5]":                   "a from 5 to 5: ok",
		"field: a, kind: y, range: [0, 0]":          "a of y from 0 to 0: ok",
		"field: a, range: [0, 1], from: 2":          "a from 0 to 1: FAILED at tick 2: it is 5 for entity 1048577",
		"field: v, component: 0, range: [1, 1]":     "v[0] from 1 to 1: ok",
		"field: v, sum: [0, 1], from: 3, every: 10": "sum of v from 0 to 1: not reached",
	} {
		s, err := scenarios.Parse("few.yaml", "", fmt.Appendf(nil, text, expect))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		checks := scenarios.NewChecker(s, w)
		for range s.Ticks {
			step(t, s, w)
			checks.Observe(w)
		}
		if got := checks.Results()[0].Text; got != want {
			t.Errorf("%s: %q, want %q", expect, got, want)
		}
	}
}

// BenchmarkColony steps 20,000 colonists.
func BenchmarkColony(b *testing.B) {
	s, err := scenarios.Open("colony", "space.rows=512", "space.cols=512", "entities.capacity=30000",
		"entities.spawn=[{kind: colonist, count: 20000}]", "expect=[]")
	if err != nil {
		b.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range s.CommandsAt(1) {
		if err := w.Submit(c); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
}
