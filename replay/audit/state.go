package audit

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
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
	b := binary.LittleEndian.AppendUint32(append(make([]byte, 0, 64), 0), uint32(id)) // 0: a leaf
	b = append(b, byte(e))
	b = binary.LittleEndian.AppendUint64(b, uint64(elements))
	return sha256.Sum256(append(b, root[:]...))
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

// A digester computes the digest of the fields of states that follow each other, each from that of the one before it.
type digester struct {
	last    *store.State // of which the trees are; nil: there is none
	columns []*tree
	top     *tree
	buf     []byte
}

// digest returns the digest of the fields of a state. It holds the state until the next one, and returns the one that it gives up.
func (d *digester) digest(s *store.State) (sum Hash, spare *store.State) {
	n := len(s.Defs()) - 1 // world.rest is no part of the state
	if d.top == nil {
		d.top = newTree(n)
		for id := range n {
			c := s.Column(fields.ID(id))
			d.columns = append(d.columns, newTree((c.Size()+TileBytes-1)/TileBytes))
		}
	}
	for id := range n {
		c := s.Column(fields.ID(id))
		var before *fields.Column
		if d.last != nil {
			before = d.last.Column(fields.ID(id))
		}
		if d.column(d.columns[id], before, c) {
			d.top.set(id, columnLeaf(id, s.Defs()[id].Element, c.Len(), d.columns[id].root()))
		}
	}
	spare = d.release()
	d.last = s
	return d.top.root(), spare
}

// release gives the last state back to its world.
func (d *digester) release() *store.State {
	s := d.last
	if d.last = nil; s == nil {
		return new(store.State)
	}
	s.Release()
	return s
}

// column brings the tree of a column up to date, and reports whether it has changed.
func (d *digester) column(t *tree, before, c *fields.Column) (changed bool) {
	step := TileBytes / (c.Size() / c.Len()) // elements
	for i, lo := 0, 0; lo < c.Len(); i, lo = i+1, lo+step {
		hi := min(lo+step, c.Len())
		if before != nil && statehash.SameBits(before, c, lo, hi) {
			continue
		}
		tile := c.Slice(lo, hi)
		d.buf = tile.AppendBytes(append(d.buf[:0], 0))
		t.set(i, sha256.Sum256(d.buf))
		changed = true
	}
	return changed
}
