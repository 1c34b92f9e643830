package kernel

import (
	"crypto/sha256"
	"encoding/binary"
)

// SHA256Two returns the SHA-256 of two messages. If both have one length, and the processor has instructions for SHA-256, it hashes them side
// by side: a round waits for the one before it, so one message leaves the instructions idle in between.
func SHA256Two(a, b []byte) (x, y [sha256.Size]byte) {
	if !sha256Together || len(a) != len(b) {
		return sha256TwoPlain(a, b)
	}
	h := [16]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19, // FIPS 180-4, 5.3.3
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	n := len(a) / sha256.BlockSize
	if n > 0 {
		sha256Vectors(&h[0], &a[0], &b[0], n)
	}
	var ends [2][2 * sha256.BlockSize]byte
	end := sha256.BlockSize
	for i, m := range [...][]byte{a, b} {
		rest := copy(ends[i][:], m[n*sha256.BlockSize:])
		ends[i][rest] = 0x80
		if rest >= sha256.BlockSize-8 {
			end = 2 * sha256.BlockSize
		}
		binary.BigEndian.PutUint64(ends[i][end-8:], 8*uint64(len(m)))
	}
	sha256Vectors(&h[0], &ends[0][0], &ends[1][0], end/sha256.BlockSize)
	for i := range 8 {
		binary.BigEndian.PutUint32(x[4*i:], h[i])
		binary.BigEndian.PutUint32(y[4*i:], h[8+i])
	}
	return x, y
}

// sha256TwoPlain is SHA256Two, one after the other.
func sha256TwoPlain(a, b []byte) (x, y [sha256.Size]byte) {
	return sha256.Sum256(a), sha256.Sum256(b)
}
