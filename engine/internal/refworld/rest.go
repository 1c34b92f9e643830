package refworld

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// fnv1a folds bytes into an FNV-1a hash, one at a time.
func fnv1a(h uint64, bytes []byte) uint64 {
	for _, b := range bytes {
		h ^= uint64(b)
		h *= 0x100000001b3
	}
	return h
}

const fnvBasis = 0xcbf29ce484222325

// bytes returns a field's values as they are hashed, in the order of its column.
func (f *Field) bytes() (b []byte) {
	for _, p := range f.places {
		bits := f.Bits(p.At, p.Part)
		if f.def.Element == fields.Float32 || f.def.Element == fields.Int32 {
			b = le32(b, uint32(bits))
		} else {
			b = le64(b, bits)
		}
	}
	return b
}

func le32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func le64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// rest returns the value of world.rest.
func rest(s *state, streams []*Stream, inputs []commands.Command, results []commands.Reason) uint64 {
	var b []byte
	keys := []uint32{}
	for key := range s.parameters {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = le32(b, uint32(len(keys)))
	for _, key := range keys {
		b = le32(b, key)
		b = le64(b, math.Float64bits(s.parameters[key]))
	}
	b = le64(b, s.arrival)

	b = le32(b, uint32(len(s.events)))
	for _, e := range s.events {
		b = le64(b, e.Due)
		b = append(b, encode(&e.Command)...)
	}

	b = appendDraws(b, streams)

	b = le32(b, uint32(len(inputs)))
	for i := range inputs {
		b = append(b, encode(&inputs[i])...)
		b = append(b, byte(results[i]))
	}
	return xxhash.Sum64(b)
}

// encode returns a command as it stands in a Murk v3 frame.
func encode(c *commands.Command) []byte {
	p := payload(c)
	b := append([]byte{byte(c.Kind)}, le32(nil, uint32(len(p)))...)
	b = append(b, p...)
	b = append(b, c.Priority)
	b = encodeOptional(b, c.HasSource, c.Source)
	b = encodeOptional(b, c.HasSeq, c.SourceSeq)
	b = le64(b, c.Expires)
	return le64(b, c.Arrival)
}

func encodeOptional(b []byte, given bool, v uint64) []byte {
	if given {
		return le64(append(b, 1), v)
	}
	return append(b, 0)
}

func payload(c *commands.Command) (b []byte) {
	switch c.Kind {
	case commands.KindMove:
		b = encodeCoord(le64(b, c.Entity), c.Coord)
	case commands.KindSpawn:
		b = le32(encodeCoord(b, c.Coord), uint32(len(c.Data)/8))
		b = append(b, c.Data...)
	case commands.KindDespawn:
		b = le64(b, c.Entity)
	case commands.KindSetField:
		b = le32(le32(encodeCoord(b, c.Coord), c.ID), uint32(c.Bits))
	case commands.KindCustom:
		b = le32(le32(b, c.ID), uint32(len(c.Data)))
		b = append(b, c.Data...)
	case commands.KindSetParameter:
		b = le64(le32(b, c.ID), c.Bits)
	case commands.KindSetParameterBatch:
		b = append(le32(b, uint32(len(c.Data)/12)), c.Data...)
	}
	return b
}

func encodeCoord(b []byte, c space.Coord) []byte {
	b = le32(b, uint32(c.Dim()))
	for i := range c.Dim() {
		b = le32(b, uint32(c.At(i)))
	}
	return b
}
