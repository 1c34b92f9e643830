package replay_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"

	"github.com/murksim/murksim/replay"
)

// TestSum holds the sum of a recording that is written, with its ends at any tick, and of one that is read, against
// the SHA-256 of its bytes.
func TestSum(t *testing.T) {
	w, err := pond(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	rec, err := replay.NewRecorder(&sink, w, pondDescriptor)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[uint64][sha256.Size]byte{}
	rec.OnHash(func(tick, _ uint64, sum func() [sha256.Size]byte) { sums[tick] = sum() })
	w.Record(rec)
	const ticks = 12
	for tick := range ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if tick%5 == 3 {
			if err := rec.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := rec.Flush(); err != nil {
		t.Fatal(err)
	}
	b := sink.Bytes()
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	read := replay.NewSum(&r.Header)
	if got := read.SHA256(); got != sha256.Sum256(b[:r.Offset()]) {
		t.Errorf("the sum of the header is %x", got)
	}
	var f replay.Frame
	for tick := uint64(1); tick <= ticks; tick++ {
		if err := r.Next(&f); err != nil {
			t.Fatal(err)
		}
		if err := read.Add(&f); err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(b[:r.Offset()])
		if sums[tick] != want || read.SHA256() != want {
			t.Errorf("tick %d: the sum is %x where it is written and %x where it is read, want %x", tick, sums[tick], read.SHA256(), want)
		}
	}
	if err := r.Next(&f); err != io.EOF {
		t.Errorf("Next = %v at the end", err)
	}
}
