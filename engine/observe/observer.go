package observe

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// An Agent is where one is that sees. Cell −1 is one that lives no more: it sees zeros, and its
// mask is 0. Slot −1 is no entity.
type Agent struct{ Cell, Slot int32 }

// A World is what is seen: an [engine.World], for one.
type World interface {
	Borrow(fields.ID) *fields.Column
}

// An Observer fills tensors by a plan. It serves all worlds of one configuration, and belongs to one goroutine.
type Observer struct {
	p      *Plan
	layers [][]float32 // by part: what stands on each cell, while a world is seen; zeros otherwise
	own    []row       // by part: for tables that have no rows
	values []float32   // of the places of a part
	valid  []bool
	whole  []float32 // an observation that is to become one of other elements
	world  World
}

// Observer returns a new one.
func (p *Plan) Observer() *Observer {
	o := &Observer{p: p, layers: make([][]float32, len(p.parts)), own: make([]row, len(p.parts)), whole: make([]float32, p.len)}
	most := 0
	for i := range p.parts {
		x := &p.parts[i]
		most = max(most, x.places*x.comps)
		if x.entities && x.Region.around != self {
			o.layers[i] = make([]float32, p.lattice.Cells()*x.comps)
		}
		if x.table != nil && x.table.class == nil {
			o.own[i].ways = make([]int32, x.places)
		}
	}
	o.values, o.valid = make([]float32, most), make([]bool, most)
	return o
}

// Float32 writes what the agents see, one after another: Len numbers each. Of a plan without regions around agents the
// list may be nil: then it is what is seen of the world. The mask, unless nil, gets 1 for numbers that are those of cells or
// agents, and 0 for others, which are 0. It returns an [*Error] if a length is wrong, and then does nothing.
func (o *Observer) Float32(w World, agents []Agent, out []float32, mask []uint8) error {
	if o.p.element != Float32 {
		return wrongElement(Float32)
	}
	if err := o.check(agents, len(out), mask); err != nil {
		return err
	}
	o.begin(w)
	o.all(agents, mask, func(i int) []float32 { return out[i*o.p.len : (i+1)*o.p.len] }, nil)
	o.end()
	return nil
}

// Uint8 is Float32 for plans of that element.
func (o *Observer) Uint8(w World, agents []Agent, out []uint8, mask []uint8) error {
	if o.p.element != Uint8 {
		return wrongElement(Uint8)
	}
	if err := o.check(agents, len(out), mask); err != nil {
		return err
	}
	o.begin(w)
	o.all(agents, mask, func(int) []float32 { return o.whole }, func(i int) { o.bytes(out[i*o.p.len : (i+1)*o.p.len]) })
	o.end()
	return nil
}

// Float16 is Float32 for plans of that element.
func (o *Observer) Float16(w World, agents []Agent, out []uint16, mask []uint8) error {
	if o.p.element != Float16 {
		return wrongElement(Float16)
	}
	if err := o.check(agents, len(out), mask); err != nil {
		return err
	}
	o.begin(w)
	o.all(agents, mask, func(int) []float32 { return o.whole }, func(i int) {
		for k, v := range o.whole {
			out[i*o.p.len+k] = half(v)
		}
	})
	o.end()
	return nil
}

func wrongElement(e Element) error {
	return &Error{Entry: -1, Fault: ErrElement, Err: fmt.Errorf("the plan has another element than %d", e)}
}

// check checks lengths and agents.
func (o *Observer) check(agents []Agent, out int, mask []uint8) error {
	n := len(agents)
	if agents == nil && !o.p.agents {
		n = 1
	}
	if out != n*o.p.len {
		return &Error{Entry: -1, Fault: ErrLength, Err: fmt.Errorf("the tensor has %d elements; it needs %d", out, n*o.p.len)}
	}
	if mask != nil && len(mask) != n*o.p.len {
		return &Error{Entry: -1, Fault: ErrLength, Err: fmt.Errorf("the mask has %d elements; it needs %d", len(mask), n*o.p.len)}
	}
	for i, a := range agents {
		if int(a.Cell) >= o.p.lattice.Cells() {
			return &Error{Entry: -1, Fault: ErrRegion, Err: fmt.Errorf("agent %d is on cell %d; there are %d", i, a.Cell, o.p.lattice.Cells())}
		}
	}
	return nil
}

// all sees everything for all agents; done is called after each.
func (o *Observer) all(agents []Agent, mask []uint8, to func(int) []float32, done func(int)) {
	n := o.p.len
	if agents == nil {
		agents = nobody[:]
	}
	for i := range agents {
		var m []uint8
		if mask != nil {
			m = mask[i*n : (i+1)*n]
		}
		a, out := &agents[i], to(i)
		if a.Cell < 0 && a != &nobody[0] {
			clear(out)
			clear(m)
		} else {
			for k := range o.p.parts {
				o.see(k, a, out, m)
			}
		}
		if done != nil {
			done(i)
		}
	}
}

// nobody sees what does not depend on an agent.
var nobody = [1]Agent{{-1, -1}}

// begin makes the layers of a world.
func (o *Observer) begin(w World) {
	o.world = w
	for i, layer := range o.layers {
		if layer != nil {
			o.eachEntity(&o.p.parts[i], func(slot, cell int32, x *part, c *fields.Column) {
				for k := range x.comps {
					at := &layer[int(cell)*x.comps+k]
					*at += x.number(c, int(slot)*x.comps+k)
				}
			})
		}
	}
}

// end makes the layers zero again.
func (o *Observer) end() {
	for i, layer := range o.layers {
		if layer != nil {
			o.eachEntity(&o.p.parts[i], func(_, cell int32, x *part, _ *fields.Column) {
				clear(layer[int(cell)*x.comps:][:x.comps])
			})
		}
	}
	o.world = nil
}

// eachEntity calls f for the entities that a part counts, by slot.
func (o *Observer) eachEntity(x *part, f func(slot, cell int32, x *part, c *fields.Column)) {
	kinds := o.world.Borrow(o.p.kind).Int32
	var c *fields.Column
	if !x.Source.Count {
		c = o.world.Borrow(x.Source.Field)
	}
	for slot, cell := range o.world.Borrow(o.p.cell).Int32 {
		if cell >= 0 && (x.Source.Kinds == nil || slices.Contains(x.Source.Kinds, kinds[slot])) {
			f(int32(slot), cell, x, c)
		}
	}
}

// number returns an element of the source as a float32; of a count it is 1.
func (x *part) number(c *fields.Column, i int) float32 {
	switch {
	case c == nil:
		return 1
	case c.Float32 != nil:
		return c.Float32[i]
	}
	return float32(x.def.Value(c.Bits(i)))
}

// see writes one part of what an agent sees.
func (o *Observer) see(i int, a *Agent, out []float32, mask []uint8) {
	x := &o.p.parts[i]
	out = out[x.offset : x.offset+x.channels*x.out]
	if mask != nil {
		mask = mask[x.offset : x.offset+x.channels*x.out]
	}
	if x.plain {
		o.copy(i, a, out, mask)
		return
	}
	o.gather(i, a)
	values, valid := o.values[:x.places*x.comps], o.valid[:x.places]
	if x.Pool.Kernel != NoPool {
		for k := range x.comps {
			o.pool(x, values[k*x.places:][:x.places], valid, out[k*x.out:][:x.out], mask, k*x.out)
		}
		return
	}
	n := x.places
	if x.Transform.kind == oneHot {
		clear(out)
		for place, v := range values {
			if k := int(v); valid[place] && float32(k) == v && k >= 0 && k < x.Transform.n {
				out[k*n+place] = 1
			}
		}
	} else {
		for k := range x.comps {
			for place, v := range values[k*n:][:n] {
				if out[k*n+place] = 0; valid[place] {
					out[k*n+place] = x.Transform.of(v)
				}
			}
		}
	}
	for k := range mask {
		mask[k] = bit(valid[k%n])
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// copy is see for numbers that are taken as they are.
func (o *Observer) copy(i int, a *Agent, out []float32, mask []uint8) {
	x := &o.p.parts[i]
	from := o.world.Borrow(x.Source.Field).Float32
	switch {
	case x.Region.around == self:
		out[0] = from[a.Cell]
		if mask != nil {
			mask[0] = 1
		}
		return
	case x.table == nil:
		for place, rank := range x.ranks {
			if rank == none {
				out[place] = 0
			} else {
				out[place] = from[rank]
			}
			if mask != nil {
				mask[place] = bit(rank != none)
			}
		}
		return
	}
	r := x.table.from(o.p.lattice, int(a.Cell), &o.own[i])
	if r.runs != nil {
		if !r.full {
			clear(out)
		}
		for _, s := range r.runs {
			copy(out[s.to:s.to+s.n], from[a.Cell+s.by:])
		}
	} else {
		for place, way := range r.ways {
			if out[place] = 0; way != none {
				out[place] = from[a.Cell+way]
			}
		}
	}
	for place := range mask {
		mask[place] = bit(r.ways[place] != none)
	}
}

// gather puts the numbers of a part's places, component by component, into values.
func (o *Observer) gather(i int, a *Agent) {
	x := &o.p.parts[i]
	if x.Region.around == self {
		o.gatherSelf(x, a)
		return
	}
	ranks, base := x.ranks, int32(0)
	if x.table != nil {
		ranks, base = x.table.from(o.p.lattice, int(a.Cell), &o.own[i]).ways, a.Cell
	}
	var c *fields.Column
	if !x.entities {
		c = o.world.Borrow(x.Source.Field)
	}
	for place, way := range ranks {
		o.valid[place] = way != none
		for k := range x.comps {
			at := k*x.places + place
			switch rank := int(base + way); {
			case way == none:
				o.values[at] = 0
			case x.entities && x.Source.Others && base+way == a.Cell:
				o.values[at] = o.others(x, a, k)
			case x.entities:
				o.values[at] = o.layers[i][rank*x.comps+k]
			default:
				o.values[at] = x.number(c, rank*x.comps+k)
			}
		}
	}
}

// others sums over the entities on the agent's cell but itself.
func (o *Observer) others(x *part, a *Agent, k int) (sum float32) {
	o.eachEntity(x, func(slot, cell int32, x *part, c *fields.Column) {
		if cell == a.Cell && slot != a.Slot {
			sum += x.number(c, int(slot)*x.comps+k)
		}
	})
	return sum
}

// gatherSelf gathers the agent's attribute, or what is on its cell.
func (o *Observer) gatherSelf(x *part, a *Agent) {
	o.valid[0] = true
	for k := range x.comps {
		switch {
		case x.Source.Count:
			o.values[k] = 0
			at := *a
			if !x.Source.Others {
				at.Slot = -1
			}
			o.values[k] = o.others(x, &at, k)
		case x.entities && a.Slot < 0:
			o.values[k], o.valid[0] = 0, false
		case x.entities:
			o.values[k] = x.number(o.world.Borrow(x.Source.Field), int(a.Slot)*x.comps+k)
		default:
			o.values[k] = x.number(o.world.Borrow(x.Source.Field), int(a.Cell)*x.comps+k)
		}
	}
}

// of returns what becomes of a number.
func (t *Transform) of(v float32) float32 {
	switch t.kind {
	case normalize:
		if t.min == t.max {
			return 0
		}
		x := (float64(v) - t.min) / (t.max - t.min)
		if x < 0 {
			return 0
		}
		if x > 1 {
			return 1
		}
		return float32(x)
	case clip:
		return float32(min(max(float64(v), t.min), t.max))
	}
	return v
}

// pool writes one number for each square of places. Sums are those of float32, row by row.
func (o *Observer) pool(x *part, values []float32, valid []bool, out []float32, mask []uint8, maskAt int) {
	rows, cols := x.pooledExtent(0), x.pooledExtent(1)
	for r := range rows {
		for c := range cols {
			v, n := x.square(values, valid, r*x.Pool.Stride, c*x.Pool.Stride)
			at := r*cols + c
			switch {
			case n > 0, o.p.rules == engine.Murk019:
				out[at] = x.Transform.of(v)
			default:
				out[at] = 0
			}
			if mask != nil {
				mask[maskAt+at] = bit(n > 0)
			}
		}
	}
}

// square returns what the kernel makes of a square, and of how many cells; 0 if there are none.
func (x *part) square(values []float32, valid []bool, row, col int) (v float32, n int) {
	k := &x.Pool
	switch k.Kernel {
	case Max:
		v = float32(math.Inf(-1))
	case Min:
		v = float32(math.Inf(1))
	}
	for r := row; r < row+k.Size; r++ {
		for c := col; c < col+k.Size; c++ {
			at := r*x.shape[1] + c
			if !valid[at] {
				continue
			}
			n++
			switch u := values[at]; {
			case k.Kernel == Mean, k.Kernel == Sum:
				v += u
			case k.Kernel == Max && u > v, k.Kernel == Min && u < v:
				v = u
			}
		}
	}
	switch {
	case n == 0:
		return 0, 0
	case k.Kernel == Mean:
		return v / float32(n), n
	}
	return v, n
}
