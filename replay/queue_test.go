package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A moody propagator changes everything in some ticks, one cell in others and nothing
// in yet others, which it tells now and then, and fails now and then.
type moody struct{ fails *bool }

var errMoody = errors.New("moody")

func (moody) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "moody", Incremental: engine.Fields(0)}
}

func (m moody) Step(c *engine.Context) error {
	next := c.Next(0)
	switch tick := c.Tick(); {
	case *m.fails:
		next[0] = 99
		return errMoody
	case tick/40%2 == 0:
		for i := range next {
			next[i]++
		}
	case tick%3 == 0:
		next[len(next)/2]++
		fallthrough
	default:
		if tick/20%4 != 1 {
			c.Changed(0, len(next)/2, len(next)/2+1)
		}
	}
	return nil
}

// A calm propagator leaves all as it is, and says so.
type calm struct{}

func (calm) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "calm", Incremental: engine.Fields(0)}
}

func (calm) Step(c *engine.Context) error {
	c.Changed(0, 0, 0)
	return nil
}

func moodyWorld(tb testing.TB, side int, fails *bool) *engine.World {
	tb.Helper()
	defs := []fields.Def{{Name: "a", Initial: fields.Fill(0.5)}, {Name: "still", Initial: fields.Fill(3), Element: fields.Fixed}}
	for i := range 20 {
		defs = append(defs, fields.Def{Name: fmt.Sprint("attribute ", i), Domain: fields.Entities})
	}
	w, err := engine.New(engine.Config{
		Space: space.Square4{Rows: side, Cols: side}, MaxFailures: -1, Capacity: 8, Fields: defs,
		Propagators: []engine.Propagator{moody{fails}, calm{}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// A lazy sink rests now and then.
type lazy struct {
	bytes.Buffer
	random *rand.Rand
}

func (l *lazy) Write(b []byte) (int, error) {
	if l.random.IntN(3) == 0 {
		time.Sleep(time.Duration(l.random.IntN(int(5 * time.Millisecond))))
	}
	return l.Buffer.Write(b)
}

// atOnce records as a Recorder does, but every tick at once.
type atOnce struct{ *replay.Writer }

func (o atOnce) Record(t *engine.Tick) error { return o.WriteFrame(t.Number, t.Inputs, t.Hash()) }

// run steps a world with commands, some of them large, and failures, in the same way each
// time but for what between does.
func run(t *testing.T, w *engine.World, fails *bool, between func()) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		for range random.IntN(4) {
			c := commands.SetField(space.At(int32(random.IntN(9)), 3), 0, random.Float32())
			if random.IntN(40) == 0 {
				c = commands.Custom(8, make([]byte, 1<<uint(random.IntN(24))))
			}
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		*fails = random.IntN(10) == 0
		if _, err := w.Step(); (err != nil) != *fails {
			t.Fatalf("Step = %v, want a failure: %v", err, *fails)
		}
		between()
	}
}

// TestRecorderTiming holds that a recording has the same bytes, however long its sink
// takes, however many processors there are, whenever it is flushed, for states of any
// size, and whatever fails in between.
func TestRecorderTiming(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	step := uint64(1)
	if testing.Short() {
		step = 7
	}
	for _, side := range []int{9, 300} {
		var fails bool
		w := moodyWorld(t, side, &fails)
		var want bytes.Buffer
		plain, err := replay.NewWriter(&want, replay.HeaderOf(w, nil))
		if err != nil {
			t.Fatal(err)
		}
		w.Record(atOnce{plain})
		run(t, w, &fails, func() {})
		if err := plain.Flush(); err != nil {
			t.Fatal(err)
		}
		for round := uint64(0); round < 12; round += step {
			runtime.GOMAXPROCS(1 + int(round%3))
			random := rand.New(rand.NewPCG(round, 5))
			sink := &lazy{random: rand.New(rand.NewPCG(round, 6))}
			w := moodyWorld(t, side, &fails)
			r, err := replay.NewRecorder(sink, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			if round > 3 {
				r.AsIfOf(1 << (8 + 2*round)) // up to 1 GiB
			}
			w.Record(r)
			before := runtime.NumGoroutine()
			run(t, w, &fails, func() {
				if random.IntN(30) == 0 {
					if err := r.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			})
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(sink.Bytes(), want.Bytes()) || r.Offset() != int64(want.Len()) {
				t.Errorf("side %d, round %d: %d bytes (Offset %d), or others, want the %d of a writer", side, round, sink.Len(), r.Offset(), want.Len())
			}
			settle(t, before)
		}
	}
}

// settle waits until there are no more goroutines than before.
func settle(t *testing.T, before int) {
	t.Helper()
	if !waiting.Until(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines, want no more than %d", runtime.NumGoroutine(), before)
	}
}

// TestRecorderAllocatesNothing holds that a recorded tick needs no new memory, nor does measuring it.
func TestRecorderAllocatesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as in AllocsPerRun: as many ticks are held
	for _, side := range []int{8, 300} {
		var fails bool
		w := moodyWorld(t, side, &fails)
		r, err := replay.NewRecorder(io.Discard, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if side == 8 {
			r.Measure(func() int64 { return 0 })
		}
		w.Record(r)
		tick := func() {
			if _, err := w.Submit(commands.SetField(space.At(1, 1), 0, 3)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for range 700 { // buffers, tables
			tick()
		}
		if got := testing.AllocsPerRun(100, tick); got != 0 {
			t.Errorf("side %d: %v allocations a tick, want 0", side, got)
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

// A breaking sink takes so many bytes and then breaks.
type breaking struct {
	bytes.Buffer
	limit  int
	panics bool
}

func (s *breaking) Write(b []byte) (int, error) {
	if s.Len()+len(b) <= s.limit {
		return s.Buffer.Write(b)
	}
	if s.panics {
		panic("broken")
	}
	n, _ := s.Buffer.Write(b[:s.limit-s.Len()])
	return n, io.ErrClosedPipe
}

// TestRecorderNamesTheTick holds that a write that fails names the first tick that is
// lost, that the world goes no further than the recorder holds, and that the error
// stays. A sink that panics does not end the program.
func TestRecorderNamesTheTick(t *testing.T) {
	for _, panics := range []bool{false, true} {
		var fails bool
		w := moodyWorld(t, 9, &fails)
		sink := &breaking{limit: 100_000, panics: panics}
		r, err := replay.NewRecorder(sink, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		before := runtime.NumGoroutine()
		for err == nil && w.Tick() < 1000 {
			if _, err := w.Submit(commands.Custom(8, make([]byte, 3000))); err != nil {
				t.Fatal(err)
			}
			_, err = w.Step()
		}
		lost := uint64(sink.limit / 3000) // or so
		if e, ok := errors.AsType[*engine.TickError](err); !ok || e.Where != "recorder" || w.Tick() < lost-2 || w.Tick() > lost+replay.MaxHeldTicks+30 {
			t.Fatalf("after tick %d: %v, want the recorder's error soon after tick %d", w.Tick(), err, lost)
		}
		again := r.Flush()
		if again == nil || !strings.HasSuffix(err.Error(), again.Error()) {
			t.Errorf("Flush = %v, want the same as the tick, %v", again, err)
		}
		if _, ok := errors.AsType[*engine.PanicError](again); ok != panics || !panics && !errors.Is(again, io.ErrClosedPipe) {
			t.Errorf("Flush = %v, want what the sink did", again)
		}
		if whole := wholeFrames(t, sink.Bytes()); !panics && !strings.Contains(again.Error(), fmt.Sprintf("writing tick %d at byte", whole+1)) {
			t.Errorf("Flush = %v, want tick %d named, the first lost", again, whole+1)
		} else if e, ok := errors.AsType[*replay.WriteError](err); !panics && (!ok || e.Tick != uint64(whole)+1) {
			t.Errorf("%v is %+v, want a WriteError of tick %d", err, e, whole+1)
		}
		settle(t, before)
	}
}

// wholeFrames counts the frames of a recording that may be cut.
func wholeFrames(t *testing.T, b []byte) (n int) {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for ; r.Next(&f) == nil; n++ {
	}
	return n
}

// A fainting sink takes a part and panics, once.
type fainting struct {
	bytes.Buffer
	at      int // write
	writes  int
	syncing bool
}

func (f *fainting) Write(b []byte) (int, error) {
	if f.writes++; f.writes == f.at && !f.syncing {
		f.Buffer.Write(b[:len(b)/2])
		panic("faint")
	}
	return f.Buffer.Write(b)
}

func (f *fainting) Sync() error {
	if f.syncing {
		panic("faint")
	}
	return nil
}

// TestRecorderCatchesPanics holds that a sink that panics is as one that fails, wherever
// it does, for states of any size: the error stays, and nothing is written after it.
func TestRecorderCatchesPanics(t *testing.T) {
	for _, stateBytes := range []int{1 << 10, 1 << 30} {
		for _, sink := range []*fainting{{at: 1}, {at: 2}, {syncing: true}} {
			var fails bool
			w := moodyWorld(t, 9, &fails)
			r, err := replay.NewRecorder(sink, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.AsIfOf(stateBytes)
			w.Record(r)
			for i := 0; i < 80 && err == nil; i++ {
				if _, err := w.Submit(commands.Custom(8, make([]byte, 3000))); err != nil {
					t.Fatal(err)
				}
				_, err = w.Step()
				if i == 5 && err == nil && sink.at != 2 {
					err = r.Sync()
				}
			}
			first, size := err, sink.Len()
			if _, ok := errors.AsType[*engine.PanicError](first); !ok {
				t.Errorf("%d bytes, %+v: %v, want the sink's panic", stateBytes, sink.at, first)
				continue
			}
			_, again := w.Step()
			if flush := r.Flush(); flush == nil || again == nil || !strings.HasSuffix(first.Error(), flush.Error()) || !strings.HasSuffix(again.Error(), flush.Error()) {
				t.Errorf("%d bytes, %+v: %v, then Step = %v, Flush = %v; want the same", stateBytes, sink.at, first, again, flush)
			}
			if sink.Len() != size {
				t.Errorf("%d bytes, %+v: %d bytes were written after the panic, want none", stateBytes, sink.at, sink.Len()-size)
			}
		}
	}
}
