package export

import (
	"encoding/binary"
	"math"

	"github.com/murksim/murksim/fields"
)

// size is how many bytes a number takes.
func (t encoding) size() int {
	if t == float32s || t == int32s {
		return 4
	}
	return 8
}

// numpy returns NumPy's name of a type, little-endian.
func (t encoding) numpy() string { return [...]string{"<f4", "<f8", "<i4", "<u8"}[t] }

// String returns the name for people.
func (t encoding) String() string {
	return [...]string{"float32", "float64", "int32", "uint64", "text"}[t]
}

// block is how many cells are converted at a time.
const block = 16 << 10

// appendBytes appends the numbers of the cells that are written as lo to hi, little-endian.
func (p *Plan) appendBytes(dst []byte, f *field, c *fields.Column, lo, hi int) []byte {
	n := f.components()
	if p.cells == nil && f.typeOf() == float32s {
		part := c.Slice(lo*n, hi*n)
		return part.AppendBytes(dst)
	}
	for i := lo; i < hi; i++ {
		first := p.rank(i) * n
		for e := first; e < first+n; e++ {
			dst = f.appendNumber(dst, c, e)
		}
	}
	return dst
}

// appendNumber appends element e of a column.
func (f *field) appendNumber(dst []byte, c *fields.Column, e int) []byte {
	switch f.typeOf() {
	case float32s:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(c.Float32[e]))
	case float64s:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f.def.Value(c.Bits(e))))
	case int32s:
		return binary.LittleEndian.AppendUint32(dst, uint32(int32(f.def.Value(c.Bits(e)))))
	}
	return binary.LittleEndian.AppendUint64(dst, c.Bits(e))
}
