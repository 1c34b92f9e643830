package minewars

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// decompress returns the size bytes that an LZ4 block stands for, with a dictionary or nil.
func decompress(block []byte, size int, dict []byte) ([]byte, error) {
	if len(block) == 0 {
		return nil, errors.New("the LZ4 block is empty")
	}
	if len(dict) > maxOffset {
		dict = dict[len(dict)-maxOffset:]
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlockWithDict(block, out, dict)
	switch {
	case err != nil:
		return nil, errors.New("not a valid LZ4 block, or one of more bytes than stated")
	case n != size:
		return nil, errors.New("the LZ4 block ends before the stated length")
	}
	return out, nil
}

// beginning returns what an LZ4 block that is cut short stands for, as far as it goes: size bytes at most.
func beginning(block []byte, size int, dict []byte) []byte {
	d := cutBlock{block}
	all := append(make([]byte, 0, len(dict)+size), dict...)
	end := len(dict) + size
	for len(d.left) > 0 {
		token := int(d.left[0])
		d.left = d.left[1:]
		n, whole := d.length(token >> 4)
		n = min(n, len(d.left), end-len(all))
		all, d.left = append(all, d.left[:n]...), d.left[n:]
		if !whole || len(d.left) < 2 {
			break
		}
		offset := int(binary.LittleEndian.Uint16(d.left))
		d.left = d.left[2:]
		if n, whole = d.length(token & 15); !whole || offset == 0 || offset > len(all) {
			break
		}
		for n = min(n+minMatch, end-len(all)); n > 0; n-- {
			all = append(all, all[len(all)-offset])
		}
	}
	return all[len(dict):]
}

// A cutBlock is what is left of a block.
type cutBlock struct{ left []byte }

// length returns a length that begins with what a token holds of it, and whether all of it was there.
func (d *cutBlock) length(n int) (int, bool) {
	if n < 15 {
		return n, true
	}
	for i, b := range d.left {
		if n += int(b); b < 255 {
			d.left = d.left[i+1:]
			return n, true
		}
	}
	d.left = nil
	return n, false
}

// What the LZ4 block format demands of encoders.
const (
	minMatch   = 4
	maxOffset  = 65535
	lastBytes  = 5  // at the end are literals
	lastStart  = 12 // bytes from the end, no match begins
	tableBits  = 14
	hashFactor = 2654435761
)

// compress appends an LZ4 block of src with a dictionary before it: the same block on every
// machine. It takes each match that it finds at once, in the order of positions, always with the last
// place that had the same hash of four bytes.
func compress(dst, src, dict []byte) []byte {
	if len(dict) > maxOffset {
		dict = dict[len(dict)-maxOffset:]
	}
	all := append(append(make([]byte, 0, len(dict)+len(src)), dict...), src...)
	var table [1 << tableBits]int32 // places, from 1
	place := func(i int) *int32 {
		return &table[binary.LittleEndian.Uint32(all[i:])*hashFactor>>(32-tableBits)]
	}
	for i := 0; i < len(dict) && i+minMatch <= len(all); i++ {
		*place(i) = int32(i + 1)
	}
	literals := len(dict) // where those that are not yet written begin
	for i := len(dict); i <= len(all)-lastStart; {
		p := place(i)
		from := int(*p) - 1
		*p = int32(i + 1)
		if from < 0 || i-from > maxOffset || binary.LittleEndian.Uint32(all[from:]) != binary.LittleEndian.Uint32(all[i:]) {
			i++
			continue
		}
		n := minMatch + common(all[from+minMatch:], all[i+minMatch:len(all)-lastBytes])
		for i > literals && from > 0 && all[i-1] == all[from-1] {
			i, from, n = i-1, from-1, n+1
		}
		dst = appendSequence(dst, all[literals:i], i-from, n)
		for end := i + n; i < end; i++ {
			if i+minMatch <= len(all) {
				*place(i) = int32(i + 1)
			}
		}
		literals = i
	}
	return appendSequence(dst, all[literals:], 0, 0)
}

// common returns how many bytes of b stand at the beginning of a.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(a) && n+8 <= len(b); n += 8 {
		if other := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); other != 0 {
			return n + bits.TrailingZeros64(other)/8
		}
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// appendSequence appends literals and, if it has a length, a match.
func appendSequence(dst, literals []byte, offset, length int) []byte {
	const most = 15 // of what the token holds
	token := len(dst)
	dst = append(dst, byte(min(len(literals), most))<<4)
	dst = appendLength(dst, len(literals)-most)
	dst = append(dst, literals...)
	if length == 0 {
		return dst
	}
	dst[token] |= byte(min(length-minMatch, most))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(offset))
	return appendLength(dst, length-minMatch-most)
}

// appendLength appends what is above the most that a token holds, if it is not below.
func appendLength(dst []byte, more int) []byte {
	if more < 0 {
		return dst
	}
	for ; more >= 255; more -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(more))
}
