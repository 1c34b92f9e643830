package replay_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/replay"
)

// TestBeyond holds that a frame which claims more bytes than there are is told from one that is
// cut short: behind it frames go on. One that is cut short anywhere is none.
func TestBeyond(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	beyond := func(b []byte) (offset int64, found bool, whole int) {
		t.Helper()
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		end, err := r.Prefix(nil)
		if kindOf(err) != replay.ErrTruncated {
			return 0, false, end.Frame
		}
		offset, found = replay.Beyond(bytes.NewReader(b), int64(len(b)), &r.Header, end)
		return offset, found, end.Frame
	}
	for n := l.ends[0]; n <= int64(len(b)); n++ {
		if at, found, whole := beyond(b[:n]); found {
			t.Fatalf("cut to %d bytes, after %d frames, it seems to go on at byte %d", n, whole, at)
		}
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if end, err := r.Prefix(nil); err != nil {
		t.Fatal(err)
	} else if at, found := replay.Beyond(bytes.NewReader(b), int64(len(b)), &r.Header, end); found {
		t.Errorf("behind the end it goes on at byte %d", at)
	}
	damaged := 0
	const count = 8 // where the number of commands stands
	hidden := 0
	for i := range len(l.ends) - 4 {
		two := bytes.Clone(b) // frames are damaged, the second of which begins with another tick
		two[l.ends[i]+count+1] ^= 4
		two[l.ends[i+1]] ^= 0x80
		at, found, whole := beyond(two)
		if !found {
			continue // it reads as malformed
		}
		if hidden++; at != l.ends[i+2] || whole != i {
			t.Errorf("after the frames %d and %d it goes on at byte %d, %d are whole; want byte %d", i+1, i+2, at, whole, l.ends[i+2])
		}
	}
	if hidden == 0 {
		t.Error("behind two damaged frames it never goes on")
	}
	for i := range len(l.ends) - 2 {
		for _, cut := range []int64{int64(len(b)), l.ends[i+2], min(l.ends[i+2]+3, int64(len(b)))} {
			broken := bytes.Clone(b[:cut])
			broken[l.ends[i]+count+1] ^= 4 // 1,024 commands more
			at, found, whole := beyond(broken)
			if whole != i {
				t.Fatalf("%d frames are whole, want %d", whole, i)
			}
			if !found {
				continue // it reads as malformed, not as cut short
			}
			if damaged++; at != l.ends[i+1] {
				t.Errorf("frame %d damaged, %d bytes: it goes on at byte %d, want %d", i+1, cut, at, l.ends[i+1])
			}
		}
	}
	if damaged < 10 {
		t.Errorf("%d damaged recordings go on, want more", damaged)
	}
}
