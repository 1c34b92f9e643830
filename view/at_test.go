package view_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/view"
)

// At shows what the run held, with an index, without one, and back and forth until there is one in memory.
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

// A tick with another hash than was recorded is shown with an error that says so. A context ends the way.
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

// TestHeld holds that a recording which is written over after it was verified shows nothing of what it holds by then: what was compared is what is shown.
func TestHeld(t *testing.T) {
	recording, _, _ := record(t, "heat", 3000, false)
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
	end := len(recording) - 20*500 // the last ticks have other hashes now, which nobody computed
	for i := end; i < len(recording); i++ {
		recording[i] ^= 0xff
	}
	if _, err := f.WriteAt(recording, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Frame(t.Context(), 2900); err == nil || !strings.Contains(err.Error(), "the file was changed while it was looked at") {
		t.Errorf("a frame of the file that was written over: %v", err)
	}
	if _, err := r.At(t.Context(), 2950); err == nil || !strings.Contains(err.Error(), "the file was changed while it was looked at") {
		t.Errorf("a tick of the file that was written over: %v", err)
	}
	if err := f.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if _, err := r.At(t.Context(), 2000); err == nil {
		t.Error("a tick of a file that was cut")
	}
}
