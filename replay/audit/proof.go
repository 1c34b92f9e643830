package audit

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Proof shows that parts of columns belonged to the state of a tick, and to which world. It leads up two trees, from a tile to its
// column and from there to the root of the fields, and then to the link's hash. [Proof.Hash] checks it, [Prove] makes one.
type Proof struct {
	Subject  Subject
	Tick     uint64
	Prev     Hash // H(T-1)
	StateLen int64
	Sections [5]Hash // digests of the sections of the state
	Meta     []byte  // section 1, which ends with the SHA-256 of the genesis
	Genesis  []byte  // the document that says what the columns are
	Columns  int     // how many the state has; [Layout.Check] holds it against the genesis
	Parts    []Part
}

// A Part is a tile of a column.
type Part struct {
	Column   int // its id, which is that of the field
	Element  uint8
	Elements int // of the column
	Tile     int // which one: elements from Tile·1024/size on
	Bytes    []byte
	TilePath []Hash // siblings, from the tile to the root of the column
	Path     []Hash // likewise, from the column to the root of the fields
}

// A Subject is the question that a proof answers: a cell of a field or an entity. It proves nothing by itself; the parts do.
type Subject struct {
	Field  string // of cells; "": it is an entity
	Cell   []int32
	Entity uint64 // its id
}

// Hash returns the world hash that the proof leads to, and whether the proof is whole: then its parts and its genesis belonged to the state with that
// hash. It needs nothing but SHA-256.
func (p *Proof) Hash() (world Hash, ok bool) {
	up := func(index, n int, h Hash, path []Hash) Hash { // from a leaf of n to the root: RFC 9162, 2.1.3.2
		ok = ok && index >= 0 && index < n
		for ; n > 1; index, n = index/2, (n+1)/2 {
			if index == n-1 && n%2 == 1 {
				continue // the last, without a sibling: it moves up as it is
			}
			if ok = ok && len(path) > 0; !ok {
				return h
			}
			left, right := path[0], h
			if index%2 == 0 {
				left, right = h, path[0]
			}
			h, path = sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...)), path[1:]
		}
		ok = ok && len(path) == 0
		return h
	}
	digest, end := sha256.Sum256(p.Genesis), max(len(p.Meta)-len(world), 0)
	ok = len(p.Parts) > 0 && string(p.Meta[end:]) == string(digest[:]) && p.Sections[0] == sha256.Sum256(p.Meta)
	for _, t := range p.Parts {
		size := map[uint8]int{0: 4, 1: 8, 2: 4, 3: 8}[t.Element] // bytes of an element; 0: there is none, and so no tile
		ok = ok && len(t.Bytes) == min(1024, t.Elements*size-t.Tile*1024)
		column := up(t.Tile, (t.Elements*size+1023)/1024, sha256.Sum256(append([]byte{0}, t.Bytes...)), t.TilePath)
		b := append(binary.LittleEndian.AppendUint32([]byte{0}, uint32(t.Column)), t.Element)
		b = append(binary.LittleEndian.AppendUint64(b, uint64(t.Elements)), column[:]...)
		ok = up(t.Column, p.Columns, sha256.Sum256(b), t.Path) == p.Sections[2] && ok
	}
	b := binary.LittleEndian.AppendUint64(append(p.Prev[:], "MSC2"...), p.Tick)
	b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint64(b, uint64(p.StateLen)), 5)
	for i, sum := range p.Sections {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(i+1)), sum[:]...)
	}
	return sha256.Sum256(b), ok
}
