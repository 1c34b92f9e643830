package replay_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
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

// TestBeyondZeros holds that a frame of many commands that are alike, whose insides read as frames of later ticks, is cut short
// wherever it is, and that one of whose lengths a bit is changed is not.
func TestBeyondZeros(t *testing.T) {
	pond, _ := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(pond))
	if err != nil {
		t.Fatal(err)
	}
	h := &r.Header
	var buf bytes.Buffer
	w, err := replay.NewWriter(&buf, *h)
	if err != nil {
		t.Fatal(err)
	}
	var ends []int64
	for tick := uint64(1); tick <= 12; tick++ {
		var list []commands.Command
		for i := range 200 {
			if tick == 1 || tick == 6 {
				c := commands.Spawn(space.At(0, 0), commands.FieldValue{}, commands.FieldValue{Field: 1})
				c.Arrival = uint64(i + 1)
				list = append(list, c)
			}
		}
		if err := w.WriteFrame(tick, list, 0); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, w.Offset())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	end := func(b []byte) (replay.Position, error) {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return r.Prefix(nil)
	}
	begin := ends[0] - int64(len(b[ends[4]:ends[5]]))
	for n := begin; n < int64(len(b)); n += 3 {
		at, _ := end(b[:n])
		if offset, found := replay.Beyond(bytes.NewReader(b[:n]), n, h, at); found {
			t.Fatalf("cut to %d bytes, after %d frames, it seems to go on at byte %d", n, at.Frame, offset)
		}
	}
	hidden, told := 0, 0
	const frameHead = 12
	for i := ends[4] + frameHead; i < ends[4]+frameHead+120; i++ { // wherever a length stands, or not
		for bit := range 8 {
			flipped := bytes.Clone(b)
			flipped[i] ^= 1 << bit
			at, err := end(flipped)
			if kindOf(err) != replay.ErrTruncated {
				continue
			}
			if _, found := replay.Beyond(bytes.NewReader(flipped), int64(len(flipped)), h, at); found {
				told++
			} else {
				hidden++
			}
		}
	}
	if hidden > 0 || told == 0 {
		t.Errorf("of changed lengths %d are told from a cut, %d are not", told, hidden)
	}
}

// A shifted recording stands that far behind its place.
type shifted struct {
	b  []byte
	by int64
}

func (s shifted) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(s.b).ReadAt(b, off-s.by)
}

// TestTornFarBehind holds that the last frame of a large recording is told as torn as that of a small one, unless more follows than a writer holds.
func TestTornFarBehind(t *testing.T) {
	b, _ := pondRecording(t)
	cut := b[:len(b)-3]
	r, err := replay.NewReader(bytes.NewReader(cut))
	if err != nil {
		t.Fatal(err)
	}
	end, err := r.Prefix(nil)
	if kindOf(err) != replay.ErrTruncated {
		t.Fatal(err)
	}
	const by = 63 << 20
	far := end
	far.Offset += by
	if !replay.Torn(bytes.NewReader(cut), int64(len(cut)), &r.Header, end) || !replay.Torn(shifted{cut, by}, int64(len(cut))+by, &r.Header, far) {
		t.Error("the last frame is not told as torn")
	}
	if replay.Torn(shifted{cut, by}, int64(len(cut))+by+65<<20, &r.Header, far) {
		t.Error("what has 65 MiB behind it is told as torn")
	}
}
