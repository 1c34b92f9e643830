package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/wire"
	"github.com/murksim/murksim/rng"
)

// A RepeatError reports a propagator, system or handler that did something else when
// [Config].Paranoid ran it a second time from the same state. So its result depends on more
// than the state: on a counter or memory of its own, the order of a map, a clock, or random
// numbers that are not the world's. The [TickError] around it names the part and the tick.
type RepeatError struct {
	What          string // what differs, such as `field "heat", cell [3, 4]`, "random stream 7" or "event 2 of those that wait"
	First, Second string // what it was each time
}

// Error implements error.
func (e *RepeatError) Error() string {
	return fmt.Sprintf("%s: %s at first, and %s when computed again from the same state", e.What, e.First, e.Second)
}

// deeds are all that a stage or handler has done.
type deeds struct {
	columns []fields.Column // by field; empty where it may not write
	finite  []bool          // by field
	params  []float64
	scratch [][]float32 // by worker
	events  []byte      // all that wait, encoded
	draws   []Draws
}

// twice runs a stage, takes back what it did, and runs it once more: both times it must do
// the same. The columns were are those that its outputs are compared with.
func (w *World) twice(s *stage, before []uint64, were []fields.Column) error {
	mark, written := w.events.Mark(), make([]bool, len(w.defs))
	for i := range written {
		written[i] = w.store.Written(fields.ID(i))
	}
	first, err := w.firstTime(s)
	if err != nil {
		return err
	}
	if err := w.suspect(s, before); err != nil {
		return err
	}
	w.takeBack(s, were, written)
	w.events.UndoTo(mark)
	w.poisonScratch(s)
	if err := w.runWorkers(s); err != nil {
		return &RepeatError{"its result", "no error", fmt.Sprintf("the error %q", err)}
	}
	w.noteFinite(s)
	second := w.deeds(s)
	return w.compare(&first, &second)
}

// firstTime runs a stage with random streams of its own, and returns what it has done.
func (w *World) firstTime(s *stage) (deeds, error) {
	defer w.otherStreams()()
	w.poisonScratch(s)
	err := w.runWorkers(s)
	w.noteFinite(s)
	return w.deeds(s), err
}

// otherStreams exchanges the random streams of the tick for others that begin anew, until
// the function that it returns is called. All streams of a stage begin in it, because no
// other part draws under its name.
func (w *World) otherStreams() (restore func()) {
	w.streams, w.others = w.others, w.streams
	w.streams.Begin(w.generator, w.seed, w.tick+1)
	return func() { w.streams, w.others = w.others, w.streams }
}

// poisonScratch fills the scratch memory of a stage.
func (w *World) poisonScratch(s *stage) {
	for i := range s.workers {
		c := fields.Column{Float32: s.workers[i].ctx.scratch}
		if c.Float32 != nil {
			poison(&c)
		}
	}
}

// takeBack makes the outputs of a stage what they were before it ran.
func (w *World) takeBack(s *stage, were []fields.Column, written []bool) {
	for _, id := range s.spec.Full {
		poison(w.store.Now(id))
	}
	for _, id := range s.spec.Incremental {
		switch {
		case slices.Contains(s.fresh, id):
			poison(w.store.Now(id))
		case s.may[id]&nextIsLate == 0:
			w.store.Now(id).CopyFrom(&were[id])
		case !slices.Contains(s.made, id):
		case written[id]:
			w.store.Unwrite(id, &were[id])
		default:
			w.store.Unwrite(id, nil)
		}
	}
	s.bulks, s.made = s.bulks[:0], s.made[:0]
}

// deeds returns what a stage has done.
func (w *World) deeds(s *stage) deeds {
	d := deeds{
		columns: make([]fields.Column, len(w.defs)), finite: slices.Clone(w.finite),
		events: w.events.Append(nil), draws: drawsOf(&w.streams, s.spec.Name),
	}
	for i := range w.defs {
		if s.may[i]&mayNext != 0 {
			d.columns[i] = w.store.Now(fields.ID(i)).Clone()
		}
	}
	for i := range s.workers {
		d.scratch = append(d.scratch, slices.Clone(s.workers[i].ctx.scratch))
	}
	return d
}

// drawsOf returns the draws of this tick under a name, by number.
func drawsOf(set *rng.Set, name string) []Draws {
	var s State
	if err := s.draws(wire.Of(set.Append(nil))); err != nil {
		panic("engine: the draws of a tick are not in order: " + err.Error())
	}
	return slices.DeleteFunc(s.Draws, func(d Draws) bool { return d.Name != name })
}

// compare returns a [RepeatError] about the first difference.
func (w *World) compare(first, second *deeds) error {
	for i := range first.columns {
		if err := w.compareColumn(fields.ID(i), &first.columns[i], &second.columns[i]); err != nil {
			return err
		}
	}
	for i, a := range first.finite {
		if b := second.finite[i]; a != b {
			return &RepeatError{fmt.Sprintf("whether it calls field %q finite", w.defs[i].Name), fmt.Sprint(a), fmt.Sprint(b)}
		}
	}
	for i, a := range first.params {
		if b := second.params[i]; a != b {
			return &RepeatError{fmt.Sprintf("parameter %d", w.params.keys[i]), fmt.Sprint(a), fmt.Sprint(b)}
		}
	}
	if err := compareDraws(first.draws, second.draws); err != nil {
		return err
	}
	if err := compareEvents(first.events, second.events); err != nil {
		return err
	}
	for k, memory := range first.scratch {
		a, b := fields.Column{Float32: memory}, fields.Column{Float32: second.scratch[k]}
		for e := range memory {
			if a.Bits(e) != b.Bits(e) {
				x, y := texts(a.Float32[e], b.Float32[e], a.Bits(e), b.Bits(e))
				return &RepeatError{fmt.Sprintf("element %d of the scratch memory of worker %d", e, k), x, y}
			}
		}
	}
	return nil
}

func (w *World) compareColumn(id fields.ID, first, second *fields.Column) error {
	d := &w.defs[id]
	for e := range first.Len() {
		a, b := first.Bits(e), second.Bits(e)
		if a == b {
			continue
		}
		at, where := e/d.Type.Components(), fmt.Sprintf("element %d", e)
		switch {
		case d.Domain == fields.Entities:
			where = fmt.Sprintf("slot %d", at)
		case at < w.lattice.Cells():
			where = fmt.Sprintf("cell %v", w.lattice.Coord(at))
		}
		if n := d.Type.Components(); n > 1 {
			where = fmt.Sprintf("component %d of %s", e%n, where)
		}
		x, y := texts(d.Value(a), d.Value(b), a, b)
		return &RepeatError{fmt.Sprintf("field %q, %s", d.Name, where), x, y}
	}
	return nil
}

// texts returns two values as they are shown: by their bits if they look the same.
func texts[T comparable](a, b T, bitsA, bitsB uint64) (x, y string) {
	if x, y = fmt.Sprint(a), fmt.Sprint(b); x == y {
		return fmt.Sprintf("%s (%#x)", x, bitsA), fmt.Sprintf("%s (%#x)", y, bitsB)
	}
	return x, y
}

func compareDraws(first, second []Draws) error {
	show := func(list []Draws, number uint64) string {
		for _, d := range list {
			if d.Number == number {
				return fmt.Sprintf("%d draws, the last %d", d.Count, d.Last)
			}
		}
		return "no draws"
	}
	for _, list := range [][]Draws{first, second} {
		for _, d := range list {
			if a, b := show(first, d.Number), show(second, d.Number); a != b {
				return &RepeatError{fmt.Sprintf("random stream %d", d.Number), a, b}
			}
		}
	}
	return nil
}

func compareEvents(first, second []byte) error {
	a, b := eventTexts(first), eventTexts(second)
	for i := range max(len(a), len(b)) {
		x, y := "none", "none"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return &RepeatError{fmt.Sprintf("event %d of those that wait", i+1), x, y}
		}
	}
	return nil
}

// eventTexts describes the events that wait, from what [commands.Events.Append] made, such
// that different ones have different texts.
func eventTexts(b []byte) (texts []string) {
	for b = b[4:]; len(b) > 0; {
		var c commands.Command
		due := binary.LittleEndian.Uint64(b)
		n, err := c.DecodeFrom(b[8:])
		if err != nil {
			panic("engine: an event that waits cannot be decoded: " + err.Error())
		}
		texts = append(texts, fmt.Sprintf("%v %d due at tick %d (%x)", c.Kind, c.Arrival, due, b[8:8+n]))
		b = b[8+n:]
	}
	return texts
}

// rehearse lets a handler handle a command, takes back what it did, and returns it. The
// handler's random streams go on from where they are.
func (w *World) rehearse(h *handlerSlot, data []byte) (commands.Reason, deeds) {
	drawn := drawsOf(&w.streams, h.ctx.name)
	defer w.otherStreams()() // also if the handler panics
	for _, d := range drawn {
		stream := w.streams.Stream(d.Name, d.Number)
		for range d.Count {
			stream.Uint64()
		}
	}
	m := w.mark()
	reason := h.handle(w, data)
	did := w.handled(h)
	w.undoTo(m)
	return reason, did
}

// handled returns what a handler has done, on top of what those before it had.
func (w *World) handled(h *handlerSlot) deeds {
	d := deeds{params: slices.Clone(w.params.values), events: w.events.Append(nil), draws: drawsOf(&w.streams, h.ctx.name)}
	for i := range w.defs {
		d.columns = append(d.columns, w.store.Current(fields.ID(i)).Clone())
	}
	return d
}

// handleTwice handles a command a second time; the tick fails if that does something else.
func (w *World) handleTwice(h *handlerSlot, data []byte) commands.Reason {
	reason, first := w.rehearse(h, data)
	again := h.handle(w, data)
	second := w.handled(h)
	err := w.compare(&first, &second)
	if reason != again {
		err = &RepeatError{"its answer", fmt.Sprintf("%q", reason), fmt.Sprintf("%q", again)}
	}
	if err != nil && w.unrepeated == nil {
		w.unrepeated = &TickError{w.tick + 1, h.ctx.name, err}
	}
	return again
}
