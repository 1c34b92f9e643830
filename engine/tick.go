package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
)

// A TickError says why a tick failed. The world's state is that of the tick before, unless
// Where is "watcher": [Batch.Run] says so of a tick that has happened.
type TickError struct {
	Tick  uint64 // the tick that did not happen
	Where string // the propagators or system at fault, "commands", "command 3", "checks", "recorder", "watcher of parts", "world", or by Paranoid the stream name of a handler
	Err   error
}

// Error implements error.
func (e *TickError) Error() string {
	return fmt.Sprintf("engine: tick %d: %s: %v", e.Tick, e.Where, e.Err)
}

// Unwrap returns the cause.
func (e *TickError) Unwrap() error { return e.Err }

// ErrOrder reports inputs for [World.Replay] that are not in canonical order.
var ErrOrder = errors.New("inputs are not in canonical order")

// Step computes the next tick from the inputs submitted since the last. The
// receipts, in the order in which the commands were applied, are valid until the next Step.
//
// If it fails, with a [*TickError], the world is as it was before, the inputs are
// dropped, and the receipts of those that had been applied say RolledBack. After
// Config.MaxFailures failures in a row, or one with [ErrArithmetic], every Step
// fails at once, with [ErrHalted], until [World.Reset]. Called within a tick of the same
// world it fails with [ErrUnderWay] and does nothing. A world has 2⁴³−1 ticks at most.
func (w *World) Step() ([]commands.Receipt, error) {
	if err := w.mayStep(); err != nil {
		return nil, err
	}
	w.inputs = w.queue.Take(w.inputs[:0], w.arrival)
	w.ticket = w.queue.Taken()
	return w.step()
}

// Receipts returns those of the last tick, as Step did; none where the world was made, loaded or forked since. They are valid until the next Step.
func (w *World) Receipts() []commands.Receipt { return w.receipts }

// ErrHalted reports a world that stopped: too many ticks in a row failed, or one
// with an arithmetic fault.
var ErrHalted = errors.New("the world has halted after a failed tick")

// Replay computes the next tick from recorded inputs, with the arrival numbers
// that they have; what was submitted stays queued. The inputs must be in canonical
// order, else Replay returns [ErrOrder] in a [*TickError] and does nothing. Their data must
// not be changed until the next tick.
func (w *World) Replay(inputs []commands.Command) ([]commands.Receipt, error) {
	if err := w.mayStep(); err != nil {
		return nil, err
	}
	for i := 1; i < len(inputs); i++ {
		if commands.Compare(&inputs[i-1], &inputs[i]) >= 0 {
			return nil, &TickError{w.tick + 1, fmt.Sprintf("command %d", i), ErrOrder}
		}
	}
	for i := range inputs {
		if reason := inputs[i].Check(); reason != commands.Applied {
			return nil, &TickError{w.tick + 1, fmt.Sprintf("command %d", i), reason}
		}
	}
	w.inputs, w.ticket = append(w.inputs[:0], inputs...), 0
	return w.step()
}

func (w *World) step() ([]commands.Receipt, error) {
	w.phase = ticking
	w.begin()
	if err := w.attempt(); err != nil {
		if w.phase == ticking {
			err = w.failFor(err)
		}
		return w.receipts, err
	}
	w.commit()
	w.phase = between
	if w.settling != nil || len(w.watchers) > 0 {
		w.show()
	}
	return w.receipts, nil
}

// failFor fails the tick for an error, whose methods may not be the engine's, and returns one
// whose chain can be walked.
func (w *World) failFor(err error) error {
	fatal := false
	defer func() { w.fail(fatal) }() // also if a method of the error ends the goroutine
	broken, arithmetic := unsound(err)
	if fatal = arithmetic; broken == nil {
		return err
	}
	where := w.where
	if e, ok := err.(*TickError); ok && e != nil {
		where = e.Where
	}
	return &TickError{w.tick + 1, where, broken}
}

// fail takes the tick back, and halts the world if the failure is fatal or one too many.
func (w *World) fail(fatal bool) {
	w.rollback()
	w.record.world = nil
	if w.failures++; w.failures == w.maxFailures || fatal {
		w.halted.Store(true)
	}
	w.phase = between
}

func (w *World) begin() {
	next := w.tick + 1
	w.streams.Begin(w.generator, w.seed, next)
	w.events.Begin(next)
	w.entities.spawned, w.last = 0, false
	w.unrepeated = nil
	w.receipts = w.receipts[:0]
	w.arrival += uint64(len(w.inputs))
}

// attempt does everything in a tick except publishing it, and turns panics into errors.
func (w *World) attempt() (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		err = &TickError{w.tick + 1, w.where, newPanicError(v)}
		if v == nil { // most likely the goroutine ends, and step does not go on
			w.fail(false)
		}
	}()
	err = w.compute()
	returned = true
	return err
}

// compute computes and records the tick.
func (w *World) compute() error {
	w.where = "commands"
	w.rules.apply(w)
	if w.unrepeated != nil {
		return w.unrepeated
	}
	if w.config.Accept != nil {
		if err := w.config.Accept(w.tick+1, w.receipts); err != nil {
			return &TickError{w.tick + 1, w.where, err}
		}
	}
	w.entities.refresh()
	for _, s := range w.stages {
		if err := w.runStage(s); err != nil {
			return &TickError{w.tick + 1, s.spec.Name, err}
		}
	}
	if err := w.rules.finish(w); err != nil {
		return err
	}
	if w.unrepeated != nil { // a handler of an event of this tick
		return w.unrepeated
	}
	w.settling = nil
	if w.recorder == nil && len(w.watchers) == 0 {
		return nil
	}
	w.record = Tick{Number: w.tick + 1, Inputs: w.inputs, Receipts: w.receipts, world: w}
	if w.recorder == nil {
		return nil
	}
	w.where = "recorder"
	settler := w.settler
	err := w.recorder.Record(&w.record)
	w.record.world = nil
	if err != nil {
		return &TickError{w.tick + 1, "recorder", err}
	}
	w.settling = settler
	return nil
}

// applyAll merges the events that are due with the inputs, events first within a
// priority, and applies them.
func (w *World) applyAll() {
	w.due = w.events.TakeDue(w.due[:0])
	e, i := 0, 0
	for e < len(w.due) || i < len(w.inputs) {
		if e < len(w.due) && (i == len(w.inputs) || w.due[e].Priority <= w.inputs[i].Priority) {
			w.take(&w.due[e], true)
			e++
			continue
		}
		if e == len(w.due) {
			if n := w.setMany(w.inputs[i:]); n > 0 {
				i += n
				continue
			}
		}
		w.take(&w.inputs[i], false)
		i++
	}
}

// applyLast applies the events that this tick scheduled for itself, to the state that
// its systems left.
func (w *World) applyLast() {
	w.last = true
	earlier := len(w.due) // receipts point to them
	if w.due = w.events.TakeDue(w.due); len(w.due) == earlier {
		return
	}
	if w.entities.capacity > 0 && w.store.Written(w.cols.cell) {
		w.entities.stale(false)
	}
	w.store.Turn()
	for i := earlier; i < len(w.due); i++ {
		w.take(&w.due[i], true)
	}
}

// take applies one command, if it has not expired, and writes its receipt.
func (w *World) take(c *commands.Command, event bool) {
	var made uint64
	reason := commands.Expired
	w.detail = ""
	if c.Expires >= w.tick+1 {
		made, reason = w.apply(c)
	}
	r := commands.Receipt{Command: c, Reason: reason, Event: event, Made: made, Detail: w.detail}
	if !event {
		r.Ticket = w.ticketOf(c)
	}
	w.receipts = append(w.receipts, r)
}

// ticketOf returns the ticket of an input; 0 if it was recorded.
func (w *World) ticketOf(c *commands.Command) commands.Ticket {
	if w.ticket == 0 {
		return 0
	}
	first := w.arrival - uint64(len(w.inputs))
	return w.ticket + commands.Ticket(c.Arrival-first)
}

// finish checks what was written and clamps it to its bounds.
func (w *World) finish() error {
	for i := range w.defs {
		id := fields.ID(i)
		if !w.store.Written(id) {
			continue
		}
		if bad := w.store.Finish(id, w.valid[id]); bad >= 0 {
			return &TickError{w.tick + 1, w.writersOf(id), w.badValue(id, bad)}
		}
	}
	return w.checkPlaces()
}

// writersOf names all stages that write a field, in order.
func (w *World) writersOf(id fields.ID) string {
	var names []string
	for _, s := range w.stages {
		if s.may[id]&mayNext != 0 {
			names = append(names, s.spec.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (w *World) badValue(id fields.ID, element int) error {
	d := &w.defs[id]
	v := d.Value(w.store.Now(id).Bits(element))
	at := element / d.Type.Components()
	what := fmt.Sprintf("field %q: %v is not a valid value of a %s", d.Name, v, d.Type)
	if d.Domain == fields.Entities {
		return fmt.Errorf("slot %d: %s", at, what)
	}
	return &CellError{at, w.lattice.Coord(at), what}
}

// checkPlaces checks that systems wrote cells that exist to entity.cell.
func (w *World) checkPlaces() error {
	if w.entities.capacity == 0 || !w.store.Written(w.cols.cell) {
		return nil
	}
	ids := w.store.Current(w.cols.id).Uint64
	for slot, cell := range w.store.Now(w.cols.cell).Int32 {
		free := ids[slot] == 0
		if free && cell != -1 || !free && (cell < 0 || int(cell) >= w.lattice.Cells()) {
			err := fmt.Errorf("slot %d: entity %d is put on cell %d; cells are 0 to %d, -1 in a free slot", slot, ids[slot], cell, w.lattice.Cells()-1)
			return &TickError{w.tick + 1, w.writersOf(w.cols.cell), err}
		}
	}
	return w.checkOccupancy()
}

// checkOccupancy checks that systems put no more entities on a cell than may stand there, without those that they let die at the end of the tick.
func (w *World) checkOccupancy() error {
	cells := w.store.Now(w.cols.cell).Int32
	err := w.crowded(cells)
	if err == nil {
		return nil
	}
	w.staying = append(w.staying[:0], cells...)
	w.events.EachDue(func(c *commands.Command) {
		if slot, lives := w.entities.slot(c.Entity); c.Kind == commands.KindDespawn && c.Expires > w.tick && lives {
			w.staying[slot] = -1
		}
	})
	if err = w.crowded(w.staying); err != nil {
		return &TickError{w.tick + 1, w.writersOf(w.cols.cell), err}
	}
	return nil
}

// crowded returns an error that names a cell with more entities than may stand there. Cells
// holds the cell of each slot, -1 for none.
func (w *World) crowded(cells []int32) (err error) {
	if w.config.Occupancy == 0 {
		return nil
	}
	if w.counts == nil {
		w.counts = make([]int32, w.lattice.Cells())
	}
	for _, at := range cells {
		if at < 0 {
			continue
		}
		if w.counts[at]++; int(w.counts[at]) == w.config.Occupancy+1 && err == nil {
			err = &CellError{int(at), w.lattice.Coord(int(at)), fmt.Sprintf("more than %d entities are put there", w.config.Occupancy)}
		}
	}
	for _, at := range cells {
		if at >= 0 {
			w.counts[at] = 0
		}
	}
	return err
}

// hashRest writes world.rest: the hash of all state outside fields, and of the
// tick's inputs with their results.
func (w *World) hashRest() {
	r := &w.rest
	r.bytes = w.params.append(r.bytes[:0], w.arrival)
	r.events = len(r.bytes)
	r.bytes = w.events.Append(r.bytes)
	r.random = len(r.bytes)
	r.bytes = w.streams.Append(r.bytes)
	w.taken = commands.AppendResults(w.taken[:0], w.receipts)
	w.digest.Reset()
	w.digest.Write(r.bytes)
	w.digest.Write(w.taken)
	w.store.Full(w.cols.rest).Uint64[0] = w.digest.Sum64()
}

func (w *World) commit() {
	if w.entities.capacity > 0 && w.store.Written(w.cols.cell) {
		w.entities.stale(false)
	}
	w.store.Commit()
	w.rest, w.published = w.published, w.rest
	w.params.undo = w.params.undo[:0]
	w.tick, w.failures = w.tick+1, 0
}

// rollback leaves no trace of the tick but its receipts.
func (w *World) rollback() {
	w.rules.failed(w)
	w.store.Rollback()
	w.params.undoTo(0)
	w.events.Undo()
	w.entities.stale(true)
	w.arrival -= uint64(len(w.inputs))
	for i := range w.receipts {
		if r := &w.receipts[i]; r.Reason == commands.Applied {
			r.Reason, r.Made = commands.RolledBack, 0
		}
	}
}
