package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

var errNoState = errors.New("audit: no state of sections")

const stateHead = 4 + 8 + 2 // bytes: the magic number, the tick, the number of sections

// appendDigests appends the SHA-256 of each section of a state: any whose container is that of docs/STATE.md.
func appendDigests(list []Digest, state []byte) ([]Digest, error) {
	if len(state) < stateHead {
		return list, errNoState
	}
	rest := state[stateHead:]
	for range binary.LittleEndian.Uint16(state[stateHead-2:]) {
		if len(rest) < 6 {
			return list, errNoState
		}
		size := uint64(binary.LittleEndian.Uint32(rest[2:]))
		if size > uint64(len(rest)-6) {
			return list, errNoState
		}
		list = append(list, Digest{binary.LittleEndian.Uint16(rest), sha256.Sum256(rest[6 : 6+size])})
		rest = rest[6+size:]
	}
	if len(rest) > 0 {
		return list, errNoState
	}
	return list, nil
}
