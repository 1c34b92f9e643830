package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// A Hash is a link of a chain. The zero value precedes the first.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what [Hash.String] returns.
func ParseHash(text string) (h Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("audit: %.70q is no hash of 32 bytes in hexadecimal", text)
	}
	return Hash(b), nil
}

// Next returns the hash that follows in a chain over whole bytes, SHA-256(h ‖ state). A run's chain hashes a commitment to the state instead:
// see [NewLink].
func (h Hash) Next(state []byte) Hash {
	d := sha256.New()
	d.Write(h[:])
	d.Write(state)
	return Hash(d.Sum(nil))
}

// An Event is an input as a run keeps it.
type Event struct {
	Seq     uint64   // 1, 2, 3, … over the whole run
	Tick    uint64   // at which it takes effect, 1 or later; never less than that of the event before
	Source  [16]byte // the UUID of its source; zeros for the operator
	Kind    uint16
	Payload []byte // the canonical bytes of its kind, at most 4 GiB
}

// Append appends the hashed form of an event: LE64 seq, LE64 tick, the source, LE16
// kind, LE32 length of the payload, and the payload.
func (e *Event) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, e.Seq)
	b = binary.LittleEndian.AppendUint64(b, e.Tick)
	b = append(b, e.Source[:]...)
	b = binary.LittleEndian.AppendUint16(b, e.Kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Payload)))
	return append(b, e.Payload...)
}

// An OrderError reports an event that cannot follow the one before.
type OrderError struct {
	Seq, Tick uint64 // of the event
	Reason    string
}

// Error implements error.
func (e *OrderError) Error() string {
	return fmt.Sprintf("audit: event %d of tick %d: %s", e.Seq, e.Tick, e.Reason)
}

// Events is the chain of a run's input events. The zero value is empty.
type Events struct {
	Seq  uint64 // of the last event
	Tick uint64 // of the last event
	Hash Hash   // E(Seq)
	buf  []byte
}

// Add appends an event to the chain, or refuses it with an [*OrderError].
func (c *Events) Add(e *Event) error {
	switch {
	case e.Seq != c.Seq+1:
		return &OrderError{e.Seq, e.Tick, fmt.Sprintf("event %d is next", c.Seq+1)}
	case e.Tick == 0 || e.Tick > math.MaxInt64:
		return &OrderError{e.Seq, e.Tick, "ticks with inputs are 1 to 2^63-1"}
	case e.Tick < c.Tick:
		return &OrderError{e.Seq, e.Tick, fmt.Sprintf("the event before it is of tick %d", c.Tick)}
	case uint64(len(e.Payload)) > math.MaxUint32:
		return &OrderError{e.Seq, e.Tick, "the payload is above 4 GiB"}
	}
	c.buf = e.Append(append(c.buf[:0], c.Hash[:]...))
	c.Seq, c.Tick, c.Hash = e.Seq, e.Tick, sha256.Sum256(c.buf)
	return nil
}
