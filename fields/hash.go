package fields

import (
	"encoding/binary"
	"math"

	"github.com/murksim/murksim/internal/kernel"
)

// A Hash is an FNV-1a 64 hash under way.
type Hash uint64

// NewHash returns the hash of nothing.
func NewHash() Hash { return 0xcbf29ce484222325 }

// Bytes returns the hash with b folded in.
func (h Hash) Bytes(b []byte) Hash {
	for _, c := range b {
		h = (h ^ Hash(c)) * Hash(kernel.FNVPrime)
	}
	return h
}

// Uint32 folds in four bytes, little-endian.
func (h Hash) Uint32(v uint32) Hash {
	if v == 0 {
		return h * Hash(kernel.FNVPrime4)
	}
	h = (h ^ Hash(v&0xff)) * Hash(kernel.FNVPrime)
	h = (h ^ Hash(v>>8&0xff)) * Hash(kernel.FNVPrime)
	h = (h ^ Hash(v>>16&0xff)) * Hash(kernel.FNVPrime)
	return (h ^ Hash(v>>24)) * Hash(kernel.FNVPrime)
}

// Uint64 folds in eight bytes, little-endian.
func (h Hash) Uint64(v uint64) Hash {
	if v == 0 {
		return h * Hash(kernel.FNVPrime8)
	}
	return h.Uint32(uint32(v)).Uint32(uint32(v >> 32))
}

// Column folds in a column's elements, each as its little-endian bytes.
func (h Hash) Column(c *Column) Hash {
	for _, v := range c.Float32 {
		h = h.Uint32(math.Float32bits(v))
	}
	for _, v := range c.Int32 {
		h = h.Uint32(uint32(v))
	}
	for _, v := range c.Fixed {
		h = h.Uint64(uint64(v))
	}
	for _, v := range c.Uint64 {
		h = h.Uint64(v)
	}
	return h
}

// Field folds in a field: its index as four bytes, then its elements. A nil
// column counts as a field without elements.
func (h Hash) Field(id ID, c *Column) Hash {
	h = h.Uint32(uint32(id))
	if c == nil {
		return h
	}
	return h.Column(c)
}

// SnapshotHash is the hash that ends a Murk v3 frame: of the fields 0 to
// len(columns)-1, each by [Hash.Field].
func SnapshotHash(columns []*Column) uint64 {
	h := NewHash()
	for i, c := range columns {
		h = h.Field(ID(i), c)
	}
	return uint64(h)
}

// A Setup is what a recording's config hash covers.
type Setup struct {
	Seed       uint64
	Dt         float64 // seconds
	Fields     uint32
	Cells      uint64
	Descriptor []byte
}

// Hash is the config hash in a Murk v3 header: seed, dt bits, field count and cell
// count, little-endian, then the descriptor.
func (s *Setup) Hash() uint64 {
	var b [28]byte
	binary.LittleEndian.PutUint64(b[0:], s.Seed)
	binary.LittleEndian.PutUint64(b[8:], math.Float64bits(s.Dt))
	binary.LittleEndian.PutUint32(b[16:], s.Fields)
	binary.LittleEndian.PutUint64(b[20:], s.Cells)
	return uint64(NewHash().Bytes(b[:]).Bytes(s.Descriptor))
}
