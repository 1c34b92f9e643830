package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A refuser refuses a tick now and then, in one of three ways, and counts what has happened.
type refuser struct {
	how       string // "": not now
	ticks     []uint64
	refused   int
	tookBacks int
}

var errRefused = errors.New("refused")

func (r *refuser) Record(t *engine.Tick) error {
	switch r.how {
	case "error":
		return errRefused
	case "panic":
		panic(errRefused)
	case "exit":
		runtime.Goexit()
	}
	r.ticks = append(r.ticks, t.Number)
	return nil
}

func (r *refuser) Settle(happened bool) {
	if !happened {
		r.ticks = r.ticks[:len(r.ticks)-1]
		r.tookBacks++
	}
}

// stepApart steps in a goroutine of its own, which the tick may end.
func stepApart(w *engine.World) (err error) {
	err = engine.ErrGoexit
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = w.Step()
	}()
	<-done
	return err
}

// TestJoinedRecorders holds that of recorders that are joined, with one among them that
// refuses ticks, in any place and in any way, all have what they would have if those ticks
// had never been tried: for states of any size, with large frames, whenever they are flushed.
func TestJoinedRecorders(t *testing.T) {
	const ticks = 90
	sizes, largest := []int{0, 1 << 22, 1 << 26, 1 << 30}, 24 // how large the state is said to be; bits of a payload
	if testing.Short() {
		sizes, largest = []int{1 << 26}, 14
	}
	inputs := func(tick uint64) []commands.Command {
		r := rand.New(rand.NewPCG(tick, 8))
		list := []commands.Command{commands.SetField(space.At(int32(r.IntN(9)), 3), 0, r.Float32())}
		if r.IntN(20) == 0 {
			list = append(list, commands.Custom(8, make([]byte, 1<<uint(r.IntN(largest)))))
		}
		return list
	}
	for _, side := range []int{9, 300} {
		ticks := uint64(ticks)
		if testing.Short() && side > 9 {
			ticks /= 3 // busy and quiet both, and more than are held at once
		}
		for _, as := range sizes {
			var want [3]bytes.Buffer
			for place := -1; place < 4; place++ { // -1: nothing refuses
				calm := false
				w := moodyWorld(t, side, &calm)
				refuse := new(refuser)
				got, flush := joinedTo(t, w, as, place, refuse)
				r := rand.New(rand.NewPCG(uint64(place), 7))
				for tick := uint64(1); tick <= ticks; tick++ {
					turn := tick%20 < 3 // the world falls quiet here, or busy
					for place >= 0 && (turn || r.IntN(4) == 0) {
						turn = false
						refuse.how = []string{"error", "panic", "exit"}[r.IntN(3)]
						refuse.refused++
						submitAll(t, w, commands.SetField(space.At(1, 1), 0, 77))
						if err := stepApart(w); err == nil || w.Tick() != tick-1 {
							t.Fatalf("tick %d: Step = %v at tick %d, want a refusal", tick, err, w.Tick())
						}
						refuse.how = ""
						if r.IntN(8) == 0 {
							flush()
						}
					}
					submitAll(t, w, inputs(tick)...)
					if _, err := w.Step(); err != nil {
						t.Fatal(err)
					}
					if r.IntN(16) == 0 {
						flush()
					}
				}
				flush()
				name := fmt.Sprintf("side %d, as of %d bytes, refused in place %d", side, as, place)
				if place == -1 {
					for i := range want {
						want[i].Write(got[i].Bytes())
					}
					continue
				}
				for i := range want {
					if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
						t.Errorf("%s: file %d has %d bytes, or others, want %d", name, i, got[i].Len(), want[i].Len())
					}
				}
				if refuse.refused < int(ticks)/7 || refuse.tookBacks != 0 || !slices.IsSorted(refuse.ticks) || len(refuse.ticks) != int(ticks) {
					t.Errorf("%s: %d refused, %d taken back, %d recorded", name, refuse.refused, refuse.tookBacks, len(refuse.ticks))
				}
			}
		}
	}
}

// TestRefusedFrame holds that a tick too large for a frame is refused and leaves nothing
// behind: the next one is recorded.
func TestRefusedFrame(t *testing.T) {
	calm := false
	w := moodyWorld(t, 9, &calm)
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	large := slices.Repeat([]commands.Command{commands.Custom(8, make([]byte, replay.MaxBytes-8))}, replay.MaxFrame/replay.MaxBytes+1)
	refused := false
	w.Record(settling{r, func(t *engine.Tick) error {
		if refused {
			t.Inputs = large
		}
		return r.Record(t)
	}})
	for want := range uint64(3) {
		refused = true
		_, err := w.Step()
		refused = false
		e, ok := errors.AsType[*replay.FormatError](err)
		if !ok || e.Kind != replay.ErrLimit || e.Offset != r.Offset() || w.Tick() != want {
			t.Errorf("Step = %v at tick %d, want an error of kind %q at byte %d", err, w.Tick(), replay.ErrLimit, r.Offset())
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, err := verify(sink.Bytes(), func(*replay.Header) (*engine.World, error) { return moodyWorld(t, 9, &calm), nil }); n != 3 || err != nil {
		t.Errorf("Verify = %d, %v; want 3 ticks", n, err)
	}
}

// A settling recorder is another whose Record is replaced.
type settling struct {
	engine.Settler
	record func(*engine.Tick) error
}

func (s settling) Record(t *engine.Tick) error { return s.record(t) }

// joinedTo records a world in two recordings and a table, with another recorder in a place
// among them unless that is below 0.
func joinedTo(t *testing.T, w *engine.World, as, place int, other engine.Settler) (files [3]*bytes.Buffer, flush func()) {
	t.Helper()
	for i := range files {
		files[i] = new(bytes.Buffer)
	}
	var list []engine.Settler
	var recorders [2]*replay.Recorder
	for i, file := range []*bytes.Buffer{files[0], files[2]} {
		r, err := replay.NewRecorder(file, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if as > 0 {
			r.AsIfOf(as)
		}
		recorders[i] = r
	}
	table := replay.NewTableWriter(files[1], w.Defs())
	list = append(list, recorders[0], table, recorders[1])
	if place >= 0 {
		list = slices.Insert(list, place, other)
	}
	w.Record(engine.Recorders(list...))
	return files, func() {
		if err := errors.Join(recorders[0].Flush(), table.Flush(), recorders[1].Flush()); err != nil {
			t.Fatal(err)
		}
		if got, want := recorders[1].Offset(), int64(files[2].Len()); got != want {
			t.Fatalf("Offset = %d after a flush of %d bytes", got, want)
		}
	}
}

func submitAll(t *testing.T, w *engine.World, list ...commands.Command) {
	t.Helper()
	for _, c := range list {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVerifyRefused holds that a tick which the world's own recorder refuses ends a
// verification and does not count, whether or not that recorder can take ticks back.
func TestVerifyRefused(t *testing.T) {
	b, _ := pondRecording(t)
	for _, settles := range []bool{false, true} {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(r, pond)
		if err != nil {
			t.Fatal(err)
		}
		own := &refuser{how: "error"}
		if settles {
			p.World.Record(own)
		} else {
			p.World.Record(struct{ engine.Recorder }{own})
		}
		if n, err := p.Verify(); n != 0 || !errors.Is(err, errRefused) {
			t.Errorf("Verify = %d, %v, want the refusal of tick 1", n, err)
		}
	}
}

// TestRefusedTicksKeepNoMemory holds that a tick which is taken back gives its memory back.
func TestRefusedTicksKeepNoMemory(t *testing.T) {
	calm := false
	w := moodyWorld(t, 300, &calm)
	r, err := replay.NewRecorder(io.Discard, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	refuse := &refuser{how: "error"}
	w.Record(engine.Recorders(r, refuse))
	allocated := func(ticks int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range ticks {
			if _, err := w.Step(); !errors.Is(err, errRefused) {
				t.Fatalf("Step = %v, want a refusal", err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(20)
	const column = 300 * 300 * 4
	if got := allocated(200); got > 10*column {
		t.Errorf("200 refused ticks took %d bytes, want far fewer than %d, a column each", got, 200*column)
	}
}

// A waning propagator changes everything up to a tick, and nothing after it.
type waning uint64

func (waning) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "waning", Incremental: engine.Fields(0)}
}

func (p waning) Step(c *engine.Context) error {
	if c.Tick() <= uint64(p) {
		next := c.Next(0)
		for i := range next {
			next[i]++
		}
	}
	return nil
}

// TestRefusedFirstQuietTick holds that the first tick in which little changes can be refused:
// the tick before it was hashed without what the hasher remembers.
func TestRefusedFirstQuietTick(t *testing.T) {
	const busy, all = 40, 60
	var files [2]bytes.Buffer
	for i := range files {
		w, err := engine.New(engine.Config{
			Space: space.Square4{Rows: 300, Cols: 300}, Fields: []fields.Def{{Name: "a"}}, Propagators: []engine.Propagator{waning(busy)},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewRecorder(&files[i], w, nil)
		if err != nil {
			t.Fatal(err)
		}
		refuse := new(refuser)
		w.Record(engine.Recorders(r, refuse))
		for tick := uint64(1); tick <= all; tick++ {
			if tick == busy+1 {
				if err := r.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			if i == 1 && tick > busy {
				refuse.how = "error"
				submitAll(t, w, commands.SetField(space.At(3, 3), 0, 5))
				if _, err := w.Step(); !errors.Is(err, errRefused) {
					t.Fatal(err)
				}
				refuse.how = ""
			}
			submitAll(t, w, commands.SetField(space.At(200, 3), 0, float32(tick)))
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("the recording with refused ticks is another")
	}
}

// A meddler does something within ticks that others have been handed, and refuses those.
type meddler struct {
	within func() error // nil: not now
	said   error
}

func (m *meddler) Record(*engine.Tick) error {
	if m.within == nil {
		return nil
	}
	m.said = m.within()
	return errRefused
}

func (m *meddler) Settle(bool) {}

// TestFlushWithinATick holds that Flush and Sync fail within a tick that another recorder may
// still refuse, and make nothing of it final: recording and table are as if it had never been
// tried.
func TestFlushWithinATick(t *testing.T) {
	run := func(meddle bool) (recording, table string) {
		fails := false
		w := moodyWorld(t, 9, &fails)
		var sink, text bytes.Buffer
		r, err := replay.NewRecorder(&sink, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, m := replay.NewTableWriter(&text, w.Defs()), &meddler{}
		w.Record(engine.Recorders(r, rows, m))
		for tick := range 40 {
			if m.within = nil; meddle && tick%3 == 0 {
				m.within = []func() error{r.Flush, r.Sync, rows.Flush}[tick/3%3]
				if _, err := w.Step(); !errors.Is(err, errRefused) || !errors.Is(m.said, engine.ErrUnderWay) {
					t.Errorf("within tick %d: %v, and Step = %v; want %v and %v", tick+1, m.said, err, engine.ErrUnderWay, errRefused)
				}
				m.within = nil
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(r.Flush(), rows.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		return sink.String(), text.String()
	}
	recording, table := run(false)
	if again, rows := run(true); again != recording || rows != table {
		t.Errorf("%d and %d bytes were written; want %d and %d, the same as without", len(again), len(rows), len(recording), len(table))
	}
}

// TestStepWithinATick holds that a player that is stepped within a tick of its world says so
// and reads no frame.
func TestStepWithinATick(t *testing.T) {
	whole, _ := pondRecording(t)
	r, err := replay.NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(r, pond)
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	p.World.Watch(func(*engine.Tick) {
		looked++
		if err := p.Step(); !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("Step within a tick = %v, want %v", err, engine.ErrUnderWay)
		}
		if n, err := p.Verify(); n != 0 || !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("Verify within a tick = %d, %v, want %v", n, err, engine.ErrUnderWay)
		}
		if _, err := replay.NewRecorder(io.Discard, p.World, nil); !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("NewRecorder within a tick = %v, want %v", err, engine.ErrUnderWay)
		}
	})
	for p.World.Tick() < pondTicks {
		if err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if looked != pondTicks {
		t.Errorf("looked %d times, want %d", looked, pondTicks)
	}
}
