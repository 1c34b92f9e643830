package view_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/view"
)

// TestGrows: a recording that another process is writing is shown as far as it is whole, and verified as it comes; nobody drives it, and it can be
// forked. Where it ends within a frame, the page says so.
func TestGrows(t *testing.T) {
	const ticks = 30
	whole, x, _ := record(t, "heat", ticks, true)
	frames, err := replay.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	var ends []int64 // of the header, and of each frame
	for f := (replay.Frame{}); err == nil; err = frames.Next(&f) {
		ends = append(ends, frames.Position().Offset)
	}
	if len(ends) != ticks+1 {
		t.Fatalf("%d frames, want %d", len(ends)-1, ticks)
	}
	wrong := bytes.Clone(whole)
	at := wrong[ends[20]-8 : ends[20]]
	binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+1)
	for _, tt := range []struct {
		what    string
		b       []byte
		differs uint64
		problem string
	}{
		{"whole", whole, 0, ""},
		{"a wrong tick", wrong, 20, ""},
		{"ends within a frame", whole[:ends[25]+3], 0, "ends early"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			from, to := io.Pipe()
			write := func(b []byte) {
				if _, err := to.Write(b); err != nil {
					t.Error(err)
				}
			}
			opened := make(chan *view.Recording)
			go func() {
				r, err := view.Grows(view.Config{Name: "live.murk", Index: x, Build: build}, from)
				if err != nil {
					t.Error(err)
				}
				opened <- r
			}()
			write(tt.b[:ends[0]/2])
			write(tt.b[ends[0]/2 : ends[0]])
			s := running(t, <-opened)
			write(tt.b[ends[0] : ends[7]+5])
			f := until(t, s, 0, "verified up to tick 7", func(f *found) bool { return f.Ticks == 7 })
			if f.Run.Last != 7 || f.Done || f.Run.Ended {
				t.Errorf("with 7 ticks and a part of the next: %+v", f)
			}
			if a := ask(t, s, `{"op":"drive","source":0,"hold":true}`); !strings.Contains(a.Error, "fork it") {
				t.Errorf("it is driven: %+v", a)
			}
			if a := string(must(t, s, `{"op":"about","source":0}`)); !strings.Contains(a, `"last":7,`) || strings.Contains(a, `"live":true`) {
				t.Errorf("it is %s", a)
			}
			must(t, s, `{"op":"fork","source":0,"tick":5,"hold":true}`)
			write(tt.b[ends[7]+5:])
			to.Close()
			f = until(t, s, 0, "done", func(f *found) bool { return f.Done && f.Run.Ended })
			if f.Differs != tt.differs || (tt.problem == "") != (f.Run.Error == "") || !strings.Contains(f.Run.Error, tt.problem) {
				t.Errorf("at the end: %+v, want tick %d to differ and %q", f, tt.differs, tt.problem)
			}
		})
	}
}
