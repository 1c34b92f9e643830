package refworld

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A Tick is a tick under way: what parts see of the world.
type Tick struct {
	Number uint64

	w         *World
	part      *Part
	start     *state   // the start of the tick, commands applied
	now       []*Field // what parts have written; nil: nothing yet
	streams   []*Stream
	bulks     map[uint64]rng.Bulk // of the part that runs
	spawned   uint64
	scheduled uint64
	receipts  []commands.Receipt
	results   []commands.Reason // of inputs alone
	last      bool              // what is scheduled for this tick comes too late
}

// Step computes the next tick from the inputs given in canonical order. If it
// fails, with a *Failure, the world is as it was.
func (w *World) Step(inputs []commands.Command) ([]commands.Receipt, error) {
	if w.halted() {
		return nil, &Failure{w.tick + 1, "world", ErrHalted}
	}
	t := &Tick{Number: w.tick + 1, w: w, start: w.state.clone(), now: make([]*Field, len(w.defs))}
	t.start.arrival += uint64(len(inputs))
	if where, err := t.run(inputs); err != nil {
		w.failures++
		for i := range t.receipts {
			if t.receipts[i].Reason == commands.Applied {
				t.receipts[i].Reason, t.receipts[i].Made = commands.RolledBack, 0
			}
		}
		return t.receipts, &Failure{t.Number, where, err}
	}
	w.state = t.start
	w.rest().SetBits(space.Coord{}, 0, rest(w.state, t.streams, inputs, t.results))
	w.tick, w.failures = w.tick+1, 0
	return t.receipts, nil
}

// run does all of a tick but publishing it, and says where it failed.
func (t *Tick) run(inputs []commands.Command) (where string, err error) {
	if err := t.applyAll(inputs); err != nil {
		return "commands", err
	}
	for i := range t.w.config.Parts {
		t.part, t.bulks = &t.w.config.Parts[i], map[uint64]rng.Bulk{}
		for _, id := range t.part.Full {
			t.now[id] = t.start.fields[id].empty()
		}
		for _, id := range t.part.Incremental {
			t.now[id] = t.Now(id).clone()
		}
		if err := t.part.Run(t); err != nil {
			return t.part.Name, err
		}
	}
	for id := range t.now {
		if err := t.finish(fields.ID(id)); err != nil {
			return t.writers(fields.ID(id)), err
		}
	}
	if err := t.checkCells(); err != nil {
		return t.writers(t.w.cellColumn()), err
	}
	if err := t.applyLast(); err != nil {
		return "commands", err
	}
	if t.w.config.Record != nil {
		return "recorder", t.w.config.Record(t.Number)
	}
	return "", nil
}

// applyAll applies events that are due and inputs by priority, events first.
func (t *Tick) applyAll(inputs []commands.Command) error {
	var due, later []Event
	for _, e := range t.start.events {
		if e.Due <= t.Number {
			due = append(due, e)
		} else {
			later = append(later, e)
		}
	}
	t.start.events = later
	for priority := range 256 {
		for i := range due {
			if int(due[i].Command.Priority) == priority {
				if _, err := t.take(&due[i].Command, true); err != nil {
					return err
				}
			}
		}
		for i := range inputs {
			if int(inputs[i].Priority) == priority {
				reason, err := t.take(&inputs[i], false)
				if err != nil {
					return err
				}
				t.results = append(t.results, reason)
			}
		}
	}
	return nil
}

// applyLast applies what this tick scheduled for itself to what its parts wrote.
func (t *Tick) applyLast() error {
	for id, f := range t.now {
		if f != nil {
			t.start.fields[id], t.now[id] = f, nil
		}
	}
	t.last = true
	return t.applyAll(nil)
}

// take applies a command that has not expired.
func (t *Tick) take(c *commands.Command, event bool) (reason commands.Reason, err error) {
	r := commands.Receipt{Command: c, Reason: commands.Expired, Event: event}
	if t.Number <= c.Expires {
		if r.Made, r.Reason, err = t.apply(c); err != nil {
			return 0, err
		}
	}
	t.receipts = append(t.receipts, r)
	return r.Reason, nil
}

// finish checks what was written to a field and puts it into its bounds.
func (t *Tick) finish(id fields.ID) error {
	f := t.now[id]
	if f == nil {
		return nil
	}
	if len(f.bits) != len(f.places) {
		return fmt.Errorf("field %q has %d values of %d", f.def.Name, len(f.bits), len(f.places))
	}
	for _, p := range f.places {
		if bits := f.Bits(p.At, p.Part); !valid(f.def, bits) {
			return fmt.Errorf("field %q at %v: %v", f.def.Name, p, number(f.def, bits))
		}
	}
	if f.def.Bounds == nil {
		return nil
	}
	for _, p := range f.places {
		bits := f.Bits(p.At, p.Part)
		was := t.start.fields[id].Bits(p.At, p.Part)
		if f.def.Bounds.Mode == fields.AbsorbBound && atBound(f.def, was) {
			bits = was
		}
		f.SetBits(p.At, p.Part, bound(f.def, bits))
	}
	return nil
}

// checkCells checks where systems put entities.
func (t *Tick) checkCells() error {
	if t.w.config.Capacity == 0 || t.now[t.w.cellColumn()] == nil {
		return nil
	}
	for slot := range t.w.config.Capacity {
		cell := int(int32(uint32(t.now[t.w.cellColumn()].Bits(slotCoord(slot), 0))))
		if t.ID(slot) == 0 && cell != -1 || t.ID(slot) != 0 && (cell < 0 || cell >= len(t.w.grid.cells)) {
			return fmt.Errorf("slot %d stands on cell %d", slot, cell)
		}
	}
	return nil
}

// writers names the parts that write a field.
func (t *Tick) writers(id fields.ID) string {
	var names []string
	for _, p := range t.w.config.Parts {
		if slices.Contains(p.Full, id) || slices.Contains(p.Incremental, id) {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Dt returns the length of a tick in seconds.
func (t *Tick) Dt() float64 { return t.w.config.Dt }

// Space is where the world is.
func (t *Tick) Space() space.Space { return t.w.config.Space }

// Cells lists all coordinates in canonical order.
func (t *Tick) Cells() []space.Coord { return t.w.grid.cells }

// Rank is where a coordinate stands in Cells.
func (t *Tick) Rank(at space.Coord) int { return t.w.grid.rank[at] }

// Moves lists the ways to the neighbours of a cell in contract order.
func (t *Tick) Moves(at space.Coord) []Move { return t.w.grid.moves[at] }

// Prev returns a field at the start of the tick, commands applied.
func (t *Tick) Prev(id fields.ID) *Field { return t.start.fields[id] }

// Now returns a field as parts before this one left it.
func (t *Tick) Now(id fields.ID) *Field {
	if t.now[id] != nil {
		return t.now[id]
	}
	return t.start.fields[id]
}

// Next returns a field to be written.
func (t *Tick) Next(id fields.ID) *Field {
	if !slices.Contains(t.part.Full, id) && !slices.Contains(t.part.Incremental, id) {
		panic(fmt.Sprintf("refworld: %s does not say that it writes field %d", t.part.Name, id))
	}
	return t.now[id]
}

// Parameter returns a parameter's value, commands applied.
func (t *Tick) Parameter(key uint32) float64 { return t.start.parameters[key] }

// Stream returns a sequential stream of the part that runs.
func (t *Tick) Stream(number uint64) *Stream { return t.stream(t.part.Name, number) }

// Bulk gives draws by cell, counted once for the part.
func (t *Tick) Bulk(number uint64) rng.Bulk { return t.bulk(number, len(t.w.grid.cells)) }

// EntityBulk gives draws by entity, counted once for the part.
func (t *Tick) EntityBulk(number uint64) rng.Bulk { return t.bulk(number, t.Population()) }

func (t *Tick) bulk(number uint64, count int) rng.Bulk {
	b, ok := t.bulks[number]
	if !ok {
		b = t.Stream(number).Bulk(count)
		t.bulks[number] = b
	}
	return b
}

// Slots returns the number of entity slots.
func (t *Tick) Slots() int { return t.w.config.Capacity }

// ID returns the id of the entity in a slot, 0 if it is free.
func (t *Tick) ID(slot int) uint64 { return t.start.fields[t.w.idColumn()].Bits(slotCoord(slot), 0) }

// Population returns the number of entities.
func (t *Tick) Population() (n int) {
	for slot := range t.Slots() {
		if t.ID(slot) != 0 {
			n++
		}
	}
	return n
}

// Slot finds an entity.
func (t *Tick) Slot(id uint64) (slot int, ok bool) {
	for slot := range t.Slots() {
		if id != 0 && t.ID(slot) == id {
			return slot, true
		}
	}
	return 0, false
}

// CellOf is where the entity in a slot stood at the start of the tick, commands applied.
func (t *Tick) CellOf(slot int) space.Coord {
	return t.w.grid.cells[t.start.fields[t.w.cellColumn()].Bits(slotCoord(slot), 0)]
}

// At lists the slots of the entities that stood on a cell at the start of the tick,
// commands applied.
func (t *Tick) At(cell space.Coord) (slots []int) {
	for slot := range t.Slots() {
		if t.ID(slot) != 0 && t.CellOf(slot) == cell {
			slots = append(slots, slot)
		}
	}
	return slots
}

// Schedule keeps a command as an event of the end of this tick or of a later one.
func (t *Tick) Schedule(due uint64, c commands.Command) commands.Reason {
	if due < t.Number || t.last && due == t.Number {
		return commands.Expired
	}
	if reason := encodable(&c); reason != commands.Applied {
		return reason
	}
	t.scheduled++
	c.Arrival = t.Number<<20 | t.scheduled
	c.Data = slices.Clone(c.Data)
	t.start.events = append(t.start.events, Event{due, c})
	events := t.start.events
	sort.SliceStable(events, func(i, j int) bool {
		if events[i].Due != events[j].Due {
			return events[i].Due < events[j].Due
		}
		return before(&events[i].Command, &events[j].Command)
	})
	return commands.Applied
}

// Cancel takes back an event that waits, by its arrival number.
func (t *Tick) Cancel(event uint64) bool {
	for i, e := range t.start.events {
		if e.Command.Arrival == event {
			t.start.events = slices.Delete(t.start.events, i, i+1)
			return true
		}
	}
	return false
}
