package observe

import (
	"fmt"

	"github.com/murksim/murksim/fields"
)

// An Agent is one for whom an observation is made.
type Agent struct {
	Cell int32 // -1: the agent is gone; its elements and its mask are all 0
	Slot int32 // of the entity that it is; -1: it is none
}

// A World has columns to read. [*engine.World] is one, between its ticks; it panics if it does not
// have a field that it is asked for.
type World interface {
	Borrow(fields.ID) *fields.Column
}

// An Observer executes a plan. It holds scratch memory, so it belongs to one goroutine, but
// serves all worlds of one configuration, one after the other. It keeps nothing of a world.
type Observer struct {
	plan   *Plan
	values []values // by source, of the world being observed
	cells  []int32  // of the slots, if the plan needs them
	crowds []crowd  // by layer

	classes []int32   // by region around an agent, then by agent
	anew    table     // see makeTable
	chunk   []float64 // a piece of a run
	box     []float64 // a region before it is pooled
	valid   []uint8
	pooled  []float64
	poolOK  []uint8
}

const chunkSize = 256

// Observer returns a new observer.
func (p *Plan) Observer() *Observer {
	o := &Observer{
		plan: p, values: make([]values, len(p.sources)), chunk: make([]float64, chunkSize),
	}
	places, pooled := 0, 0
	for i := range p.entries {
		if e := &p.entries[i]; e.pool != nil {
			places, pooled = max(places, e.places), max(pooled, e.spatial)
		}
	}
	o.box, o.valid = make([]float64, places), make([]uint8, places)
	o.pooled, o.poolOK = make([]float64, pooled), make([]uint8, pooled)
	for i := range p.layers {
		o.crowds = append(o.crowds, newCrowd(&p.layers[i], p.grid.cells))
	}
	return o
}

// Float32 observes a world for each agent. It fills out, which has Len elements an agent, and
// mask, which has MaskLen bytes an agent or is nil. If the plan does not depend on agents, a nil
// list of them stands for one observation. The error is an [*Error]; then out and mask are as they
// were. The plan's element must be Float32.
func (o *Observer) Float32(w World, agents []Agent, out []float32, mask []uint8) error {
	return o.observe(w, agents, &sink{element: Float32, float32: out}, len(out), mask)
}

// Uint8 is [Observer.Float32] for a plan whose element is Uint8.
func (o *Observer) Uint8(w World, agents []Agent, out, mask []uint8) error {
	return o.observe(w, agents, &sink{element: Uint8, uint8: out}, len(out), mask)
}

// Float16 is [Observer.Float32] for a plan whose element is Float16.
func (o *Observer) Float16(w World, agents []Agent, out []uint16, mask []uint8) error {
	return o.observe(w, agents, &sink{element: Float16, float16: out}, len(out), mask)
}

// world is an agent for observations that are of no agent.
var world = []Agent{{Cell: 0, Slot: -1}}

func (o *Observer) observe(w World, agents []Agent, out *sink, outLen int, mask []uint8) error {
	p := o.plan
	if agents == nil && !p.agents {
		agents = world
	}
	if err := o.check(agents, out.element, outLen, mask); err != nil {
		return err
	}
	if err := o.borrow(w); err != nil {
		return err
	}
	if err := o.checkSlots(agents); err != nil {
		return err
	}
	for i := range o.crowds {
		o.crowds[i].fill()
	}
	o.locate(agents)
	for i, a := range agents {
		if a.Cell < 0 {
			out.clear(i*p.length, p.length)
			if mask != nil {
				clear(mask[i*p.maskLen:][:p.maskLen])
			}
		}
	}
	for i := range p.entries {
		o.fill(&p.entries[i], agents, out, mask)
	}
	for i := range o.crowds {
		o.crowds[i].empty()
	}
	clear(o.values)
	o.cells = nil
	return nil
}

func failf(fault Fault, format string, args ...any) error {
	return &Error{Entry: -1, Fault: fault, Detail: fmt.Sprintf(format, args...)}
}

func (o *Observer) check(agents []Agent, element Element, outLen int, mask []uint8) error {
	p, n := o.plan, len(agents)
	switch {
	case element != p.element:
		return failf(ErrElement, "the plan's is %v, not %v", p.element, element)
	case outLen != n*p.length:
		return failf(ErrBuffer, "%d elements for %d observations of %d", outLen, n, p.length)
	case mask != nil && len(mask) != n*p.maskLen:
		return failf(ErrBuffer, "%d bytes of mask for %d observations of %d", len(mask), n, p.maskLen)
	}
	for i := range agents {
		if c := agents[i].Cell; c < -1 || c >= p.grid.cells {
			return failf(ErrAgent, "agent %d: cell must be -1 to %d, not %d", i, p.grid.cells-1, c)
		}
	}
	return nil
}

// borrow gets the columns of the world.
func (o *Observer) borrow(w World) error {
	p := o.plan
	for i := range p.entries {
		if e := &p.entries[i]; e.source < 0 {
			return &Error{Entry: i, Name: e.part.Name, Fault: ErrField, Detail: "the world does not have it"}
		}
	}
	if len(p.layers) > 0 || p.slots {
		o.cells = w.Borrow(p.cell).Int32
		kinds := w.Borrow(p.kind).Int32
		if len(o.cells) == 0 || len(kinds) != len(o.cells) {
			return failf(ErrWorld, "it has no entities")
		}
		for i := range o.crowds {
			c := &o.crowds[i]
			c.cells, c.kinds = o.cells, kinds
			if a := c.layer.attribute; a >= 0 {
				if c.column = w.Borrow(fields.ID(a)); c.column.Len() != len(o.cells)*c.layer.components {
					return failf(ErrWorld, "attribute %d has %d elements for %d slots", a, c.column.Len(), len(o.cells))
				}
			}
		}
	}
	for i := range p.sources {
		s := &p.sources[i]
		if s.layer >= 0 {
			c := &o.crowds[s.layer]
			o.values[i] = values{float32: c.count, float64: c.sum, pitch: s.pitch}
			continue
		}
		column, n := w.Borrow(s.field), int(p.grid.cells)*s.pitch
		if s.own {
			n = len(o.cells) * s.pitch
		}
		if got := column.Len(); got != n && !(p.original && got > n) || column.Element() != s.element { // there, a vector's elements are those of cells
			return failf(ErrWorld, "field %d has %d elements of %v; the plan needs %d of %v", s.field, got, column.Element(), n, s.element)
		}
		o.values[i] = valuesOf(column, s.pitch)
	}
	return nil
}

// checkSlots checks the agents' slots, if they matter.
func (o *Observer) checkSlots(agents []Agent) error {
	if !o.plan.slots {
		return nil
	}
	for i := range agents {
		if s := int(agents[i].Slot); s < -1 || s >= len(o.cells) {
			return failf(ErrAgent, "agent %d: slot must be -1 to %d, not %d", i, len(o.cells)-1, s)
		}
	}
	return nil
}

// locate finds the classes of the agents' places, for each region around them.
func (o *Observer) locate(agents []Agent) {
	p, n := o.plan, len(agents)
	if len(p.arounds) == 0 {
		return
	}
	if n *= len(p.arounds); cap(o.classes) < n {
		o.classes = make([]int32, n)
	}
	o.classes = o.classes[:n]
	var at place
	for i, a := range agents {
		if a.Cell < 0 {
			continue
		}
		p.grid.place(a.Cell, &at)
		for k, around := range p.arounds {
			if around.table != nil {
				o.classes[k*len(agents)+i] = around.table.class(&at)
			}
		}
	}
}

// fill fills one part of all agents that are not gone. A part that is the same for all of them is
// copied from the first one.
func (o *Observer) fill(e *entry, agents []Agent, out *sink, mask []uint8) {
	p := o.plan
	var tables []table // by class
	var classes []int32
	if e.around >= 0 {
		if c := p.arounds[e.around].table; c != nil {
			tables, classes = c.tables, o.classes[e.around*len(agents):][:len(agents)]
		}
		if tables != nil && e.copied && !e.others {
			o.fillPlain(e, agents, tables, classes, out.float32, mask)
			return
		}
	}
	first := -1
	for i, a := range agents {
		at, maskAt := i*p.length+e.part.Offset, i*p.maskLen+e.part.MaskOffset
		var m []uint8
		if mask != nil {
			m = mask[maskAt:][:e.spatial]
		}
		switch {
		case a.Cell < 0:
		case !e.perAgent && first >= 0:
			out.copy(at, first*p.length+e.part.Offset, e.part.Len)
			if mask != nil {
				copy(m, mask[first*p.maskLen+e.part.MaskOffset:])
			}
		default:
			first = i
			t := e.fixed
			if tables != nil {
				t = &tables[classes[i]]
			} else if e.around >= 0 {
				t = o.makeTable(p.arounds[e.around], a.Cell)
			}
			o.part(e, t, a, out, at, m)
		}
	}
}

// fillPlain is fill for the most common entries: numbers are copied as they are.
func (o *Observer) fillPlain(e *entry, agents []Agent, tables []table, classes []int32, out []float32, mask []uint8) {
	p, from := o.plan, o.values[e.source].float32
	for i, a := range agents {
		if a.Cell < 0 {
			continue
		}
		t, d := &tables[classes[i]], out[i*p.length+e.part.Offset:][:e.part.Len]
		if !t.full {
			clear(d)
		}
		copyRuns(d, from, t.runs, a.Cell)
		if mask != nil {
			t.writeMask(mask[i*p.maskLen+e.part.MaskOffset:][:e.spatial], e.step)
		}
	}
}

// makeTable makes the table of a region that is too large to have its tables made before. It is
// valid until the next call.
func (o *Observer) makeTable(a *around, cell int32) *table {
	var at place
	g := &o.plan.grid
	g.place(cell, &at)
	o.anew.runs = a.appendRuns(o.anew.runs[:0], g, &at, cell)
	return &o.anew
}

// one is the table of a single value.
var one = table{runs: []run{{n: 1}}, mask: []uint8{1}, full: true}

// part fills a part of one agent.
func (o *Observer) part(e *entry, t *table, a Agent, out *sink, at int, mask []uint8) {
	v, base := &o.values[e.source], int32(0)
	switch {
	case e.around >= 0:
		base = a.Cell
	case e.own:
		t, base = &one, a.Cell
		if o.plan.sources[e.source].own {
			if base = a.Slot; base < 0 || o.cells[base] < 0 {
				out.clear(at, e.part.Len)
				clear(mask)
				return
			}
		}
	}
	if e.others {
		c := &o.crowds[o.plan.sources[e.source].layer]
		c.leave(a.Slot)
		defer c.join()
	}
	if e.pool != nil {
		o.pool(e, v, t, base, out, at, mask)
		return
	}
	if mask != nil {
		t.writeMask(mask, e.step)
	}
	if !t.full || e.transform.kind == oneHot {
		out.clear(at, e.part.Len)
	}
	if !e.plain {
		o.gather(e, v, t.runs, base, out, at)
		return
	}
	for k := range o.plan.sources[e.source].components {
		d, by := out.float32[at+k*e.spatial:][:e.spatial], stride{v.pitch, k, int(e.step)}
		switch {
		case e.copied:
			copyRuns(d, v.float32, t.runs, base)
		case e.transform.kind == identity:
			copyRunsBy(d, v.float32, t.runs, base, by)
		default:
			e.transform.normalizeRuns(d, v.float32, t.runs, base, by)
		}
	}
}

// writeMask writes the mask of a table's region.
func (t *table) writeMask(mask []uint8, step int32) {
	if t.mask != nil {
		copy(mask, t.mask)
		return
	}
	clear(mask)
	mark(mask, t.runs, step)
}

// gather fills the valid elements of a part that is not pooled, piece by piece.
func (o *Observer) gather(e *entry, v *values, runs []run, base int32, out *sink, at int) {
	for k := range o.plan.sources[e.source].components {
		for _, r := range runs {
			for left := int(r.n); left > 0; {
				n := min(left, len(o.chunk))
				done := int(r.n) - left
				v.load(o.chunk, 0, 1, int(base+r.src)+done, n, k)
				o.put(e, o.chunk[:n], out, at+k*e.spatial+int(r.dst)+done*int(e.step), int(e.step))
				left -= n
			}
		}
	}
}

// put transforms numbers and stores them.
func (o *Observer) put(e *entry, v []float64, out *sink, at, step int) {
	if e.transform.kind == oneHot {
		out.storeOneHot(v, e.transform.n, at, step, e.spatial)
		return
	}
	e.transform.apply(v)
	out.store(v, &e.transform, at, step)
}

// pool fills a part that is pooled.
func (o *Observer) pool(e *entry, v *values, t *table, base int32, out *sink, at int, mask []uint8) {
	box, valid := o.box[:e.places], o.valid[:e.places]
	pooled, ok := o.pooled[:e.spatial], o.poolOK[:e.spatial]
	t.writeMask(valid, e.step)
	out.clear(at, e.part.Len)
	for k := range o.plan.sources[e.source].components {
		for _, r := range t.runs {
			v.load(box, int(r.dst), int(e.step), int(base+r.src), int(r.n), k)
		}
		e.pool.apply(pooled, ok, box, valid)
		if o.plan.original {
			o.put(e, pooled, out, at, 1) // also where no cell is, as there
			continue
		}
		for i := 0; i < len(pooled); i++ {
			begin := i
			for i < len(pooled) && ok[i] != 0 {
				i++
			}
			o.put(e, pooled[begin:i], out, at+k*e.spatial+begin, 1)
		}
	}
	copy(mask, ok)
}
