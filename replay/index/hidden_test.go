package index_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/space"
)

// A ripener adds to a field after the fortieth tick, by a counter of its own or by the world's; once it adds more.
type ripener struct {
	hidden  bool
	counted uint64
	shared  *atomic.Uint64 // counts in place of counted the ticks of all worlds; nil: it does not
	once    *atomic.Bool   // the next time that a world comes to tick 90, or to the first
	first   bool
	fails   bool // in place of adding more
}

func (r *ripener) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "ripener", Prev: engine.Fields(0), Full: engine.Fields(0)}
}

func (r *ripener) Step(c *engine.Context) error {
	r.counted++
	tick := c.Tick()
	switch {
	case r.shared != nil:
		tick = r.shared.Add(1)
	case r.hidden:
		tick = r.counted
	}
	if r.hidden || r.shared != nil {
		time.Sleep(time.Millisecond) // so that no world replays all parts before another one begins
	}
	prev, next := c.Prev(0), c.Next(0)
	for i := range next {
		next[i] = prev[i]
		if tick > 40 {
			next[i]++
		}
	}
	if (tick == 90 || r.first && tick == 1) && r.once.CompareAndSwap(true, false) {
		if r.fails {
			return c.Fail(0, "a fault")
		}
		next[0]++
	}
	return nil
}

// TestHidden holds that a world which remembers something outside its state is told as one, and one
// that a fault strikes once is told as that.
func TestHidden(t *testing.T) {
	for _, kind := range []string{"neither", "hidden", "once", "once, at first", "fails once"} {
		hidden, first, fails := kind == "hidden", kind == "once, at first", kind == "fails once"
		var once atomic.Bool
		build := func(*replay.Header) (*engine.World, error) {
			return engine.New(engine.Config{
				Space: space.Square4{Rows: 3, Cols: 3}, Seed: 1, TickRate: 1,
				Fields:      []fields.Def{{Name: "ripeness"}},
				Propagators: []engine.Propagator{&ripener{hidden: hidden, once: &once, first: first, fails: fails}},
			})
		}
		recording, file := kept(t, build, 1)
		once.Store(kind == "once" || first || fails)
		of, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), opened(t, file), build, 2, nil)
		e, is := errors.AsType[*index.HiddenError](err)
		if of.Ticks != 120 || is != (kind != "neither") || is && (e.From < 1 && !first || e.Once == hidden || of.Reached != nil) || !is && err != nil {
			t.Errorf("%s: Verify = %d, %v", kind, of.Ticks, err)
		}
	}
}

// TestUnsteady holds that a world whose parts all share a variable is told as one that was computed twice with two outcomes, and a recording with
// another hash is not.
func TestUnsteady(t *testing.T) {
	for _, kind := range []string{"shared", "another hash"} {
		var counted atomic.Uint64
		build := func(*replay.Header) (*engine.World, error) {
			r := &ripener{once: new(atomic.Bool)}
			if kind == "shared" {
				r.shared = &counted
			}
			return engine.New(engine.Config{
				Space: space.Square4{Rows: 3, Cols: 3}, Seed: 1, TickRate: 1,
				Fields:      []fields.Def{{Name: "ripeness"}},
				Propagators: []engine.Propagator{r},
			})
		}
		recording, file := kept(t, build, 1)
		counted.Store(0)
		if kind == "another hash" {
			recording[len(recording)-1] ^= 1
		}
		of, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), opened(t, file), build, 2, nil)
		e, is := errors.AsType[*index.UnsteadyError](err)
		if is != (kind == "shared") || !errors.Is(err, replay.ErrMismatch) || is && e.Came[0] == e.Came[1] {
			t.Errorf("%s: Verify = %d, %v", kind, of.Ticks, err)
		}
	}
}

// A fault adds one to a field in each tick, but in one: there it adds more, or fails.
type fault struct {
	tick  uint64 // 0: there is none
	fails bool
}

func (f fault) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "fault", Prev: engine.Fields(0), Full: engine.Fields(0)}
}

func (f fault) Step(c *engine.Context) error {
	prev, next := c.Prev(0), c.Next(0)
	for i := range next {
		next[i] = prev[i] + 1
	}
	if c.Tick() == f.tick {
		if f.fails {
			return c.Fail(0, "a fault")
		}
		next[0]++
	}
	return nil
}

// TestUnsteadyFailure holds that a tick that fails in one of two replays is an outcome as another hash is, and that a tick that fails in both is told as that.
func TestUnsteadyFailure(t *testing.T) {
	const recorded = "the recorded hash"
	failure := "a failure (fault: cell [0, 0]: a fault)"
	for _, tt := range []struct {
		name         string
		parts, whole fault
		tick         uint64 // that is unsteady; 0: none is
		came         [2]string
	}{
		{"differs, then fails before", fault{tick: 7}, fault{5, true}, 5, [2]string{recorded, failure}},
		{"differs, then fails there", fault{tick: 7}, fault{7, true}, 7, [2]string{"", failure}},
		{"fails, then differs", fault{5, true}, fault{tick: 7}, 5, [2]string{failure, recorded}},
		{"fails at two ticks", fault{5, true}, fault{7, true}, 5, [2]string{failure, recorded}},
		{"fails in the last part, then before", fault{115, true}, fault{5, true}, 5, [2]string{recorded, failure}},
		{"fails", fault{5, true}, fault{5, true}, 0, [2]string{}},
	} {
		var worlds atomic.Uint64
		build := func(*replay.Header) (*engine.World, error) {
			var f fault
			switch worlds.Add(1) { // the first one records
			case 1:
			case 2, 3:
				f = tt.parts
			default:
				f = tt.whole
			}
			return engine.New(engine.Config{
				Space: space.Square4{Rows: 3, Cols: 3}, Seed: 1, TickRate: 1,
				Fields:      []fields.Def{{Name: "ripeness"}},
				Propagators: []engine.Propagator{f},
			})
		}
		recording, file := kept(t, build, 1)
		of, err := index.Verify(bytes.NewReader(recording), int64(len(recording)), opened(t, file), build, 2, nil)
		e, is := errors.AsType[*index.UnsteadyError](err)
		if is != (tt.tick > 0) || is && (e.Tick != tt.tick || tt.came[0] != "" && e.Came[0] != tt.came[0] || e.Came[1] != tt.came[1]) {
			t.Errorf("%s: Verify = %d, %v", tt.name, of.Ticks, err)
		}
		if failed, fails := errors.AsType[*engine.TickError](err); fails != tt.whole.fails || fails && failed.Tick != tt.whole.tick {
			t.Errorf("%s: Verify = %v, want what the whole replay found", tt.name, err)
		}
	}
}

// kept records 120 ticks of a world, in whose second tick a cell gets a value, with an index that has every state.
func kept(t *testing.T, build replay.Builder, value float32) (recording, idx []byte) {
	t.Helper()
	w, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	var to, file bytes.Buffer
	rec, err := replay.NewRecorder(&to, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, nil)
	keys, err := index.NewRecorder(&file, w, &h, rec, index.Options{Now: ticking()})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(engine.Recorders(rec, keys))
	for tick := range 120 {
		if tick == 1 {
			if _, err := w.Submit(commands.SetField(space.At(1, 1), 0, value)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(rec.Flush(), keys.Flush()); err != nil { // so that every state becomes a keyframe
			t.Fatal(err)
		}
	}
	if err := errors.Join(rec.Flush(), keys.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Bytes(), file.Bytes()
}

// A changing file holds other bytes of the same length from when it is read at an offset on.
type changing struct {
	bytes, then []byte
	at          int64
	changed     bool
}

func (c *changing) ReadAt(b []byte, off int64) (int, error) {
	if c.changed = c.changed || off == c.at; c.changed {
		return bytes.NewReader(c.then).ReadAt(b, off)
	}
	return bytes.NewReader(c.bytes).ReadAt(b, off)
}

// TestChangedRecording: a recording that is exchanged for another one while it is verified accuses no program: what is told
// is what one replay of all that is read then finds.
func TestChangedRecording(t *testing.T) {
	build := func(*replay.Header) (*engine.World, error) {
		return engine.New(engine.Config{
			Space: space.Square4{Rows: 3, Cols: 3}, Seed: 1, TickRate: 1,
			Fields:      []fields.Def{{Name: "ripeness"}},
			Propagators: []engine.Propagator{&ripener{once: new(atomic.Bool)}},
		})
	}
	a, idx := kept(t, build, 1)
	b, _ := kept(t, build, 2)
	if len(a) != len(b) {
		t.Fatalf("the recordings have %d and %d bytes", len(a), len(b))
	}
	frames, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(frames, build)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Verify(); err != nil {
		t.Fatal(err)
	}
	want, _ := p.RunDigest()
	x := opened(t, idx)
	changes := 0
	for _, tick := range x.Keyframes() {
		k, err := x.Keyframe(tick)
		if err != nil {
			t.Fatal(err)
		}
		file := &changing{bytes: a, then: b, at: k.Next.Offset}
		of, err := index.Verify(file, int64(len(a)), opened(t, idx), build, 1, nil)
		if file.changed {
			changes++
			if err != nil || of.Ticks != 120 || of.RunDigest != want {
				t.Errorf("exchanged after tick %d: %d ticks match, %v", tick, of.Ticks, err)
			}
		}
	}
	if changes < 3 {
		t.Errorf("the recording was exchanged at %d places", changes)
	}

	// A hash that is changed after its tick matched is not one that was computed.
	c := bytes.Clone(a)
	frames, err = replay.NewReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for f.Tick < 5 {
		if err := frames.Next(&f); err != nil {
			t.Fatal(err)
		}
	}
	c[f.Position.Offset+f.Position.Size-1] ^= 1
	keys := x.Keyframes()
	k, err := x.Keyframe(keys[len(keys)/2])
	if err != nil {
		t.Fatal(err)
	}
	file := &changing{bytes: a, then: c, at: k.Next.Offset}
	of, err := index.Verify(file, int64(len(a)), opened(t, idx), build, 1, nil)
	if _, unsteady := errors.AsType[*index.UnsteadyError](err); unsteady || !file.changed {
		t.Errorf("with a hash that is changed meanwhile: %d ticks match, %v", of.Ticks, err)
	}
}
