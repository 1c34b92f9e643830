// Package predators is a meadow with grazers and the hunters that eat them.
package predators

import (
	"slices"

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
		{Name: "grazing", Version: 2, Params: func() any { return new(grazerParams) },
			About: "Lets entities walk to the richest cell near them, eat, breed and starve."},
		{Name: "hunting", Version: 2, Params: func() any { return new(hunterParams) },
			About: "Lets entities hunt another kind, breed and starve."},
	}
}

// animalParams are what grazers and hunters have in common.
type animalParams struct {
	Kind    scenarios.Kind     `yaml:"kind,required" doc:"The kind that lives like this."`
	Energy  scenarios.FieldRef `yaml:"energy,required" is:"an attribute of entities" doc:"Their strength; at 0 they die."`
	Pace    float64            `yaml:"pace,required" min:"0" doc:"Steps a second."`
	Cost    float64            `yaml:"cost,required" min:"0" doc:"Energy used up a second."`
	BreedAt float64            `yaml:"breed_at,required" above:"0" doc:"The energy at which one becomes two, each with half of it; without room for another it waits."`
	Walls   scenarios.FieldRef `yaml:"blocked_by" is:"a field of cells" doc:"Cells where this field, of one component, is not 0 are walls, which they do not enter."`
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
	limit               limit
}

func (p *animalParams) animals(b *scenarios.Builder, name string) animals {
	_, kinds, cell := engine.EntityColumns(len(b.Defs()))
	return animals{name, b.Kind(p.Kind), b.Field(p.Energy), kinds, cell, p.Pace, p.Cost, p.BreedAt,
		limit{walls: b.Optional(p.Walls), occupancy: b.Occupancy()}}
}

func (p *grazerParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	return grazers{p.animals(b, name), b.Field(p.Food), p.Bite}, nil
}

func (p *hunterParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	return hunters{p.animals(b, name), b.Kind(p.Prey), p.Catch, p.Gain}, nil
}

// spec declares what all animals touch.
func (a *animals) spec(l *space.Lattice) engine.Spec {
	s := engine.Spec{Name: a.name, Prev: engine.Fields(a.energy), Incremental: engine.Fields(a.energy, a.cell)}
	a.limit.declare(&s, l.Cells())
	return s
}

func (a *animals) check(defs []fields.Def) error {
	if d := &defs[a.energy]; d.Element != fields.Float32 || d.Type.Kind != fields.ScalarKind {
		return engine.ArgErrorf("energy", "energy: field %q is %v of %v; a scalar of float32 is needed", d.Name, d.Type, d.Element)
	}
	if a.limit.walls == nil {
		return nil
	}
	if d := &defs[*a.limit.walls]; d.Type.Components() != 1 {
		return engine.ArgErrorf("blocked_by", "blocked_by: field %q has %d components; 1 is needed", d.Name, d.Type.Components())
	}
	return nil
}

// age takes a tick's energy from one animal and lets it die or breed: events at the end of
// this tick, when nothing else can take the room that was counted for a child. An animal
// without energy is dead already; one without room for a child waits.
func (a *animals) age(c *engine.SystemContext, g *land, energy *float32, id uint64, cell int32) error {
	*energy -= float32(float64(a.cost * c.Dt()))
	if *energy <= 0 {
		*energy = 0
		_, err := c.Schedule(c.Tick(), commands.Despawn(id))
		return err
	}
	if *energy < float32(a.breedAt) {
		return nil
	}
	at, ok := g.bear(cell)
	if !ok {
		return nil
	}
	*energy /= 2
	_, err := c.Schedule(c.Tick(), commands.Spawn(c.Lattice().Coord(int(at)),
		commands.FieldValue{Field: uint32(a.kinds), Value: float32(a.kind)},
		commands.FieldValue{Field: uint32(a.energy), Value: *energy}))
	return err
}

// bury lets an animal die that had no energy at the start of the tick, because it was spawned
// like that or a command took it. One that has lost it since is dying already.
func (a *animals) bury(c *engine.SystemContext, slot int, id uint64) error {
	if c.Prev(a.energy)[slot] > 0 {
		return nil
	}
	_, err := c.Schedule(c.Tick(), commands.Despawn(id))
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
func (g grazers) Spec(l *space.Lattice) engine.Spec {
	s := g.spec(l)
	s.Incremental = append(s.Incremental, g.food)
	return s
}

// Check implements [engine.Checker].
func (g grazers) Check(_ *space.Lattice, defs []fields.Def) error {
	if g.limit.walls != nil && *g.limit.walls == g.food {
		return engine.ArgErrorf("blocked_by", "food and blocked_by are both field %q", defs[g.food].Name)
	}
	return g.check(defs)
}

// Update implements [engine.System]. Slot after slot: a step, a bite, and the wear
// of a tick.
func (g grazers) Update(c *engine.SystemContext) error {
	all, draws := c.Entities(), c.EntityBulk(0)
	energy, cells, food := c.Next(g.energy), c.NextColumn(g.cell).Int32, c.Next(g.food)
	bite, land := float32(float64(g.bite*c.Dt())), g.limit.land(c, cells)
	var near []int32
	for slot, id := range all.ID {
		if id == 0 || all.Kind[slot] != g.kind {
			continue
		}
		if energy[slot] <= 0 {
			if err := g.bury(c, slot, id); err != nil {
				return err
			}
			continue
		}
		words := draws.Words(id)
		if g.moves(&words, c.Dt()) {
			near = c.Lattice().AppendNeighbours(near[:0], int(cells[slot]))
			near = slices.DeleteFunc(near, func(cell int32) bool { return !land.isOpen(cell) })
			cells[slot] = land.step(cells[slot], richest(near, cells[slot], food, &words))
		}
		cell := cells[slot]
		eaten := max(min(bite, food[cell]), 0)
		food[cell] -= eaten
		energy[slot] += eaten
		if err := g.age(c, &land, &energy[slot], id, cell); err != nil {
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
func (h hunters) Spec(l *space.Lattice) engine.Spec { return h.spec(l) }

// Check implements [engine.Checker].
func (h hunters) Check(_ *space.Lattice, defs []fields.Def) error { return h.check(defs) }

// Update implements [engine.System]. Slot after slot: a step, a catch, and the wear
// of a tick.
func (h hunters) Update(c *engine.SystemContext) error {
	all, draws := c.Entities(), c.EntityBulk(0)
	energy, cells := c.Next(h.energy), c.NextColumn(h.cell).Int32
	catch, land := float32(odds(h.catch, c.Dt())), h.limit.land(c, cells)
	w := watch{c: c, land: &land, kinds: all.Kind, cells: cells, energy: energy}
	for slot, id := range all.ID {
		if id == 0 || all.Kind[slot] != h.kind {
			continue
		}
		if energy[slot] <= 0 {
			if err := h.bury(c, slot, id); err != nil {
				return err
			}
			continue
		}
		words := draws.Words(id)
		w.look(slot)
		first := int(words.Below(uint64(len(w.near))))
		prey := w.find(h.prey, first)
		if h.moves(&words, c.Dt()) {
			to := w.near[first]
			if prey >= 0 {
				to = cells[prey]
			}
			cells[slot] = land.step(cells[slot], to)
		}
		if prey >= 0 && words.Float32() < catch {
			energy[slot] += float32(float32(h.gain) * energy[prey])
			energy[prey] = 0
			if _, err := c.Schedule(c.Tick(), commands.Despawn(all.ID[prey])); err != nil {
				return err
			}
		}
		if err := h.age(c, &land, &energy[slot], id, cells[slot]); err != nil {
			return err
		}
	}
	return nil
}

// A watch is what one hunter after the other sees.
type watch struct {
	c            *engine.SystemContext
	land         *land
	kinds, cells []int32
	energy       []float32

	hunter int     // its slot
	near   []int32 // the cells in its reach: its own, then those beside it
	there  []int32 // slots
}

// look lets a hunter look around.
func (w *watch) look(hunter int) {
	here := w.cells[hunter]
	w.hunter = hunter
	w.near = w.c.Lattice().AppendNeighbours(append(w.near[:0], here), int(here))
}

// find returns the slot of the first living prey that stood in reach at the start of the
// tick, cell after cell from a random one, and still is in reach; -1 if there is none. A
// hunter does not reach onto a wall beside it.
func (w *watch) find(kind int32, first int) int {
	for i := range w.near {
		w.there = w.c.AppendAt(w.there[:0], int(w.near[(first+i)%len(w.near)]))
		for _, s := range w.there {
			if w.kinds[s] == kind && w.energy[s] > 0 && int(s) != w.hunter && w.reaches(w.cells[s]) {
				return int(s)
			}
		}
	}
	return -1
}

// reaches reports whether the hunter could be on a cell after a step.
func (w *watch) reaches(cell int32) bool {
	return slices.Contains(w.near, cell) && (cell == w.near[0] || !w.land.isWall(cell))
}
