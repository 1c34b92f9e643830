package yrep_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/yrep"
)

func FuzzReadNarrow(f *testing.F) { fuzz(f, yrep.Narrow) }
func FuzzReadWide(f *testing.F)   { fuzz(f, yrep.Wide) }
func FuzzReadAuto(f *testing.F)   { fuzz(f, yrep.Auto) }

// fuzz reads arbitrary bytes, strictly and not: what decodes encodes to the same bytes, also through JSON
// lines, and can be played; what does not decode is whole up to where the reader says.
func fuzz(f *testing.F, d yrep.Dialect) {
	found, err := filepath.Glob(filepath.Join(vectors.Path("yrep"), "*", "*.yrep"))
	if err != nil || len(found) == 0 {
		f.Fatalf("no vectors (%v)", err)
	}
	for _, path := range found {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 2000 {
			f.Add(b, false, false)
			f.Add(b, true, false)
			f.Add(b, true, true)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, lenient, keep bool) {
		o := yrep.Options{Dialect: d, Lenient: lenient, KeepUnknown: keep}
		in, frames, err := readAll(bytes.NewReader(b), o)
		if in == nil {
			if _, typed := errors.AsType[*yrep.Error](err); !typed {
				t.Errorf("%v, want an error of the format", err)
			}
			return
		}
		o.Dialect = in.Dialect
		end := in.End()
		e, typed := errors.AsType[*yrep.Error](err)
		if err != nil && (!typed || e.Offset < end || e.Offset > int64(len(b))) || err == nil && end != int64(len(b)) {
			t.Fatalf("%v; %d bytes are whole", err, end)
		}
		if again, _, err := readAll(bytes.NewReader(b[:end]), o); err != nil || again.End() != end {
			t.Errorf("the whole part: %v", err)
		}
		var w bytes.Buffer
		out, err := yrep.NewWriter(&w, in.Header, in.Dialect)
		for n := 0; err == nil && n < len(frames); n++ {
			err = out.WriteFrame(frames[n].Instructions)
		}
		if err != nil || !bytes.Equal(w.Bytes(), b[:end]) {
			t.Errorf("%x decodes, but encodes as %x, %v", b[:end], w.Bytes(), err)
		}
		var lines, back bytes.Buffer
		if _, err := yrep.Convert(&lines, bytes.NewReader(b[:end]), o, yrep.Auto); err != nil {
			t.Fatal(err)
		}
		if _, err := yrep.Convert(&back, &lines, yrep.Options{}, yrep.Auto); err != nil || !bytes.Equal(back.Bytes(), b[:end]) {
			t.Errorf("%x gives other bytes by JSON lines: %x, %v", b[:end], back.Bytes(), err)
		}
		play(t, b[:end], o, int32(len(frames)))
	})
}

// play walks through a file and back.
func play(t *testing.T, b []byte, o yrep.Options, frames int32) {
	p, err := yrep.NewPlayback(bytes.NewReader(b), o, nil)
	if err != nil || p.Frames() != frames {
		t.Fatalf("a playback of %d frames, %v, want %d", p.Frames(), err, frames)
	}
	var states []string
	for err == nil {
		states = append(states, dump(p.State()))
		_, err = p.Step()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	for n := frames; n >= 0; n-- {
		if got := dump(p.State()); got != states[n] {
			t.Errorf("back at frame %d: %s, want %s", n, got, states[n])
		}
		if err := p.Back(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
}

func dump(s *yrep.State) string {
	b, err := s.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(b)
}

// FuzzLines: JSON lines, whatever stands in them, give an error or a file that gives lines again.
func FuzzLines(f *testing.F) {
	const header = `{"yrep":282,"dialect":"wide","protocol":"v1_8_R3","metadata":""}` + "\n"
	f.Add(`{"frame":1,"instructions":[ {"instruction" : "PLAYER_CHAT","tracker_id":1,"message":"\\\"]}"},{"a":{"b":[]}}]}`)
	f.Add(`{"frame":1,"instructions":[[],{},0,"",null]}` + "\n\n" + `{"frame":2}`)
	f.Fuzz(func(t *testing.T, lines string) {
		var file, again bytes.Buffer
		if _, err := yrep.Convert(&file, strings.NewReader(header+lines), yrep.Options{}, yrep.Auto); err != nil {
			return
		}
		if _, err := yrep.Convert(&again, &file, yrep.Options{Dialect: yrep.Wide, KeepUnknown: true, Lenient: true}, yrep.Auto); err != nil {
			t.Errorf("%s\n%v", lines, err)
		}
	})
}
