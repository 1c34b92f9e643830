package view

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/murksim/murksim/fields"
)

// An answer is an object and its arrays. docs/VIEW.md specifies the bytes.
type answer struct {
	head   any
	arrays []array
	data   []byte
}

// An array is a piece of an answer's data.
type array struct {
	Name string `json:"name"`
	Type string `json:"type"` // f32, f64, u8, i32, u64: little-endian
	At   int    `json:"at"`   // offset in bytes from the start of the data
	Len  int    `json:"len"`  // elements
}

// header is what precedes the data.
type header struct {
	ID     uint64  `json:"id"` // of the request
	Error  string  `json:"error,omitempty"`
	Later  bool    `json:"later,omitempty"` // not ready yet: ask again
	Answer any     `json:"answer,omitempty"`
	Arrays []array `json:"arrays,omitempty"`
}

// bytes returns the answer to a request.
func (a *answer) bytes(id uint64) ([]byte, error) {
	return (&header{ID: id, Answer: a.head, Arrays: a.arrays}).bytes(a.data)
}

func (h *header) bytes(data []byte) ([]byte, error) {
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(head)+8+len(data)), 0)
	b = append(b, head...)
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return append(b, data...), nil
}

// begin starts an array of n elements.
func (a *answer) begin(name, kind string, n int) {
	for len(a.data)%8 != 0 {
		a.data = append(a.data, 0)
	}
	a.arrays = append(a.arrays, array{name, kind, len(a.data), n})
}

// column adds a field's values. A categorical field with at most 256 categories is written as
// bytes, other whole numbers as 32 bits. Fixed-point numbers become float64, which holds them
// without loss up to 2^53 parts.
func (a *answer) column(name string, d *fields.Def, c *fields.Column) {
	n := c.Len()
	switch {
	case d.Type.Kind == fields.CategoricalKind && d.Type.N <= 256:
		a.begin(name, "u8", n)
		for i := range n {
			a.data = append(a.data, uint8(d.Value(c.Bits(i))))
		}
	case c.Float32 != nil:
		a.float32s(name, c.Float32)
	case c.Fixed != nil:
		a.begin(name, "f64", n)
		for i := range n {
			a.data = binary.LittleEndian.AppendUint64(a.data, math.Float64bits(d.Value(c.Bits(i))))
		}
	case c.Int32 != nil:
		a.int32s(name, c.Int32)
	default:
		a.uint64s(name, c.Uint64)
	}
}

func (a *answer) float32s(name string, list []float32) {
	a.begin(name, "f32", len(list))
	for _, v := range list {
		a.data = binary.LittleEndian.AppendUint32(a.data, math.Float32bits(v))
	}
}

func (a *answer) int32s(name string, list []int32) {
	a.begin(name, "i32", len(list))
	for _, v := range list {
		a.data = binary.LittleEndian.AppendUint32(a.data, uint32(v))
	}
}

func (a *answer) float64s(name string, list []float64) {
	a.begin(name, "f64", len(list))
	for _, v := range list {
		a.data = binary.LittleEndian.AppendUint64(a.data, math.Float64bits(v))
	}
}

func (a *answer) uint64s(name string, list []uint64) {
	a.begin(name, "u64", len(list))
	for _, v := range list {
		a.data = binary.LittleEndian.AppendUint64(a.data, v)
	}
}
