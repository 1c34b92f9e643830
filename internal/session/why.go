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
	CauseNumber   CauseKind = iota // a number that changed in the tick before
	CauseCommand                   // a command of the tick, or an event
	CausePresence                  // an entity that was near
	CauseMove                      // an entity that came near, or went, in the tick before
	CauseDraw                      // what a part drew
)

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
	var parts []scheduledBy
	v.World.WatchParts(func(part *engine.Part) {
		parts = append(parts, scheduledBy{part.Name, part.Scheduled()})
		now := number(v.World, p, func(id fields.ID) *fields.Column {
			x := part.Column(id)
			return &x
		})
		if !now.same(latest) {
			c.Steps = append(c.Steps, Step{Part: part.Name, Kind: part.Kind, Number: now})
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
	t := &trial{Why: y, change: c, before: before, orders: readOrders(v.Receipts())}
	t.nameEvents(parts)
	return c, t.causes(ctx)
}

// by reports whether parts of a kind changed the number.
func (c *Change) by(kinds ...string) bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return slices.Contains(kinds, s.Kind) })
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
