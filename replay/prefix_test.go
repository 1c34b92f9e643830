package replay_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/murksim/murksim/replay"
)

// TestPrefix holds that what is whole of a recording that was cut anywhere is known, and why
// the rest is not, and that progress sees each frame and ends the reading.
func TestPrefix(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	for n := l.ends[0]; n <= int64(len(b)); n++ {
		whole := l.frame(n)
		if n == int64(len(b)) {
			whole = len(l.ends) - 1
		}
		r, err := replay.NewReader(bytes.NewReader(b[:n]))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		end, err := r.Prefix(func(at replay.Position) error {
			if seen++; at.Frame != seen || at.Offset != l.ends[seen] {
				t.Errorf("%d bytes: frame %d ends at byte %d, want frame %d and byte %d", n, at.Frame, at.Offset, seen, l.ends[seen])
			}
			return nil
		})
		if clean := n == l.ends[whole]; end.Frame != whole || end.Offset != l.ends[whole] || seen != whole || clean != (err == nil) || !clean && kindOf(err) != replay.ErrTruncated {
			t.Fatalf("%d bytes: %d frames, %d bytes, %v; want %d frames, %d bytes", n, end.Frame, end.Offset, err, whole, l.ends[whole])
		}
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	end, err := r.Prefix(func(at replay.Position) error {
		if at.Frame == 3 {
			return enough
		}
		return nil
	})
	if err != enough || end.Frame != 3 || end.Offset != l.ends[3] {
		t.Errorf("it ends after frame %d at byte %d with %v; want frame 3, byte %d and %v", end.Frame, end.Offset, err, l.ends[3], enough)
	}
}

// TestPrefixOfDamage holds that a frame of another tick, or with a command that cannot be
// decoded, is not whole.
func TestPrefixOfDamage(t *testing.T) {
	b, _ := pondRecording(t)
	l := layoutOf(t, b)
	swapped := bytes.Clone(b[:l.ends[2]])
	swapped = append(append(swapped, b[l.ends[3]:l.ends[4]]...), b[l.ends[2]:l.ends[3]]...)
	unknown := bytes.Clone(b)
	unknown[l.ends[2]+8+4] = 99 // the payload type of the first command of the third frame
	for name, b := range map[string][]byte{"frames in another order": swapped, "an unknown command": unknown} {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if end, err := r.Prefix(nil); end.Frame != 2 || end.Offset != l.ends[2] || err == nil {
			t.Errorf("%s: %d frames, %d bytes, %v; want 2 frames, %d bytes and why", name, end.Frame, end.Offset, err, l.ends[2])
		}
	}
}
