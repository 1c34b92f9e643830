package minewars_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
)

// FuzzFile reads arbitrary bytes as a file, also with checksums that hold. What can be read comes
// back from its lines byte for byte, and from its updates with the same messages.
func FuzzFile(f *testing.F) {
	for name, stream := range validVectors(f) {
		if !stream {
			f.Add(readVector(f, name))
		}
	}
	for _, name := range []string{"x22-frames-truncated-inside-payload.mw1", "x26-ambiguous-first-length.mw1", "x19-lz4-offset-before-dictionary.mw1"} {
		f.Add(readVector(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAny(t, b, false)
		if len(b) > 38 && b[28]&16 != 0 && int(binary.BigEndian.Uint16(b[24:]))+38 < len(b) {
			checkAny(t, reseal(bytes.Clone(b)), false)
		}
	})
}

// FuzzStream does the same with network streams.
func FuzzStream(f *testing.F) {
	for name, stream := range validVectors(f) {
		b := readVector(f, name)
		if !stream { // those of small files can be made of them
			r, err := open(b, false)
			if err != nil {
				f.Fatal(err)
			}
			if b, err = minewars.AppendStart(nil, r.Start()); err != nil {
				f.Fatal(err)
			}
			b = append(b, r.RawFrames()...)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkAny(t, b, true) })
}

func checkAny(t *testing.T, b []byte, stream bool) {
	r, err := open(b, stream)
	if err != nil {
		formatError(t, err)
		return
	}
	frames, err := readAll(r)
	if err != nil {
		formatError(t, err)
		return
	}
	lines := toLines(t, b, stream)
	if again, _, err := fromLines(lines); err != nil || !bytes.Equal(again, b) {
		t.Errorf("%x comes back from its lines as %x, %v", b, again, err)
	}
	want := r.Start()
	start, err := minewars.AppendStart(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := updates(want, frames)
	r, err = open(append(start, encodeUpdates(t, want, frames)...), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Start(); !reflect.DeepEqual(got, want) {
		t.Errorf("Start %v becomes %v", want, got)
	}
	if frames, err = readAll(r); err != nil {
		t.Fatal(err)
	}
	again, _ := updates(want, frames)
	if got, want := contents(again), contents(list); got != want {
		t.Errorf("updates\n%s\nbecome\n%s", want, got)
	}
}

// contents is what updates say, with the tiles of each message as a set, as writers write them.
func contents(list []*minewars.Update) string {
	var s strings.Builder
	for _, u := range list {
		for v, messages := range u.Views {
			for _, m := range messages {
				set := map[minewars.Tile]bool{}
				for _, t := range m.Tiles {
					set[t] = true
				}
				if m.Op == minewars.Production {
					set = nil
				} else {
					m.Tiles = nil
				}
				fmt.Fprintln(&s, u.Tick, v, m, set)
			}
		}
	}
	return s.String()
}

// FuzzLines converts arbitrary lines. What can be converted can be read.
func FuzzLines(f *testing.F) {
	for name, stream := range validVectors(f) {
		if b := readVector(f, name); len(b) < 500 {
			f.Add(toLines(f, b, stream))
		}
	}
	f.Fuzz(func(t *testing.T, lines string) {
		if !strings.HasPrefix(lines, minewars.LinesMark) {
			return
		}
		b, c, err := fromLines(lines)
		if err != nil {
			formatError(t, err)
			return
		}
		if again, _, err := fromLines(toLines(t, b, c.Stream)); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q becomes %x, and that %x, %v", lines, b, again, err)
		}
	})
}

// FuzzBlock compares the decoder of LZ4 blocks with one that is written from section 10 of the
// specification alone.
func FuzzBlock(f *testing.F) {
	f.Add([]byte{0x14, 'a', 1, 0, 0x50, 'b', 'c', 'd', 'e', 'f'}, []byte("dict"), uint16(14))
	f.Add(minewars.Compress(nil, bytes.Repeat([]byte("mines"), 40), []byte("minewars")), []byte("minewars"), uint16(200))
	f.Fuzz(func(t *testing.T, block, dict []byte, size uint16) {
		size = max(size, 1) // no block is shorter than nothing
		got, err := minewars.Decompress(block, int(size), dict)
		want, ok := naive(block, int(size), dict)
		if (err == nil) != ok || ok && !bytes.Equal(got, want) {
			t.Errorf("block %x with dictionary %x is %x, %v; want %x, %v", block, dict, got, err, want, ok)
		}
	})
}

// naive decodes an LZ4 block.
func naive(block []byte, size int, dict []byte) ([]byte, bool) {
	out := bytes.Clone(dict)
	next := 0
	length := func(n int) (int, bool) {
		for more := byte(255); n >= 15 && more == 255; {
			if next == len(block) {
				return 0, false
			}
			more = block[next]
			next++
			n += int(more)
		}
		return n, true
	}
	for next < len(block) {
		token := int(block[next])
		next++
		literals, ok := length(token >> 4)
		if !ok || literals > len(block)-next {
			return nil, false
		}
		out = append(out, block[next:next+literals]...)
		if next += literals; next == len(block) {
			if token&15 != 0 {
				return nil, false // a match was to follow
			}
			break
		}
		if len(block)-next < 2 {
			return nil, false
		}
		offset := int(binary.LittleEndian.Uint16(block[next:]))
		next += 2
		n, ok := length(token & 15)
		if !ok || offset == 0 || offset > len(out) || len(out)+n > len(dict)+size {
			return nil, false
		}
		for range n + 4 {
			out = append(out, out[len(out)-offset])
		}
	}
	return out[len(dict):], len(block) > 0 && len(out)-len(dict) == size
}
