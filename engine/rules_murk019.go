package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
)

// murk019Rules follow version 0.1.9 of the original Murk engine, so that what it recorded
// can be replayed and checked:
//
//   - The world has only the user's fields, and no entities, parameters,
//     systems, handlers or events. SetField is the only command.
//   - A per-tick field starts every tick as zeros; a sparse one as the last attempt
//     left it, a failed attempt included; a static one stays as it is.
//   - Commands write into the tick under way, not into the state before it: Prev
//     does not see them. Now sees them only in a field that an earlier propagator
//     writes. A field that is written incrementally is first overwritten with its
//     state before the tick, which discards what commands wrote; one that is written
//     in full keeps the elements that the propagator does not write.
//   - A command names an element by the rank of its cell, even for a vector.
//   - Expired commands are answered first. Every float is a value, even NaN, and
//     bounds have no effect. Nothing is checked after the stages have run.
//   - Propagators may keep things outside the state, leave elements of a Full output
//     as they are, and run at any time step.
type murk019Rules struct {
	left []fields.Column // by field: what the tick before left in sparse fields, if it failed; nil: it did not
}

func (*murk019Rules) closed() bool { return false }
func (*murk019Rules) strict() bool { return false }

// check refuses what the original engine does not have.
func (*murk019Rules) check(c *Config) error {
	what := ""
	switch {
	case c.Capacity > 0:
		what = "entities"
	case len(c.Systems) > 0:
		what = "systems"
	case len(c.Handlers) > 0:
		what = "handlers of custom commands"
	case len(c.Parameters) > 0:
		what = "parameters"
	}
	if what != "" {
		return fmt.Errorf("engine: the rules %s have no %s", c.Rules, what)
	}
	for i := range c.Fields {
		if d := &c.Fields[i]; d.Element != fields.Float32 {
			return &ConfigError{"field", i, d.Name, fmt.Errorf("it holds %v; the rules %s have float32 only", d.Element, c.Rules)}
		}
	}
	return nil
}

// admit lets Now return the state before the tick where no earlier stage writes. It allows
// only one worker for a stage that writes a sparse field in full: later ticks see what the
// stage wrote there before it failed, and with several workers, how far each had come would
// depend on their number. An incremental field is overwritten first.
func (o *murk019Rules) admit(w *World, s *stage) bool {
	for _, id := range s.spec.Now {
		if w.writer[id] == nil {
			s.may[id] |= nowIsPrev
		}
	}
	return !slices.ContainsFunc(s.spec.Full, func(id fields.ID) bool { return w.defs[id].Mutability == fields.Sparse })
}

// begin prepares the fields of the new tick.
func (o *murk019Rules) begin(w *World) {
	for i := range w.defs {
		id := fields.ID(i)
		switch {
		case w.defs[i].Mutability == fields.Static:
		case w.defs[i].Mutability == fields.PerTick:
			w.store.Full(id).Clear()
		case o.left != nil:
			w.store.Full(id).CopyFrom(&o.left[i])
		default:
			w.store.Incremental(id)
		}
	}
	o.left = nil
}

// failed keeps what a failed tick wrote to sparse fields; the next tick begins with it.
func (o *murk019Rules) failed(w *World) {
	o.left = make([]fields.Column, len(w.defs))
	for i := range w.defs {
		if w.defs[i].Mutability == fields.Sparse {
			o.left[i] = w.store.Now(fields.ID(i)).Clone()
		}
	}
}

// apply answers expired inputs in the order they arrived, then applies the others.
func (o *murk019Rules) apply(w *World) {
	o.begin(w)
	for i := range w.inputs {
		if c := &w.inputs[i]; c.Expires < w.tick+1 {
			w.receipts = append(w.receipts, commands.Receipt{Command: c, Reason: commands.Expired})
		}
	}
	//detcheck:allow sort no two inputs have the same arrival number
	slices.SortFunc(w.receipts, func(a, b commands.Receipt) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := range w.inputs {
		if c := &w.inputs[i]; c.Expires >= w.tick+1 {
			w.receipts = append(w.receipts, commands.Receipt{Command: c, Reason: o.applyOne(w, c)})
		}
	}
}

func (o *murk019Rules) applyOne(w *World, c *commands.Command) commands.Reason {
	if c.Kind != commands.KindSetField {
		return commands.Unsupported
	}
	rank, ok := w.lattice.Rank(c.Coord)
	switch {
	case !ok:
		return commands.OutsideSpace
	case c.ID >= uint32(len(w.defs)):
		return commands.UnknownField
	case w.defs[c.ID].Mutability == fields.Static:
		return commands.StaticField
	}
	w.store.Now(fields.ID(c.ID)).SetBits(rank, uint64(math.Float32bits(c.Float32())))
	return commands.Applied
}

// prepare overwrites incremental outputs with the state before the tick.
func (o *murk019Rules) prepare(w *World, s *stage) {
	for _, id := range s.spec.Incremental {
		w.store.Now(id).CopyFrom(w.store.Current(id))
	}
}

// finish leaves what was written as it is.
func (o *murk019Rules) finish(*World) error { return nil }
