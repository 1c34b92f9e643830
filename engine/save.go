package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The state of a world, S(T), is a magic number, the tick and sections by ascending
// id, all integers little-endian:
//
//	"MSS2" ‖ LE64 tick ‖ LE16 sections ‖ for each: LE16 id ‖ LE32 length ‖ bytes
//
//	1 meta        LE64 seed ‖ LE64 dt bits ‖ LE32 rules version ‖ LE32 length and name of the
//	              generator ‖ SHA-256 of the descriptor
//	2 parameters  LE32 count ‖ by key: LE32 key ‖ LE64 float64 bits; then LE64 next arrival
//	3 fields      LE32 count ‖ by id, but for world.rest: LE32 id ‖ u8 element ‖ LE64 elements ‖ bytes
//	4 events      LE32 count ‖ in order: LE64 due tick ‖ the command as a frame holds it
//	5 random      LE32 count ‖ streams drawn from in the tick: LE32 length and name ‖
//	              LE64 number ‖ LE64 draws ‖ LE64 last value
//
// One state has exactly one encoding; docs/STATE.md specifies each byte.
const stateMagic = "MSS2"

const (
	metaSection uint16 = 1 + iota
	parameterSection
	fieldSection
	eventSection
	randomSection
)

// A rest holds the encoded sections 2, 4 and 5, one after another, as they were
// when a tick was published.
type rest struct {
	bytes  []byte
	events int // where section 4 begins
	random int // where section 5 does
}

// ErrUnsavable reports a world that cannot be saved, because its rules let propagators
// keep things outside the state.
var ErrUnsavable = fmt.Errorf("engine: a world with the rules %s can be replayed, but not saved", Murk019)

// Save encodes everything that can influence a later tick. The descriptor describes the
// configuration, as in a recording, or is nil; the state holds its digest, so that only
// a world with the same descriptor restores it. Within a tick Save fails with
// [ErrUnderWay]; see [Tick.AppendState].
func (w *World) Save(descriptor []byte) ([]byte, error) {
	if err := w.maySave(); err != nil {
		return nil, err
	}
	return w.appendState(nil, w.tick, &w.published, descriptor)
}

// appendState appends the state of a tick: r, which the tick has published or will publish,
// and the columns as they stand now.
func (w *World) appendState(b []byte, tick uint64, r *rest, descriptor []byte) ([]byte, error) {
	if !w.rules.closed() {
		return b, ErrUnsavable
	}
	b = binary.LittleEndian.AppendUint64(append(b, stateMagic...), tick)
	b = binary.LittleEndian.AppendUint16(b, 5)
	b, err := appendSection(b, metaSection, w.appendMeta(nil, descriptor))
	if err == nil {
		b, err = appendSection(b, parameterSection, r.bytes[:r.events])
	}
	if err == nil {
		b, err = w.appendFields(b, len(r.bytes)+64+sha256.Size) // and room to seal it
	}
	if err == nil {
		b, err = appendSection(b, eventSection, r.bytes[r.events:r.random])
	}
	if err == nil {
		b, err = appendSection(b, randomSection, r.bytes[r.random:])
	}
	return b, err
}

var errStateSize = errors.New("engine: a section of the state takes more than 4 GiB")

func appendSection(b []byte, id uint16, data []byte) ([]byte, error) {
	if uint64(len(data)) > math.MaxUint32 {
		return nil, errStateSize
	}
	b = binary.LittleEndian.AppendUint16(b, id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...), nil
}

func (w *World) appendMeta(b, descriptor []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(w.seed))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w.dt))
	b = binary.LittleEndian.AppendUint32(b, RulesVersion)
	name := w.generator.String()
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	digest := sha256.Sum256(descriptor)
	return append(b, digest[:]...)
}

const fieldHead = 4 + 1 + 8 // bytes of a field before its elements

// appendFields appends section 3 in place: it is by far the largest. It makes room for so
// many bytes more.
func (w *World) appendFields(b []byte, more int) ([]byte, error) {
	size := uint64(4)
	for id := range w.cols.rest {
		c := w.store.Now(id)
		size += fieldHead + uint64(c.Len())*uint64(w.defs[id].Element.Size())
	}
	if size > math.MaxUint32 {
		return nil, errStateSize
	}
	b = slices.Grow(b, int(size)+more)
	b = binary.LittleEndian.AppendUint16(b, fieldSection)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, uint32(w.cols.rest))
	for id := range w.cols.rest {
		c := w.store.Now(id)
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
		b = append(b, byte(w.defs[id].Element))
		b = binary.LittleEndian.AppendUint64(b, uint64(c.Len()))
		b = c.AppendBytes(b)
	}
	return b, nil
}
