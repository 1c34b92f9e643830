package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

const den = `murksim: 1
name: den
ticks: 9
space: {kind: ring, length: 8}
fields: [{name: energy, domain: entities, initial: 1}, {name: grass}]
entities:
  capacity: 8
  kinds: [fox]
  spawn:
    - {kind: fox, count: 3}
    - {name: vixen, kind: fox, cells: [[2]]}
commands:
  - {tick: 1, move: {entity: vixen, cell: [3]}}
  - {tick: 4, priority: 0, set: {field: energy, entity: pup, value: 7}}
  - {tick: 4, spawn: {kind: fox, cell: [0]}, priority: 0}
  - {tick: 4, spawn: {name: pup, kind: fox, cell: [5]}}
  - {every: 2, from: 4, set: {field: energy, entity: pup, value: 8}}
  - {tick: 8, despawn: {entity: vixen}}
expect:
  - {field: energy, entity: vixen, value: 1, tick: 7}
  - {field: energy, entity: vixen, value: 1, tick: 8}
  - {field: energy, entity: pup, range: [1, 5], from: 4}
  - {field: energy, entity: 1048578, range: [1, 1]}
`

// runDen runs a scenario to its end and returns what became of its expectations.
func runDen(t *testing.T, text string) (*runner.Run, []string, error) {
	t.Helper()
	s, err := scenariotest.Parse("den.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{Scenario: s, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.Receipts = func(list []commands.Receipt) error {
		for _, x := range list {
			if x.Reason != commands.Applied {
				t.Errorf("tick %d: %+v is refused: %v", r.World.Tick(), *x.Command, x.Reason)
			}
		}
		return nil
	}
	err = r.To(t.Context(), s.Ticks)
	var texts []string
	for _, x := range r.Checker.Results() {
		texts = append(texts, x.Text)
	}
	return r, texts, err
}

// A name that a spawn gives means its entity in commands and expectations, wherever the
// spawn stands in the file, and whatever else is spawned in the same tick.
func TestNamesOfEntities(t *testing.T) {
	r, texts, err := runDen(t, den)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"energy of vixen is 1 at tick 7: ok",
		"energy of vixen is 1 at tick 8: FAILED at tick 8: vixen is not alive",
		"energy of pup from 1 to 5: FAILED at tick 4: it is 8 for pup",
		"energy of entity 1048578 from 1 to 1: ok",
	}
	for i := range want {
		if texts[i] != want[i] {
			t.Errorf("expectation %d: %q, want %q", i, texts[i], want[i])
		}
	}
	s := r.Scenario
	for _, x := range []struct {
		tick   uint64
		of     int
		entity uint64
	}{{1, 4, 1<<20 | 1}, {4, 1, 4<<20 | 1}, {8, 1, 1<<20 | 1}} {
		c := s.CommandsAt(x.tick)[x.of]
		if c.Kind == commands.KindSetField {
			c.Entity = uint64(c.Coord.At(1))
		}
		if c.Entity != x.entity {
			t.Errorf("tick %d: command %d is for entity %d, want %d", x.tick, x.of, c.Entity, x.entity)
		}
	}
}

// The descriptor keeps names, and is read back as it is; without names nothing of them
// stands in it.
func TestNamesInDescriptor(t *testing.T) {
	s, err := scenariotest.Parse("den.yaml", den)
	if err != nil {
		t.Fatal(err)
	}
	text := s.Descriptor()
	for _, part := range []string{
		`{"name":"vixen","kind":"fox","cells":[[2]]}`, `"spawn":{"name":"pup","kind":"fox","cell":[5]}`,
		`"move":{"entity":"vixen","cell":[3]}`, `{"field":"energy","entity":1048578,"range":[1,1]}`,
	} {
		if part = strings.Replace(part, `"entity":1048578,"range":[1,1]`, `"range":[1,1],"entity":1048578`, 1); !strings.Contains(string(text), part) {
			t.Errorf("the descriptor has no %s: %s", part, text)
		}
	}
	again, err := worlds.Registry().FromDescriptor(text)
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(10) {
		a, b := s.CommandsAt(tick), again.CommandsAt(tick)
		if len(a) != len(b) {
			t.Fatalf("tick %d: %d commands, want %d", tick, len(b), len(a))
		}
		for i := range a {
			if string(a[i].Append(nil)) != string(b[i].Append(nil)) {
				t.Errorf("tick %d: command %d is %+v, want %+v", tick, i, b[i], a[i])
			}
		}
	}
}

// What is wrong with a name is said in place.
func TestNamesRefused(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"move: {entity: vixen,", "move: {entity: vixn,", `den.yaml:13:30: there is no entity "vixn"; did you mean "vixen"?`},
		{"entity: pup, range", "entity: pub, range", `den.yaml:22:29: there is no entity "pub"; did you mean "pup"?`},
		{"name: pup", "name: vixen", `den.yaml:16:29: there is an entity "vixen" already`},
		{"name: pup", "name: 9up", `den.yaml:16:29: "9up" cannot name an entity; use up to 64 letters, digits, _ and -, a letter first`},
		{"tick: 4, priority: 0, set", "tick: 3, set", `den.yaml:14:44: "pup" is spawned at tick 4; this command is done at tick 3 already`},
		{"every: 2, from: 4", "every: 2", `den.yaml:17:45: "pup" is spawned at tick 4; this command is done at tick 2 already`},
		{"entity: vixen, value: 1, tick: 7", "entity: pup, value: 1, tick: 3", `den.yaml:20:29: "pup" is spawned at tick 4; tick 3 is before that`},
		{"tick: 4, spawn: {name", "every: 4, spawn: {name", `den.yaml:16:30: a name is for one entity, and "every" may spawn several; use "tick"`},
		{"cell: [5]}}", "cell: [5]}, priority: 3}", `den.yaml:16:67: a spawn with a name has no priority: it comes first in its tick`},
		{"cells: [[2]]", "count: 2", `den.yaml:11:14: a name is for one entity; this population has 2`},
		{"entity: vixen, cell: [3]", "entity: 0, cell: [3]", `den.yaml:13:30: 0 is out of range`},
		{"set: {field: energy, entity: pup, value: 7", "set: {field: grass, entity: pup, value: 7",
			`den.yaml:14:56: field "grass" belongs to cells, so no entity has a value of it; write "cell" instead of "entity"`},
		{"set: {field: energy, entity: pup, value: 7", "set: {field: energy, cell: [0], value: 7",
			`den.yaml:14:33: field "energy" belongs to entities; write "entity", and not cells`},
		{"field: energy, entity: vixen, value: 1, tick: 7", "field: grass, entity: vixen, value: 1, tick: 7",
			`den.yaml:20:28: "entity" goes with value and range of a field of entities`},
		{"entity: vixen, value: 1, tick: 7", "cell: [3], value: 1, tick: 7",
			`den.yaml:20:5: field "energy" belongs to entities: with value goes "entity", and not cell`},
	} {
		if strings.Count(den, tt.old) != 1 {
			t.Fatalf("%q stands %d times in the scenario, want once", tt.old, strings.Count(den, tt.old))
		}
		_, err := scenariotest.Parse("den.yaml", strings.Replace(den, tt.old, tt.new, 1))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.new, err, tt.want)
		}
	}
	const none = "murksim: 1\nname: a\nspace: {kind: ring, length: 8}\nfields: [{name: h}]\n" +
		"entities: {capacity: 8, kinds: [fox]}\ncommands:\n  - {tick: 1, despawn: {entity: fox}}\n"
	_, err := scenariotest.Parse("a.yaml", none)
	if want := `a.yaml:7:33: there is no entity "fox"; a spawn can give one a name, as in "spawn: {name: fox, …}"`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("no names: %v, want %s", err, want)
	}
}

// A run ends with an error if a spawn with a name is refused, or if its entity has another id
// than commands use for it.
func TestNamedSpawnRefused(t *testing.T) {
	full := strings.Replace(den, "capacity: 8", "capacity: 4", 1)
	s, err := scenariotest.Parse("den.yaml", full)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	r := runner.Run{Scenario: s, World: w}
	err = r.To(t.Context(), s.Ticks)
	if want := `engine: tick 4: commands: den.yaml:16:29: "pup" could not be spawned: capacity full`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("without room: %v, want %s", err, want)
	}

	s, err = scenariotest.Parse("den.yaml", den)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Config(1)
	if err != nil {
		t.Fatal(err)
	}
	c.Systems = append(c.Systems, firstborn{})
	if w, err = engine.New(c); err != nil {
		t.Fatal(err)
	}
	r = runner.Run{Scenario: s, World: w}
	err = r.To(t.Context(), s.Ticks)
	if want := `engine: tick 4: commands: den.yaml:16:29: "pup" has another id than commands use for it`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("after an event: %v, want %s", err, want)
	}
}

// TestNamedSpawnAmongOthers: what else comes in the tick, before the spawn, does not hide that it was refused, nor that
// somebody else has spawned what then has its id.
func TestNamedSpawnAmongOthers(t *testing.T) {
	for _, tt := range []struct {
		capacity string
		first    commands.Command
		want     string
	}{
		{"capacity: 4", commands.SetField(space.At(0), 1, 2), `"pup" could not be spawned: capacity full`},
		{"capacity: 8", commands.Spawn(space.At(0)).From(7, 1), `"pup" has another id than commands use for it`},
	} {
		s, err := scenariotest.Parse("den.yaml", strings.Replace(den, "capacity: 8", tt.capacity, 1))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		for w.Tick() < 4 && err == nil {
			list := s.CommandsAt(w.Tick() + 1)
			if w.Tick() == 3 {
				tt.first.Priority = commands.PrioritySystem
				list = append([]commands.Command{tt.first}, list...)
			}
			if _, _, err = w.SubmitAll(list); err == nil {
				_, err = w.Step()
			}
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// firstborn spawns an entity at the beginning of tick 4.
type firstborn struct{}

func (firstborn) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "firstborn"} }

func (firstborn) Update(c *engine.SystemContext) error {
	if c.Tick() != 3 {
		return nil
	}
	order := commands.Spawn(c.Lattice().Coord(0))
	order.Priority = commands.PrioritySystem
	_, err := c.Schedule(4, order)
	return err
}

// TestVectorAttributes: a vector of entities begins with a vector, for all or as a spawn says, and stands so in the descriptor.
func TestVectorAttributes(t *testing.T) {
	const text = `murksim: 1
name: v
ticks: 2
space: {kind: line, length: 5}
fields:
  - {name: speed, type: vector(2), domain: entities, initial: [3, 4]}
entities:
  capacity: 4
  kinds: [ant]
  spawn:
    - {kind: ant, cells: [[1]], set: {speed: [1, 2]}}
    - {kind: ant, cells: [[2]], set: {speed: 7}}
    - {name: queen, kind: ant, cells: [[3]]}
commands:
  - {tick: 2, spawn: {kind: ant, cell: [4], set: {speed: [-1, 0]}}}
  - {tick: 2, set: {field: speed, entity: queen, value: [5, 6]}}
`
	s, err := scenariotest.Parse("v.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*scenarios.Scenario{s, again} {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, _, err := w.SubmitAll(s.CommandsAt(w.Tick() + 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := w.Borrow(0).Float32, []float32{5, 6, 1, 2, 7, 7, -1, 0}; !slices.Equal(got, want) {
			t.Errorf("the speeds are %v, want %v", got, want)
		}
	}
	for from, want := range map[string]string{
		"[1, 2]": `11:46: field "speed" has 2 components; this list has 3`, "[3, 4]": `6:63: field "speed" has 2 components; this list has 3`,
	} {
		_, err := scenariotest.Parse("v.yaml", strings.Replace(text, from, "[1, 2, 3]", 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
