package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
)

// columns compares the fields: those of cells by cell, those of entities by entity.
func (c *comparison) columns() {
	var ofEntities []int
	c.ofA, c.ofB = decoded(c.a), decoded(c.b)
	for id, d := range c.w.Defs()[:len(c.ofA)] {
		same := bytes.Equal(c.a.Columns[id].Bytes, c.b.Columns[id].Bytes)
		if !same {
			c.report.Columns = append(c.report.Columns, d.Name)
		}
		switch {
		case d.Domain == fields.Entities:
			ofEntities = append(ofEntities, id)
		case !same:
			for cell := range c.w.Lattice().Cells() {
				c.elements(id, cell, cell, func() string { return "/cells/" + c.coordinate(cell) })
			}
		}
	}
	merge(c.members(c.ofA), c.members(c.ofB), compareMembers, func(x, y *member) {
		before := c.report.Count
		switch {
		case x == nil && y.id != 0:
			c.add(Difference{Path: entityPath(y.id), Kind: Added, B: c.w.UUID(y.id).String(), Observable: true})
		case y == nil && x.id != 0:
			c.add(Difference{Path: entityPath(x.id), Kind: Removed, A: c.w.UUID(x.id).String(), Observable: true})
		case x != nil && y != nil:
			c.entity(ofEntities, x, y)
		}
		if id := cmp.Or(x, y).id; id != 0 && c.report.Count > before {
			c.report.Entities = append(c.report.Entities, id)
		}
	})
}

func decoded(s *engine.State) (columns []fields.Column) {
	for id := range s.Columns {
		columns = append(columns, s.Columns[id].Column())
	}
	return columns
}

// A member is an entity and where it is stored.
type member struct {
	id   uint64 // 0 in a free slot
	slot int
}

// members returns a state's entities by id, then its free slots.
func (c *comparison) members(columns []fields.Column) []member {
	ids := slices.IndexFunc(c.w.Defs(), func(d fields.Def) bool { return d.Name == engine.EntityID })
	if ids < 0 {
		return nil
	}
	list := make([]member, columns[ids].Len())
	for slot := range list {
		list[slot] = member{columns[ids].Bits(slot), slot}
	}
	slices.SortFunc(list, func(x, y member) int { return compareMembers(&x, &y) })
	return list
}

// compareMembers orders entities by id, and free slots behind them by slot.
func compareMembers(x, y *member) int {
	switch {
	case x.id == 0 && y.id == 0:
		return cmp.Compare(x.slot, y.slot)
	case x.id == 0 || y.id == 0:
		return cmp.Compare(y.id, x.id)
	}
	return cmp.Compare(x.id, y.id)
}

func entityPath(id uint64) string { return "/entities/" + strconv.FormatUint(id, 10) }

// entity compares all that is stored of one entity, or of a slot that is free in both.
func (c *comparison) entity(columns []int, x, y *member) {
	path := func() string { return entityPath(x.id) }
	if x.id == 0 {
		path = func() string { return fmt.Sprintf("/slots/%d", x.slot) }
	}
	if x.slot != y.slot {
		c.text(path()+"/slot", fmt.Sprint(x.slot), fmt.Sprint(y.slot))
	}
	for _, id := range columns {
		c.elements(id, x.slot, y.slot, path)
	}
}

func (c *comparison) coordinate(cell int) string {
	var b []byte
	for i, v := range c.w.Lattice().Coord(cell).AppendTo(nil) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return string(b)
}

// elements compares what a column holds of one cell or entity; x and y are where.
func (c *comparison) elements(id, x, y int, path func() string) {
	d := &c.w.Defs()[id]
	a, b, n := &c.ofA[id], &c.ofB[id], d.Type.Components()
	for k := range n {
		i, j := x*n+k, y*n+k
		if a.Bits(i) == b.Bits(j) {
			continue
		}
		at := path() + "/" + d.Name
		if n > 1 {
			at += "/" + strconv.Itoa(k)
		}
		switch d.Element {
		case fields.Float32:
			c.float(at, float64(a.Float32[i]), float64(b.Float32[j]), 32)
		case fields.Fixed:
			c.fixed(at, fixed.Fixed(a.Fixed[i]), fixed.Fixed(b.Fixed[j]))
		case fields.Int32:
			c.whole(at, int64(a.Int32[i]), int64(b.Int32[j]))
		default:
			c.add(Difference{Path: at, Kind: Changed, A: fmt.Sprint(a.Bits(i)), B: fmt.Sprint(b.Bits(j)), Observable: true})
		}
	}
}

// Numbers that are off by more than this many units differ observably.
const threshold = 0.0001

// float compares two floats of 32 or 64 bits; 0 and -0 differ.
func (c *comparison) float(path string, a, b float64, bits int) {
	if math.Float64bits(a) == math.Float64bits(b) {
		return
	}
	c.add(Difference{
		Path: path, Kind: Changed, A: strconv.FormatFloat(a, 'g', -1, bits), B: strconv.FormatFloat(b, 'g', -1, bits),
		Delta: fmt.Sprintf("%+.6g", b-a), Observable: !(math.Abs(b-a) <= threshold),
	})
}

// fixed compares two fixed-point numbers.
func (c *comparison) fixed(path string, a, b fixed.Fixed) {
	const unit = 1 << 16
	exact, err := b.Sub(a)
	off := float64(exact) / unit
	if err != nil { // it takes 65 bits
		off = (float64(b) - float64(a)) / unit
	}
	c.add(Difference{
		Path: path, Kind: Changed, A: a.String(), B: b.String(),
		Delta: fmt.Sprintf("%+.6g", off), Observable: math.Abs(off) > threshold,
	})
}

func (c *comparison) whole(path string, a, b int64) {
	c.add(Difference{
		Path: path, Kind: Changed, A: fmt.Sprint(a), B: fmt.Sprint(b), Delta: fmt.Sprintf("%+d", b-a), Observable: true,
	})
}

func floatText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
