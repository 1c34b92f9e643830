// Package predators is a meadow with grazers and the hunters that eat them.
package predators

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components lists what the world is made of beside the library. A version goes up
// when the same parameters give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "grazing", Version: 1, Params: func() any { return new(grazerParams) },
			About: "Lets entities walk to the richest cell near them, eat, breed and starve."},
		{Name: "hunting", Version: 1, Params: func() any { return new(hunterParams) },
			About: "Lets entities hunt another kind, breed and starve."},
	}
}

// animalParams are what grazers and hunters have in common.
type animalParams struct {
	Kind    scenarios.Kind     `yaml:"kind,required" doc:"The kind that lives like this."`
	Energy  scenarios.FieldRef `yaml:"energy,required" is:"an attribute of entities" doc:"Their strength; at 0 they die."`
	Pace    float64            `yaml:"pace,required" min:"0" doc:"Steps a second."`
	Cost    float64            `yaml:"cost,required" min:"0" doc:"Energy used up a second."`
	BreedAt float64            `yaml:"breed_at,required" above:"0" doc:"The energy at which one becomes two, each with half of it."`
}

type grazerParams struct {
	animalParams
	Food scenarios.FieldRef `yaml:"food,required" is:"a scalar field" doc:"The field that they eat."`
	Bite float64            `yaml:"bite,required" min:"0" doc:"How much of it a second; it becomes energy."`
}

type hunterParams struct {
	animalParams
	Prey  scenarios.Kind `yaml:"prey,required" doc:"The kind that they hunt."`
	Catch float64        `yaml:"catch,required" min:"0" doc:"How often per second they catch prey next to them."`
	Gain  float64        `yaml:"gain,required" min:"0" max:"1" doc:"The share of the prey's energy that becomes theirs."`
}

// animals are entities of one kind with energy.
type animals struct {
	name                string
	kind                int32
	energy, kinds, cell fields.ID
	pace, cost, breedAt float64
}

func (p *animalParams) animals(b *scenarios.Builder, name string) animals {
	_, kinds, cell := engine.EntityColumns(len(b.Defs()))
	return animals{name, b.Kind(p.Kind), b.Field(p.Energy), kinds, cell, p.Pace, p.Cost, p.BreedAt}
}

func (p *grazerParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	return grazers{p.animals(b, name), b.Field(p.Food), p.Bite}, nil
}

func (p *hunterParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	return hunters{p.animals(b, name), b.Kind(p.Prey), p.Catch, p.Gain}, nil
}

// spec declares what all animals touch.
func (a *animals) spec() engine.Spec {
	return engine.Spec{Name: a.name, Incremental: engine.Fields(a.energy, a.cell)}
}

func (a *animals) check(defs []fields.Def) error {
	if d := &defs[a.energy]; d.Element != fields.Float32 || d.Type.Kind != fields.ScalarKind {
		return engine.ArgErrorf("energy", "energy: field %q is %v of %v; a scalar of float32 is needed", d.Name, d.Type, d.Element)
	}
	return nil
}

// age takes a tick's energy from one animal and lets it die or breed. Both are
// commands of the next tick. An animal without energy is dead already.
func (a *animals) age(c *engine.SystemContext, energy *float32, id uint64, cell int32) error {
	*energy -= float32(float64(a.cost * c.Dt()))
	if *energy <= 0 {
		*energy = 0
		_, err := c.Schedule(c.Tick()+1, commands.Despawn(id))
		return err
	}
	if *energy < float32(a.breedAt) {
		return nil
	}
	*energy /= 2
	_, err := c.Schedule(c.Tick()+1, commands.Spawn(c.Lattice().Coord(int(cell)),
		commands.FieldValue{Field: uint32(a.kinds), Value: float32(a.kind)},
		commands.FieldValue{Field: uint32(a.energy), Value: *energy}))
	return err
}

// moves draws whether an animal takes a step in this tick.
func (a *animals) moves(words *rng.Words, dt float64) bool {
	return words.Float32() < float32(odds(a.pace, dt))
}

// odds returns the chance of something that happens so often a second.
func odds(rate, dt float64) float64 { return min(float64(rate*dt), 1) }

// grazers walk to the richest cell beside them and eat.
type grazers struct {
	animals
	food fields.ID
	bite float64
}

// Spec implements [engine.System].
func (g grazers) Spec(*space.Lattice) engine.Spec {
	s := g.spec()
	s.Incremental = append(s.Incremental, g.food)
	return s
}

// Check implements [engine.Checker].
func (g grazers) Check(_ *space.Lattice, defs []fields.Def) error { return g.check(defs) }

// Update implements [engine.System]. Slot after slot: a step, a bite, and the wear
// of a tick.
func (g grazers) Update(c *engine.SystemContext) error {
	all, draws := c.Entities(), c.EntityBulk(0)
	energy, cells, food := c.Next(g.energy), c.NextColumn(g.cell).Int32, c.Next(g.food)
	bite := float32(float64(g.bite * c.Dt()))
	var near []int32
	for slot, id := range all.ID {
		if id == 0 || all.Kind[slot] != g.kind || energy[slot] <= 0 {
			continue
		}
		words := draws.Words(id)
		if g.moves(&words, c.Dt()) {
			near = c.Lattice().AppendNeighbours(near[:0], int(cells[slot]))
			cells[slot] = richest(near, cells[slot], food, &words)
		}
		cell := cells[slot]
		eaten := min(bite, food[cell])
		food[cell] -= eaten
		energy[slot] += eaten
		if err := g.age(c, &energy[slot], id, cell); err != nil {
			return err
		}
	}
	return nil
}

// richest returns the cell with most food: of equals the first, looking round from a
// random one; where they are, if nothing is better.
func richest(near []int32, here int32, food []float32, words *rng.Words) int32 {
	if len(near) == 0 {
		return here
	}
	best, first := here, int(words.Below(uint64(len(near))))
	for i := range near {
		if cell := near[(first+i)%len(near)]; food[cell] > food[best] {
			best = cell
		}
	}
	return best
}

// hunters walk about, toward prey where they see it, and catch it.
type hunters struct {
	animals
	prey        int32
	catch, gain float64
}

// Spec implements [engine.System].
func (h hunters) Spec(*space.Lattice) engine.Spec { return h.spec() }

// Check implements [engine.Checker].
func (h hunters) Check(_ *space.Lattice, defs []fields.Def) error { return h.check(defs) }

// Update implements [engine.System]. Slot after slot: a step, a catch, and the wear
// of a tick.
func (h hunters) Update(c *engine.SystemContext) error {
	all, draws := c.Entities(), c.EntityBulk(0)
	energy, cells := c.Next(h.energy), c.NextColumn(h.cell).Int32
	catch := float32(odds(h.catch, c.Dt()))
	var near, there []int32
	for slot, id := range all.ID {
		if id == 0 || all.Kind[slot] != h.kind || energy[slot] <= 0 {
			continue
		}
		words := draws.Words(id)
		near = c.Lattice().AppendNeighbours(append(near[:0], cells[slot]), int(cells[slot]))
		first := int(words.Below(uint64(len(near))))
		prey := -1
		for i := range near {
			there = c.AppendAt(there[:0], int(near[(first+i)%len(near)]))
			if prey = h.pick(there, all.Kind, energy); prey >= 0 {
				break
			}
		}
		if h.moves(&words, c.Dt()) {
			cells[slot] = near[first]
			if prey >= 0 {
				cells[slot] = cells[prey]
			}
		}
		if prey >= 0 && words.Float32() < catch {
			energy[slot] += float32(float32(h.gain) * energy[prey])
			energy[prey] = 0
			if _, err := c.Schedule(c.Tick()+1, commands.Despawn(all.ID[prey])); err != nil {
				return err
			}
		}
		if err := h.age(c, &energy[slot], id, cells[slot]); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the first living prey among the slots, or -1.
func (h *hunters) pick(slots, kinds []int32, energy []float32) int {
	for _, s := range slots {
		if kinds[s] == h.prey && energy[s] > 0 {
			return int(s)
		}
	}
	return -1
}
