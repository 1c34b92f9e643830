package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// TestNewRecorderAtGenesis holds that a recording can only begin where its replay
// will: a world that has gone on is refused, and nothing is written.
func TestNewRecorderAtGenesis(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.NewRecorder(io.Discard, w, nil); err != nil {
		t.Errorf("NewRecorder at genesis = %v, want none", err)
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	if _, err := replay.NewRecorder(&sink, w, nil); err == nil || sink.Len() != 0 {
		t.Errorf("NewRecorder after tick 1 = %v with %d bytes written, want an error and none", err, sink.Len())
	}
}

// TestRecorderReset holds that a recording ends where its world is reset.
func TestRecorderReset(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range 2 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	w.Reset(1)
	const want = "engine: tick 1: recorder: replay: tick 1 after tick 2: the world was reset; begin another recording"
	if _, err := w.Step(); err == nil || err.Error() != want {
		t.Errorf("Step = %v, want %s", err, want)
	}
}

// TestRecorderOutlivesItsWorld: a world that is released takes no tick along that its recorder holds.
func TestRecorderOutlivesItsWorld(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Record(r)
	const ticks = 5
	for range ticks {
		if _, err := f.Step(); err != nil {
			t.Fatal(err)
		}
	}
	f.Record(nil)
	if err := errors.Join(f.Release(), r.Flush()); err != nil {
		t.Fatal(err)
	}
	frames, err := replay.NewReader(&sink)
	if err != nil {
		t.Fatal(err)
	}
	if end, err := frames.Prefix(nil); err != nil || end.Frame != ticks {
		t.Errorf("%d ticks are recorded, %v; want %d", end.Frame, err, ticks)
	}
}

// A deaf sink takes nothing.
type deaf struct{}

var errDeaf = errors.New("deaf")

func (deaf) Write([]byte) (int, error) { return 0, errDeaf }

// TestTableWriterKeepsItsError holds that no tick is recorded twice, nor one that fails:
// once the table cannot be written, ticks are not recorded either.
func TestTableWriterKeepsItsError(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}, MaxFailures: -1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(engine.Recorders(replay.NewTableWriter(deaf{}, w.Defs()), r))
	failed := uint64(0)
	for range 1000 {
		if _, err := w.Step(); errors.Is(err, errDeaf) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Fatal("no tick failed, want some: the table takes nothing")
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	rd, err := replay.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	last := uint64(0)
	for want := uint64(1); ; want++ {
		if err := rd.Next(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if f.Tick != want {
			t.Fatalf("frame %d is of tick %d, want %d", want-1, f.Tick, want)
		}
		last = want
	}
	if last != w.Tick() || last != 1000-failed {
		t.Errorf("the last frame is of tick %d, the world at %d of 1000 but for %d that failed", last, w.Tick(), failed)
	}
}

// TestRecorderOfOneWorld holds that ticks of a world of another seed, time step or shape
// are refused before anything is done with them, and that a fork may go on.
func TestRecorderOfOneWorld(t *testing.T) {
	of := func(side, capacity int, seed uint64, rate float64, element fields.Element) *engine.World {
		w, err := engine.New(engine.Config{
			Space: space.Square4{Rows: side, Cols: side}, Capacity: capacity, Seed: seed, TickRate: rate,
			Fields: []fields.Def{{Name: "a", Element: element}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	const one = "replay: a recording is of one world: "
	for _, side := range []int{9, 300} {
		for _, tt := range []struct {
			other *engine.World
			want  string
		}{
			{of(side, 2, 1, 10, fields.Float32), ""},
			{of(side, 2, 4, 10, fields.Float32), one + "tick 3 is of seed 4, 0.1 s a tick, "},
			{of(side, 2, 1, 20, fields.Float32), one + "tick 3 is of seed 1, 0.05 s a tick, "},
			{of(side+1, 2, 1, 10, fields.Float32), one + "tick 3 is of seed 1, 0.1 s a tick, 5 fields, " + fmt.Sprint((side+1)*(side+1)) + " cells, the recording of seed 1"},
			{of(side, 3, 1, 10, fields.Float32), one + "the state after tick 3 has columns of other sizes"},
			{of(side, 2, 1, 10, fields.Fixed), one + "the state after tick 3 has columns of other sizes"},
		} {
			w := of(side, 2, 1, 10, fields.Float32)
			var sink bytes.Buffer
			r, err := replay.NewRecorder(&sink, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			step := func(w *engine.World, r engine.Recorder) error {
				w.Record(r)
				_, err := w.Step()
				return err
			}
			for range 2 {
				if err := errors.Join(step(w, r), step(tt.other, nil)); err != nil {
					t.Fatal(err)
				}
			}
			err = step(tt.other, r)
			if tt.want == "" != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "engine: tick 3: recorder: "+tt.want) {
				t.Errorf("Step = %v, want %s", err, tt.want)
			}
			frames := 3
			if err != nil { // a fork of the right world goes on
				if w, err = w.Fork(); err != nil {
					t.Fatal(err)
				}
				for ; frames < 20; frames++ {
					if err := step(w, r); err != nil {
						t.Fatal(err)
					}
				}
				frames--
			}
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := wholeFrames(t, sink.Bytes()); got != frames {
				t.Errorf("%d frames, want %d", got, frames)
			}
		}
	}
}

// TestRecorderSeed holds that a reset to another seed before tick 1 is refused, of small
// states and of large ones, and one to the same seed is not.
func TestRecorderSeed(t *testing.T) {
	const want = "engine: tick 1: recorder: replay: a recording is of one world: tick 1 is of seed 7, 0.05 s a tick, 1 fields, 3 cells, the recording of seed 0, 0.05 s a tick, 1 fields, 3 cells"
	for _, bytes := range []int{12, 1 << 30} {
		w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewRecorder(io.Discard, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AsIfOf(bytes)
		w.Record(r)
		w.Reset(7)
		if _, err := w.Step(); err == nil || err.Error() != want {
			t.Errorf("Step = %v, want %s", err, want)
		}
		w.Reset(0)
		if _, err := w.Step(); err != nil {
			t.Errorf("with the same seed Step = %v, want none", err)
		}
	}
}

// A synced sink counts how often it was synced.
type syncedSink struct {
	bytes.Buffer
	times int
}

// Sync is that of a file.
func (s *syncedSink) Sync() error {
	s.times++
	return nil
}

// TestRecorderNext: a recorder goes on in another recording, which begins at the state of the world; what it refuses leaves it as it was.
func TestRecorderNext(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}, Fields: []fields.Def{{Name: "heat", Initial: fields.Fill(2)}}})
	if err != nil {
		t.Fatal(err)
	}
	world := []byte(`{"ring":3}`)
	step := func(ticks int) {
		for range ticks {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var one syncedSink
	var two, whole bytes.Buffer
	r, err := replay.NewRecorder(&one, w, world)
	if err != nil {
		t.Fatal(err)
	}
	r.Keep(replay.Keeping{SyncTicks: 1000})
	all, err := replay.NewRecorder(&whole, w, world)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(engine.Recorders(r, all))
	step(4)
	if err := r.Next(&two, w, world); err == nil || two.Len() > 0 {
		t.Errorf("with a descriptor that names no state: %v, %d bytes", err, two.Len())
	}
	step(1)
	state, err := w.Save(world)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := replay.NewBegin(state)
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := begin.Describe(world)
	if err != nil {
		t.Fatal(err)
	}
	before := one.times
	if err := r.Next(&two, w, descriptor); err != nil || one.times != before+1 {
		t.Fatalf("Next = %v; it syncs the recording that ends %d times, want once", err, one.times-before)
	}
	step(3)
	if err := errors.Join(r.Flush(), all.Flush()); err != nil {
		t.Fatal(err)
	}
	got, known := r.RunDigest()
	if want, _ := all.RunDigest(); !known || got != want || r.Offset() != int64(two.Len()) {
		t.Errorf("the digest of the run is %x, %v, want %x; %d bytes of %d", got, known, want, r.Offset(), two.Len())
	}
	for name, b := range map[string]*bytes.Buffer{"1 to 5": &one.Buffer, "6 to 8": &two} {
		frames, err := replay.NewReader(b)
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(frames, func(*replay.Header) (*engine.World, error) {
			return engine.New(engine.Config{Space: space.Ring{Length: 3}, Fields: []fields.Def{{Name: "heat", Initial: fields.Fill(2)}}})
		})
		if err != nil {
			t.Fatal(err)
		}
		first := p.World.Tick() + 1
		if _, err := p.Verify(); err != nil || name != fmt.Sprintf("%d to %d", first, p.World.Tick()) {
			t.Errorf("a part has the ticks %d to %d, %v; want %s", first, p.World.Tick(), err, name)
		}
	}
}
