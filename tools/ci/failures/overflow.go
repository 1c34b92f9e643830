package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// The fields of a world of bodies.
const (
	bodyX = iota
	bodyY
	bodyHeight
	bodyVX
	bodyVY
	bodyVZ
	bodyGround
	bodyFields
)

// A catapult puts the first body near the largest number, at great speed, at a tick.
type catapult struct{ tick uint64 }

// Spec implements [engine.System].
func (catapult) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "catapult", Incremental: engine.Fields(bodyHeight, bodyVZ)}
}

// Update implements [engine.System].
func (k catapult) Update(c *engine.SystemContext) error {
	if c.Tick() == k.tick {
		c.NextColumn(bodyHeight).Fixed[0] = int64(fixed.Max - fixed.One)
		c.NextColumn(bodyVZ).Fixed[0] = int64(3 * fixed.One)
	}
	return nil
}

// bodies returns a world in which bodies fall, with a catapult that is used at a tick or, by
// 0, never.
func bodies(tick uint64) (*engine.World, error) {
	var defs []fields.Def
	for _, name := range []string{"x", "y", "height", "vx", "vy", "vz"} {
		defs = append(defs, fields.Def{Name: name, Element: fields.Fixed, Domain: fields.Entities})
	}
	defs = append(defs, fields.Def{Name: "ground", Element: fields.Fixed})
	_, _, cell := engine.EntityColumns(bodyFields)
	return engine.New(engine.Config{
		Space: space.Square4{Rows: 4, Cols: 4}, Fields: defs, Capacity: 2,
		Systems: []engine.System{catapult{tick}, &physics.System{
			Name: "bodies", X: bodyX, Y: bodyY, Height: bodyHeight, VX: bodyVX, VY: bodyVY, VZ: bodyVZ, Ground: bodyGround, Cell: cell,
			Fall: physics.Fall{Gravity: fixed.One / 8}, Surface: physics.Surface{Restitution: fixed.One / 2},
		}},
	})
}

// fly runs that world until it is over or fails, and returns the state before the last
// attempt.
func fly(catapult uint64) (w *engine.World, before []byte, err error) {
	if w, err = bodies(catapult); err != nil {
		return nil, nil, err
	}
	for range 2 {
		if _, err := w.Submit(commands.Spawn(space.At(1, 2), commands.FieldValue{Field: bodyHeight, Value: 9})); err != nil {
			return w, nil, err
		}
	}
	for err == nil && w.Tick() < planted+20 {
		if before, err = w.Save(nil); err == nil {
			_, err = w.Step()
		}
	}
	return w, before, err
}

// overflow: the tick fails with ARITHMETIC_FAULT, the world halts in the state before.
func (l *lab) overflow() (*seen, error) {
	if w, _, err := fly(0); err != nil {
		return nil, fmt.Errorf("without a fault, after tick %d: %w", w.Tick(), err)
	}
	f := uint64(planted)
	if l.unplanted {
		f = 0
	}
	w, before, err := fly(f)
	fault, ok := errors.AsType[*engine.FaultError](err)
	if !ok || !errors.Is(err, engine.ErrArithmetic) || l.blind == toAll {
		return nil, fmt.Errorf("it runs to tick %d, and %v", w.Tick(), err)
	}
	tick := w.Tick() + 1
	if tick != planted || fault.Entity != 1<<20|1 {
		return nil, fmt.Errorf("want entity %d at tick %d: %w", 1<<20|1, planted, err)
	}
	after, saved := w.Save(nil)
	if saved != nil || !bytes.Equal(before, after) {
		return nil, fmt.Errorf("the state is not that of the tick before (%v)", saved)
	}
	if _, again := w.Step(); !errors.Is(again, engine.ErrHalted) {
		return nil, fmt.Errorf("the next step gives %v, want %w", again, engine.ErrHalted)
	}
	status, err := l.overflowRun()
	return &seen{by: "halt; the state stays that of the tick before", tick: tick, report: fault.Error(), status: status}, err
}
