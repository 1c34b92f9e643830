package audit

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// TileBytes is the size of a tile: a piece of a column, the last of which may be shorter.
const TileBytes = 1 << 10

const (
	stateHead    = 4 + 8 + 2 // bytes: the magic number, the tick, the number of sections
	fieldSection = 3
)

// appendCommitment appends C(T), the part of a state that a chain hashes.
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
