package session

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Place is a number in a world: of a field at a cell, or an attribute of an entity.
type Place struct {
	Field     fields.ID
	Component int    // of a vector
	Cell      int    // by rank
	Entity    uint64 // by id; 0: the number is a cell's
}

// A Change is the latest change of a number, and what made it.
type Change struct {
	Place
	Tick          uint64 // in which it changed; that at which the recording begins: it never did
	Before, After Number
	Steps         []Step // the parts of the tick that changed it, one after the other; none: it never changed
	Command       *Order // that set it
	Causes        []Cause
	Untried       int // what may be causes and was not tried: numbers that no command can put back, and what is more than can be tried
}

// A Step is a part of a tick that changed a number.
type Step struct {
	Part, Kind string // see [engine.PartCommands]
	Number            // after it
}

// An Order is a recorded command.
type Order struct {
	commands.Command
	Reason commands.Reason // Applied, or why not
	Made   uint64          // the entity that it made, by id; 0: none
}

// A Cause is a number, a command or an entity, without which the change would have been another one.
type Cause struct {
	Place                // of the number
	Order         *Order // the command; nil: it is none
	Without       uint64 // an entity that was near, by id; 0: it is none
	Before, After Number // what the number was before the tick before, and after it
	Else          Number // what would have come of it, had it stayed as it was, or without the command
	weight        float64
}

// A Number is a value of a field. There is none of an entity that does not live.
type Number struct {
	Value  float64
	Exists bool
	bits   uint64
}

// A Why finds out why numbers of a recording are what they are.
type Why struct {
	By    *Visitor
	File  string
	begin uint64 // the tick at which the recording begins
}

// mostTried is how many numbers and commands are tried as causes of a change, each of which computes a tick.
const mostTried = 256

// number reads a number of a world.
func number(w *engine.World, p Place, column func(fields.ID) *fields.Column) (n Number) {
	d, at := &w.Defs()[p.Field], p.Cell
	if d.Domain == fields.Entities {
		slot, ok := w.Slot(p.Entity)
		if !ok {
			return n
		}
		at = slot
	}
	return numberOf(column(p.Field), at*max(d.Type.Components(), 1)+p.Component)
}

// numberOf is an element of a column.
func numberOf(c *fields.Column, i int) (n Number) {
	n.Exists = true
	switch {
	case c.Float32 != nil:
		n.Value, n.bits = float64(c.Float32[i]), uint64(math.Float32bits(c.Float32[i]))
	case c.Fixed != nil:
		n.Value, n.bits = float64(c.Fixed[i])/(1<<16), uint64(c.Fixed[i])
	case c.Int32 != nil:
		n.Value, n.bits = float64(c.Int32[i]), uint64(c.Int32[i])
	case c.Uint64 != nil:
		n.Value, n.bits = float64(c.Uint64[i]), c.Uint64[i]
	}
	return n
}

// same reports whether two numbers have the same bits.
func (n Number) same(o Number) bool { return n.Exists == o.Exists && n.bits == o.bits }

// Latest returns the latest change of a number up to a tick, and its causes.
func (y *Why) Latest(ctx context.Context, p Place, upTo uint64) (*Change, error) {
	for length := uint64(16); ; length *= 8 {
		from := upTo - min(length, upTo)
		tick, begins, err := y.changed(ctx, p, from, upTo)
		switch {
		case err != nil:
			return nil, err
		case tick > 0:
			return y.change(ctx, p, tick)
		case begins:
			return y.unchanged(ctx, p, upTo)
		}
		upTo = from
	}
}

// changed returns the last tick behind from and up to another one in which a number changed; 0: none, and whether the recording begins there.
func (y *Why) changed(ctx context.Context, p Place, from, upTo uint64) (tick uint64, begins bool, err error) {
	from = max(from, y.begin)
	v, err := y.By.Visit(ctx, y.File, from)
	if err != nil {
		return 0, false, err
	}
	defer v.Close()
	before := number(v.World, p, v.World.Column)
	for v.World.Tick() < upTo {
		if err := cmp.Or(v.Advance(true), ctx.Err()); err != nil {
			return 0, false, y.By.Visited(v, y.File, v.World.Tick()+1, err)
		}
		if now := number(v.World, p, v.World.Column); !now.same(before) {
			tick, before = v.World.Tick(), now
		}
	}
	return tick, from == y.begin, nil
}

// unchanged is a change that never was.
func (y *Why) unchanged(ctx context.Context, p Place, tick uint64) (*Change, error) {
	v, err := y.By.Visit(ctx, y.File, tick)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	n := number(v.World, p, v.World.Column)
	return &Change{Place: p, Tick: y.begin, Before: n, After: n}, nil
}

// change computes the tick in which a number changed, part by part, and looks for what made it.
func (y *Why) change(ctx context.Context, p Place, tick uint64) (*Change, error) {
	v, err := y.By.Visit(ctx, y.File, tick-1)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	c := &Change{Place: p, Tick: tick, Before: number(v.World, p, v.World.Column)}
	before, err := v.World.Fork()
	if err != nil {
		return nil, y.By.Opener.About(y.File, err)
	}
	latest := c.Before
	v.World.WatchParts(func(part *engine.Part) {
		now := number(v.World, p, func(id fields.ID) *fields.Column {
			x := part.Column(id)
			return &x
		})
		if !now.same(latest) {
			c.Steps = append(c.Steps, Step{part.Name, part.Kind, now})
			latest = now
		}
	})
	err = v.Advance(true)
	v.World.WatchParts(nil)
	if err != nil {
		return nil, y.By.Visited(v, y.File, tick, err)
	}
	c.After = number(v.World, p, v.World.Column)
	if len(c.Steps) == 0 {
		return nil, fmt.Errorf("tick %d: computed again, no part of it changes the number: %s; %s synctest may name the part", tick, Remembers, y.By.Opener.Name)
	}
	t := &trial{Why: y, change: c, before: before}
	if err := t.orders(v); err != nil {
		return nil, err
	}
	return c, t.causes(ctx)
}

// by reports whether parts of a kind changed the number.
func (c *Change) by(kinds ...string) bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return slices.Contains(kinds, s.Kind) })
}

// A trial computes a tick again with something else than there was.
type trial struct {
	*Why
	change *Change
	before *engine.World // the tick before
	inputs []Order
	tried  int
}

// orders reads the commands of the tick.
func (t *trial) orders(v *Visit) error {
	receipts := v.Receipts()
	for i := range v.Frame().Records {
		c, err := v.Frame().Records[i].Command()
		if err != nil {
			return err
		}
		c.Data = slices.Clone(c.Data)
		o := Order{Command: c}
		for _, r := range receipts {
			if r.Arrival == c.Arrival {
				o.Reason, o.Made = r.Reason, r.Made
			}
		}
		t.inputs = append(t.inputs, o)
	}
	return nil
}

// again computes the tick once more, without one of its commands, and with others, and returns the number, and whether they were applied.
func (t *trial) again(without int, with ...commands.Command) (n Number, ok bool, err error) {
	w, err := t.before.Fork()
	if err != nil {
		return n, false, err
	}
	defer w.Release()
	t.tried++
	for i := range t.inputs {
		if i == without {
			continue
		}
		if _, err := w.Submit(t.inputs[i].Command); err != nil {
			return n, false, err
		}
	}
	var last commands.Ticket
	for i := range with {
		if last, err = w.Submit(with[i]); err != nil {
			return n, false, nil // it cannot be put so
		}
	}
	receipts, err := w.Step()
	if err != nil {
		return n, false, nil // this world cannot go on so
	}
	for _, r := range receipts {
		if len(with) > 0 && r.Ticket == last && r.Reason != commands.Applied {
			return n, false, nil
		}
	}
	return number(w, t.change.Place, w.Column), true, nil
}

// causes finds the command that set the number, or what would have made it another one: commands, entities near it, and numbers near it that changed
// in the tick before.
func (t *trial) causes(ctx context.Context) error {
	if t.change.Command = t.command(); t.change.Command != nil {
		return nil
	}
	if same, _, err := t.again(-1); err != nil {
		return err
	} else if !same.same(t.change.After) { // of what would have been, a world that remembers something tells nothing
		return fmt.Errorf("tick %d: computed again, the number is another one: %s; %s synctest may name the part", t.change.Tick, Remembers, t.By.Opener.Name)
	}
	defer t.rank()
	for _, look := range []func(context.Context) error{t.leaveOut, t.present, t.putBack} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// command returns the last command that set the number, if commands did.
func (t *trial) command() (last *Order) {
	c := t.change
	for i := range t.inputs {
		o := &t.inputs[i]
		made := o.Kind == commands.KindSpawn && o.Made == c.Entity && c.Entity != 0
		if c.Steps[0].Kind == engine.PartCommands && o.Reason == commands.Applied && (made || t.sets(&o.Command)) {
			last = o
		}
	}
	return last
}

// try computes the tick again without one of its commands, or with others, and notes what there would have been if it is something else.
func (t *trial) try(ctx context.Context, x Cause, without int, with ...commands.Command) error {
	c := t.change
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.tried >= mostTried {
		c.Untried++
		return nil
	}
	n, ok, err := t.again(without, with...)
	switch {
	case err != nil:
		return err
	case !ok:
		c.Untried++
	case !n.same(c.After):
		if x.Else, x.weight = n, math.Abs(n.Value-c.After.Value); x.Order != nil {
			x.weight = math.Inf(1)
		}
		c.Causes = append(c.Causes, x)
	}
	return nil
}

// leaveOut tries what there would have been without each command, but for those that set what no part of the change reads.
func (t *trial) leaveOut(ctx context.Context) error {
	read := t.read()
	for i := range t.inputs {
		o := &t.inputs[i]
		apart := o.Kind == commands.KindSetField && !slices.Contains(read, fields.ID(o.ID)) && !t.change.by(engine.PartCommands)
		if o.Reason != commands.Applied || apart {
			continue
		}
		if err := t.try(ctx, Cause{Order: o}, i); err != nil {
			return err
		}
	}
	return nil
}

// putBack tries what there would have been if numbers near it were still as they had been a tick before. The state with which the recording begins is given.
func (t *trial) putBack(ctx context.Context) error {
	c := t.change
	if c.Tick < t.begin+2 {
		return nil
	}
	v, err := t.By.Visit(ctx, t.File, c.Tick-2)
	if err != nil {
		return err
	}
	defer v.Close()
	for _, p := range t.near() {
		was, is := number(v.World, p, v.World.Column), number(t.before, p, t.before.Column)
		if was.same(is) || !was.Exists || !is.Exists {
			continue
		}
		put, ok := t.put(p, was)
		if !ok {
			c.Untried++
			continue
		}
		if err := t.try(ctx, Cause{Place: p, Before: was, After: is}, -1, put); err != nil {
			return err
		}
	}
	return nil
}

// rank puts the causes that matter most first, of those that matter the same the commands, then entities, then numbers.
func (t *trial) rank() {
	slices.SortStableFunc(t.change.Causes, func(a, b Cause) int { return cmp.Compare(b.weight, a.weight) })
}

// present looks whether the entities near the number made the change: what there would have been without each.
func (t *trial) present(ctx context.Context) error {
	c := t.change
	if !c.by(engine.PartSystem, engine.PartEvents) {
		return nil // others do not look at entities, nor schedule what becomes of them
	}
	cells, entities := t.cells(), t.before.Entities()
	for _, at := range cells { // who takes a step comes from one cell further
		for _, next := range t.before.Lattice().AppendNeighbours(nil, int(at)) {
			if !slices.Contains(cells, next) {
				cells = append(cells, next)
			}
		}
	}
	for slot, id := range entities.Live() {
		if id == c.Entity || !slices.Contains(cells, entities.Cell[slot]) {
			continue
		}
		if err := t.try(ctx, Cause{Without: id}, -1, commands.Despawn(id)); err != nil {
			return err
		}
	}
	return nil
}

// cells lists the cell of the number, and those next to it.
func (t *trial) cells() []int32 {
	cell := int32(t.change.Cell)
	if t.change.Entity != 0 {
		slot, ok := t.before.Slot(t.change.Entity)
		if !ok {
			return nil
		}
		cell = t.before.Entities().Cell[slot]
	}
	return append([]int32{cell}, t.before.Lattice().AppendNeighbours(nil, int(cell))...)
}

// sets reports whether a command writes the number in question itself.
func (t *trial) sets(c *commands.Command) bool {
	p := t.change.Place
	return c.Kind == commands.KindSetField && fields.ID(c.ID) == p.Field && c.Coord == t.target(p)
}

// target is the coordinate by which a command that sets a number names it.
func (t *trial) target(p Place) space.Coord {
	d, at := &t.before.Defs()[p.Field], commands.EntityCoord(p.Entity)
	if d.Domain == fields.Cells {
		at = t.before.Lattice().Coord(p.Cell)
	}
	if d.Type.Kind == fields.VectorKind {
		at = at.Append(int32(p.Component))
	}
	return at
}

// put is the command that gives a number a value; false: none can.
func (t *trial) put(p Place, n Number) (c commands.Command, ok bool) {
	d := &t.before.Defs()[p.Field]
	if d.Element != fields.Float32 || d.Mutability == fields.Static {
		return c, false
	}
	return commands.SetField(t.target(p), uint32(p.Field), float32(n.Value)), true
}

// near lists the numbers that the part of the change may have read near it, in the order in which it declares them: of its cell first, then of those next to it, and of
// who stands on them.
func (t *trial) near() (list []Place) {
	w, cells := t.before, t.cells()
	entities := w.Entities()
	for _, id := range t.read() {
		d := &w.Defs()[id]
		add := func(p Place) {
			for p.Component = range max(d.Type.Components(), 1) {
				list = append(list, p)
			}
		}
		if d.Domain == fields.Cells {
			for _, at := range cells {
				add(Place{Field: id, Cell: int(at)})
			}
			continue
		}
		for slot, who := range entities.Live() {
			if slices.Contains(cells, entities.Cell[slot]) {
				add(Place{Field: id, Entity: who})
			}
		}
	}
	return list
}

// read lists the fields that the parts of the change read, and its own where commands, checks or events are among them.
func (t *trial) read() (list []fields.ID) {
	add := func(ids ...fields.ID) {
		for _, id := range ids {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	l, config := t.before.Lattice(), t.before.Config()
	for _, step := range t.change.Steps {
		for _, p := range config.Propagators {
			if s := p.Spec(l); s.Name == step.Part && step.Kind == engine.PartPropagator {
				add(slices.Concat(s.Prev, s.Now, s.Incremental)...)
			}
		}
		for _, p := range config.Systems {
			if s := p.Spec(l); s.Name == step.Part && step.Kind == engine.PartSystem {
				add(slices.Concat(s.Prev, s.Now, s.Incremental)...)
			}
		}
		if step.Kind != engine.PartPropagator && step.Kind != engine.PartSystem {
			add(t.change.Field)
		}
	}
	return list
}

// NewWhy opens a recording, to be asked.
func NewWhy(ctx context.Context, by *Visitor, file string) (*Why, error) {
	rec, err := by.Opener.OpenRecording(ctx, file)
	if err != nil {
		return nil, by.Opener.About(file, err)
	}
	defer rec.Close()
	begin, err := rec.Frames.Head().Begin()
	if err != nil {
		return nil, by.Opener.About(file, err)
	}
	y := &Why{By: by, File: file}
	if begin != nil {
		y.begin = begin.Tick
	}
	return y, nil
}
