package index_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// cursor opens the recording in a file, and an index of it.
func (r *recorded) cursor(t *testing.T, b []byte) *replay.Cursor {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.murk")
	if err := os.WriteFile(path, r.recording.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := replay.OpenFile(path, r.build)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if b != nil {
		c.Use(opened(t, b))
	}
	return c
}

// TestCursor holds that a cursor comes to the recorded state of each tick, whatever the index says, and walks through each state on its way.
func TestCursor(t *testing.T) {
	const ticks = 90
	for _, name := range []string{"heat", "predators"} {
		r := record(t, name, ticks, index.Options{Now: ticking(), Key: key}, false)
		if n := len(r.open(t).SealedTicks()); n < 3 {
			t.Fatalf("%s: %d sealed states", name, n)
		}
		indexes := r.forgeries(t)
		indexes["none"], indexes["its own"] = nil, r.index.Bytes()
		for what, b := range indexes {
			if b != nil {
				if _, err := index.Open(bytes.NewReader(b), int64(len(b))); err != nil {
					continue // which says so where it is opened
				}
			}
			c := r.cursor(t, b)
			if first, last := c.Ticks(); first != 0 || last != ticks {
				t.Errorf("%s, %s: ticks %d to %d", name, what, first, last)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 8 {
				tick := random.Uint64N(ticks + 1)
				if err := c.Seek(tick); err != nil {
					t.Fatalf("%s, %s: Seek(%d): %v", name, what, tick, err)
				}
				if w := c.World(); w.Tick() != tick || tick > 0 && w.Hash() != r.hashes[tick] {
					t.Errorf("%s, %s: Seek(%d) came to tick %d, hash %016x, want %016x", name, what, tick, w.Tick(), w.Hash(), r.hashes[tick])
				}
				from := random.Uint64N(tick + 1)
				var seen []uint64
				if err := c.Walk(from, tick, func(w *engine.World) error {
					if w.Tick() == from {
						seen = nil
					}
					if seen = append(seen, w.Tick()); w.Tick() > 0 && w.Hash() != r.hashes[w.Tick()] {
						t.Errorf("%s, %s: Walk(%d, %d) shows another state at %d", name, what, from, tick, w.Tick())
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if len(seen) != int(tick-from+1) || !slices.IsSorted(seen) {
					t.Errorf("%s, %s: Walk(%d, %d) showed %v", name, what, from, tick, seen)
				}
			}
		}
	}
}

// TestCursorWithAFalseState holds that a state which its user has sealed and that leads elsewhere is left for a replay from the beginning.
func TestCursorWithAFalseState(t *testing.T) {
	const ticks = 120
	r, other := record(t, "heat", ticks, index.Options{Now: ticking(), Key: key}, false), record(t, "heat", ticks, index.Options{Now: ticking(), Key: key}, false)
	c := r.cursor(t, nil)
	x := &lying{Index: other.open(t)}
	c.Use(x)
	for _, tick := range []uint64{ticks, 70, 100, 20} {
		if err := c.Seek(tick); err != nil || c.World().Hash() != r.hashes[tick] {
			t.Errorf("Seek(%d): %v, hash %016x, want %016x", tick, err, c.World().Hash(), r.hashes[tick])
		}
	}
	if x.entered == 0 {
		t.Error("no state was tried")
	}
}

// A lying index leads to a state in which a number is another one.
type lying struct {
	*index.Index
	entered int
}

func (l *lying) Enter(p *replay.Player, recording io.ReaderAt, size int64, tick uint64) bool {
	if !l.Index.Enter(p, recording, size, tick) {
		return false
	}
	l.entered++
	p.World.Column(0).Float32[0]++
	return true
}
