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
	sectionHead  = 2 + 4     // its number, its length
	fieldSection = 3
)

// appendCommitment appends what a chain hashes of a state: C(T).
func appendCommitment(b []byte, tick uint64, size int64, digests []Digest) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, "MSC2"...), tick)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(digests)))
	for i := range digests {
		b = binary.LittleEndian.AppendUint16(b, digests[i].Section)
		b = append(b, digests[i].Sum[:]...)
	}
	return b
}

// hash returns the hash that a link must have.
func (l *Link) hash() Hash { return l.Prev.Next(appendCommitment(nil, l.Tick, l.StateLen, l.Digests)) }

// columnLeaf returns the leaf of a column in the tree of the fields.
func columnLeaf(id int, e fields.Element, elements int, root Hash) Hash {
	b := binary.LittleEndian.AppendUint32(nil, uint32(id))
	b = append(b, byte(e))
	b = binary.LittleEndian.AppendUint64(b, uint64(elements))
	return leafHash(append(b, root[:]...))
}

// NewLink returns the link of a state, S(T), as [engine.World.Save] returns it, after the hash before it. It has no inputs yet.
func NewLink(prev Hash, state []byte) (*Link, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	l := &Link{Tick: s.Tick, Prev: prev, StateLen: int64(len(state))}
	for i, b := range s.Sections {
		l.Digests = append(l.Digests, Digest{uint16(i + 1), sha256.Sum256(b)})
	}
	var columns []Hash
	for id := range s.Columns {
		c := &s.Columns[id]
		columns = append(columns, columnLeaf(id, c.Element, c.Len(), rootOf(tilesOf(c.Bytes).levels[0])))
	}
	l.Digests[fieldSection-1].Sum = rootOf(columns)
	l.Hash = l.hash()
	return l, nil
}

// A digester computes the digest of the fields of states that follow each other, each from that of the one before it.
type digester struct {
	last    *store.State // of which the trees are; nil: there is none
	columns []*tree
	top     *tree
	buf     []byte
}

// digest returns the digest of the fields of a state. It holds the state until the next one.
func (d *digester) digest(s *store.State) Hash {
	defer d.hold(s)
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
		if !d.column(d.columns[id], before, c) {
			continue
		}
		d.top.set(id, columnLeaf(id, s.Defs()[id].Element, c.Len(), d.columns[id].root()))
	}
	return d.top.root()
}

func (d *digester) hold(s *store.State) {
	d.release()
	d.last = s
}

// release gives the last state back to its world.
func (d *digester) release() {
	if d.last != nil {
		d.last.Release()
		d.last = nil
	}
}

// appendState appends the state S(T) whose fields the digester holds.
func (d *digester) appendState(b []byte, p *pendingTick, meta []byte) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, "MSS2"...), p.tick)
	b = binary.LittleEndian.AppendUint16(b, 5)
	section := func(id uint16, data []byte) {
		b = binary.LittleEndian.AppendUint16(b, id)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		b = append(b, data...)
	}
	section(1, meta)
	section(2, p.section(0))
	b = binary.LittleEndian.AppendUint16(b, fieldSection)
	b = binary.LittleEndian.AppendUint32(b, uint32(d.size()))
	n := len(d.columns)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	for id := range n {
		c := d.last.Column(fields.ID(id))
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
		b = append(b, byte(d.last.Defs()[id].Element))
		b = binary.LittleEndian.AppendUint64(b, uint64(c.Len()))
		b = c.AppendBytes(b)
	}
	section(4, p.section(1))
	section(5, p.section(2))
	return b
}

// size returns how many bytes section 3 has.
func (d *digester) size() int {
	size := 4
	for id := range d.columns {
		size += 4 + 1 + 8 + d.last.Column(fields.ID(id)).Size()
	}
	return size
}

// column brings the tree of a column up to date, and reports whether it has changed.
func (d *digester) column(t *tree, before, c *fields.Column) (changed bool) {
	size := c.Size() / c.Len() // of an element
	step := TileBytes / size
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
