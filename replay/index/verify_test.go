package index_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// serially verifies a recording from genesis.
func (r *recorded) serially(t testing.TB, recording []byte) (ticks uint64, hash uint64, digest [sha256.Size]byte, err error) {
	t.Helper()
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(frames, r.build)
	if err != nil {
		t.Fatal(err)
	}
	ticks, err = p.Verify()
	if err == nil {
		digest, _ = p.RunDigest()
	}
	return ticks, p.World.Hash(), digest, err
}

// agrees checks that a verification in parts says what one from genesis says.
func (r *recorded) agrees(t *testing.T, what string, recording, idx []byte) {
	t.Helper()
	x, err := index.Open(bytes.NewReader(idx), int64(len(idx)))
	if err != nil {
		x = nil
	}
	want, hash, digest, wrong := r.serially(t, recording)
	for _, parallel := range []int{1, 2, 3, 8} {
		got, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), x, r.build, parallel, nil)
		if got.Ticks != want || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Errorf("%s, %d worlds: %d ticks match, %v; from genesis %d, %v", what, parallel, got.Ticks, err, want, wrong)
		}
		if err == nil && (got.World.Hash() != hash || got.RunDigest != digest) {
			t.Errorf("%s, %d worlds: the last hash is %016x and the digest %x, from genesis %016x and %x", what, parallel, got.World.Hash(), got.RunDigest, hash, digest)
		}
		r.finds(t, what, recording, x, parallel, want, wrong)
	}
}

// withOtherStates changes a byte in the middle of every keyframe's state, with its checksums.
func withOtherStates(t *testing.T, b []byte) []byte {
	t.Helper()
	pack, err := zstd.NewWriter(nil)
	unpack, err2 := zstd.NewReader(nil)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return withKeyframes(b, func(payload []byte) []byte {
		const fixed = 32
		state, err := unpack.DecodeAll(payload[fixed:], nil)
		if err != nil {
			t.Fatal(err)
		}
		state[len(state)/2] ^= 1
		binary.LittleEndian.PutUint64(payload[24:], xxhash.Sum64(state))
		return pack.EncodeAll(state, payload[:fixed:fixed])
	})
}

// TestVerify: a verification in parts says what one from genesis says, of whole recordings, and
// of those that are cut, differ in a tick, or have an index that is damaged or of another run.
func TestVerify(t *testing.T) {
	names, times := []string{"heat", "predators", "colony"}, 6
	if testing.Short() {
		names, times = names[:1], 1
	}
	for _, name := range names {
		r := record(t, name, 60, index.Options{Now: ticking()}, false)
		b, idx := r.recording.Bytes(), r.index.Bytes()
		r.agrees(t, name, b, idx)
		r.agrees(t, name+" with other states in the index", b, withOtherStates(t, idx))
		r.agrees(t, name+" without an index", b, nil)
		x, random := r.open(t), rand.New(rand.NewPCG(3, 4))
		for range times {
			at, err := x.Frame(1 + random.Uint64N(60))
			if err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Clone(b)
			damaged[at.Offset+at.Size-1-int64(random.IntN(8))] ^= 4 // of the hash
			r.agrees(t, name+" with another hash", damaged, idx)
			r.agrees(t, name+" cut", b[:at.Offset+random.Int64N(at.Size)], idx)
			broken := bytes.Clone(idx)
			broken[random.IntN(len(idx))] ^= 16
			r.agrees(t, name+" with a damaged index", b, broken)
		}
	}
	one, other := record(t, "heat", 30, index.Options{Now: ticking()}, false), record(t, "life", 30, index.Options{Now: ticking()}, false)
	one.agrees(t, "heat with the index of life", one.recording.Bytes(), other.index.Bytes())
}

// TestVerifyStops: the error of progress ends a verification.
func TestVerifyStops(t *testing.T) {
	r := record(t, "heat", 40, index.Options{Now: ticking()}, false)
	b, enough := r.recording.Bytes(), errors.New("enough")
	_, err := index.Verify(bytes.NewReader(b), int64(len(b)), r.open(t), r.build, 2, func(ticks uint64) error {
		if ticks == 5 {
			return enough
		}
		return nil
	})
	if err != enough {
		t.Errorf("Verify = %v, want %v", err, enough)
	}
}

// BenchmarkVerify verifies a recording in one world and in two, on as many processors. The limit
// is what the machine gives to two verifications that share nothing.
func BenchmarkVerify(b *testing.B) {
	const ticks = 3000
	for _, name := range []string{"heat", "predators"} {
		r := record(b, name, ticks, index.Options{}, false)
		recording := r.recording.Bytes()
		verify := func(b *testing.B, parallel int) {
			of, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), r.open(b), r.build, parallel, nil)
			if err != nil || of.Ticks != ticks {
				b.Errorf("%d ticks match: %v", of.Ticks, err)
			}
		}
		for _, tt := range []struct {
			name                 string
			processors, parallel int
			times                int // at the same time
		}{{"one", 1, 1, 1}, {"two", 2, 2, 1}, {"limit", 2, 1, 2}} {
			b.Run(name+"/"+tt.name, func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.processors))
				for b.Loop() {
					var all sync.WaitGroup
					for range tt.times {
						all.Go(func() { verify(b, tt.parallel) })
					}
					all.Wait()
				}
				b.ReportMetric(float64(b.N*ticks*tt.times)/b.Elapsed().Seconds(), "ticks/s")
			})
		}
	}
}
