package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

const meadowRule = `murksim: 1
name: pasture
ticks: 5
seed: 2
space: {kind: square8, rows: 6, cols: 6, edge: wrap}
fields:
  - {name: grass, type: categorical, values: [bare, green]}
  - {name: rain}
  - {name: wind, type: vector(2)}
  - {name: rock, mutability: static}
  - {name: energy, domain: entities, initial: 5}
  - {name: pull, domain: entities, type: vector(2)}
  - {name: gold, domain: entities, element: fixed}
entities:
  capacity: 20
  occupancy: 2
  kinds: [sheep, wolf]
  spawn: [{kind: sheep, rect: {from: [0, 0], to: [1, 4]}}, {kind: wolf, cells: [[5, 5]]}]
parameters: {speed: 0.5}
systems:
  - rule:
      for: sheep
      order: random
      do:
        - ITEM
`

// TestEntityRuleMistakes holds what is said about what a rule of entities cannot mean, and where: below the sign | of the excerpt.
func TestEntityRuleMistakes(t *testing.T) {
	for _, tt := range []struct{ item, want string }{
		{"{set: {energy: grass}}", "25:26: grass is a field of cells; write here.grass, the value on the entity's cell"},
		{"{set: {energy: near.rain}}", "25:26: near is a cell beside this one; it stands within a term over neighbours, as in sum(near.grass), in onto, and in most and least of a move"},
		{"{set: {energy: other.energy}}", "25:26: there is no other here; with finds one, and the where of with, here(…) and near(…) looks at each"},
		{"{set: {energy: here.energy}}", "25:26: energy is an attribute of entities, which a cell does not have; write energy of the entity itself, or other.energy"},
		{"{with: {one: wolf}, set: {energy: other.rain}}", "25:45: rain is a field of cells, which an entity does not have; write here.rain or near.rain"},
		{"{set: {energy: here.gras}}", "25:26: no field of cells is called gras; did you mean \"grass\"?"},
		{"{set: {energy: sum(energy)}}", "25:30: energy is the same for every neighbour; did you mean near.grass?"},
		{"{set: {energy: now(energy)}}", "25:26: values are as they stand; write energy. As they were when the tick began they are prev(…)"},
		{"{set: {energy: prev(near.rain)}}", "25:31: near is a cell beside this one"},
		{"{set: {energy: here(goat)}}", "25:31: there is no kind goat"},
		{"{set: {energy: here(wolf where energy > 1)}}", "25:42: energy > 1 is the same for every one that is looked at; did you mean other.energy?"},
		{"{set: {energy: here.grass}}", "25:26: energy is a number, here.grass is a category (bare, green)"},
		{"{set: {gras: 1}}", "25:18: there is no attribute \"gras\" of entities"},
		{"{set: {grass: bare}}", "25:18: grass is a field of cells; write here.grass"},
		{"{set: {here.energy: 1}}", "25:18: energy is an attribute of entities; write energy or other.energy"},
		{"{set: {here.rock: 1}}", "25:18: rock is static: it never changes"},
		{"{set: {kind: wolf}}", "25:18: the kind is changed by become: KIND"},
		{"{set: {other.energy: 1}}", "25:32: there is no other here; with finds one"},
		{"{set: {\"energy]\": 1}}", "there is no attribute \"energy]\" of entities"},
		{"{set: {\"here.rain]\": 1}}", "there is no field \"rain]\" of cells"},
		{"{set: {\"pull[0\": 1}}", "\"pull[0\" is no component of pull"},
		{"{set: {\"pull[2]\": 1}}", "25:18: \"pull[2]\" is no component of pull; write pull[0] to pull[1]"},
		{"{set: {pull: [1, 2], \"pull[0]\": 1}}", "is set twice: whole, and a component of it"},
		{"{move: up}", "25:18: a move is any, anywhere, other, most(x), least(x), along(v), or to a direction or an offset, such as to(north) or to(0, 1)"},
		{"{move: other}", "25:18: there is no other here; with finds one"},
		{"{move: most(rain)}", "25:23: rain is a field of cells; write near.rain, the value there, or here.rain"},
		{"{move: most(here.rain)}", "25:23: here.rain is the same for every cell; did you mean near.rain?"},
		{"{move: to(1)}", "25:18: to takes a direction, or 2 numbers, one for each component of the coordinate"},
		{"{move: along(energy)}", "25:24: along takes a vector; energy is a number"},
		{"{move: \"most(near.rain + uniform(0, 1))\"}", "uniform within"},
		{"{onto: near.rain > 1, set: {energy: 1}}", "25:18: onto is of the cell to which an entity moves; the item has no move"},
		{"{when: energy, die: true}", "25:18: energy is a number where true or false belongs"},
		{"{chance: 1.5, die: true}", "25:20: a chance is 0 to 1"},
		{"{move: \"to(sum(near.rain), normal())\"}", "normal would be drawn once"},
		{"{move: \"along([sum(near.rain), normal()])\"}", "normal would be drawn once"},
		{"{set: {energy: here}}", "here is a cell; write here.FIELD for what is there, or here(KIND) for who stands there"},
		{"{set: {energy: other}}", "other is an entity; write other.ATTRIBUTE"},
		{"{set: {energy: kin}}", "kin stands for kinds, as in here(kin); the kind of the entity itself is kind"},
		{"{when: kind == 1, die: true}", "kind is a category (sheep, wolf), 1 is a number; name the value, or write number(kind)"},
		{"{kill: other}", "25:11: kill needs another entity, which with finds"},
		{"{take: {from: energy, to: gold, amount: 1}}", "energy is a number, gold is a fixed number"},
		{"{take: {from: energy, to: energy, amount: 1}}", "energy is taken from itself"},
		{"{birth: {kind: goat}}", "25:26: there is no kind \"goat\""},
		{"{birth: {kind: kin, set: {here.rain: 1}}}", "25:37: \"here.rain\" is no attribute"},
		{"{name: x}", "25:11: the item does nothing; give it move, set, take, kill, die, birth or become"},
		{"{die: false}", "25:11: the item does nothing; give it move, set, take, kill, die, birth or become"},
		{"{set: {}}", "25:11: the item does nothing; give it move, set, take, kill, die, birth or become"},
		{"{die: true}\n        - {die: true}", "26:11: an item before is called die, too; give this one a name"},
		{"{set: {energy: energy * beta}}", "no field, parameter, let or value is called beta"},
	} {
		t.Run(tt.item, func(t *testing.T) {
			_, err := scenariotest.Parse("a.yaml", strings.Replace(meadowRule, "ITEM", tt.item, 1))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ old, new, want string }{
		{"order: random", "order: together", "25:11: entities that act together cannot move; use order: id or random"},
		{"      order: random\n", "", "the key \"order\" is missing"},
		{"for: sheep", "for: goat", "22:12: there is no kind \"goat\""},
		{"for: sheep", "parameters: {beta: 1}\n      for: sheep", "no formula of the rule has the parameter \"beta\""},
		{"kinds: [sheep, wolf]", "kinds: [sheep, wolf, kin]", "a kind is called kin, which is a word of rules of entities"},
		{"systems:", "propagators:", "22:7: unknown key \"for\""},
	} {
		text := strings.Replace(strings.Replace(meadowRule, "ITEM", "{move: any}", 1), tt.old, tt.new, 1)
		if _, err := scenariotest.Parse("a.yaml", text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.new, err, tt.want)
		}
	}
}

// TestEntityRuleFails: a value that cannot be written fails the tick, and the error names the entity, the item and the operation; the world stays as it was.
func TestEntityRuleFails(t *testing.T) {
	for _, tt := range []struct{ item, want string }{
		{"{name: burn, set: {energy: energy / (energy - 5)}}", "sheep: entity 1048577: burn.set.energy: `energy / (energy - 5)`: 5 / 0 is not finite"},
		{"{name: burn, set: {here.rain: exp(energy * 100)}}", "burn.set.here.rain: `exp(energy * 100)`: exp(500) is not finite"},
		{"{name: grow, set: {here.grass: \"as(grass, energy)\"}}", "grow.set.here.grass: `as(grass, energy)` is no value of grass"},
		{"{name: mint, set: {gold: \"fixed(energy * 1e30)\"}}", "mint.set.gold: fixed(energy * 1e+30): "},
		{"{name: bear, birth: {kind: kin, at: any, set: {gold: 1.00001}}}", "bear.birth.gold: "},
		{"{name: rob, with: {one: kin, at: around}, take: {from: other.energy, to: energy, amount: log(-energy)}}", "rob.take: `log(-energy)` is no number"},
	} {
		t.Run(tt.item, func(t *testing.T) {
			text := strings.Replace(strings.Replace(meadowRule, "ITEM", tt.item, 1), "order: random", "order: id", 1)
			if tt.item[:12] == "{name: bear," {
				text = strings.Replace(text, "set: {gold: 1.00001}", "set: {gold: gold + 12345.00001}", 1)
			}
			w := pastureWorld(t, text)
			hash := w.Hash()
			_, err := w.Step()
			if err == nil || !strings.Contains(err.Error(), tt.want) || w.Hash() != hash {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestEntityTickAgain: a tick that is computed again, with another command, remembers nothing of the first time.
func TestEntityTickAgain(t *testing.T) {
	text := strings.Replace(meadowRule, "ITEM", "{name: grow, set: {energy: energy + speed * 2}}", 1)
	after := func(w *engine.World, speed float64) uint64 {
		if _, err := w.Submit(commands.SetParameter(1, speed)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		return w.Hash()
	}
	fresh := pastureWorld(t, text)
	fresh.Step()
	want := after(fresh, 7)
	w := pastureWorld(t, text)
	w.Step()
	state, rest, err := w.SaveTick(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := after(w, 3)
	if err := w.LoadTick(nil, state, rest); err != nil {
		t.Fatal(err)
	}
	if got := after(w, 7); got != want || got == other {
		t.Errorf("the tick computed again has the hash %016x, want %016x; the first time it had %016x", got, want, other)
	}
	w = pastureWorld(t, strings.Replace(strings.Replace(meadowRule, "ITEM", "{name: grow, set: {energy: energy + 1 / speed}}", 1), "speed: 0.5", "speed: 0", 1))
	if _, err := w.Step(); err == nil {
		t.Fatal("1 / 0 is written")
	}
	after(w, 2)
}

// TestEntityRoom: items that find no room do nothing, and none is refused.
func TestEntityRoom(t *testing.T) {
	for _, item := range []string{
		"{name: a, birth: {kind: kin}}", "{name: a, when: kind == sheep and here(anyone where other.kind != wolf) < 3, birth: {kind: kin, at: any}}", "{name: a, birth: {kind: wolf, at: any}}", "{name: a, birth: {kind: kin, at: anywhere}}", "{name: a, move: any, birth: {kind: kin, at: behind}}",
		"{name: a, die: true, birth: {kind: kin}}", "{name: a, move: anywhere, onto: near.rain == 0, birth: {kind: kin, at: any, onto: near(anyone) == 0}}",
		"{name: a, with: {one: anyone, at: around}, move: other, kill: other, birth: {kind: kin, at: behind}}",
	} {
		t.Run(item, func(t *testing.T) {
			w := pastureWorld(t, strings.Replace(meadowRule, "ITEM", item, 1))
			for range 5 {
				receipts, err := w.Step()
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range receipts {
					if r.Reason != commands.Applied {
						t.Fatalf("tick %d: %v is %v", w.Tick(), r.Command, r.Reason)
					}
				}
				crowd := map[int32]int{}
				for slot := range w.Entities().Live() {
					if crowd[w.Entities().Cell[slot]]++; crowd[w.Entities().Cell[slot]] > 2 {
						t.Fatalf("tick %d: three on cell %d", w.Tick(), w.Entities().Cell[slot])
					}
				}
			}
			if w.Population() > 20 || w.Population() == 11 && !strings.Contains(item, "die") && !strings.Contains(item, "kill") {
				t.Errorf("%d live", w.Population())
			}
		})
	}
}

// pastureWorld builds a world from what a recording of it would hold, with its first population.
func pastureWorld(t *testing.T, text string) *engine.World {
	t.Helper()
	s, err := scenariotest.Parse("a.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatalf("%s: %v", s.Descriptor(), err)
	}
	w, err := again.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.CommandsAt(1) {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
	return w
}
