package scenarios

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Builder describes the scenario to the parameters of a component, and
// resolves what they refer to.
type Builder struct {
	s      *Scenario
	defs   []fields.Def // made when they are asked for
	making *making      // counts what Cells does; may be nil
}

// Lattice returns the scenario's space.
func (b *Builder) Lattice() *space.Lattice { return b.s.lattice }

// TickRate returns how many ticks a second has.
func (b *Builder) TickRate() float64 { return b.s.TickRate }

// Defs returns the scenario's fields without their initial values, by their ids. The
// engine's own columns come after them: see [engine.EntityColumns]. The list must
// not be changed.
func (b *Builder) Defs() []fields.Def {
	if b.defs == nil {
		for i := range b.s.Fields {
			b.defs = append(b.defs, b.s.Fields[i].def)
		}
	}
	return b.defs
}

// Field returns the id of a field.
func (b *Builder) Field(r FieldRef) fields.ID { return b.s.id(r) }

// Optional returns the id of a field whose key may be left out, or nil.
func (b *Builder) Optional(r FieldRef) *fields.ID {
	if r == "" {
		return nil
	}
	id := b.s.id(r)
	return &id
}

// Parameter returns the key of a parameter; not ok if r was left out.
func (b *Builder) Parameter(r ParamRef) (key uint32, ok bool) { return b.s.param(string(r)) }

// Kind returns the number of a kind of entities; -1 if k was left out.
func (b *Builder) Kind(k Kind) int32 { return int32(b.s.kind(k)) }

// Capacity returns how many entities may live at once; 0 without entities.
func (b *Builder) Capacity() int {
	if b.s.Entities == nil {
		return 0
	}
	return b.s.Entities.Capacity
}

// Occupancy returns how many entities may stand on one cell; 0 is any number. A component
// that moves entities must keep to it, or return an error if it is not 0.
func (b *Builder) Occupancy() int {
	if b.s.Entities == nil {
		return 0
	}
	return b.s.Entities.Occupancy
}

// Cells lists the cells of a region, ascending.
func (b *Builder) Cells(r *Region) ([]int32, error) {
	if err := b.making.add(uint64(r.size(b.s.lattice)) * regionSteps); err != nil {
		return nil, err
	}
	return r.ranks(b.s.lattice)
}

// MaxCells returns an upper bound of the number of a region's cells, at once and without
// listing them.
func (b *Builder) MaxCells(r *Region) int { return r.size(b.s.lattice) }
