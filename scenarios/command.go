package scenarios

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A Command is done to the world at one tick, or again and again.
type Command struct {
	Tick         uint64     `yaml:"tick" min:"1" doc:"The tick at which it is done."`
	Every        uint64     `yaml:"every" min:"1" doc:"Do it every so many ticks."`
	From         uint64     `yaml:"from" min:"1" doc:"With every: the first tick; default: every."`
	Until        uint64     `yaml:"until" min:"1" doc:"With every: the last tick at which it may be done."`
	Set          *set       `yaml:"set" doc:"Set cells of a field, or an attribute of an entity."`
	Param        *setParam  `yaml:"param" doc:"Set a parameter."`
	Params       parameters `yaml:"params" doc:"Set several parameters, all or none."`
	Spawn        *spawn     `yaml:"spawn" doc:"Make an entity."`
	Move         *move      `yaml:"move" doc:"Put an entity on another cell."`
	Despawn      *despawn   `yaml:"despawn" doc:"Remove an entity."`
	Custom       *custom    `yaml:"custom" doc:"A command of the program's own."`
	Priority     uint8      `yaml:"priority" default:"1" doc:"Lower acts first; 0 is the system's, 1 the user's."`
	ExpiresAfter *uint64    `yaml:"expires_after" max:"8796093022207" doc:"How many ticks later it may still be applied."`

	orders []commands.Command
	at     *document.Node
}

// A set writes a value.
type set struct {
	Field  FieldRef  `yaml:"field,required" doc:"The field."`
	Cell   *Cell     `yaml:"cell" doc:"The cell."`
	Entity entityRef `yaml:"entity" doc:"The entity, by its name or id."`
	Region
	Value Value `yaml:"value,required" doc:"The value: a number, a name, or a list for a vector."`
}

// A setParam sets a parameter.
type setParam struct {
	Name  ParamRef `yaml:"name,required" doc:"The parameter."`
	Value float64  `yaml:"value,required" doc:"Its new value."`
}

// A spawn makes an entity.
type spawn struct {
	Name string     `yaml:"name" doc:"A name, for commands and expectations."`
	Kind Kind       `yaml:"kind,required" doc:"One of the kinds."`
	Cell Cell       `yaml:"cell,required" doc:"Where."`
	Set  attributes `yaml:"set" doc:"Its attributes; others take their initial values."`
}

// A move puts an entity elsewhere.
type move struct {
	Entity entityRef `yaml:"entity,required" doc:"Its name or id."`
	Cell   Cell      `yaml:"cell,required" doc:"Where to."`
}

// A despawn removes an entity.
type despawn struct {
	Entity entityRef `yaml:"entity,required" doc:"Its name or id."`
}

// A custom command is for a handler of the program.
type custom struct {
	Type uint32 `yaml:"type,required" doc:"Which handler."`
	Data string `yaml:"data" doc:"Bytes in hexadecimal."`
}

const maxTargets = 4096 // cells that one command of a scenario may set

var tooManyOrders = fmt.Sprintf("the commands write more than %d numbers in all", maxOrders)

// enter gives rules their names, by which commands know their parameters.
func (c *Command) enter(d *decoder) {
	if !d.named {
		_ = nameInstances(d.s.Propagators, d.s.Systems) // an error is found again when all is read
		d.named = true
	}
}

func (c *Command) check(d *decoder, n *document.Node) error {
	c.at = n
	switch {
	case (c.Tick == 0) == (c.Every == 0):
		return n.Errorf("a command has either \"tick\" or \"every\"")
	case c.Every == 0 && (c.From != 0 || c.Until != 0):
		return n.Errorf("\"from\" and \"until\" go with \"every\"")
	}
	kinds := 0
	for _, there := range [...]bool{c.Set != nil, c.Param != nil, c.Params != nil, c.Spawn != nil, c.Move != nil, c.Despawn != nil, c.Custom != nil} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		return n.Errorf("a command does one of set, param, params, spawn, move, despawn and custom")
	}
	if c.named() {
		if err := c.checkNamed(n); err != nil {
			return err
		}
	}
	if c.Params != nil {
		if err := c.checkParams(d, n.Get("params")); err != nil {
			return err
		}
	}
	if err := c.order(d.s, n); err != nil {
		return err
	}
	if d.s.orders += len(c.orders); d.s.orders > maxOrders {
		return n.Errorf("%s", tooManyOrders)
	}
	return nil
}

// checkParams sets the keys of the parameters of a batch.
func (c *Command) checkParams(d *decoder, n *document.Node) error {
	for i := range c.Params {
		p := &c.Params[i]
		key, ok := d.s.param(p.Name)
		if !ok {
			return n.Kids[2*i].Errorf("there is no parameter %q%s", p.Name, document.Suggestion(p.Name, parameters(d.s.AllParameters()).names()))
		}
		p.Key = key
	}
	return nil
}

// order makes the commands that are submitted.
func (c *Command) order(s *Scenario, n *document.Node) error {
	switch {
	case c.Set != nil:
		return c.orderSet(s, n.Get("set"))
	case c.Param != nil:
		key, _ := s.param(string(c.Param.Name))
		c.add(commands.SetParameter(key, c.Param.Value))
	case c.Params != nil:
		var list []commands.Parameter
		for _, p := range c.Params {
			list = append(list, commands.Parameter{Key: p.Key, Value: p.Value})
		}
		c.add(commands.SetParameterBatch(list...))
	case c.Spawn != nil:
		c.add(commands.Spawn(c.Spawn.Cell.Coord, s.attributes(c.Spawn.Kind, c.Spawn.Set)...))
	case c.Move != nil:
		c.add(commands.Move(c.Move.Entity.ID, c.Move.Cell.Coord))
	case c.Despawn != nil:
		c.add(commands.Despawn(c.Despawn.Entity.ID))
	default:
		data, err := hex.DecodeString(c.Custom.Data)
		if err != nil {
			return n.Get("custom").At("data").Errorf("data is not hexadecimal: %v", err).Because(err)
		}
		c.add(commands.Custom(c.Custom.Type, data))
	}
	return nil
}

// At lists what is to be submitted for a tick; nothing if the command is not due. The data of the commands must not be changed.
func (c *Command) At(tick uint64) (due []commands.Command) { return c.append(nil, tick) }

// append appends what is to be submitted for a tick.
func (c *Command) append(due []commands.Command, tick uint64) []commands.Command {
	if c.next(tick-1) != tick {
		return due
	}
	for _, order := range c.orders {
		if c.ExpiresAfter != nil {
			order.Expires = tick + *c.ExpiresAfter
		}
		due = append(due, order)
	}
	return due
}

func (c *Command) add(order commands.Command) {
	order.Priority = c.Priority
	if c.named() {
		order.Priority = commands.PrioritySystem
	}
	c.orders = append(c.orders, order)
}

func (c *Command) orderSet(s *Scenario, n *document.Node) error {
	set, f := c.Set, s.field(string(c.Set.Field))
	id := uint32(s.id(set.Field))
	switch targets := set.targets(); {
	case targets != 1:
		return n.Errorf("set needs one of cell, rect, disk, cells and entity")
	case (f.Domain == "entities") != set.Entity.given():
		return set.misplaced(n, f)
	case f.Type.Components() > maxOrders:
		return n.Errorf("%s", tooManyOrders)
	}
	if err := f.carried(n.Get("value"), set.Value); err != nil {
		return err
	}
	switch {
	case set.Entity.given():
		c.addSet(f, commands.SetField(commands.EntityCoord(set.Entity.ID), id, 0))
		return nil
	case set.Cell != nil:
		c.addSet(f, commands.SetField(set.Cell.Coord, id, 0))
		return nil
	}
	switch size := set.size(s.lattice); {
	case size > maxTargets:
		return n.Errorf("the region may have %d cells; a command sets at most %d", size, maxTargets)
	case size*f.Type.Components() > maxOrders:
		return n.Errorf("%s", tooManyOrders)
	}
	ranks, err := set.ranks(s.lattice)
	if err != nil {
		return n.Errorf("%s", plain(err)).Because(err)
	}
	c.orders = slices.Grow(c.orders, len(ranks)*f.Type.Components())
	for _, r := range ranks {
		c.addSet(f, commands.SetField(s.lattice.Coord(int(r)), id, 0))
	}
	return nil
}

func (x *set) targets() (n int) {
	for _, there := range [...]bool{x.Cell != nil, x.Entity.given(), !x.all()} {
		if there {
			n++
		}
	}
	return n
}

// misplaced says that a field does not have values for what the command names.
func (x *set) misplaced(n *document.Node, f *Field) error {
	if x.Entity.given() {
		return n.Get("entity").Errorf("field %q belongs to cells, so no entity has a value of it; write \"cell\" instead of \"entity\"", f.Name)
	}
	return n.Errorf("field %q belongs to entities; write \"entity\", and not cells", f.Name)
}

// addSet adds a SetField for every component of a field.
func (c *Command) addSet(f *Field, order commands.Command) {
	if f.Type.Kind != fields.VectorKind {
		c.add(commands.SetField(order.Coord, order.ID, float32(c.Set.Value.component(0))))
		return
	}
	for i := range f.Type.N {
		c.add(commands.SetField(order.Coord.Append(int32(i)), order.ID, float32(c.Set.Value.component(i))))
	}
}

// first returns the first tick at which a command may be done, and the key that sets it.
func (c *Command) first() (tick uint64, key string) {
	switch {
	case c.Every == 0:
		return c.Tick, "tick"
	case c.From == 0:
		return c.Every, "every"
	}
	return c.From, "from"
}

// CommandsAt lists what is to be submitted before the step that computes a tick: the
// spawns of entities with names, then in the first tick the rest of the population to begin
// with, then what is due by the document, in its order. The data of the commands must not
// be changed.
func (s *Scenario) CommandsAt(tick uint64) []commands.Command { return s.commandsAt(tick, nil) }

func (s *Scenario) commandsAt(tick uint64, m *making) []commands.Command {
	var due []commands.Command
	var c *crowd
	if tick == 1 && s.Entities != nil {
		c = s.crowd(m)
		due = s.populate(due, true, c, m)
	}
	if len(s.named) > 0 {
		before := len(due)
		due = s.appendDue(due, tick, true)
		c.enter(s.lattice, due[before:])
	}
	if tick == 1 && s.Entities != nil {
		due = s.populate(due, false, c, m)
	}
	return s.appendDue(due, tick, false)
}

// appendDue appends the commands of a tick, either the spawns with names or the others.
func (s *Scenario) appendDue(due []commands.Command, tick uint64, named bool) []commands.Command {
	for i := range s.Commands {
		if c := &s.Commands[i]; c.named() == named {
			due = c.append(due, tick)
		}
	}
	return due
}
