package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// A RunDigest is the SHA-256 over the hashes of the ticks of a run, see [World.Hash]: 8 bytes each,
// little-endian, in the order of the ticks. Two runs that have the same one from the same tick on had the
// same state after every tick, where the same last hash says so of their last states only. The zero value
// is that of no tick. A RunDigest belongs to one goroutine.
type RunDigest struct {
	sum   hash.Hash // nil: no tick was added
	ticks uint64
	next  [8]byte // here, so that no tick allocates it
}

// Add adds the hash of the next tick.
func (d *RunDigest) Add(hash uint64) {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	binary.LittleEndian.PutUint64(d.next[:], hash)
	d.sum.Write(d.next[:])
	d.ticks++
}

// Ticks returns how many ticks were added.
func (d *RunDigest) Ticks() uint64 { return d.ticks }

// Sum returns the digest of the ticks that were added.
func (d *RunDigest) Sum() (sum [sha256.Size]byte) {
	if d.sum == nil {
		return sha256.Sum256(nil)
	}
	d.sum.Sum(sum[:0])
	return sum
}

// Clone returns another digest of the same ticks, to go on from there.
func (d *RunDigest) Clone() *RunDigest {
	c := &RunDigest{ticks: d.ticks}
	if d.sum != nil {
		sum, err := d.sum.(hash.Cloner).Clone()
		if err != nil {
			panic(err) // those of the standard library can be cloned
		}
		c.sum = sum
	}
	return c
}
