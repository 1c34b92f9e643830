package scenarios_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestOccupancy holds that a scenario's rule of how many may stand on a cell reaches
// its world.
func TestOccupancy(t *testing.T) {
	const text = `murksim: 1
name: crowd
ticks: 1
space: {kind: line, length: 3}
fields: [{name: a}]
entities: {capacity: 9, kinds: [x], occupancy: 2, spawn: [{kind: x, count: 6}]}
`
	s, err := scenariotest.Parse("crowd.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	scenariotest.Step(t, s, w)
	if n := w.Population(); n != 6 {
		t.Errorf("%d entities live on 3 cells, want 6", n)
	}
}

// TestPlacesWithRoom holds that random places are drawn among cells with room, beside those that others take before and after, and that
// nothing changes where nobody collides.
func TestPlacesWithRoom(t *testing.T) {
	const head = "murksim: 1\nname: crowd\nticks: 1\nseed: %d\nspace: {kind: square4, rows: 6, cols: 6}\nfields: [{name: a}]\n" +
		"entities: {capacity: 99, kinds: [x, y], %sspawn: [%s]}\n"
	places := func(seed int, occupancy, spawn string) (cells []string) {
		t.Helper()
		s, err := scenariotest.Parse("crowd.yaml", fmt.Sprintf(head, seed, occupancy, spawn))
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Begin(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			cells = append(cells, c.Coord.String())
		}
		return cells
	}
	for _, tt := range []struct {
		spawn string
		want  int
	}{
		{"{kind: x, count: 30}", 30},
		{"{kind: x, count: 36}", 36},
		{"{kind: x, count: 12}, {kind: y, count: 12}, {kind: x, name: eve, count: 1}", 25},
		{"{kind: x, count: 20}, {kind: y, rect: {from: [1, 0], to: [2, 5]}}", 32},
		{"{kind: x, count: 4, rect: {from: [0, 0], to: [1, 1]}}, {kind: y, count: 32}", 36},
	} {
		for seed := range 20 {
			there := map[string]bool{}
			for _, cell := range places(seed, "occupancy: 1, ", tt.spawn) {
				there[cell] = true
			}
			if len(there) != tt.want {
				t.Errorf("%s, seed %d: they are on %d cells, want %d", tt.spawn, seed, len(there), tt.want)
			}
		}
	}
	alike := 0
	for seed := range 200 {
		const few = "{kind: x, count: 4}"
		free := places(seed, "", few)
		if distinct := slices.Compact(slices.Sorted(slices.Values(free))); len(distinct) == 4 {
			alike++
			if got := places(seed, "occupancy: 1, ", few); !slices.Equal(got, free) {
				t.Errorf("seed %d: with occupancy they are at %v, without at %v", seed, got, free)
			}
		}
	}
	if alike < 50 {
		t.Errorf("in %d of 200 seeds nobody collides; the test wants more", alike)
	}
}
