package diff

import (
	"bytes"
	"cmp"
	"encoding/binary"
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
	pairs, lives := c.entities()
	changed := make([]bool, len(pairs))
	for i, p := range pairs {
		changed[i] = p.a != p.b
	}
	for id, d := range c.w.Defs()[:len(c.a.Columns)] {
		if bytes.Equal(c.a.Columns[id].Bytes, c.b.Columns[id].Bytes) && (d.Domain == fields.Cells || !lives) {
			continue
		}
		t := c.column(id)
		if d.Domain == fields.Cells {
			t.all()
			t.end("cells", c.w.Lattice().Cells(), func(cell int) string { return "/cells/" + c.coordinate(cell) })
			continue
		}
		living := 0
		for i, p := range pairs {
			before := t.elements
			t.owner(i, &p)
			changed[i] = changed[i] || t.elements > before
			if p.id != 0 {
				living++
			}
		}
		t.end("entities", living, func(i int) string { return pairs[i].path() })
	}
	for i, p := range pairs {
		if changed[i] && p.id != 0 {
			c.report.Entities.Changed++
		}
	}
}

// A pair is an entity of both states and where they store it, or a slot that is free in both.
type pair struct {
	id   uint64 // 0 in a free slot
	a, b int    // slots
}

func (p *pair) path() string {
	if p.id == 0 {
		return fmt.Sprintf("/slots/%d", p.a)
	}
	return entityPath(p.id)
}

func entityPath(id uint64) string { return "/entities/" + strconv.FormatUint(id, 10) }

// entities tells which entities only one of the states has, and returns those that both
// have, and whether the two store them differently.
func (c *comparison) entities() (pairs []pair, differ bool) {
	ids := slices.IndexFunc(c.w.Defs(), func(d fields.Def) bool { return d.Name == engine.EntityID })
	if ids < 0 {
		return nil, false
	}
	a, b := c.a.Columns[ids].Column().Uint64, c.b.Columns[ids].Column().Uint64
	if slices.Equal(a, b) {
		for slot, id := range a {
			pairs = append(pairs, pair{id, slot, slot})
		}
		return pairs, false
	}
	c.listed = 0
	Merge(members(a), members(b), compareMembers, func(x, y *pair) {
		switch {
		case x != nil && y != nil:
			p := pair{x.id, x.a, y.a}
			pairs = append(pairs, p)
			if p.a != p.b {
				c.text(p.path()+"/slot", fmt.Sprint(p.a), fmt.Sprint(p.b))
			}
		case x == nil && y.id != 0:
			c.report.Entities.Added++
			c.add(Difference{Path: entityPath(y.id), Kind: Added, B: c.w.UUID(y.id).String(), Observable: true})
		case y == nil && x.id != 0:
			c.report.Entities.Removed++
			c.add(Difference{Path: entityPath(x.id), Kind: Removed, A: c.w.UUID(x.id).String(), Observable: true})
		}
	})
	return pairs, true
}

// members returns a state's entities by id, then its free slots.
func members(ids []uint64) []pair {
	list := make([]pair, len(ids))
	for slot, id := range ids {
		list[slot] = pair{id, slot, slot}
	}
	slices.SortFunc(list, func(x, y pair) int { return compareMembers(&x, &y) })
	return list
}

// compareMembers orders entities by id, and free slots behind them by slot.
func compareMembers(x, y *pair) int {
	switch {
	case x.id == 0 && y.id == 0:
		return cmp.Compare(x.a, y.a)
	case x.id == 0 || y.id == 0:
		return cmp.Compare(y.id, x.id)
	}
	return cmp.Compare(x.id, y.id)
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

// A column compares what two states hold in one field. An owner is a cell or a pair.
type column struct {
	c       *comparison
	def     *fields.Def
	a, b    []byte
	n       int // components
	counted int // the last owner of which an element differs; owners come in order
	list    []element

	owners, elements int
	most             element
	distance         float64 // of most
}

// An element is one that differs: where it is in the first state and in the second.
type element struct{ owner, i, j int }

func (c *comparison) column(id int) *column {
	d := &c.w.Defs()[id]
	return &column{c: c, def: d, a: c.a.Columns[id].Bytes, b: c.b.Columns[id].Bytes, n: d.Type.Components(), counted: -1, distance: -1}
}

// all compares all elements; the two states hold them in the same places.
func (t *column) all() {
	const block = 1 << 10 // bytes; whole elements
	size := t.def.Element.Size()
	for lo := 0; lo < len(t.a); lo += block {
		hi := min(lo+block, len(t.a))
		switch a, b := t.a[lo:hi], t.b[lo:hi]; {
		case bytes.Equal(a, b):
		case t.def.Element == fields.Float32 && t.n == 1 && len(t.list) == MaxDifferences:
			t.floats(lo/size, a, b)
		default:
			for i := lo / size; i < hi/size; i++ {
				if x, y := t.bits(t.a, i), t.bits(t.b, i); x != y {
					t.note(element{i, i, i}, x, y, true)
				}
			}
		}
	}
}

// floats does what note does for many float32s, several times as fast. The first of them is
// that of a cell.
func (t *column) floats(cell int, a, b []byte) {
	differ, distance, most := 0, t.distance, -1
	b = b[:len(a)]
	for i := 0; i+4 <= len(a); i += 4 {
		x, y := binary.LittleEndian.Uint32(a[i:]), binary.LittleEndian.Uint32(b[i:])
		if x == y {
			continue
		}
		differ++
		far := math.Abs(float64(math.Float32frombits(y)) - float64(math.Float32frombits(x)))
		if !(far <= distance) && distance < math.Inf(1) {
			distance, most = far, i
			if far != far {
				distance = math.Inf(1)
			}
		}
	}
	if t.elements, t.owners = t.elements+differ, t.owners+differ; most >= 0 {
		cell += most / 4
		t.distance, t.most = distance, element{cell, cell, cell}
	}
}

// owner compares the elements of an entity, or of a free slot.
func (t *column) owner(owner int, p *pair) {
	for k := range t.n {
		i, j := p.a*t.n+k, p.b*t.n+k
		if x, y := t.bits(t.a, i), t.bits(t.b, j); x != y {
			t.note(element{owner*t.n + k, i, j}, x, y, p.id != 0)
		}
	}
}

// bits is an element as it is stored.
func (t *column) bits(b []byte, i int) uint64 {
	if t.def.Element.Size() == 4 {
		return uint64(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return binary.LittleEndian.Uint64(b[8*i:])
}

// Numbers that are off by more than this many units differ observably.
const threshold = 0.0001

// note counts an element that differs; e.owner is its owner times the components, and which
// of them it is. A free slot does not count as an owner.
func (t *column) note(e element, x, y uint64, counts bool) {
	e.owner /= t.n
	if t.elements++; counts && e.owner > t.counted {
		t.counted = e.owner
		t.owners++
	}
	far := math.Inf(1)
	switch t.def.Element {
	case fields.Float32:
		far = math.Abs(float64(math.Float32frombits(uint32(y))) - float64(math.Float32frombits(uint32(x))))
	case fields.Int32:
		far = math.Abs(float64(int32(y)) - float64(int32(x)))
	case fields.Fixed:
		far = math.Abs(apart(fixed.Fixed(x), fixed.Fixed(y)))
	}
	if far != far {
		far = math.Inf(1)
	}
	if far > t.distance {
		t.distance, t.most = far, e
	}
	if len(t.list) < MaxDifferences {
		t.list = append(t.list, e)
	}
}

// end reports what was found. Path returns the path of an owner.
func (t *column) end(domain string, of int, path func(owner int) string) {
	if t.elements == 0 {
		return
	}
	r := &t.c.report
	for _, e := range t.list {
		r.Differences = append(r.Differences, t.difference(e, path))
	}
	r.Count += t.elements
	r.Observable = r.Observable || t.distance > threshold
	r.Fields = append(r.Fields, Field{t.def.Name, domain, t.owners, of, t.difference(t.most, path)})
}

// difference describes an element that differs.
func (t *column) difference(e element, path func(owner int) string) Difference {
	d := Between(t.def, t.bits(t.a, e.i), t.bits(t.b, e.j))
	d.Path, d.Kind, d.Field = path(e.owner)+"/"+t.def.Name, Changed, t.def.Name
	if t.n > 1 {
		d.Path += "/" + strconv.Itoa(e.i%t.n)
	}
	if t.def.Domain == fields.Cells {
		d.Cell = t.c.w.Lattice().Coord(e.owner).AppendTo(nil)
	}
	return d
}

// Between returns two elements of a column, given by their bits, and how far it is from one to the other: A, B, Delta, Ulps
// and Observable of a difference.
func Between(def *fields.Def, x, y uint64) Difference {
	d := Difference{Observable: true}
	switch def.Element {
	case fields.Float32:
		a, b := math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))
		d.float(float64(a), float64(b), 32)
		d.Ulps = ulps(a, b)
	case fields.Fixed:
		d.fixed(fixed.Fixed(x), fixed.Fixed(y))
	case fields.Int32:
		d.A, d.B, d.Delta = fmt.Sprint(int32(x)), fmt.Sprint(int32(y)), fmt.Sprintf("%+d", int64(int32(y))-int64(int32(x)))
	default:
		d.A, d.B = fmt.Sprint(x), fmt.Sprint(y)
	}
	return d
}

// ulps returns how many steps from one float32 to the next lead from a to b. From -0 to 0
// there is none, from the largest number to infinity one; a NaN is as far away as can be.
func ulps(a, b float32) uint32 {
	if a != a || b != b {
		return math.MaxUint32
	}
	x, y := rank(a), rank(b)
	return uint32(max(x-y, y-x))
}

// rank numbers the floats in their order; it is 0 for 0 and -0.
func rank(v float32) int64 {
	n := int64(math.Float32bits(v) &^ (1 << 31))
	if math.Signbit(float64(v)) {
		return -n
	}
	return n
}

// float sets the values of two floats of 32 or 64 bits; 0 and -0 differ.
func (d *Difference) float(a, b float64, bits int) {
	d.A, d.B = strconv.FormatFloat(a, 'g', -1, bits), strconv.FormatFloat(b, 'g', -1, bits)
	d.Delta, d.Observable = fmt.Sprintf("%+.6g", b-a), !(math.Abs(b-a) <= threshold)
}

// fixed sets the values of two fixed-point numbers.
func (d *Difference) fixed(a, b fixed.Fixed) {
	off := apart(a, b)
	d.A, d.B, d.Delta, d.Observable = a.String(), b.String(), fmt.Sprintf("%+.6g", off), math.Abs(off) > threshold
}

// apart returns b - a.
func apart(a, b fixed.Fixed) float64 {
	const unit = 1 << 16
	if exact, err := b.Sub(a); err == nil {
		return float64(exact) / unit
	}
	return (float64(b) - float64(a)) / unit // it takes 65 bits
}

func floatText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
