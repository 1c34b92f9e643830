package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A UUID is 16 bytes that name an entity in every run of its world.
type UUID [16]byte

// NewUUID derives the UUID of the n-th thing of its sort, from 0, that was made in a tick
// under a master seed. The word says what it is, "agent" for an entity. The UUID is the
// beginning of
//
//	SHA-256( word ‖ LE64 seed ‖ LE64 tick ‖ LE32 n )
//
// with the version set to 8 and the variant to that of RFC 9562.
func NewUUID(word string, seed, tick uint64, n uint32) UUID {
	b := binary.LittleEndian.AppendUint64([]byte(word), seed)
	b = binary.LittleEndian.AppendUint64(b, tick)
	b = binary.LittleEndian.AppendUint32(b, n)
	digest := sha256.Sum256(b)
	u := UUID(digest[:16])
	u[6] = u[6]&0x0f | 8<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

// String returns the UUID in its usual form with hyphens.
func (u UUID) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// UUID returns the UUID of an entity, alive or not, by its id. Unlike the id it differs
// from seed to seed.
func (w *World) UUID(entity uint64) UUID {
	w.made()
	return NewUUID("agent", uint64(w.seed), entity>>20, uint32(entity&maxSpawns)-1)
}

// UUID is [World.UUID].
func (c *Context) UUID(entity uint64) UUID { return c.w.UUID(entity) }
