package physics

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A System moves bodies for one tick, slot by slot; they do not affect each other. It
// needs a lattice of squares. A body's cell follows its position. If something else
// has put it on another cell, or it is new and has no position on its cell, it starts
// from the centre of the cell; if it is below the ground there, from the ground.
type System struct {
	Name string

	// Columns of entities: scalars of element fixed without bounds.
	X, Y, Height fields.ID // units; 0 is the northwestern corner of the world
	VX, VY, VZ   fields.ID // units a tick: eastward, southward, up
	Ground       fields.ID // of cells: the height at the centre of each; scalars of element fixed
	Cell         fields.ID // entity.cell, see [engine.EntityColumns]

	Clearance *fields.ID // like X; gets the height of a body above the ground; nil: not stored

	Kind    *int32 // the kind of entities that move; nil: all entities
	Fall    Fall
	Surface Surface
}

// Limits of the parameters.
const (
	MaxGravity  = 16 * fixed.One
	MaxFriction = 1000 * fixed.One
)

// Spec implements [engine.System].
func (s *System) Spec(*space.Lattice) engine.Spec {
	spec := engine.Spec{
		Name: s.Name, Now: engine.Fields(s.Ground),
		Incremental: engine.Fields(s.X, s.Y, s.Height, s.VX, s.VY, s.VZ, s.Cell),
	}
	if s.Clearance != nil {
		spec.Incremental = append(spec.Incremental, *s.Clearance)
	}
	return spec
}

// Check implements [engine.Checker].
func (s *System) Check(l *space.Lattice, defs []fields.Def) error {
	if !squared(l) {
		return fmt.Errorf("needs a space of square4 or square8, not %s", l.Kind())
	}
	if err := s.checkColumns(defs); err != nil {
		return err
	}
	for _, p := range [...]struct {
		name      string
		v, lo, hi fixed.Fixed
	}{
		{"gravity", s.Fall.Gravity, 0, MaxGravity}, {"terminal", s.Fall.Terminal, 0, fixed.Max},
		{"restitution", s.Surface.Restitution, 0, fixed.One}, {"friction", s.Surface.Friction, 0, MaxFriction},
	} {
		if p.v < p.lo || p.v > p.hi {
			return engine.ArgErrorf(p.name, "%s must be %v to %v, not %v", p.name, p.lo, p.hi, p.v)
		}
	}
	if t := s.Fall.Terminal; t != 0 && t < s.Fall.Gravity {
		return engine.ArgErrorf("terminal", "terminal must be 0, or at least gravity, %v, not %v", s.Fall.Gravity, t)
	}
	return nil
}

// A column is a field that the system needs, by the name of its role.
type column struct {
	role   string
	id     fields.ID
	domain fields.Domain
}

func (s *System) checkColumns(defs []fields.Def) error {
	columns := []column{
		{"x", s.X, fields.Entities}, {"y", s.Y, fields.Entities}, {"height", s.Height, fields.Entities},
		{"vx", s.VX, fields.Entities}, {"vy", s.VY, fields.Entities}, {"vz", s.VZ, fields.Entities},
		{"ground", s.Ground, fields.Cells},
	}
	if s.Clearance != nil {
		columns = append(columns, column{"clearance", *s.Clearance, fields.Entities})
	}
	for i, c := range columns {
		d := &defs[c.id]
		switch {
		case d.Element != fields.Fixed || d.Type.Kind != fields.ScalarKind || d.Domain != c.domain:
			return engine.ArgErrorf(c.role, "%s: field %q must be a scalar of element fixed, of %v", c.role, d.Name, c.domain)
		case d.Bounds != nil && c.domain == fields.Entities:
			return engine.ArgErrorf(c.role, "%s: field %q must not have bounds, like all positions and velocities", c.role, d.Name)
		}
		for _, other := range columns[:i] {
			if other.id == c.id {
				return engine.ArgErrorf(c.role, "%s: field %q is also %s", c.role, d.Name, other.role)
			}
		}
	}
	return nil
}

// Update implements [engine.System].
func (s *System) Update(c *engine.SystemContext) error {
	all, cells := c.Entities(), c.NextColumn(s.Cell).Int32
	x, y, z := c.NextColumn(s.X).Fixed, c.NextColumn(s.Y).Fixed, c.NextColumn(s.Height).Fixed
	vx, vy, vz := c.NextColumn(s.VX).Fixed, c.NextColumn(s.VY).Fixed, c.NextColumn(s.VZ).Fixed
	g := landOn(c.Lattice(), c.NowColumn(s.Ground).Fixed)
	for slot, id := range all.ID {
		if id == 0 || s.Kind != nil && all.Kind[slot] != *s.Kind {
			continue
		}
		b := body{
			place: vector{fixed.Fixed(x[slot]), fixed.Fixed(y[slot]), fixed.Fixed(z[slot])},
			speed: vector{fixed.Fixed(vx[slot]), fixed.Fixed(vy[slot]), fixed.Fixed(vz[slot])},
		}
		if !g.holds(b.place) || g.cell(b.place.x, b.place.y) != int(cells[slot]) {
			b.place.x, b.place.y = g.centre(int(cells[slot]))
		}
		s.move(&b, &g)
		if err := b.m.Err(); err != nil {
			return c.Fault(slot, b.column, err)
		}
		x[slot], y[slot], z[slot] = int64(b.place.x), int64(b.place.y), int64(b.place.z)
		if s.Clearance != nil {
			c.NextColumn(*s.Clearance).Fixed[slot] = int64(b.clearance)
		}
		vx[slot], vy[slot], vz[slot] = int64(b.speed.x), int64(b.speed.y), int64(b.speed.z)
		cells[slot] = int32(g.cell(b.place.x, b.place.y))
	}
	return nil
}
