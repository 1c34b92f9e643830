package measure

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

const grazingName = "grazing"

// herd is how many animals come to a meadow. Once it has settled, about as many live there, and three or four in a hundred are born and die in a tick.
const herd = 100_000

// meadow begins a scenario of grass and animals whose strength is attribute number 1.
const meadow = "{murksim: 1, name: meadow, seed: 3, tick_rate: 1, space: {kind: square8, rows: 1000, cols: 1000, edge: wrap}, entities: {capacity: 200000, kinds: [sheep]}, "

// The sheep of examples/agents/wolves.yaml, without wolves.
const (
	sheepFields = "fields: [{name: grass, type: categorical, values: [bare, green], initial: {choice: {values: [0, 1]}}}, {name: energy, domain: entities}, {name: wait, initial: {noise: {from: 0, to: 30}}}, {name: h, domain: entities}], " +
		"propagators: [{rule: {set: {grass: if grass == bare and wait <= 0 then green else grass, wait: if grass == green then wait else if wait <= 0 then 30 else wait - 1}}}], "
	sheepItems = `do: [{name: turn, set: {h: "h + uniform(-0.87, 0) + uniform(0, 0.87)", energy: energy - 1}}, {move: "to(cos(h) + 0.5, sin(h) + 0.5)"}, ` +
		`{name: eat, when: here.grass == green, set: {here.grass: bare, energy: energy + 4}}, {when: energy < 0, die: true}, ` +
		`{chance: 0.04, set: {energy: energy / 2}, birth: {kind: kin, set: {energy: energy, h: "uniform(0, 6.2832)"}}}]`
)

// The component in Go that does about as much: it draws a step, looks for the most grass beside the animal, eats, and lets animals starve and breed.
const grazers = meadow + "fields: [{name: grass, initial: {noise: {from: 0, to: 1}}}, {name: energy, domain: entities, initial: 2}], propagators: [{rule: {set: {grass: \"min(grass + 0.015, 1)\"}}}], " +
	"systems: [{grazing: {kind: sheep, energy: energy, food: grass, pace: 1, bite: 1, cost: 0.16, breed_at: 8}}]}"

// animals builds a meadow and lets a herd settle there.
func animals(text string) (*engine.World, error) {
	s, err := yaml.Parse(worlds.Registry(), "bench.yaml", nil, []byte(text))
	if err != nil {
		return nil, err
	}
	w, err := s.World(1)
	if err != nil {
		return nil, err
	}
	const atOnce, settled = 20_000, 60
	for i := range herd {
		c := commands.Spawn(w.Lattice().Coord(i*7919%w.Lattice().Cells()), commands.FieldValue{Field: 1, Value: 4})
		if _, err := w.Submit(c); err != nil {
			return nil, err
		}
		if i%atOnce == atOnce-1 {
			if _, err := w.Step(); err != nil {
				return nil, err
			}
		}
	}
	return w, ticks(w, settled)
}

// turnsOf is a contender that lets a herd of animals act, as many as there are at first, whether more or fewer live.
func turnsOf(w *engine.World) contender {
	acted := 0
	return timed(func(n int) error {
		for acted -= n * herd; acted < 0; {
			acted += w.Population()
			if _, err := w.Step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// agents measures a rule of entities, for each that acts, beside a component in Go.
func agents(order string) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		ours, err := animals(meadow + sheepFields + "systems: [{rule: {for: sheep, order: " + order + ", " + sheepItems + "}}]}")
		if err != nil {
			return nil, err
		}
		rival, err := animals(grazers)
		if err != nil {
			return nil, err
		}
		return r.against(herd, turnsOf(ours), turnsOf(rival))
	}
}
