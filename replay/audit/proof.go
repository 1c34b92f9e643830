package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/murksim/murksim/engine"
)

// A Proof shows that a tile of a column belonged to the state of a tick: up two trees, from the tile to the column and from the column to
// the fields, and from there to the link's hash. [Proof.Hash] checks it.
type Proof struct {
	Tick     uint64
	Prev     Hash // H(T-1)
	StateLen int64
	Digests  []Digest
	Column   int // its id, which is that of the field
	Columns  int // how many the state has
	Element  uint8
	Elements int // of the column
	Tile     int // which one: elements from Tile·1024/size on
	Bytes    []byte
	TilePath []Hash // siblings, from the tile to the root of the column
	Path     []Hash // likewise, from the column to the root of the fields
}

// Hash returns the world hash that the proof leads to, and whether it is whole: then the tile belonged to the state whose hash that is. It needs
// nothing but SHA-256.
func (p *Proof) Hash() (world Hash, ok bool) {
	up := func(index, n int, h Hash, path []Hash) (Hash, bool) { // RFC 9162, 2.1.3.2
		if index < 0 || index >= n {
			return h, false
		}
		for last := n - 1; last > 0; index, last = index/2, last/2 {
			if index == last && index%2 == 0 {
				continue // without a sibling
			}
			if len(path) == 0 {
				return h, false
			}
			left, right := path[0], h
			if index%2 == 0 {
				left, right = h, path[0]
			}
			h, path = sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...)), path[1:]
		}
		return h, len(path) == 0
	}
	size := map[uint8]int{0: 4, 1: 8, 2: 4, 3: 8}[p.Element] // bytes of an element
	tiles, first := (p.Elements*size+1023)/1024, p.Tile*1024
	column, whole := up(p.Tile, tiles, sha256.Sum256(append([]byte{0}, p.Bytes...)), p.TilePath)
	b := append(binary.LittleEndian.AppendUint32([]byte{0}, uint32(p.Column)), p.Element)
	b = append(binary.LittleEndian.AppendUint64(b, uint64(p.Elements)), column[:]...)
	fields, known := up(p.Column, p.Columns, sha256.Sum256(b), p.Path)
	b = binary.LittleEndian.AppendUint64(append(p.Prev[:], "MSC2"...), p.Tick)
	b = binary.LittleEndian.AppendUint64(b, uint64(p.StateLen))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Digests)))
	for _, d := range p.Digests {
		b = append(binary.LittleEndian.AppendUint16(b, d.Section), d.Sum[:]...)
		ok = ok || d.Section == 3 && d.Sum == fields
	}
	return sha256.Sum256(b), ok && whole && known && size > 0 && len(p.Bytes) == min(1024, p.Elements*size-first)
}

// Prove makes the proof for the tile of a column in which an element stands, from the state S(T) of a link.
func Prove(l *Link, state []byte, column, element int) (*Proof, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	columns := columnLeaves(s)
	if newLink(l.Prev, s, len(state), columns).Hash != l.Hash {
		return nil, &EvidenceError{"snapshots", fmt.Sprintf("tick %d", l.Tick), "it is not the state of its tick"}
	}
	if column < 0 || column >= len(s.Columns) || element < 0 || element >= s.Columns[column].Len() {
		return nil, fmt.Errorf("audit: column %d has no element %d", column, element)
	}
	c, tile := &s.Columns[column], element*s.Columns[column].Element.Size()/TileBytes
	return &Proof{
		Tick: l.Tick, Prev: l.Prev, StateLen: l.StateLen, Digests: l.Digests, Column: column, Columns: len(s.Columns), Element: uint8(c.Element), Elements: c.Len(),
		Tile: tile, Bytes: c.Bytes[tile*TileBytes : min(len(c.Bytes), (tile+1)*TileBytes)], TilePath: pathOf(tileLeaves(c.Bytes), tile), Path: pathOf(columns, column),
	}, nil
}
