package scenarios

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// An entityRef refers to one entity, by the name that its spawn gives it or by its id.
type entityRef struct {
	Name string // "" if it was written as an id
	ID   uint64 // 0 until the whole scenario is known, if it has a name

	at *document.Node
}

func (e *entityRef) decode(_ *decoder, n *document.Node) error {
	e.at = n
	if n.Kind == document.Scalar && n.IsNumber() {
		id, err := n.Integer(big.NewInt(1), new(big.Int).SetUint64(math.MaxUint64))
		if err != nil {
			return err
		}
		e.ID = id.Uint64()
		return nil
	}
	var err error
	e.Name, err = n.Text()
	return err
}

func (e entityRef) appendJSON(b []byte) []byte {
	if e.Name != "" {
		return document.AppendText(b, e.Name)
	}
	return strconv.AppendUint(b, e.ID, 10)
}

// given reports whether the key was there.
func (e *entityRef) given() bool { return e.at != nil }

// text names the entity for people.
func (e *entityRef) text() string {
	if e.Name != "" {
		return e.Name
	}
	return fmt.Sprintf("entity %d", e.ID)
}

// A namedSpawn is an entity that has a name. Of the spawns of a tick those with names come
// first, and nothing else of the scenario acts before them, so that the ids are known when
// the scenario is built.
type namedSpawn struct {
	name string
	tick uint64
	id   uint64
	kind Kind
	at   *document.Node // the name
}

// entityID returns the id of the n-th entity, from 0, that is spawned in a tick.
func entityID(tick uint64, n int) uint64 { return tick<<20 | uint64(n+1) }

// maxIDTick is the last tick whose number an id can hold.
const maxIDTick = 1<<44 - 1

// nameEntities lists the entities with names and gives every reference its id.
func (s *Scenario) nameEntities() error {
	if err := s.listNamed(); err != nil {
		return err
	}
	for i := range s.Commands {
		c := &s.Commands[i]
		e := c.entity()
		if e == nil || e.Name == "" {
			continue
		}
		from, err := s.resolve(e)
		if err != nil {
			return err
		}
		if first, _ := c.first(); first < from.tick {
			return e.at.Errorf("%q is spawned at tick %d; this command is done at tick %d already", e.Name, from.tick, first)
		}
		c.orders = nil
		if err := c.order(s, c.at); err != nil {
			return err
		}
	}
	for i := range s.Expect {
		if e := &s.Expect[i].Entity; e.Name != "" {
			from, err := s.resolve(e)
			if err != nil {
				return err
			}
			if tick := s.Expect[i].Tick; tick != 0 && tick < from.tick {
				return e.at.Errorf("%q is spawned at tick %d; tick %d is before that", e.Name, from.tick, tick)
			}
		}
	}
	return nil
}

// listNamed lists the entities with names: those of the populations, then those of commands. It does so once.
func (s *Scenario) listNamed() error {
	if s.listed {
		return nil
	}
	s.listed = true
	inTick := map[uint64]int{}
	add := func(name string, tick uint64, kind Kind, at *document.Node) error {
		if err := checkName(at, "entity", name, nil); err != nil {
			return err
		}
		if _, taken := s.names[name]; taken {
			return at.Errorf("there is an entity %q already", name)
		}
		if s.names == nil {
			s.names = map[string]int{}
		}
		s.names[name] = len(s.named)
		s.named = append(s.named, namedSpawn{name, tick, entityID(tick, inTick[tick]), kind, at})
		inTick[tick]++
		return nil
	}
	if s.Entities != nil {
		for i := range s.Entities.Spawn {
			if p := &s.Entities.Spawn[i]; p.Name != "" {
				if err := add(p.Name, 1, p.Kind, p.name); err != nil {
					return err
				}
			}
		}
	}
	for i := range s.Commands {
		if c := &s.Commands[i]; c.named() {
			if err := add(c.Spawn.Name, c.Tick, c.Spawn.Kind, c.at.Get("spawn").At("name")); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve gives a reference its id and returns the spawn that it refers to.
func (s *Scenario) resolve(e *entityRef) (*namedSpawn, error) {
	i, known := s.names[e.Name]
	if !known {
		var names []string
		for _, x := range s.named {
			names = append(names, x.name)
		}
		hint := document.Suggestion(e.Name, names)
		if len(names) == 0 {
			hint = "; a spawn can give one a name, as in \"spawn: {name: fox, …}\""
		}
		return nil, e.at.Errorf("there is no entity %q%s", e.Name, hint)
	}
	e.ID = s.named[i].id
	return &s.named[i], nil
}

// EntityName returns the name of an entity, or "entity" and its id.
func (s *Scenario) EntityName(id uint64) string {
	for i := range s.named {
		if s.named[i].id == id {
			return s.named[i].name
		}
	}
	return fmt.Sprintf("entity %d", id)
}

// entity returns the command's reference to an entity; nil if it has none.
func (c *Command) entity() *entityRef {
	switch {
	case c.Set != nil && c.Set.Entity.given():
		return &c.Set.Entity
	case c.Move != nil:
		return &c.Move.Entity
	case c.Despawn != nil:
		return &c.Despawn.Entity
	}
	return nil
}

// named reports whether the command spawns an entity with a name.
func (c *Command) named() bool { return c.Spawn != nil && c.Spawn.Name != "" }

// checkNamed checks that a spawn with a name happens once, and early in its tick.
func (c *Command) checkNamed(n *document.Node) error {
	switch name := n.Get("spawn").At("name"); {
	case c.Every != 0:
		return name.Errorf("a name is for one entity, and \"every\" may spawn several; use \"tick\"")
	case n.Get("priority") != nil:
		return n.Get("priority").Errorf("a spawn with a name has no priority: it comes first in its tick")
	case c.Tick > maxIDTick:
		return n.At("tick").Errorf("an entity with a name must be spawned by tick %d", uint64(maxIDTick))
	}
	return nil
}

// acceptSpawned returns an error if the receipts of a tick show that an entity with a name
// was not spawned, or has another id than commands use for it: the first happens where
// there is no room, the second where something else spawns entities before it in the same tick.
// Of the spawns of a tick those with names come first, whatever else comes between them. Inputs
// without a spawn are those of a program that gives its own.
func (s *Scenario) acceptSpawned(tick uint64, receipts []commands.Receipt) error {
	next := 0
	for i := range receipts {
		r := &receipts[i]
		if r.Event || r.Command.Kind != commands.KindSpawn {
			continue
		}
		for next < len(s.named) && s.named[next].tick != tick {
			next++
		}
		if next == len(s.named) {
			return nil
		}
		x := &s.named[next]
		switch {
		case r.Reason != commands.Applied:
			return x.at.Errorf("%q could not be spawned: %v", x.name, r.Reason).Because(r.Reason)
		case r.Made != x.id || r.Command.HasSource:
			return x.at.Errorf("%q has another id than commands use for it, because events or commands of priority 0 spawned entities before it; spawn it at another tick", x.name)
		}
		next++
	}
	return nil
}

// LastNamed returns the last tick in which the scenario spawns an entity to which it gives a name; 0: there is none.
func (s *Scenario) LastNamed() (tick uint64) {
	for i := range s.named {
		tick = max(tick, s.named[i].tick)
	}
	return tick
}

// A NameError says that a name of the scenario would reach another entity in a run.
type NameError struct{ Reason string }

// Error implements error.
func (e *NameError) Error() string { return e.Reason }

// CheckNames returns a [*NameError] if the commands of a recorded tick, in their order, do not make the entities to which the scenario gives names in that
// tick: then their names would reach others, which have their ids.
func (s *Scenario) CheckNames(tick uint64, recorded []commands.Command) error {
	var wanted []*namedSpawn
	for i := range s.named {
		if x := &s.named[i]; x.tick == tick {
			wanted = append(wanted, x)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	given := s.CommandsAt(tick) // which begins with them
	made := slices.DeleteFunc(slices.Clone(recorded), func(c commands.Command) bool { return c.Kind != commands.KindSpawn || c.HasSource })
	for i, x := range wanted {
		if i >= len(made) || !bytes.Equal(made[i].AppendPayload(nil), given[i].AppendPayload(nil)) {
			return &NameError{fmt.Sprintf("tick %d does not spawn %q as the scenario does, so that name would reach another entity", tick, x.name)}
		}
	}
	return nil
}

// CheckKinds returns a [*NameError] if a world of the scenario, at a later tick, has an entity with the id of one to which the scenario gives a name, but of
// another kind than the scenario spawns, and nothing in the world changes kinds: then it was not made as the scenario makes it, and its name would
// reach another one.
func (s *Scenario) CheckKinds(w *engine.World) error {
	if len(s.named) == 0 || changesKinds(w) {
		return nil
	}
	all := w.Entities()
	for i := range s.named {
		x := &s.named[i]
		slot, lives := w.Slot(x.id)
		if want := s.kind(x.kind); lives && x.tick <= w.Tick() && want >= 0 && all.Kind[slot] != int32(want) {
			return &NameError{fmt.Sprintf("at tick %d the entity that the scenario calls %q is of the kind %s, not %s: it was not spawned as the scenario does, so that name would reach another entity",
				w.Tick(), x.name, s.KindName(all.Kind[slot]), x.kind)}
		}
	}
	return nil
}

// KindName returns what the scenario calls a kind of entities, or its number.
func (s *Scenario) KindName(kind int32) string {
	if s.Entities == nil || kind < 0 || int(kind) >= len(s.Entities.Kinds) {
		return strconv.Itoa(int(kind))
	}
	return s.Entities.Kinds[kind]
}

// changesKinds reports whether a part of the world may change the kind of an entity.
func changesKinds(w *engine.World) bool {
	kind := fields.ID(slices.IndexFunc(w.Defs(), func(d fields.Def) bool { return d.Name == engine.EntityKind }))
	writes := func(s engine.Spec) bool { return slices.Contains(s.Incremental, kind) || slices.Contains(s.Full, kind) }
	c := w.Config()
	return len(c.Handlers) > 0 ||
		slices.ContainsFunc(c.Propagators, func(p engine.Propagator) bool { return writes(p.Spec(w.Lattice())) }) ||
		slices.ContainsFunc(c.Systems, func(s engine.System) bool { return writes(s.Spec(w.Lattice())) })
}
