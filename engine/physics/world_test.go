package physics_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

const one = fixed.One

// The fields of a test world.
const (
	fieldX = iota
	fieldY
	fieldHeight
	fieldVX
	fieldVY
	fieldVZ
	fieldGround
	fieldClearance
	userFields
)

// A terrain is a world's land, and what bodies do on it.
type terrain struct {
	rows, cols int
	edge       space.Edge
	heights    []float64
	fall       physics.Fall
	surface    physics.Surface
}

// rolling is land with a gravity of about 9.8 units/s² at 20 ticks a second.
func rolling(rows, cols int, height func(row, col int) float64) *terrain {
	t := &terrain{
		rows: rows, cols: cols,
		fall:    physics.Fall{Gravity: 1606},
		surface: physics.Surface{Restitution: one / 2, Friction: one / 4},
	}
	for r := range rows {
		for c := range cols {
			t.heights = append(t.heights, math.Round(height(r, c)*1024)/1024)
		}
	}
	return t
}

func flat(int, int) float64 { return 0 }

func (t *terrain) system() *physics.System {
	_, _, cell := engine.EntityColumns(userFields)
	clearance := fields.ID(fieldClearance)
	return &physics.System{
		Name: "bodies", X: fieldX, Y: fieldY, Height: fieldHeight, VX: fieldVX, VY: fieldVY, VZ: fieldVZ,
		Ground: fieldGround, Cell: cell, Fall: t.fall, Surface: t.surface,
		Clearance: &clearance,
	}
}

func (t *terrain) config(capacity int) engine.Config {
	c := engine.Config{
		Space: space.Square8{Rows: t.rows, Cols: t.cols, Edge: t.edge}, Capacity: capacity,
		Systems: []engine.System{t.system()},
	}
	for _, name := range []string{"x", "y", "height", "vx", "vy", "vz"} {
		c.Fields = append(c.Fields, fields.Def{Name: name, Element: fields.Fixed, Domain: fields.Entities})
	}
	c.Fields = append(c.Fields,
		fields.Def{Name: "ground", Element: fields.Fixed, Initial: fields.Values(t.heights)},
		fields.Def{Name: "clearance", Element: fields.Fixed, Domain: fields.Entities})
	return c
}

// A start is where a body begins.
type start struct{ x, y, z, vx, vy, vz float64 }

// world has bodies at their places before the first tick.
func (t *terrain) world(tb testing.TB, starts ...start) *engine.World {
	tb.Helper()
	c := t.config(max(1, len(starts)))
	c.Paranoid = true
	w, err := engine.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range starts {
		put(tb, w, s)
	}
	return w
}

// put submits a body.
func put(tb testing.TB, w *engine.World, s start) {
	tb.Helper()
	var values []commands.FieldValue
	for i, v := range []float64{s.x, s.y, s.z, s.vx, s.vy, s.vz} {
		values = append(values, commands.FieldValue{Field: uint32(i), Value: float32(v)})
	}
	if _, err := w.Submit(commands.Spawn(space.At(int32(s.y), int32(s.x)), values...)); err != nil {
		tb.Fatal(err)
	}
}

func steps(tb rapid.TB, w *engine.World, n int) {
	tb.Helper()
	for range n {
		if _, err := w.Step(); err != nil {
			tb.Fatal(err)
		}
	}
}

// A state is all that a body is.
type state struct{ x, y, z, vx, vy, vz fixed.Fixed }

// bodies reads all slots.
func bodies(w *engine.World) []state {
	s := w.Snapshot()
	defer s.Release()
	list := make([]state, s.Len(fieldX))
	for i := range list {
		at := func(id fields.ID) fixed.Fixed { return fixed.Fixed(s.Column(id).Fixed[i]) }
		list[i] = state{at(fieldX), at(fieldY), at(fieldHeight), at(fieldVX), at(fieldVY), at(fieldVZ)}
	}
	return list
}

// settle steps until nothing has changed in a tick, and then never will, or so many times.
func settle(tb rapid.TB, w *engine.World, most int) (last []state, settled bool) {
	tb.Helper()
	last = bodies(w)
	for range most {
		steps(tb, w, 1)
		now := bodies(w)
		if slices.Equal(now, last) {
			return now, true
		}
		last = now
	}
	return last, false
}

// resting says whether all bodies are without speed.
func resting(list []state) bool {
	for _, b := range list {
		if b.vx != 0 || b.vy != 0 || b.vz != 0 {
			return false
		}
	}
	return true
}
