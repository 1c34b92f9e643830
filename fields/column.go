package fields

import (
	"encoding/binary"
	"math"
	"slices"
)

// A Column is one generation of a field's values in a contiguous slice: cell by
// cell (or slot by slot), components together. Exactly one of the slices is used,
// the one of the field's element.
type Column struct {
	Float32 []float32
	Fixed   []int64
	Int32   []int32
	Uint64  []uint64
}

// NewColumn returns a column of n zeros.
func NewColumn(e Element, n int) Column {
	switch e {
	case Float32:
		return Column{Float32: make([]float32, n)}
	case Fixed:
		return Column{Fixed: make([]int64, n)}
	case Int32:
		return Column{Int32: make([]int32, n)}
	}
	return Column{Uint64: make([]uint64, n)}
}

// Element is the type of the elements. A column must not be its zero value.
func (c *Column) Element() Element {
	switch {
	case c.Float32 != nil:
		return Float32
	case c.Fixed != nil:
		return Fixed
	case c.Int32 != nil:
		return Int32
	}
	return Uint64
}

// Len is the number of elements.
func (c *Column) Len() int {
	return len(c.Float32) + len(c.Fixed) + len(c.Int32) + len(c.Uint64)
}

// Bits is element i as it is stored; see [Def.Value].
func (c *Column) Bits(i int) uint64 {
	switch {
	case c.Float32 != nil:
		return uint64(math.Float32bits(c.Float32[i]))
	case c.Fixed != nil:
		return uint64(c.Fixed[i])
	case c.Int32 != nil:
		return uint64(uint32(c.Int32[i]))
	}
	return c.Uint64[i]
}

// SetBits stores element i.
func (c *Column) SetBits(i int, bits uint64) {
	switch {
	case c.Float32 != nil:
		c.Float32[i] = math.Float32frombits(uint32(bits))
	case c.Fixed != nil:
		c.Fixed[i] = int64(bits)
	case c.Int32 != nil:
		c.Int32[i] = int32(uint32(bits))
	default:
		c.Uint64[i] = bits
	}
}

// Slice returns elements lo to hi. It shares their memory.
func (c *Column) Slice(lo, hi int) Column {
	switch {
	case c.Float32 != nil:
		return Column{Float32: c.Float32[lo:hi:hi]}
	case c.Fixed != nil:
		return Column{Fixed: c.Fixed[lo:hi:hi]}
	case c.Int32 != nil:
		return Column{Int32: c.Int32[lo:hi:hi]}
	}
	return Column{Uint64: c.Uint64[lo:hi:hi]}
}

// Clear makes every element zero.
func (c *Column) Clear() {
	clear(c.Float32)
	clear(c.Fixed)
	clear(c.Int32)
	clear(c.Uint64)
}

// CopyFrom copies all elements of a column of the same element and length.
func (c *Column) CopyFrom(from *Column) {
	copy(c.Float32, from.Float32)
	copy(c.Fixed, from.Fixed)
	copy(c.Int32, from.Int32)
	copy(c.Uint64, from.Uint64)
}

// AppendBytes appends every element as its little-endian bytes.
func (c *Column) AppendBytes(b []byte) []byte {
	for _, v := range c.Float32 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	for _, v := range c.Int32 {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append64(append64(b, c.Fixed), c.Uint64)
}

// append64 appends numbers, eight at a time: their bounds are checked once.
func append64[T int64 | uint64](b []byte, list []T) []byte {
	n := len(b)
	b = slices.Grow(b, 8*len(list))[:n+8*len(list)]
	to := b[n:]
	for len(list) >= 8 && len(to) >= 64 {
		v, w := (*[8]T)(list), (*[64]byte)(to)
		binary.LittleEndian.PutUint64(w[0:], uint64(v[0]))
		binary.LittleEndian.PutUint64(w[8:], uint64(v[1]))
		binary.LittleEndian.PutUint64(w[16:], uint64(v[2]))
		binary.LittleEndian.PutUint64(w[24:], uint64(v[3]))
		binary.LittleEndian.PutUint64(w[32:], uint64(v[4]))
		binary.LittleEndian.PutUint64(w[40:], uint64(v[5]))
		binary.LittleEndian.PutUint64(w[48:], uint64(v[6]))
		binary.LittleEndian.PutUint64(w[56:], uint64(v[7]))
		list, to = list[8:], to[64:]
	}
	for i, v := range list {
		binary.LittleEndian.PutUint64(to[8*i:], uint64(v))
	}
	return b
}

// SetBytes is the inverse of AppendBytes; b has the bytes of all elements.
func (c *Column) SetBytes(b []byte) {
	for i := range c.Float32 {
		c.Float32[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	for i := range c.Int32 {
		c.Int32[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	for i := range c.Fixed {
		c.Fixed[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	for i := range c.Uint64 {
		c.Uint64[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// Clone returns a copy with slices of its own.
func (c *Column) Clone() Column {
	return Column{
		Float32: append([]float32(nil), c.Float32...),
		Fixed:   append([]int64(nil), c.Fixed...),
		Int32:   append([]int32(nil), c.Int32...),
		Uint64:  append([]uint64(nil), c.Uint64...),
	}
}

// Size is the number of bytes of all elements.
func (c *Column) Size() int {
	return 4*(len(c.Float32)+len(c.Int32)) + 8*(len(c.Fixed)+len(c.Uint64))
}
