package audit

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// Computing the digest of a state's fields has two parts: the leaves of the tiles that may have changed, which need no other state,
// and the trees above them, which need all states before. So the leaves of several ticks can be hashed at the same time.

// A tile of a tree is the unit in which the store tells what changed.
var _ [store.PieceBytes]struct{} = [TileBytes]struct{}{}

// Leaves are hashes of tiles of a state.
type leaves struct {
	of   []leafRange
	sums []Hash
	two  pair
}

// A leafRange says which tiles of a column the next hashes are of.
type leafRange struct {
	column int
	which  []int32
}

// hash hashes the tiles of a state that may have changed. It shares memory with the Delta, which may be released, but not hold again before
// the digest.
func (l *leaves) hash(s *store.Delta, columns int) {
	l.of, l.sums = l.of[:0], l.sums[:0]
	n := 0
	for id := range columns {
		which := s.Tiles(id).Which
		l.of, n = append(l.of, leafRange{id, which}), n+len(which)
	}
	l.sums = grown(l.sums, n)
	sums := l.sums
	for id := range columns {
		copies := s.Tiles(id)
		c, held := &copies.Data, s.Buffer(id)
		if held != nil {
			c = &held.Column
		}
		if len(copies.Which) == 0 {
			continue
		}
		step := TileBytes / c.Element().Size()
		for i, k := range copies.Which {
			lo := i * step
			if held != nil {
				lo = int(k) * step
			}
			tile := c.Slice(lo, min(lo+step, c.Len()))
			l.two.add(tile.AppendBytes(append(l.two.next(), 0)), &sums[i])
		}
		sums = sums[len(copies.Which):]
	}
	l.two.rest()
}

func grown(list []Hash, n int) []Hash {
	if cap(list) < n {
		return make([]Hash, n)
	}
	return list[:n]
}

// A digester computes the digest of the fields of states that follow each other.
type digester struct {
	columns []digestColumn
	trees   []*tree // of the columns
	top     [1]*tree
	changed []bool // by column
	two     pair
}

// A digestColumn is what a leaf holds about a column.
type digestColumn struct {
	element fields.Element
	len     int // elements
}

// newDigester begins with the columns of a state; nothing of it is hashed yet.
func newDigester(columns []engine.StateColumn) *digester {
	n := len(columns)
	d := &digester{columns: make([]digestColumn, n), trees: make([]*tree, n), changed: make([]bool, n)}
	for id := range d.trees {
		c := &columns[id]
		d.columns[id] = digestColumn{c.Element, c.Len()}
		d.trees[id] = newTree((len(c.Bytes) + TileBytes - 1) / TileBytes)
	}
	d.top[0] = newTree(n)
	return d
}

// digest returns the digest of the fields of a state, from those of its leaves that may differ from the state before it.
func (d *digester) digest(l *leaves) Hash {
	sums := l.sums
	for _, r := range l.of {
		t := d.trees[r.column]
		d.changed[r.column] = len(r.which) > 0
		for i, k := range r.which {
			*t.leaf(int(k)) = sums[i]
		}
		sums = sums[len(r.which):]
	}
	grow(d.trees, &d.two)
	for id, changed := range d.changed {
		if c := &d.columns[id]; changed {
			d.two.add(appendColumnLeaf(d.two.next(), id, c.element, c.len, d.trees[id].root()), d.top[0].leaf(id))
		}
	}
	d.two.rest()
	grow(d.top[:], &d.two)
	return *d.top[0].root()
}
