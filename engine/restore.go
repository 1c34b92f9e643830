package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
)

// Restore builds a world and puts it into a state that [World.Save] returned for the same
// configuration and descriptor. From there on it goes through the same states, hashes
// included. Restore cannot know the hash of the tick itself, which covers the tick's inputs,
// and those are not part of the state; [World.Hash] is that of a tick without inputs.
//
// The state is untrusted: a [*StateError] says what is wrong with it, or how it differs from
// the world. Restore does not keep it.
func Restore(c Config, descriptor, state []byte) (*World, error) {
	if !c.Rules.set().closed() {
		return nil, ErrUnsavable
	}
	s, err := readHead(state)
	if err != nil {
		return nil, err
	}
	w, err := New(c)
	if err != nil {
		return nil, err
	}
	// First the head and the counts, so that nothing is made of more than the world has.
	if err := w.fits(s, descriptor); err != nil {
		return nil, err
	}
	if err := s.readRest(w.checkDraws); err != nil {
		return nil, err
	}
	if err := w.fitsColumns(s); err != nil {
		return nil, err
	}
	if err := w.adopt(s); err != nil {
		return nil, err
	}
	parameters, events, random := s.Sections[parameterSection-1], s.Sections[eventSection-1], s.Sections[randomSection-1]
	published := rest{bytes: slices.Concat(parameters, events, random)}
	published.events = len(parameters)
	published.random = published.events + len(events)
	w.resume(published)
	return w, nil
}

// resume makes what has been restored the state of the tick.
func (w *World) resume(published rest) {
	w.published = published
	w.taken = binary.LittleEndian.AppendUint32(w.taken[:0], 0)
	w.digest.Reset()
	w.digest.Write(published.bytes)
	w.digest.Write(w.taken)
	w.store.Current(w.cols.rest).Uint64[0] = w.digest.Sum64()
	w.entities.stale(true)
}

// other returns the error of a state that differs from the world at an offset in a section.
func (s *State) other(what string, section uint16, at int, format string, args ...any) error {
	return &StateError{ErrStateOther, what, s.offsets[section-1] + at, fmt.Errorf(format, args...)}
}

// count returns the number with which a section that is not read yet begins. If it is cut short,
// count returns want, so that reading it says so.
func (s *State) count(section uint16, want int) uint64 {
	b := s.Sections[section-1]
	if len(b) < 4 {
		return uint64(want)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}

// fits checks that a state belongs to the world, as far as its head and its counts show.
func (w *World) fits(s *State, descriptor []byte) error {
	const seed, dt, rules, generator, digest = 0, 8, 16, 20, 24 // offsets in the section
	wantParameters, wantFields := len(w.params.keys), int(w.cols.rest)
	haveParameters, haveFields := s.count(parameterSection, wantParameters), s.count(fieldSection, wantFields)
	other := s.other
	switch {
	case s.Seed != uint64(w.seed):
		return other("seed", metaSection, seed, "its seed is %d; the configuration's is %d", s.Seed, w.seed)
	case s.Dt != w.dt:
		return other("dt", metaSection, dt, "its dt is %v s; the configuration's is %v s", s.Dt, w.dt)
	case s.Rules != RulesVersion:
		return other("rules", metaSection, rules, "its rules have version %d; this program's have %d", s.Rules, RulesVersion)
	case s.Generator != w.generator.String():
		return other("generator", metaSection, generator, "its generator is %q; the configuration's is %q", s.Generator, w.generator)
	case s.Descriptor != sha256.Sum256(descriptor):
		return other("descriptor", metaSection, digest+len(s.Generator), "it was saved with another descriptor")
	case haveParameters != uint64(wantParameters):
		return other("parameters", parameterSection, 0, "%d parameters; the world has %d", haveParameters, wantParameters)
	case haveFields != uint64(wantFields):
		return other("fields", fieldSection, 0, "%d fields; the world has %d", haveFields, wantFields)
	}
	return nil
}

// fitsColumns checks that the parameters and the columns of a state are those of the world.
func (w *World) fitsColumns(s *State) error {
	for i, p := range s.Parameters {
		if key := w.params.keys[i]; p.Key != key {
			return s.other("parameters", parameterSection, 4+12*i, "parameter %d stands where %d belongs", p.Key, key)
		}
	}
	for id := range s.Columns {
		d, have, want := &w.defs[id], &s.Columns[id], w.store.Current(fields.ID(id)).Len()
		at := have.offset - s.offsets[fieldSection-1]
		switch {
		case have.Element != d.Element:
			return s.other("fields", fieldSection, at-9, "field %q: element type %d; the world's is %d, %v", d.Name, have.Element, d.Element, d.Element)
		case have.Len() != want:
			return s.other("fields", fieldSection, at-8, "field %q: %d elements; the world's has %d", d.Name, have.Len(), want)
		}
	}
	return nil
}

// checkDraws checks the streams of a state: each has the name of a part of the world, since
// no other draws.
func (w *World) checkDraws(d *wire.Decoder) error {
	names := make(map[string]bool, len(w.stages)+len(w.handlers)) // looked up only
	for _, s := range w.stages {
		names[s.spec.Name] = true
		for _, name := range s.places {
			names[name] = true
		}
	}
	for i := range w.handlers {
		names[w.handlers[i].ctx.name] = true
	}
	return eachDraws(d, func(_, at int, v Draws) error {
		if !names[v.Name] {
			return &StateError{ErrStateOther, "random", at, fmt.Errorf("the random stream %q, %d is of no part of the world", v.Name, v.Number)}
		}
		return nil
	})
}

// adopt takes over the values of a state that fits, and checks that each is one that a
// world can reach.
func (w *World) adopt(s *State) error {
	w.tick, w.arrival = s.Tick, s.Arrival
	for i, p := range s.Parameters {
		w.params.values[i] = p.Value
	}
	for id := range w.cols.rest {
		from, d, c := &s.Columns[id], &w.defs[id], w.store.Current(id)
		c.SetBytes(from.Bytes)
		w.store.Other(id)
		if bad := d.Bad(c); bad >= 0 {
			return damaged(from.offset+bad*d.Element.Size(), "field %q: %v is not a valid value of a %s", d.Name, d.Value(c.Bits(bad)), d.Type)
		}
		if out := unbound(d, c); out >= 0 {
			return damaged(from.offset+out*d.Element.Size(), "field %q: %v is out of its bounds", d.Name, d.Value(c.Bits(out)))
		}
	}
	if err := w.checkEntities(s); err != nil {
		return err
	}
	return s.eventError(w.events.Restore(s.Sections[eventSection-1], s.Tick))
}

// unbound returns the first element outside its field's bounds, or -1.
func unbound(d *fields.Def, c *fields.Column) int {
	if d.Bounds == nil {
		return -1
	}
	for i := range c.Len() {
		if bits := c.Bits(i); d.Bound(bits) != bits {
			return i
		}
	}
	return -1
}

// checkEntities checks the engine's columns against each other, and that no cell has too
// many entities.
func (w *World) checkEntities(s *State) error {
	if w.entities.capacity == 0 {
		return nil
	}
	idsAt, cellsAt := s.Columns[w.cols.id].offset, s.Columns[w.cols.cell].offset
	seen := make(map[uint64]bool) // looked up only
	cells := w.store.Current(w.cols.cell).Int32
	for slot, id := range w.store.Current(w.cols.id).Uint64 {
		cell := cells[slot]
		switch {
		case id == 0 && cell != -1:
			return damaged(cellsAt+4*slot, "slot %d is free and stands on cell %d", slot, cell)
		case id != 0 && (cell < 0 || int(cell) >= w.lattice.Cells()):
			return damaged(cellsAt+4*slot, "slot %d: entity %d stands on cell %d; the world has %d cells", slot, id, cell, w.lattice.Cells())
		case id != 0 && (id>>20 > w.tick || id>>20 == 0 || id&maxSpawns == 0 || seen[id]):
			return damaged(idsAt+8*slot, "slot %d: %d is not the id of an entity of tick %d or before, or occurs twice", slot, id, w.tick)
		}
		seen[id] = true
	}
	if err := w.crowded(cells); err != nil {
		return damaged(cellsAt, "%w", err)
	}
	return nil
}
