package audit

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/store"
)

// TileBytes is the size of a tile: a piece of a column, the last of which may be shorter.
const TileBytes = 1 << 10

const (
	stateHead    = 4 + 8 + 2 // bytes: the magic number, the tick, the number of sections
	fieldSection = 3
)

// appendCommitment appends what a chain hashes of a state: C(T).
func appendCommitment(b []byte, tick uint64, size int64, digests []Digest) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, "MSC2"...), tick)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(digests)))
	return AppendDigests(b, digests)
}

// hash returns the hash that a link must have.
func (l *Link) hash() Hash {
	return sha256.Sum256(l.appendHashed(make([]byte, 0, 256)))
}

// appendHashed appends what is hashed: H(T-1) ‖ C(T).
func (l *Link) appendHashed(b []byte) []byte {
	return appendCommitment(append(b, l.Prev[:]...), l.Tick, l.StateLen, l.Digests)
}

// columnLeaf returns the leaf of a column in the tree of the fields.
func columnLeaf(id int, e fields.Element, elements int, root Hash) Hash {
	return sha256.Sum256(appendColumnLeaf(make([]byte, 0, 64), id, e, elements, &root))
}

// appendColumnLeaf appends what is hashed of a column.
func appendColumnLeaf(b []byte, id int, e fields.Element, elements int, root *Hash) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, 0), uint32(id)) // 0: a leaf
	b = append(b, byte(e))
	b = binary.LittleEndian.AppendUint64(b, uint64(elements))
	return append(b, root[:]...)
}

// tileLeaves returns the leaves of a column's tree.
func tileLeaves(b []byte) (leaves []Hash) {
	for len(b) > 0 {
		n := min(TileBytes, len(b))
		leaves, b = append(leaves, leafHash(b[:n])), b[n:]
	}
	return leaves
}

// columnLeaves returns the leaves of the tree of a state's fields.
func columnLeaves(s *engine.State) (leaves []Hash) {
	for id := range s.Columns {
		c := &s.Columns[id]
		leaves = append(leaves, columnLeaf(id, c.Element, c.Len(), rootOf(tileLeaves(c.Bytes))))
	}
	return leaves
}

// NewLink returns the link of a state, S(T), as [engine.World.Save] returns it, after the hash before it. It has no inputs yet.
func NewLink(prev Hash, state []byte) (*Link, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	return newLink(prev, s, len(state), columnLeaves(s)), nil
}

func newLink(prev Hash, s *engine.State, size int, columns []Hash) *Link {
	l := &Link{Tick: s.Tick, Prev: prev, StateLen: int64(size)}
	for i, b := range s.Sections {
		l.Digests = append(l.Digests, Digest{uint16(i + 1), sha256.Sum256(b)})
	}
	l.Digests[fieldSection-1].Sum = rootOf(columns)
	l.Hash = l.hash()
	return l
}

// A digester computes the digest of the fields of states that follow each other, each from what may have changed since the one before it.
type digester struct {
	columns []columnTree // none before the first state
	trees   []*tree      // of the columns
	top     [1]*tree
	changed []bool // by column
	two     pair
}

// A columnTree is a column and its tree.
type columnTree struct {
	*tree
	column fields.Column
	step   int // elements of a tile
}

// digest returns the digest of the fields of a state. Of the first one all must be held.
func (d *digester) digest(s *store.Delta) Hash {
	if d.columns == nil {
		d.begin(s.Whole())
	} else {
		for id := range d.columns {
			d.changed[id] = d.take(id, s)
		}
	}
	d.two.rest()
	grow(d.trees, &d.two)
	for id, changed := range d.changed {
		if t := &d.columns[id]; changed {
			d.two.add(appendColumnLeaf(d.two.next(), id, t.column.Element(), t.column.Len(), t.root()), d.top[0].leaf(id))
		}
	}
	d.two.rest()
	grow(d.top[:], &d.two)
	return *d.top[0].root()
}

// begin begins with the trees of a state.
func (d *digester) begin(s *store.State) {
	n := len(s.Defs()) - 1 // world.rest is no part of the state
	d.top[0], d.columns, d.changed = newTree(n), make([]columnTree, n), make([]bool, n)
	for id := range d.columns {
		t, c := &d.columns[id], s.Column(fields.ID(id))
		*t = columnTree{newTree((c.Size() + TileBytes - 1) / TileBytes), c.Clone(), TileBytes / c.Element().Size()}
		d.trees = append(d.trees, t.tree)
		for lo := 0; lo < c.Len(); lo += t.step {
			d.tile(t, lo, min(lo+t.step, c.Len()))
		}
		d.changed[id] = true
	}
}

// take takes over what has changed of a column, and reports whether anything has.
func (d *digester) take(id int, s *store.Delta) (changed bool) {
	t := &d.columns[id]
	if b := s.Buffer(id); b != nil {
		return d.update(t, 0, &b.Column)
	}
	tiles, n := s.Tiles(id), store.TileBytes/t.column.Element().Size()
	for i, k := range tiles.Which {
		lo := int(k) * n
		tile := tiles.Data.Slice(i*n, i*n+min(n, t.column.Len()-lo))
		changed = d.update(t, lo, &tile) || changed
	}
	return changed
}

// update takes over elements of a column from a tile's first on, and reports whether any of them has changed.
func (d *digester) update(t *columnTree, first int, c *fields.Column) (changed bool) {
	for lo := 0; lo < c.Len(); lo += t.step {
		hi := min(lo+t.step, c.Len())
		is, was := c.Slice(lo, hi), t.column.Slice(first+lo, first+hi)
		if is.SameBits(&was, 0, hi-lo) {
			continue
		}
		was.CopyFrom(&is)
		d.tile(t, first+lo, first+hi)
		changed = true
	}
	return changed
}

// tile hashes a tile.
func (d *digester) tile(t *columnTree, lo, hi int) {
	tile := t.column.Slice(lo, hi)
	d.two.add(tile.AppendBytes(append(d.two.next(), 0)), t.leaf(lo/t.step))
}
