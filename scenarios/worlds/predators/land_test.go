package predators_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// meadow is a scenario with a space, entities, grass and systems as given.
func meadow(t *testing.T, space, entities, fields, systems string) (*scenarios.Scenario, *engine.World) {
	t.Helper()
	s, err := scenariotest.Parse("meadow.yaml", fmt.Sprintf(`murksim: 1
name: meadow
seed: 3
space: %s
fields: [{name: energy, domain: entities, initial: 1}, %s]
entities: %s
systems: [%s]
`, space, fields, entities, systems))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(s.Locate(err))
	}
	return s, w
}

// animals lists where the living of a kind are, by their ids.
func animals(w *engine.World, fields int, kind float64) map[uint64]int {
	ids, kinds, cells := engine.EntityColumns(fields)
	view := w.Snapshot()
	defer view.Release()
	at := map[uint64]int{}
	for slot := range view.Len(ids) {
		if id := uint64(view.At(ids, slot)); id != 0 && view.At(kinds, slot) == kind {
			at[id] = int(view.At(cells, slot))
		}
	}
	return at
}

const (
	grazing = "grazing: {kind: hare, energy: energy, food: grass, pace: %v, bite: 0, cost: 0, breed_at: 100}"
	hunting = "hunting: {kind: fox, energy: energy, prey: hare, pace: %v, catch: 20, gain: 1, cost: 0, breed_at: 100}"
)

// TestHuntersReachOneCell holds that a hunter takes one step in a tick and catches no prey
// that has got two cells away, however fast the prey was.
func TestHuntersReachOneCell(t *testing.T) {
	const entities = "{capacity: 9, kinds: [hare, fox], spawn: [{kind: hare, cells: [[3]]}, {kind: fox, cells: [[2]]}]}"
	s, w := meadow(t, "{kind: line, length: 7}", entities, "{name: grass, initial: {cells: [[4]], value: 1}}",
		fmt.Sprintf(grazing, 20)+", "+fmt.Sprintf(hunting, 20))
	scenariotest.Step(t, s, w) // the hare steps to 4 before the fox looks
	for _, cell := range animals(w, 2, 1) {
		if cell < 1 || cell > 3 {
			t.Errorf("a fox went from 2 to %d in one tick, want one step", cell)
		}
	}

	s, w = meadow(t, "{kind: line, length: 7}", entities, "{name: grass, initial: {cells: [[4]], value: 1}}",
		fmt.Sprintf(grazing, 20)+", "+fmt.Sprintf(hunting, 0))
	for range 3 {
		scenariotest.Step(t, s, w)
	}
	if len(animals(w, 2, 0)) != 1 {
		t.Error("a fox that stays at 2 caught a hare at 4, want it out of reach")
	}

	s, err := scenariotest.Open("predators")
	if err != nil {
		t.Fatal(err)
	}
	if w, err = s.World(1); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		before := animals(w, 2, 1)
		scenariotest.Step(t, s, w)
		for id, cell := range animals(w, 2, 1) {
			from, known := before[id]
			if l := w.Lattice(); known && l.Distance(from, cell) > 1 {
				t.Fatalf("tick %d: hunter %d went from %v to %v, want one step", w.Tick(), id, l.Coord(from), l.Coord(cell))
			}
		}
	}
}

// TestHuntersSpareThemselves holds that a kind that hunts its own kind does not eat itself.
func TestHuntersSpareThemselves(t *testing.T) {
	const entities = "{capacity: 9, kinds: [hare, fox], spawn: [{kind: fox, cells: [[2]]}]}"
	s, w := meadow(t, "{kind: ring, length: 5}", entities, "{name: grass}", strings.Replace(fmt.Sprintf(hunting, 0), "hare", "fox", 1))
	for range 20 {
		scenariotest.Step(t, s, w)
	}
	if got := w.Value(0, 0); w.Population() != 1 || got != 1 {
		t.Errorf("%d foxes live, the first with energy %v; want 1 with energy 1", w.Population(), got)
	}
}

// TestAnimalsWithoutEnergyDie holds that an animal which is spawned without energy does not
// stand there for ever.
func TestAnimalsWithoutEnergyDie(t *testing.T) {
	const entities = "{capacity: 9, kinds: [hare, fox], spawn: [{kind: hare, cells: [[0]], set: {energy: 0}}, {kind: fox, cells: [[2]], set: {energy: -1}}]}"
	s, w := meadow(t, "{kind: ring, length: 5}", entities, "{name: grass}", fmt.Sprintf(grazing, 0)+", "+fmt.Sprintf(hunting, 0))
	scenariotest.Step(t, s, w)
	if n := w.Population(); n != 0 {
		t.Errorf("%d live without energy, want none", n)
	}
}

// TestBreedingWaitsForRoom holds that no parent loses energy without a child: where the
// capacity is full or no cell around has room for one, it waits.
func TestBreedingWaitsForRoom(t *testing.T) {
	const breed = "grazing: {kind: hare, energy: energy, food: grass, pace: 0, bite: 0, cost: 0, breed_at: 4}"
	for _, tt := range []struct {
		name, entities, fields string
		alive                  int
		energy                 float64 // of the first
	}{
		{"capacity full", "{capacity: 1, kinds: [hare], spawn: [{kind: hare, cells: [[0]], set: {energy: 6}}]}", "{name: grass}", 1, 6},
		{"room for one", "{capacity: 2, kinds: [hare], spawn: [{kind: hare, cells: [[0]], set: {energy: 6}}]}", "{name: grass}", 2, 3},
		{"all cells full", "{capacity: 9, occupancy: 1, kinds: [hare], spawn: [{kind: hare, set: {energy: 6}}]}", "{name: grass}", 3, 6},
		{"a cell beside it is free", "{capacity: 9, occupancy: 1, kinds: [hare], spawn: [{kind: hare, cells: [[0]], set: {energy: 6}}]}", "{name: grass}", 2, 3},
		{"a wall beside it", "{capacity: 9, occupancy: 1, kinds: [hare], spawn: [{kind: hare, cells: [[0]], set: {energy: 6}}]}",
			"{name: grass}, {name: rock, initial: {cells: [[1]], value: 1}}", 1, 6},
	} {
		systems := breed
		if strings.Contains(tt.fields, "rock") {
			systems = strings.Replace(breed, "breed_at: 4", "breed_at: 4, blocked_by: rock", 1)
		}
		s, w := meadow(t, "{kind: line, length: 3}", tt.entities, tt.fields, systems)
		for range 5 {
			scenariotest.Step(t, s, w)
		}
		if got := w.Value(0, 0); w.Population() != tt.alive || got != tt.energy {
			t.Errorf("%s: %d live, the first with energy %v; want %d with energy %v", tt.name, w.Population(), got, tt.alive, tt.energy)
		}
	}
}

// TestAnimalsKeepOccupancy holds that grazers and hunters in a crowd wait instead of
// stopping the world, that a child's place is kept for it between systems, and that
// they stay off walls.
func TestAnimalsKeepOccupancy(t *testing.T) {
	for _, most := range []int{1, 2} {
		entities := fmt.Sprintf("{capacity: 150, occupancy: %d, kinds: [hare, fox], spawn: [{kind: hare, rect: {from: [0, 0], to: [5, 9]}}, {kind: fox, rect: {from: [8, 0], to: [9, 9]}}]}", most)
		s, w := meadow(t, "{kind: square8, rows: 10, cols: 10, edge: clamp}", entities,
			"{name: grass, initial: 100}, {name: rock, type: categorical, values: [open, rock], initial: {rect: {from: [7, 1], to: [7, 8]}, value: rock}}",
			"grazing: {kind: hare, energy: energy, food: grass, pace: 15, bite: 5, cost: 1, breed_at: 2, blocked_by: rock}, "+
				"hunting: {kind: fox, energy: energy, prey: hare, pace: 15, catch: 3, gain: 1, cost: 2, breed_at: 3, blocked_by: rock}")
		refused, born := 0, 0
		w.Watch(func(tick *engine.Tick) {
			for _, r := range tick.Receipts {
				if r.Event && r.Reason != commands.Applied {
					refused++
				}
				if r.Event && r.Kind == commands.KindSpawn {
					born++
				}
			}
		})
		for range 300 {
			scenariotest.Step(t, s, w)
			for kind := range 2 {
				for id, cell := range animals(w, 3, float64(kind)) {
					if w.Value(2, cell) != 0 {
						t.Fatalf("tick %d: entity %d is on a wall", w.Tick(), id)
					}
				}
			}
		}
		if refused > 0 || born < 100 {
			t.Errorf("occupancy %d: %d births, and %d births and deaths refused; want 100 at least, and none", most, born, refused)
		}
	}
}

// TestWallsStopAnimals holds that a wall with animals on both sides stays between them, and
// that a hunter does not reach onto one.
func TestWallsStopAnimals(t *testing.T) {
	const entities = "{capacity: 9, kinds: [hare, fox], spawn: [{kind: hare, cells: [[3]]}, {kind: hare, cells: [[4]]}, {kind: fox, cells: [[2]]}]}"
	s, w := meadow(t, "{kind: line, length: 7}", entities,
		"{name: grass, initial: {cells: [[0]], value: 1}}, {name: rock, mutability: static, initial: {cells: [[3]], value: -0.5}}",
		strings.Replace(fmt.Sprintf(grazing, 0), "cost: 0", "cost: 0, blocked_by: rock", 1)+", "+
			strings.Replace(fmt.Sprintf(hunting, 20), "cost: 0", "cost: 0, blocked_by: rock", 1))
	for range 100 {
		scenariotest.Step(t, s, w)
		for _, cell := range animals(w, 3, 1) {
			if cell > 2 {
				t.Fatalf("tick %d: the fox is at %d, behind the wall at 3", w.Tick(), cell)
			}
		}
	}
	if n := w.Population(); n != 3 {
		t.Errorf("%d live, want 3: a hare on the wall, one behind it, and a fox", n)
	}
}

// TestWallErrors holds that a wall of several components, or that is the food, is refused
// where it is named.
func TestWallErrors(t *testing.T) {
	for _, tt := range []struct{ wall, want string }{
		{"pair", `m.yaml:6:114: grazing: blocked_by: field "pair" has 2 components; 1 is needed`},
		{"grass", `m.yaml:6:114: grazing: food and blocked_by are both field "grass"`},
		{"energy", `m.yaml:6:114: field "energy" is an attribute of entities; a field of cells is needed here`},
		{"rocks", `m.yaml:6:114: there is no field "rocks"`},
	} {
		s, err := scenariotest.Parse("m.yaml", `murksim: 1
name: m
space: {kind: ring, length: 5}
fields: [{name: energy, domain: entities}, {name: grass}, {name: pair, type: vector(2)}]
entities: {capacity: 9, kinds: [hare]}
systems: [grazing: {kind: hare, energy: energy, food: grass, pace: 1, bite: 1, cost: 1, breed_at: 1, blocked_by: `+tt.wall+`}]
`)
		if err == nil {
			_, err = s.World(1)
		}
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.wall, err, tt.want)
		}
	}
}
