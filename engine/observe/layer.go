package observe

import (
	"slices"

	"github.com/murksim/murksim/fields"
)

// A layer is what the entities on each cell have together: their number, or the sum of an
// attribute.
type layer struct {
	attribute  int     // a field; -1: the number of entities
	kinds      []int32 // ascending; nil: all
	def        *fields.Def
	components int
}

// A crowd is a layer's numbers, cell by cell, for one world at a time. Between calls all are 0,
// and none belongs to a world.
type crowd struct {
	layer  *layer
	count  []float32
	sum    []float64
	column *fields.Column // of the attribute
	cells  []int32        // of the slots
	limit  uint32         // of cells, so that -1 is not below it
	kinds  []int32

	cell  int32     // that is without an agent for the moment; -1: none
	saved []float64 // its numbers before
}

func newCrowd(l *layer, cells int32) crowd {
	c := crowd{layer: l, limit: uint32(cells), cell: -1, saved: make([]float64, l.components)}
	if l.attribute < 0 {
		c.count = make([]float32, cells)
	} else {
		c.sum = make([]float64, int(cells)*l.components)
	}
	return c
}

// has reports whether the layer counts the entity in a slot.
func (c *crowd) has(slot int) bool {
	return uint32(c.cells[slot]) < c.limit && (c.layer.kinds == nil || slices.Contains(c.layer.kinds, c.kinds[slot]))
}

// fill counts or sums the entities of a world.
func (c *crowd) fill() {
	if c.count != nil && c.layer.kinds == nil {
		for _, cell := range c.cells {
			if uint32(cell) < c.limit {
				c.count[cell]++
			}
		}
		return
	}
	for slot, cell := range c.cells {
		switch {
		case !c.has(slot):
		case c.count != nil:
			c.count[cell]++
		default:
			c.add(slot)
		}
	}
}

// add adds what the entity in a slot has to the sum of its cell.
func (c *crowd) add(slot int) {
	l := c.layer
	sum := c.sum[int(c.cells[slot])*l.components:][:l.components]
	for k := range sum {
		sum[k] += l.def.Value(c.column.Bits(slot*l.components + k))
	}
}

// empty makes all numbers 0 again.
func (c *crowd) empty() {
	for _, cell := range c.cells {
		if uint32(cell) >= c.limit {
			continue
		}
		if c.count != nil {
			c.count[cell] = 0
		} else {
			clear(c.sum[int(cell)*c.layer.components:][:c.layer.components])
		}
	}
	c.cells, c.kinds, c.column = nil, nil, nil
}

// leave takes the entity in a slot out, until join. A sum is made anew of those that stay, in
// their order.
func (c *crowd) leave(slot int32) {
	if slot < 0 || !c.has(int(slot)) {
		return
	}
	c.cell = c.cells[slot]
	if c.count != nil {
		c.saved[0] = float64(c.count[c.cell])
		c.count[c.cell]--
		return
	}
	sum := c.sum[int(c.cell)*c.layer.components:][:c.layer.components]
	copy(c.saved, sum)
	clear(sum)
	for other, cell := range c.cells {
		if cell == c.cell && int32(other) != slot && c.has(other) {
			c.add(other)
		}
	}
}

// join takes back leave.
func (c *crowd) join() {
	if c.cell < 0 {
		return
	}
	if c.count != nil {
		c.count[c.cell] = float32(c.saved[0])
	} else {
		copy(c.sum[int(c.cell)*c.layer.components:], c.saved)
	}
	c.cell = -1
}
