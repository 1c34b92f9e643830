package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/murksim/murksim/fields"
)

// littleEndian reports whether the processor keeps numbers as files do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// view returns the memory of a column as the bytes that [fields.Column.AppendBytes] would
// copy, where the processor keeps them in that order.
func view(c *fields.Column) ([]byte, bool) {
	if !littleEndian {
		return nil, false
	}
	switch {
	case len(c.Float32) > 0:
		return bytesOf(c.Float32), true
	case len(c.Fixed) > 0:
		return bytesOf(c.Fixed), true
	case len(c.Int32) > 0:
		return bytesOf(c.Int32), true
	case len(c.Uint64) > 0:
		return bytesOf(c.Uint64), true
	}
	return nil, true
}

func bytesOf[T any](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}
