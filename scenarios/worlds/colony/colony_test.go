package colony_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// twentyThousand makes a colony of 20,000 people, as COLONY.md does.
var twentyThousand = []string{
	"space.rows=512", "space.cols=512", "entities.capacity=40000",
	"entities.spawn=[{kind: torn, count: 1, set: {hunger: 70, fatigue: 70, carried: 2}}, {kind: colonist, count: 20000, set: {age: 1000}}]",
	"expect.0.population=[10000, 39999]",
}

// TestColonyTorn holds, by the scenario's own expectations, that who is as hungry as
// tired eats under one seed and sleeps under another, and does one of the two under any.
func TestColonyTorn(t *testing.T) {
	eats, sleeps := "action of torn from 1 to 1 at tick 1 under seed 7: ", "action of torn from 2 to 2 at tick 1 under seed 8: "
	for seed, want := range map[uint64][]string{
		7: {eats + "ok", sleeps + "another seed"},
		8: {eats + "another seed", sleeps + "ok"},
		9: {eats + "another seed", sleeps + "another seed"},
	} {
		s, err := scenariotest.Open("colony", fmt.Sprint("seed=", seed))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		checks := scenarios.NewChecker(s, w)
		scenariotest.Step(t, s, w)
		checks.Observe(w)
		var got []string
		for _, r := range checks.Results() {
			got = append(got, r.Text)
		}
		for _, line := range append(want, "action of torn from 1 to 2 at tick 1: ok") {
			if !slices.Contains(got, line) {
				t.Errorf("seed %d: %q, want %q among them", seed, got, line)
			}
		}
	}
}

// TestColonyLarge runs the colony of 20,000 that the document describes for some ticks.
func TestColonyLarge(t *testing.T) {
	page, err := os.ReadFile("../../../docs/COLONY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range twentyThousand {
		if !bytes.Contains(page, []byte("--set "+set)) && !bytes.Contains(page, []byte("--set '"+set+"'")) {
			t.Errorf("COLONY.md does not set %s", set)
		}
	}
	s, err := scenariotest.Open("colony", twentyThousand...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(2)
	if err != nil {
		t.Fatal(err)
	}
	checks := scenarios.NewChecker(s, w)
	for range 4 {
		scenariotest.Step(t, s, w)
		checks.Observe(w)
	}
	for _, r := range checks.Results() {
		if r.Reached && !r.OK {
			t.Error(r.Text)
		}
	}
	if got := w.Population(); got != 20001 {
		t.Errorf("%d live, want 20,001", got)
	}
}

// noisy makes a draw of its own before a system's.
type noisy struct{ engine.System }

// Update implements [engine.System].
func (n noisy) Update(c *engine.SystemContext) error {
	c.Stream(99).Uint64()
	return n.System.Update(c)
}

// TestColonyIsolated holds that one more draw in physics, whose value nobody uses, leaves
// every draw of every other system and every bit of every column as they are; and that
// the draw itself is seen.
func TestColonyIsolated(t *testing.T) {
	s, err := scenariotest.Open("colony", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	var worlds [2]*engine.World
	for i := range worlds {
		c, err := s.Config(1)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			c.Systems[2] = noisy{c.Systems[2]}
		}
		if worlds[i], err = engine.New(c); err != nil {
			t.Fatal(err)
		}
	}
	rest, drawn := len(worlds[0].Defs())-1, 0
	for range 200 {
		var draws [2][]engine.Draws
		for i, w := range worlds {
			scenariotest.Step(t, s, w)
			draws[i] = drawsOf(t, s, w)
		}
		more := slices.DeleteFunc(slices.Clone(draws[1]), func(d engine.Draws) bool { return d.Name == "physics" })
		if !slices.Equal(more, draws[0]) || len(draws[1]) != len(draws[0])+1 {
			t.Fatalf("tick %d: the draws are %v, with one more %v", worlds[0].Tick(), draws[0], draws[1])
		}
		drawn += len(draws[0])
		for id := range worlds[0].Defs() {
			equal := worlds[0].FieldHash(fields.ID(id)) == worlds[1].FieldHash(fields.ID(id))
			if equal != (id != rest) {
				t.Fatalf("tick %d: column %q is equal: %t, want %t", worlds[0].Tick(), worlds[0].Defs()[id].Name, equal, id != rest)
			}
		}
	}
	if drawn < 500 {
		t.Errorf("%d streams were used in 200 ticks, want 500 at least", drawn)
	}
}

// drawsOf lists what was drawn in a world's last tick.
func drawsOf(t *testing.T, s *scenarios.Scenario, w *engine.World) []engine.Draws {
	t.Helper()
	b, err := w.Save(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	state, err := engine.ReadState(b)
	if err != nil {
		t.Fatal(err)
	}
	return state.Draws
}

// TestColonyAllocates holds that a tick without births and walls allocates nothing once
// the colony has run in.
func TestColonyAllocates(t *testing.T) {
	s, err := scenariotest.Open("colony", "expect=[]", "systems.bio={young: 1000000000, life: 1000000000}", "fields.built.initial=1",
		"systems.terrain.crumble=1000000000")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 600 {
		scenariotest.Step(t, s, w)
	}
	if got := testing.AllocsPerRun(200, func() {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("a tick allocates %v times, want 0", got)
	}
}

// TestColonyRefuses holds that a missing or wrong column is named.
func TestColonyRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"fields.hormones.type=vector(7)":          `needs a field "hormones" of entities: vector(8)`,
		"space={kind: square4, rows: 9, cols: 9}": "needs a space of square8",
	} {
		s, err := scenariotest.Open("colony", set, "expect=[]")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// BenchmarkColony steps 20,000 colonists, as they are after 200 ticks.
func BenchmarkColony(b *testing.B) {
	s, err := scenariotest.Open("colony", twentyThousand...)
	if err != nil {
		b.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range s.CommandsAt(1) {
		if _, err := w.Submit(c); err != nil {
			b.Fatal(err)
		}
	}
	tick := func() {
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
	for range 200 {
		tick()
	}
	for b.Loop() {
		tick()
	}
}

// TestColonyFault holds that ground higher than a number can say halts a colony.
func TestColonyFault(t *testing.T) {
	s, err := scenariotest.Open("colony", "fields.height.initial=140000000000000", "fields.built.initial=140000000000000", "expect=[]")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.CommandsAt(1) {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Step()
	fault, ok := errors.AsType[*engine.FaultError](err)
	if !ok || !errors.Is(err, engine.ErrArithmetic) || fault.Column != "altitude" || fault.Entity != 1<<20|1 {
		t.Errorf("Step = %v, want an arithmetic fault of entity 1048577, column altitude", err)
	}
}

func sum(w *engine.World, id fields.ID) (total float64) {
	for i := range w.Lattice().Cells() {
		total += w.Value(id, i)
	}
	return total
}
