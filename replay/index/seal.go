package index

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"

	"github.com/murksim/murksim/replay"
)

// KeySize is the length of a [Key] in bytes.
const KeySize = 32

// A Key seals keyframes: it lets who has it know the ones that their own program computed, and
// compared with the recording. It is a secret; nothing in an index tells what it is.
type Key []byte

// A seal is the HMAC-SHA-256 of a keyframe, and of the recording up to it.
type seal [sha256.Size]byte

// What a seal covers, after its purpose.
type sealed struct {
	recording [sha256.Size]byte // its bytes up to the end of the tick's frame
	tick      uint64
	state     [sha256.Size]byte
	rest      uint64 // the value of world.rest
}

const sealPurpose = "murksim keyframe 1\n"

func (s *sealed) under(key Key) (out seal) {
	b := append([]byte(sealPurpose), s.recording[:]...)
	b = binary.LittleEndian.AppendUint64(b, s.tick)
	b = append(b, s.state[:]...)
	b = binary.LittleEndian.AppendUint64(b, s.rest)
	h := hmac.New(sha256.New, key)
	h.Write(b)
	h.Sum(out[:0])
	return out
}

// Trust makes the index use the keyframes that are sealed with a key of [KeySize] bytes. Without
// it, or [Index.TrustAll], keyframes are only used to verify them.
func (x *Index) Trust(key Key) { x.key = key }

// TrustAll makes the index use all of its keyframes: this program has just computed them, and
// nothing else could change them.
func (x *Index) TrustAll() { x.own = true }

// SealedTicks returns the ticks of the keyframes that have a seal. Whether the seal matches the key
// shows when a keyframe is used.
func (x *Index) SealedTicks() (ticks []uint64) {
	for i := range x.keys {
		if tick := x.keys[i].first; x.own || x.key != nil && len(x.seals[tick]) > 0 {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// vouched reports whether a keyframe, as it was read, is one of this program or has a seal under
// the key, and returns the SHA-256 of the recording up to it.
func (x *Index) vouched(recording io.ReaderAt, k *Keyframe) (prefix hash.Hash, ok bool) {
	if x.own {
		return nil, true
	}
	if x.key == nil || len(x.seals[k.Tick]) == 0 {
		return nil, false
	}
	prefix, err := x.summed.to(recording, k.Next.Offset)
	if err != nil {
		return nil, false
	}
	s := sealed{tick: k.Tick, state: sha256.Sum256(k.State), rest: k.Rest}
	prefix.Sum(s.recording[:0])
	return prefix, x.sealedAs(k.Tick, s.under(x.key))
}

// Vouched returns the keyframe of a tick if the index trusts it. One that does not describe the world of the player is not unpacked: it may claim any size.
func (x *Index) Vouched(p *replay.Player, recording io.ReaderAt, tick uint64) (*Keyframe, bool) {
	if !x.describes(p) {
		return nil, false
	}
	k, err := x.keyframe(tick)
	if err != nil {
		return nil, false
	}
	_, ok := x.vouched(recording, k)
	return k, ok
}

// A prefixSum is the SHA-256 of a recording up to some byte.
type prefixSum struct {
	at   int64
	hash hash.Hash // nil: of nothing
}

// to returns the SHA-256 of a recording up to a byte. It goes on from the last one if that lies
// before.
func (p *prefixSum) to(recording io.ReaderAt, end int64) (hash.Hash, error) {
	if p.hash == nil || end < p.at {
		*p = prefixSum{hash: sha256.New()}
	}
	n, err := io.Copy(p.hash, io.NewSectionReader(recording, p.at, end-p.at))
	if err == nil && n < end-p.at {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		*p = prefixSum{}
		return nil, err
	}
	p.at = end
	return p.hash.(hash.Cloner).Clone()
}

// Sealed reports whether all of these have a seal under a key already.
func (x *Index) Sealed(list []Reached, key Key) bool {
	for i := range list {
		s := &list[i].sealed
		if want := s.under(key); !x.sealedAs(s.tick, want) {
			return false
		}
	}
	return true
}

func (x *Index) sealedAs(tick uint64, want seal) bool {
	for _, c := range x.seals[tick] {
		if b, err := x.read(&c); err == nil && hmac.Equal(b, want[:]) {
			return true
		}
	}
	return false
}

// AppendSeals appends seals to an index that is whole, of keyframes that [Verify] has compared.
func AppendSeals(sink io.Writer, key Key, list []Reached) error {
	w := writer{sink: sink}
	for i := range list {
		w.seal(key, &list[i].sealed)
	}
	return w.err
}

// seal appends a seal, if there is a key.
func (w *writer) seal(key Key, s *sealed) {
	if key != nil {
		out := s.under(key)
		w.chunk(chunkHead{kind: sealChunk, first: s.tick, ticks: 1}, out[:])
	}
}
