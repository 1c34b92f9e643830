package space

import (
	"encoding/binary"
	"strconv"
)

// MaxDim is the most components a [Coord] can hold: enough for every space
// (at most ten dimensions) and one component more for an element of a vector.
const MaxDim = 12

// A Coord is a coordinate of up to [MaxDim] components. It is a plain value:
// comparable with ==, usable as a map key, never on the heap by itself. The
// zero Coord has no components.
type Coord struct {
	n uint8
	c [MaxDim]int32
}

// At returns the coordinate with the given components. It panics if there
// are more than [MaxDim]; use [MakeCoord] for untrusted components.
func At(components ...int32) Coord {
	c, err := MakeCoord(components)
	if err != nil {
		panic(err.Error())
	}
	return c
}

// MakeCoord is [At] for untrusted input: more than [MaxDim] components are an
// [*Error] of the fault [ErrDimension].
func MakeCoord(components []int32) (Coord, error) {
	if len(components) > MaxDim {
		return Coord{}, &Error{Fault: ErrDimension, Where: "coordinate", Arg: "components",
			Detail: "are " + strconv.Itoa(len(components)) + "; at most " + strconv.Itoa(MaxDim) + " are possible"}
	}
	c := Coord{n: uint8(len(components))}
	copy(c.c[:], components)
	return c, nil
}

// Dim returns the number of components.
func (c Coord) Dim() int { return int(c.n) }

// At returns component i, which must be in [0, Dim()).
func (c Coord) At(i int) int32 { return c.c[:c.n][i] }

// Pair returns the components of a coordinate that has two, without copying it; ok
// reports whether it has two.
func (c *Coord) Pair() (first, second int32, ok bool) { return c.c[0], c.c[1], c.n == 2 }

// Append returns c with one more component. It panics if c has [MaxDim] already.
func (c Coord) Append(v int32) Coord {
	if c.n == MaxDim {
		panic("space: coordinate: no room for another component")
	}
	c.c[c.n] = v
	c.n++
	return c
}

// Slice returns the components lo to hi-1 as a coordinate. The
// bounds must satisfy 0 <= lo <= hi <= Dim().
func (c Coord) Slice(lo, hi int) Coord {
	s := c.c[:c.n][lo:hi]
	out := Coord{n: uint8(len(s))}
	copy(out.c[:], s)
	return out
}

// AppendTo appends the components to dst and returns the longer slice.
func (c Coord) AppendTo(dst []int32) []int32 { return append(dst, c.c[:c.n]...) }

// Size returns the number of bytes that PutBytes writes.
func (c *Coord) Size() int { return 4 * int(c.n) }

// PutBytes writes the components to the start of b, four bytes each, little-endian.
func (c *Coord) PutBytes(b []byte) {
	if c.n == 2 { // the most common
		binary.LittleEndian.PutUint64(b, uint64(uint32(c.c[0]))|uint64(uint32(c.c[1]))<<32)
		return
	}
	for i, v := range c.c[:c.n] {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	}
}

// SetBytes sets c to the coordinate that PutBytes wrote, which has len(b)/4 components, at
// most [MaxDim].
func (c *Coord) SetBytes(b []byte) {
	n := len(b) / 4
	*c = Coord{n: uint8(n)}
	if n == 2 { // the most common
		v := binary.LittleEndian.Uint64(b)
		c.c[0], c.c[1] = int32(uint32(v)), int32(uint32(v>>32))
		return
	}
	for i := range c.c[:n] {
		c.c[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// String returns the components as "[3, 4]".
func (c Coord) String() string {
	b := append(make([]byte, 0, 8*MaxDim), '[')
	for i, v := range c.c[:c.n] {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return string(append(b, ']'))
}
