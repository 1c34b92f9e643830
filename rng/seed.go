package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"lukechampine.com/frand"
)

// maxNameBytes is the length of the longest stream name: it is hashed behind one byte.
const maxNameBytes = 255

// A Seed is a world's master seed: with the configuration and the inputs it fixes every draw.
type Seed uint64

// A TickSeed seeds the streams of one tick.
type TickSeed [sha256.Size]byte

// A StreamSeed is the key of one stream in one tick.
type StreamSeed [sha256.Size]byte

// Tick returns SHA-256( LE64(s) ‖ LE64(tick) ). Genesis draws as tick 0.
func (s Seed) Tick(tick uint64) TickSeed {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s))
	binary.LittleEndian.PutUint64(b[8:], tick)
	return sha256.Sum256(b[:])
}

// Stream returns SHA-256( t ‖ u8(length of name) ‖ name ‖ LE64(number) ).
// A name that [CheckName] refuses panics.
func (t TickSeed) Stream(name string, number uint64) StreamSeed {
	if err := CheckName(name); err != nil {
		panic(err) // names are checked when a world is built
	}
	var b [sha256.Size + 1 + maxNameBytes + 8]byte
	n := copy(b[:], t[:])
	b[n] = uint8(len(name))
	n++
	n += copy(b[n:], name)
	binary.LittleEndian.PutUint64(b[n:], number)
	return sha256.Sum256(b[:n+8])
}

// A NameError refuses the name of a stream.
type NameError struct {
	Name   string
	Reason string
}

func (e *NameError) Error() string {
	name := e.Name
	if len(name) > 40 {
		name = name[:40] + "…"
	}
	return fmt.Sprintf("rng: stream name %+q %s", name, e.Reason)
}

// CheckName returns a [*NameError] unless name has 1 to 255 bytes, all of them ASCII.
func CheckName(name string) error {
	switch {
	case name == "":
		return &NameError{name, "is empty"}
	case len(name) > maxNameBytes:
		return &NameError{name, fmt.Sprintf("has %d bytes, at most %d are allowed", len(name), maxNameBytes)}
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return &NameError{name, fmt.Sprintf("is not ASCII at byte %d", i)}
		}
	}
	return nil
}

// Fresh returns an unpredictable master seed. Print it, or the run cannot be repeated.
func Fresh() Seed {
	var b [8]byte
	//detcheck:allow random a fresh seed is meant to be unforeseen; it is then an input of the run
	frand.Read(b[:])
	return Seed(binary.LittleEndian.Uint64(b[:]))
}

// FreshKey returns a new random secret.
func FreshKey() (key [32]byte) {
	//detcheck:allow random a key of a user, no part of any state
	frand.Read(key[:])
	return key
}

// FreshID returns 32 hexadecimal digits that never come again: a run's id, an access token.
func FreshID() string {
	//detcheck:allow random an id for people and servers, no part of any state
	id := frand.Entropy128()
	return hex.EncodeToString(id[:])
}
