package ask

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
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
	Together      bool // no cause alone, but all of them
	Untried       int  // what may be causes and was not tried: numbers that no command can put back, and what is more than can be tried
}

// A Step is a part of a tick that changed a number.
type Step struct {
	Part, Kind string        // see [engine.PartCommands]
	Number                   // after it
	Terms      []engine.Term // how the part came to it, if it can tell
	By         string        // of events of the tick: the part that scheduled the one that changed the number
}

// An Order is a command of a tick: a recorded one, or an event, which the world had scheduled for itself.
type Order struct {
	commands.Command
	Reason    commands.Reason // Applied, or why not
	Made      uint64          // the entity that it made, by id; 0: none
	Event     bool
	Scheduled uint64 // an event: in which tick
	By        Step   // an event: the part that scheduled it, if that was found out
	Later     *Order // an event: the command for which it did
}

// A Cause is something without which the change would have been another one.
type Cause struct {
	Kind          CauseKind
	Place                  // of the number
	Order         *Order   // the command
	Parameter     uint32   // by its key
	Entity        uint64   // by id
	From, To      int      // where it was before the tick before, and after it, by rank
	Drawn         []string // the parts that drew numbers, one or several of which matter
	Before, After Number   // what the number was before the tick before, and after it
	Else          Number   // what would have come of it, had it stayed as it was, or without it
	weight        float64
}

// A CauseKind says what a cause is.
type CauseKind uint8

// What a cause is.
const (
	CauseNumber    CauseKind = iota // a number that changed in the tick before
	CauseCommand                    // a command of the tick, or an event
	CausePresence                   // an entity that was near
	CauseMove                       // an entity that came near, or went, in the tick before
	CauseDraw                       // what a part drew
	CauseParameter                  // a parameter that changed in the tick before
)

// A Number is a value of a field. There is none of an entity that does not live.
type Number struct {
	Value  float64
	Exists bool
	bits   uint64
}

// A Why finds out why numbers of a recording are what they are.
type Why struct {
	Cursor *replay.Cursor
	begin  uint64 // the tick at which the recording begins
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

// NewWhy asks a recording.
func NewWhy(c *replay.Cursor) *Why {
	begin, _ := c.Ticks()
	return &Why{c, begin}
}

// Latest returns the latest change of a number up to a tick, and its causes. An error is that of [replay.Cursor.Seek], or of the context, or wraps [ErrRemembers].
func (y *Why) Latest(ctx context.Context, p Place, upTo uint64) (*Change, error) {
	for length := uint64(16); ; length *= 8 {
		from := max(upTo-min(length, upTo), y.begin)
		tick, err := y.changed(ctx, p, from, upTo)
		switch {
		case err != nil:
			return nil, err
		case tick > 0:
			return y.change(ctx, p, tick)
		case from == y.begin:
			if err := y.Cursor.Seek(from); err != nil {
				return nil, err
			}
			n := y.number(p)
			return &Change{Place: p, Tick: y.begin, Before: n, After: n}, nil
		}
		upTo = from
	}
}

// number reads a number at the cursor's tick.
func (y *Why) number(p Place) Number {
	w := y.Cursor.World()
	return number(w, p, w.Column)
}

// changed returns the last tick behind from and up to another one in which a number changed; 0: none.
func (y *Why) changed(ctx context.Context, p Place, from, upTo uint64) (tick uint64, err error) {
	var before Number
	return tick, y.Cursor.Walk(from, upTo, func(w *engine.World) error {
		switch now := number(w, p, w.Column); {
		case w.Tick() == from:
			tick, before = 0, now
		case !now.same(before):
			tick, before = w.Tick(), now
		}
		return ctx.Err()
	})
}

// watch computes a tick, and calls a function with each of its parts. Begin gets the world before it, and returns that function.
func (y *Why) watch(tick uint64, begin func(*engine.World) func(*engine.Part)) error {
	for {
		if err := y.Cursor.Seek(tick - 1); err != nil {
			return err
		}
		w := y.Cursor.World()
		w.WatchParts(begin(w))
		err := y.Cursor.Seek(tick)
		w.WatchParts(nil)
		if err != nil || y.Cursor.World() == w { // or the cursor began once more, where the recording begins
			return err
		}
	}
}

// change computes the tick in which a number changed, part by part, and looks for what made it.
func (y *Why) change(ctx context.Context, p Place, tick uint64) (*Change, error) {
	c := &Change{Place: p, Tick: tick}
	t := &trial{Why: y, change: c}
	var parts []scheduledBy
	var err error
	if failed := y.watch(tick, func(w *engine.World) func(*engine.Part) {
		parts, c.Steps = nil, nil
		c.Before = number(w, p, w.Column)
		latest := c.Before
		t.before, err = w.Fork()
		return func(part *engine.Part) {
			parts = append(parts, scheduledBy{part.Name, part.Scheduled()})
			now := number(w, p, func(id fields.ID) *fields.Column {
				x := part.Column(id)
				return &x
			})
			if !now.same(latest) {
				c.Steps = append(c.Steps, Step{Part: part.Name, Kind: part.Kind, Number: now})
				latest = now
			}
		}
	}); failed != nil || err != nil {
		return nil, cmp.Or(failed, err)
	}
	c.After = y.number(p)
	if len(c.Steps) == 0 {
		return nil, fmt.Errorf("tick %d: no part of it changes the number: %w", tick, ErrRemembers)
	}
	t.orders = readOrders(y.Cursor.Receipts())
	t.nameEvents(parts)
	return c, t.causes(ctx)
}

// by reports whether parts of a kind changed the number.
func (c *Change) by(kinds ...string) bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return slices.Contains(kinds, s.Kind) })
}
