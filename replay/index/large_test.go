package index

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// TestCompressInBounds: a state, larger than the encoder's window or not, unpacks again, and one
// that compresses badly takes no more memory than there is room.
func TestCompressInBounds(t *testing.T) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	source := rand.NewChaCha8([32]byte{1})
	for _, size := range []int{1000, 3 << 20, 4<<20 + 1, 5 << 20, 20 << 20} {
		k := keyframes{state: make([]byte, size), encoder: encoder}
		_, _ = source.Read(k.state[:size/2])
		const fixed = 32
		b := k.compress(1 << 30)
		if state, err := inflate(b[fixed:], uint64(size), uint64(size)); err != nil || !bytes.Equal(state, k.state) {
			t.Errorf("a state of %d bytes unpacks to %d: %v", size, len(state), err)
		}
		if b := k.compress(int64(size / 4)); size > 4<<20 && b != nil {
			t.Errorf("a state of %d bytes becomes %d, where there is room for %d", size, len(b), size/4)
		}
		if b = k.compress(int64(len(b))); b == nil {
			t.Errorf("a state of %d bytes does not fit in what it takes", size)
		}
	}
}

// TestNoKeyframesOfLargeWorlds: no state is copied that is large for the budget.
func TestNoKeyframesOfLargeWorlds(t *testing.T) {
	for _, tt := range []struct {
		columns int
		budget  int64
		want    bool
	}{{95 << 20, DefaultBudget, true}, {97 << 20, DefaultBudget, false}, {97 << 20, 2 * DefaultBudget, true}, {15 << 20, 1000, true}, {17 << 20, 1000, false}} {
		var k keyframes
		now := time.Unix(0, 0)
		k.begin(nil, 0, 0, tt.columns, Options{Budget: tt.budget, Now: func() time.Time { return now }})
		if got := k.due(1, now.Add(time.Second)); got != tt.want {
			t.Errorf("%d bytes of columns, a budget of %d: due = %v, want %v", tt.columns, tt.budget, got, tt.want)
		}
	}
}
