package space

import (
	"cmp"
	"slices"
)

// A Band is a set of rows of cells that a kernel can take at once, so that it is not called
// for each short span. It consists of strands that lie side by side, one or as many as
// Stride: cell i of strand s in row r has the rank
//
//	First + r·Pitch + s + i·Stride
//
// and the pattern Patterns[s]. A band of several strands consists of whole rows of
// neighbouring cells whose patterns repeat, as they do where an inner dimension is narrow.
type Band struct {
	First, Count, Stride int // of a strand in a row
	Rows, Pitch          int
	Patterns             []*Pattern // by strand
	Shared               []Offset   // of several strands: all their neighbours, in contract order
}

// An Offset is a neighbour that some strands of a band have.
type Offset struct {
	Offset  int    // its rank minus the cell's own
	Strands uint64 // bit s: strand s has it
}

const (
	bandCells  = 8192  // of a strand of several rows, at most
	bandRanks  = 65536 // that a band extends over, so that its neighbours stay in the cache
	maxStrands = 64
)

// Bands joins spans, in the order of [Lattice.SpansIn], into bands that cover the same cells.
func Bands(spans []Span) []Band {
	var all []Band
	var last []int // by pattern of the first strand: the index of its latest band, plus one
	for len(spans) > 0 {
		n := strands(spans)
		b := Band{First: spans[0].First, Count: spans[0].Count, Stride: spans[0].Stride, Rows: 1, Pitch: 1}
		for _, s := range spans[:n] {
			b.Patterns = append(b.Patterns, s.Pattern)
		}
		spans = spans[n:]
		id := b.Patterns[0].ID
		for id >= len(last) {
			last = append(last, 0)
		}
		if last[id] > 0 && all[last[id]-1].join(&b) {
			continue
		}
		if n > 1 {
			b.Shared = shared(b.Patterns)
		}
		all = append(all, b)
		last[id] = len(all)
	}
	return all
}

// strands returns how many of the first spans lie side by side and fill whole rows: their stride, or 1.
func strands(spans []Span) int {
	n := spans[0].Stride
	if n == 1 || n > maxStrands || n > len(spans) {
		return 1
	}
	for k, s := range spans[:n] {
		if s.First != spans[0].First+k || s.Count != spans[0].Count || s.Stride != n {
			return 1
		}
	}
	return n
}

// join adds a band of one row as the last row, if it fits, and reports whether it did.
func (b *Band) join(row *Band) bool {
	pitch := b.Pitch
	if b.Rows == 1 {
		pitch = row.First - b.First
	}
	if pitch < 1 || row.Count != b.Count || row.Stride != b.Stride || row.First != b.First+b.Rows*pitch ||
		(b.Rows+1)*b.Count > bandCells || b.Rows*pitch+(b.Count-1)*b.Stride >= bandRanks || !slices.Equal(row.Patterns, b.Patterns) {
		return false
	}
	b.Rows, b.Pitch = b.Rows+1, pitch
	return true
}

// shared merges the neighbours of strands. A pattern has at most one in each
// direction, in ascending order of directions.
func shared(patterns []*Pattern) []Offset {
	type way struct {
		dir    uint8
		offset int
	}
	var ways []way
	var all []Offset
	for s, p := range patterns {
		for k, o := range p.Offsets {
			w := way{p.Dirs[k], o}
			at, found := slices.BinarySearchFunc(ways, w, func(a, b way) int {
				return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.offset, b.offset))
			})
			if !found {
				ways, all = slices.Insert(ways, at, w), slices.Insert(all, at, Offset{Offset: o})
			}
			all[at].Strands |= 1 << s
		}
	}
	return all
}
