package scenarios

import (
	"reflect"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// Entities says what lives in the world.
type Entities struct {
	Capacity  int          `yaml:"capacity,required" min:"1" max:"268435456" doc:"How many may live at once."`
	Kinds     names        `yaml:"kinds,required" doc:"The names of the kinds, the first being 0."`
	Occupancy int          `yaml:"occupancy" min:"1" doc:"How many may stand on one cell; left out, any number."`
	Spawn     []population `yaml:"spawn" doc:"The populations at the first tick."`
}

// A population is a number of entities to begin with. They are spawned by commands
// of the first tick.
type population struct {
	Name  string `yaml:"name" doc:"A name for a population of one, for commands and expectations."`
	Kind  Kind   `yaml:"kind,required" doc:"One of the kinds."`
	Count int    `yaml:"count" min:"1" max:"32768" doc:"How many, at random places of the region; left out, one on each of its cells."`
	Region
	Set attributes `yaml:"set" doc:"Their attributes; others take their initial values."`

	at, name *document.Node
}

func (p *population) check(d *decoder, n *document.Node) error {
	if err := p.checkRegion(n); err != nil {
		return err
	}
	if p.take() != nil {
		return n.Errorf("a population has no value; it has \"set\"")
	}
	if err := d.spendOf(n, "region", p.steps(d.s.lattice), &d.s.spawnWork, maxSpawn); err != nil {
		return err
	}
	count := p.Count
	if count == 0 {
		count = p.size(d.s.lattice)
	}
	if p.at, p.name = n, n.At("name"); p.Name != "" && count != 1 {
		return p.name.Errorf("a name is for one entity; this population has %d", count)
	}
	d.s.spawns = min(d.s.spawns+count, engine.MaxEntities+1)
	return nil
}

// A Kind is the name of a kind of entities.
type Kind string

func (k *Kind) decode(d *decoder, n *document.Node) error {
	if d.s.Entities == nil {
		return n.Errorf("the scenario has no \"entities\"")
	}
	name, err := n.Text()
	if err != nil {
		return err
	}
	if !slices.Contains(d.s.Entities.Kinds, name) {
		return n.Errorf("there is no kind %q%s", name, document.Suggestion(name, d.s.Entities.Kinds))
	}
	*k = Kind(name)
	return nil
}

// kind returns the number of a kind of entities.
func (s *Scenario) kind(k Kind) int {
	if k == "" {
		return -1
	}
	return slices.Index(s.Entities.Kinds, string(k))
}

// attributes are values for fields of entities.
type attributes []attribute

// An attribute is the value of one field of an entity.
type attribute struct {
	Field FieldRef
	Value Value
}

func (a *attributes) decode(d *decoder, n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s stands where attributes, such as {energy: 5}, belong", n.What())
	}
	for i := 0; i < len(n.Kids); i += 2 {
		var ref FieldRef
		if err := ref.decode(d, n.Kids[i]); err != nil {
			return err
		}
		if err := d.checkRef(n.Kids[i], "an attribute of entities", reflect.ValueOf(ref)); err != nil {
			return err
		}
		var v Value
		outer := d.field
		d.field = d.s.field(string(ref))
		err := v.decode(d, n.Kids[i+1])
		if err == nil {
			err = d.field.carried(n.Kids[i+1], v)
		}
		if d.field = outer; err != nil {
			return err
		}
		*a = append(*a, attribute{ref, v})
	}
	return nil
}

func (a attributes) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, v := range a {
		b = v.Value.appendJSON(appendKey(b, string(v.Field)))
	}
	return append(b, '}')
}

// attributes returns the values of a Spawn; those of a vector one after another.
func (s *Scenario) attributes(k Kind, set attributes) []commands.FieldValue {
	_, kind, _ := engine.EntityColumns(len(s.Fields))
	values := []commands.FieldValue{{Field: uint32(kind), Value: float32(s.kind(k))}}
	for _, a := range set {
		for _, x := range a.Value {
			values = append(values, commands.FieldValue{Field: uint32(s.id(a.Field)), Value: float32(x)})
		}
	}
	return values
}

// populate appends spawns of the first tick, either those with names or the others. Random
// places are bulk draws of the genesis stream of the entities: the n-th of a population is
// index n, or another if there is no room.
func (s *Scenario) populate(spawns []commands.Command, named bool, c *crowd, m *making) []commands.Command {
	for i := range s.Entities.Spawn {
		p := &s.Entities.Spawn[i]
		if (p.Name != "") != named {
			continue
		}
		if m.add(p.steps(s.lattice)) != nil {
			return spawns
		}
		places, cellOf := p.places(s.lattice)
		if places == 0 {
			continue
		}
		values := s.attributes(p.Kind, p.Set)
		draws := rng.Seed(s.Seed).Tick(0).Stream("genesis.entities", uint64(i)).Bulk()
		count := p.Count
		if count == 0 {
			count = places
		}
		x := lottery{draws: draws, places: places, free: c.room(cellOf)}
		for n := range count {
			place := n
			if p.Count > 0 {
				place = x.draw(n)
			}
			order := commands.Spawn(s.lattice.Coord(cellOf(place)), values...)
			order.Priority = commands.PrioritySystem
			if spawns = append(spawns, order); p.Count > 0 { // the others are counted from the beginning
				c.enter(s.lattice, spawns[len(spawns)-1:])
			}
		}
	}
	return spawns
}
