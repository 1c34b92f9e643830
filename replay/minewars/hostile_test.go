package minewars_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
)

// formatError fails the test unless an error is of the format.
func formatError(t *testing.T, err error) minewars.Kind {
	t.Helper()
	e, ok := errors.AsType[*minewars.Error](err)
	if !ok {
		t.Fatalf("error %v is no *minewars.Error", err)
	}
	return e.Kind
}

// read reads a stream to its end.
func read(b []byte, stream bool) error {
	r, err := open(b, stream)
	if err == nil {
		_, err = readAll(r)
	}
	return err
}

// Every truncation is noticed: in a file always, in a network stream unless it lies between
// two frames.
func TestTruncations(t *testing.T) {
	for name, stream := range validVectors(t) {
		b := readVector(t, name)
		boundary := map[int]bool{}
		if stream {
			r, err := open(b, true)
			if err != nil {
				t.Fatal(err)
			}
			frames, err := readAll(r)
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, f := range frames {
				total += f.Size
			}
			boundary[len(b)-total] = true
			for _, f := range frames {
				boundary[len(b)-total+int(f.Offset)+f.Size] = true
			}
		}
		for n := range b {
			err := read(b[:n], stream)
			switch {
			case boundary[n]:
				if err != nil {
					t.Errorf("%s ends between frames at %d: %v", name, n, err)
				}
			case stream:
				if kind := formatError(t, err); kind != minewars.ErrStartTruncated && kind != minewars.ErrFrameTruncated {
					t.Errorf("%s cut at %d: %v", name, n, err)
				}
			default:
				want := minewars.ErrFramesTruncated
				if n < 28 {
					want = minewars.ErrHeaderTruncated
				} else if kind := formatError(t, err); kind == minewars.ErrStartTruncated {
					continue
				}
				if kind := formatError(t, err); kind != want {
					t.Errorf("%s cut at %d: %v, want %s", name, n, err, want)
				}
			}
		}
	}
}

// Every flip of one bit of a file is noticed, because checksums cover all of it.
func TestFlips(t *testing.T) {
	for name, stream := range validVectors(t) {
		b := readVector(t, name)
		for i := range b {
			for bit := range 8 {
				b[i] ^= 1 << bit
				if err := read(b, stream); err != nil {
					formatError(t, err)
				} else if !stream {
					t.Errorf("%s with bit %d of byte %d flipped can be read", name, bit, i)
				}
				b[i] ^= 1 << bit
			}
		}
	}
}

// reseal computes the checksums anew after a change behind the header, for a game without names.
func reseal(b []byte) []byte {
	stored := int(binary.BigEndian.Uint16(b[24:]))
	binary.BigEndian.PutUint64(b[8:], minewars.SeaHash(b[38:len(b)-stored]))
	binary.BigEndian.PutUint64(b[16:], minewars.SeaHash(b[len(b)-stored:]))
	binary.BigEndian.PutUint64(b, minewars.SeaHash(b[8:38]))
	return b
}

// Flips that checksums do not see, because they were made before: whatever can be read encodes
// back to the same frames.
func TestFlipsWithinChecksums(t *testing.T) {
	for _, name := range []string{"02-homogeneous-every-message.mw1", "03-heterogeneous.mw1", "06-compressed-other-encoder.mw1", "12-compressed-map.mw1"} {
		b := readVector(t, name)
		wrong := map[minewars.Kind]int{}
		for i := 24; i < len(b); i++ {
			for bit := range 8 {
				if len(b) > 200 && bit != i%8 || len(b) > 2000 && i%4 > 0 { // a sample
					continue
				}
				b[i] ^= 1 << bit
				again := bytes.Clone(b)
				if stored := int(binary.BigEndian.Uint16(b[24:])); stored+38 < len(b) {
					again = reseal(again)
				}
				if err := read(again, false); err != nil {
					wrong[formatError(t, err)]++
				} else if back, _, err := fromLines(toLines(t, again, false)); err != nil || !bytes.Equal(back, again) {
					t.Errorf("%s with bit %d of byte %d flipped comes back with other bytes: %v", name, bit, i, err)
				}
				b[i] ^= 1 << bit
			}
		}
		if len(wrong) < 8 {
			t.Errorf("%s: only these errors: %v", name, wrong)
		}
	}
}

// Reserved flags, an unfinished file, and a part in the middle can be read if asked for.
func TestOptions(t *testing.T) {
	b := readVector(t, "x11-reserved-flag.mw1")
	r, err := minewars.NewReader(bytes.NewReader(b), minewars.Options{Reserved: true})
	if err != nil {
		t.Fatal(err)
	}
	if frames, err := readAll(r); err != nil || len(frames) != 6 {
		t.Errorf("%d frames, %v; want 6", len(frames), err)
	}
	b = readVector(t, "03-heterogeneous.mw1")
	for cut, want := range map[int]int{len(b): 6, len(b) - 1: 5, len(b) - 3: 5, len(b) - 5: 5, 54: 0, 57: 0} {
		zero := append(make([]byte, 28), b[28:cut]...)
		if err := read(zero, false); err == nil {
			t.Error("a file whose header is all zeros can be read without being asked for")
		}
		r, err := minewars.NewReader(bytes.NewReader(zero), minewars.Options{Salvage: true})
		if err != nil {
			t.Fatal(err)
		}
		if frames, err := readAll(r); err != nil || len(frames) != want {
			t.Errorf("cut at %d: %d frames, %v; want %d", cut, len(frames), err, want)
		}
	}
	r, err = minewars.NewReader(bytes.NewReader(b), minewars.Options{From: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var f minewars.Frame
	if err := r.Next(&f); err != nil || f.Tick != 1001 {
		t.Errorf("the first frame is of tick %d, %v; want 1001", f.Tick, err)
	}
}

// Of a file that ends early the whole frames can be read if that is asked for.
func TestCutFile(t *testing.T) {
	for _, name := range []string{"03-heterogeneous.mw1", "05-compressed-liblz4.mw1", "06-compressed-other-encoder.mw1", "12-compressed-map.mw1"} {
		b := readVector(t, name)
		r, err := minewars.NewReader(bytes.NewReader(b), minewars.Options{Salvage: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		last := len(all)
		for n := len(b) - 1; n >= 0; n-- {
			if _, err := minewars.NewReader(bytes.NewReader(b[:n]), minewars.Options{}); err == nil {
				t.Fatalf("%s: %d of %d bytes are a file", name, n, len(b))
			}
			r, err := minewars.NewReader(bytes.NewReader(b[:n]), minewars.Options{Salvage: true})
			if err != nil {
				last = 0
				continue
			}
			frames, err := readAll(r)
			if err != nil || len(frames) > last || len(frames) > 0 && !reflect.DeepEqual(frames, all[:len(frames)]) {
				t.Fatalf("%s: %d of %d bytes give %d frames, %v; one more gave %d", name, n, len(b), len(frames), err, last)
			}
			if last = len(frames); n == len(b)-1 && last == 0 {
				t.Errorf("%s: without its last byte it has no frames", name)
			}
		}
	}
}

// An endless input is not read to its end: a file has at most 132,676 bytes.
func TestReaderIsBounded(t *testing.T) {
	b := readVector(t, "12-compressed-map.mw1")
	rest := &endless{}
	_, err := minewars.NewReader(io.MultiReader(bytes.NewReader(b), rest), minewars.Options{})
	if e, ok := errors.AsType[*minewars.Error](err); !ok || e.Kind != minewars.ErrTrailingBytes || e.Offset != int64(len(b)) || rest.read+len(b) > 132677 {
		t.Errorf("%v after %d bytes", err, rest.read+len(b))
	}
	lines := io.MultiReader(strings.NewReader(toLines(t, b, false)), &endless{})
	if _, err := minewars.Convert(io.Discard, lines, false); !errors.Is(err, minewars.ErrLine) {
		t.Errorf("an endless line: %v", err)
	}
}

// endless is a source of zeros.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	clear(b)
	e.read += len(b)
	return len(b), nil
}

// An error of the source is handed on, and stays.
func TestSourceFails(t *testing.T) {
	b := readVector(t, "04-network-stream.mw1s")
	failure := errors.New("the wire is cut")
	for n := range b {
		src := io.MultiReader(bytes.NewReader(b[:n]), &failing{failure})
		r, err := minewars.NewStreamReader(src, minewars.Options{})
		if err == nil {
			_, err = readAll(r)
			if again := r.Next(new(minewars.Frame)); again != err {
				t.Errorf("after %v comes %v", err, again)
			}
		}
		if !errors.Is(err, failure) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error)  { return 0, f.err }
func (f *failing) Write([]byte) (int, error) { return 0, f.err }
func (f *failing) Close() error              { return nil }
