package view_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/view"
)

// At shows what the run held: with an index, without one, and going back and forth until there is one in
// memory.
func TestAt(t *testing.T) {
	ticks := []uint64{40, 3, 39, 0, 17, 40, 16, 1, 40, 2, 30}
	recording, x, at := record(t, "heat", 40, true, ticks...)
	for name, c := range map[string]view.Config{"alone": {}, "indexed": {Index: x}} {
		c.Name, c.Recording, c.Size, c.Build = name, bytes.NewReader(recording), int64(len(recording)), build
		r, err := view.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range ticks {
			w, err := r.At(t.Context(), tick)
			if err != nil {
				t.Fatal(err)
			}
			for id := range r.Scenario().Fields {
				got, want := w.Column(fields.ID(id)), at[tick].Column(fields.ID(id))
				if w.Tick() != tick || !got.SameBits(want, 0, want.Len()) {
					t.Errorf("%s: tick %d, field %d differs from the run", name, tick, id)
				}
			}
			if f, err := r.Frame(t.Context(), tick); tick == 0 {
				if err == nil {
					t.Errorf("%s: tick 0 has a frame: %v", name, f)
				}
			} else if err != nil || f.Tick != tick || f.Hash != at[tick].Hash() {
				t.Errorf("%s: frame of tick %d = %+v, %v", name, tick, f, err)
			}
		}
		if _, err := r.At(t.Context(), 41); err == nil {
			t.Errorf("%s: there is a tick 41", name)
		}
	}
}

// A tick with another hash than recorded is shown, with an error that says so. Ending the context ends
// the way there.
func TestAtDiffers(t *testing.T) {
	recording, _, _ := record(t, "heat", 20, false)
	recording[len(recording)-1] ^= 1 // the hash of the last tick
	r, err := view.Open(view.Config{Recording: bytes.NewReader(recording), Size: int64(len(recording)), Build: build})
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.At(t.Context(), 20)
	if e, ok := errors.AsType[*replay.MismatchError](err); !ok || e.Tick != 20 || e.Offset != int64(len(recording)-8) || w == nil {
		t.Errorf("At(20) = %v, %v; want the world and a mismatch", w, err)
	}
	if f, err := r.Frame(t.Context(), 20); err != nil || f.Tick != 20 {
		t.Errorf("Frame(20) = %v, %v", f, err)
	}
	if _, err := r.At(t.Context(), 19); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.At(ctx, 3); err != nil && err != context.Canceled {
		t.Error(err)
	}
}

// TestHeld checks a recording that is overwritten after it was verified: what is shown is what was compared, or nothing.
func TestHeld(t *testing.T) {
	recording, _, at := record(t, "heat", 300, false, 290)
	f, err := os.Create(filepath.Join(t.TempDir(), "heat.murk"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(recording); err != nil {
		t.Fatal(err)
	}
	r, err := view.Open(view.Config{Recording: f, Size: int64(len(recording)), Build: build})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	digest := digestOf(recording)
	last := binary.LittleEndian.Uint64(recording[len(recording)-8:])
	if hash, err := r.LastHash(); err != nil || hash != last {
		t.Errorf("LastHash = %016x, %v; want %016x", hash, err, last)
	}
	for i := len(recording) - 100; i < len(recording); i++ { // hashes that no computation gave
		recording[i] ^= 0xff
	}
	if _, err := f.WriteAt(recording, 0); err != nil {
		t.Fatal(err)
	}
	if frame, err := r.Frame(t.Context(), 290); err == nil && frame.Hash != at[290].Hash() {
		t.Errorf("the frame of tick 290 has the hash %016x, which was written later", frame.Hash)
	}
	if w, err := r.At(t.Context(), 290); err == nil && w.Hash() != at[290].Hash() {
		t.Errorf("tick 290 has the hash %016x", w.Hash())
	}
	if got, err := r.Digest(); err != nil || got != digest {
		t.Errorf("Digest = %x, %v; what was opened has %x", got, err, digest)
	}
	again, err := view.Open(view.Config{Recording: bytes.NewReader(recording), Size: int64(len(recording)), Build: build})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Digest(); err != nil || got != digestOf(recording) || got == digest {
		t.Errorf("Digest of what was written = %x, %v; want %x", got, err, digestOf(recording))
	}
}

// digestOf is what Digest says it is.
func digestOf(b []byte) [sha256.Size]byte {
	var sums []byte
	for block := range slices.Chunk(b, 65536) {
		sum := sha256.Sum256(block)
		sums = append(sums, sum[:]...)
	}
	return sha256.Sum256(sums)
}

// TestHold checks that reading bytes of a file again gives the same bytes, or an error.
func TestHold(t *testing.T) {
	const size = 9*view.HeldBlock + 100
	first := make([]byte, size)
	for i := range first {
		first[i] = byte(i >> 3)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(first); err != nil {
		t.Fatal(err)
	}
	h := view.Hold(f, size)
	read := func(off, n int) error {
		b := make([]byte, n)
		got, err := h.ReadAt(b, int64(off))
		if !bytes.Equal(b[:got], first[off:off+got]) || err == nil && got < n {
			t.Errorf("%d bytes from byte %d are not what was read first; %d, %v", n, off, got, err)
		}
		return err
	}
	for off := 0; off < size; off += 7000 {
		if err := read(off, min(9000, size-off)); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(size-10, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReadAt(make([]byte, 20), size-10); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := f.WriteAt([]byte{0xee}, 2*view.HeldBlock+5); err != nil {
		t.Fatal(err)
	}
	for block := range 9 {
		if err := read(block*view.HeldBlock+1, 100); (err != nil) != (block == 2) {
			t.Errorf("block %d: %v", block, err)
		}
	}
	if err := f.Truncate(3 * view.HeldBlock); err != nil {
		t.Fatal(err)
	}
	if err := read(8*view.HeldBlock, 10); err != nil { // it is kept
		t.Error(err)
	}
	if err := read(3*view.HeldBlock, 10); err == nil {
		t.Error("a file that was cut is read")
	}
}
