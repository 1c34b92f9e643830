package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
)

// A StateError says why a state cannot be restored.
type StateError struct {
	Offset int // of the first byte that could not be used
	Err    error
}

// Error implements error.
func (e *StateError) Error() string {
	return fmt.Sprintf("engine: state: byte %d: %v", e.Offset, e.Err)
}

// Unwrap gives the cause.
func (e *StateError) Unwrap() error { return e.Err }

// Restore builds a world and puts it into a state that [World.Save] gave, with the
// same configuration and descriptor. From there on it goes through the same states,
// hashes included. The hash of the tick itself it cannot know, because that covers the
// tick's inputs, which are no state; [World.Hash] is that of a tick without any.
//
// The state is untrusted: a *[StateError] says what is wrong with it. It is not kept.
func Restore(c Config, descriptor, state []byte) (*World, error) {
	if c.Rules == Murk019 {
		return nil, ErrUnsavable
	}
	w, err := New(c)
	if err != nil {
		return nil, err
	}
	r := stateReader{w: w, b: state, end: len(state)}
	r.magic()
	w.tick = r.uint64("tick")
	if w.tick >= maxStateTick {
		r.fail("tick %d; the last one is %d", w.tick, uint64(maxStateTick-1))
	}
	if n := r.uint16("number of sections"); n != randomSection {
		r.fail("%d sections; a state has %d", n, randomSection)
	}
	r.section(metaSection, func() { r.meta(descriptor) })
	r.section(parameterSection, r.parameters)
	r.section(fieldSection, r.fields)
	r.section(eventSection, r.events)
	r.section(randomSection, r.random)
	r.used()
	if r.err != nil {
		return nil, r.err
	}
	w.resume(r.published)
	return w, nil
}

// maxStateTick keeps the ids of entities and events, which hold 44 bits of a tick, true.
const maxStateTick = 1 << 43

// maxStateArrival keeps arrival numbers from coming round to 0.
const maxStateArrival = 1 << 63

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

// A stateReader reads a state into a world that is at genesis. It keeps its first
// error and yields zeros from then on.
type stateReader struct {
	w         *World
	b         []byte
	off, end  int // end of the section, or of all
	err       error
	published rest
}

func (r *stateReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &StateError{r.off, fmt.Errorf(format, args...)}
	}
}

// take returns the next n bytes, or nil.
func (r *stateReader) take(n int, what string) []byte {
	if r.err == nil && n > r.end-r.off {
		r.fail("%s is cut short: %d of %d bytes", what, r.end-r.off, n)
	}
	if r.err != nil {
		return nil
	}
	r.off += n
	return r.b[r.off-n : r.off]
}

func (r *stateReader) uint8(what string) uint8 {
	if b := r.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (r *stateReader) uint16(what string) uint16 {
	if b := r.take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *stateReader) uint32(what string) uint32 {
	if b := r.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *stateReader) uint64(what string) uint64 {
	if b := r.take(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *stateReader) magic() {
	if b := r.take(len(stateMagic), "magic number"); b != nil && string(b) != stateMagic {
		r.off = 0
		r.fail("it begins with %q; a state with %q", b, stateMagic)
	}
}

// used checks that nothing is left.
func (r *stateReader) used() {
	if r.err == nil && r.off != r.end {
		r.fail("%d bytes are left over", r.end-r.off)
	}
}

// section reads one section, all of whose bytes must be used.
func (r *stateReader) section(id uint16, read func()) {
	if got := r.uint16("section"); r.err == nil && got != id {
		r.off -= 2
		r.fail("section %d stands where section %d belongs", got, id)
	}
	n := r.uint32("length of a section")
	if r.err == nil && uint64(n) > uint64(r.end-r.off) {
		r.fail("section %d claims %d bytes, %d are left", id, n, r.end-r.off)
	}
	if r.err != nil {
		return
	}
	all := r.end
	r.end = r.off + int(n)
	read()
	r.used()
	r.end = all
}

func (r *stateReader) meta(descriptor []byte) {
	w := r.w
	if seed := r.uint64("seed"); seed != uint64(w.seed) {
		r.fail("it is of seed %d; the configuration says %d", seed, w.seed)
	}
	if dt := math.Float64frombits(r.uint64("dt")); dt != w.dt {
		r.fail("its dt is %v s; the configuration's %v s", dt, w.dt)
	}
	if v := r.uint32("rules version"); v != RulesVersion {
		r.fail("it is of version %d of the rules; this program has %d", v, RulesVersion)
	}
	const longest = 64
	if name := r.text(longest, "generator"); name != w.generator.String() {
		r.fail("its generator is %q; the configuration's %q", name, w.generator)
	}
	digest := sha256.Sum256(descriptor)
	if b := r.take(len(digest), "digest"); b != nil && !bytes.Equal(b, digest[:]) {
		r.fail("it is of another descriptor")
	}
}

func (r *stateReader) text(longest uint32, what string) string {
	n := r.uint32(what)
	if n > longest {
		r.fail("%s of %d bytes; the limit is %d", what, n, longest)
		return ""
	}
	return string(r.take(int(n), what))
}

func (r *stateReader) parameters() {
	start, p := r.off, r.w.params
	if n := r.uint32("number of parameters"); n != uint32(len(p.keys)) {
		r.fail("%d parameters; the world has %d", n, len(p.keys))
	}
	for i := 0; i < len(p.keys) && r.err == nil; i++ {
		if key := r.uint32("key"); key != p.keys[i] {
			r.fail("parameter %d stands where %d belongs", key, p.keys[i])
		}
		if p.values[i] = math.Float64frombits(r.uint64("value")); p.values[i]-p.values[i] != 0 {
			r.fail("parameter %d is %v", p.keys[i], p.values[i])
		}
	}
	if r.w.arrival = r.uint64("next arrival"); r.err == nil && (r.w.arrival == 0 || r.w.arrival > maxStateArrival) {
		r.fail("the next arrival number is %d; must be 1 to %d", r.w.arrival, uint64(maxStateArrival))
	}
	r.keep(start)
	r.published.events = len(r.published.bytes)
}

// keep copies a section into what will have been published.
func (r *stateReader) keep(start int) {
	if r.err == nil {
		r.published.bytes = append(r.published.bytes, r.b[start:r.off]...)
	}
}

func (r *stateReader) fields() {
	w := r.w
	if n := r.uint32("number of fields"); n != uint32(w.cols.rest) {
		r.fail("%d fields; the world has %d", n, w.cols.rest)
	}
	for id := range w.cols.rest {
		if r.err != nil {
			return
		}
		d, c := &w.defs[id], w.store.Current(id)
		if got := r.uint32("field id"); got != uint32(id) {
			r.fail("field %d stands where field %d belongs", got, id)
		}
		if e := r.uint8("element"); e != uint8(d.Element) {
			r.fail("field %q: element %d; the world's is %d, %v", d.Name, e, d.Element, d.Element)
		}
		if n := r.uint64("number of elements"); n != uint64(c.Len()) {
			r.fail("field %q: %d elements; the world's has %d", d.Name, n, c.Len())
		}
		start := r.off
		b := r.take(c.Len()*d.Element.Size(), "field")
		if b == nil {
			return
		}
		c.SetBytes(b)
		if bad := d.Bad(c); bad >= 0 {
			r.off = start + bad*d.Element.Size()
			r.fail("field %q: %v is no value of a %s", d.Name, d.Value(c.Bits(bad)), d.Type)
		}
		if out := unbound(d, c); r.err == nil && out >= 0 {
			r.off = start + out*d.Element.Size()
			r.fail("field %q: %v is out of its bounds", d.Name, d.Value(c.Bits(out)))
		}
	}
	r.entities()
}

// unbound is the first element that its field's bounds would change, or -1.
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

// entities checks the engine's columns against each other, and that no cell is crowded.
func (r *stateReader) entities() {
	w := r.w
	if r.err != nil || w.entities.capacity == 0 {
		return
	}
	seen := make(map[uint64]bool) // looked up only
	cells := w.store.Current(w.cols.cell).Int32
	for slot, id := range w.store.Current(w.cols.id).Uint64 {
		cell := cells[slot]
		switch {
		case id == 0 && cell != -1:
			r.fail("slot %d is free and stands on cell %d", slot, cell)
		case id != 0 && (cell < 0 || int(cell) >= w.lattice.Cells()):
			r.fail("slot %d: entity %d stands on cell %d; there are %d", slot, id, cell, w.lattice.Cells())
		case id != 0 && (id>>20 > w.tick || id>>20 == 0 || id&maxSpawns == 0 || seen[id]):
			r.fail("slot %d: %d is no entity of tick %d or before, or there twice", slot, id, w.tick)
		}
		if r.err != nil {
			return
		}
		seen[id] = true
	}
	if err := w.crowded(cells); err != nil {
		r.fail("%w", err)
	}
}

func (r *stateReader) events() {
	start := r.off
	b := r.take(r.end-r.off, "events")
	if r.err != nil {
		return
	}
	if err := r.w.events.Restore(b, r.w.tick); err != nil {
		r.off = start
		r.fail("events: %w", err)
		return
	}
	r.keep(start)
	r.published.random = len(r.published.bytes)
}

// random checks the draws of the tick, which nothing needs but the state's encoding.
func (r *stateReader) random() {
	start, lastName, lastNumber := r.off, "", uint64(0)
	n := r.uint32("number of streams")
	for i := uint32(0); i < n && r.err == nil; i++ {
		const longest = 255
		at := r.off
		name := r.text(longest, "name of a stream")
		number := r.uint64("number of a stream")
		draws := r.uint64("draws")
		r.uint64("last value")
		ordered := i == 0 || lastName < name || lastName == name && lastNumber < number
		if r.err == nil && (rng.CheckName(name) != nil || draws == 0 || !ordered) {
			r.off = at
			r.fail("stream %q, %d: no name, no draws, or out of order", name, number)
		}
		lastName, lastNumber = name, number
	}
	r.keep(start)
}
