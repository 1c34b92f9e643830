package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// A scribe is one of several recorders. All write what they are told into one log.
type scribe struct {
	name string
	log  *[]string
	how  func() error // of Record
}

func (s *scribe) Record(t *engine.Tick) error {
	*s.log = append(*s.log, fmt.Sprintf("%s%d", s.name, t.Number))
	if s.how != nil {
		return s.how()
	}
	return nil
}

func (s *scribe) Settle(happened bool) {
	*s.log = append(*s.log, fmt.Sprintf("%s %v", s.name, happened))
}

// wantLog compares what was logged and begins anew.
func wantLog(t *testing.T, log *[]string, want string) {
	t.Helper()
	if got := strings.Join(*log, ", "); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
	*log = nil
}

// TestRecorders holds that recorders that are joined see a tick in order and hear how it
// ended, and that one of them that refuses it makes those before it take it back.
func TestRecorders(t *testing.T) {
	var log []string
	a, b, c := &scribe{name: "a", log: &log}, &scribe{name: "b", log: &log}, &scribe{name: "c", log: &log}
	w := build(t, engine.Config{Fields: cells(1), MaxFailures: -1, Recorder: engine.Recorders(a, engine.Recorders(b, c))})
	step(t, w)
	wantLog(t, &log, "a1, b1, c1, a true, b true, c true")
	for _, how := range []func() error{
		func() error { return errPlanned },
		func() error { panic(errPlanned) },
		func() error { runtime.Goexit(); return nil },
	} {
		for i, s := range []*scribe{a, b, c} {
			s.how = how
			if err := stepApart(w); err == nil || w.Tick() != 1 {
				t.Errorf("Step = %v at tick %d, want a failure of tick 2", err, w.Tick())
			}
			wantLog(t, &log, []string{"a2", "a2, b2, a false", "a2, b2, c2, b false, a false"}[i])
			s.how = nil
		}
	}
	step(t, w)
	wantLog(t, &log, "a2, b2, c2, a true, b true, c true")
	w.Record(a)
	step(t, w)
	wantLog(t, &log, "a3, a true")
	w.Record(engine.Recorders())
	w.Record(recorder(func(*engine.Tick) error { w.Record(b); return nil })) // b begins with the next tick
	step(t, w)
	wantLog(t, &log, "")
	step(t, w)
	wantLog(t, &log, "b5, b true")
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

// TestWatch holds that watchers see each tick that has happened, after it has, in order,
// until they stop.
func TestWatch(t *testing.T) {
	var log []string
	s := &saboteur{stage: "late"}
	w := busy(t, s)
	watch := func(name string) (stop func()) {
		return w.Watch(func(tick *engine.Tick) {
			log = append(log, fmt.Sprintf("%s%d", name, tick.Number))
			if w.Tick() != tick.Number || tick.Hash() != w.Hash() || len(tick.Inputs) != 11 || len(tick.Receipts) < 11 {
				t.Errorf("%s: tick %d, %d inputs, %d receipts; the world is at %d", name, tick.Number, len(tick.Inputs), len(tick.Receipts), w.Tick())
			}
		})
	}
	stopA := watch("a")
	var stopC func()
	stopB := w.Watch(func(*engine.Tick) { stopC(); stopC = watch("c") }) // others may begin and end meanwhile
	stopC = watch("c")
	tick := func(fails bool) {
		if s.how = nil; fails {
			s.how = func() error { return errPlanned }
		}
		submit(t, w, busyInputs(w)...)
		if _, err := w.Step(); (err != nil) != fails {
			t.Fatalf("Step = %v", err)
		}
	}
	tick(false)
	tick(true)
	tick(false)
	wantLog(t, &log, "a1, c1, a2, c2")
	stopB()
	stopA()
	stopA()
	tick(false)
	wantLog(t, &log, "c3")
	stopC()
	tick(false)
	wantLog(t, &log, "")
}

// TestWatchPanics holds that a watcher's panic is its own: the tick has happened, and the
// world goes on.
func TestWatchPanics(t *testing.T) {
	w, calm := busy(t, &saboteur{}), busy(t, &saboteur{})
	stop := w.Watch(func(*engine.Tick) { panic(errPlanned) })
	func() {
		defer func() {
			if v := recover(); v != errPlanned {
				t.Errorf("Step panics with %v, want the watcher's panic", v)
			}
		}()
		step(t, w, busyInputs(w)...)
	}()
	stop()
	step(t, calm, busyInputs(calm)...)
	wantSame(t, w, stateOf(calm))
	equal(t, w, calm, busyInputs(calm)...)
}

// TestWatchEndsSweeps holds that a watcher sees every tick of Run.
func TestWatchEndsSweeps(t *testing.T) {
	var seen []uint64
	w, err := engine.New(exitConfig(1, func(int) bool { return false }))
	if err != nil {
		t.Fatal(err)
	}
	w.Sweeps(4, 8)
	if n := w.Sweepable(9); n != 4 {
		t.Fatalf("%d ticks may be swept, want 4", n)
	}
	w.Watch(func(t *engine.Tick) { seen = append(seen, t.Number) })
	if err := w.Run(9); err != nil || !slices.Equal(seen, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("Run = %v; seen %v, want 1 to 9", err, seen)
	}
}

// TestWatchAllocatesNothing holds for recorders and watchers.
func TestWatchAllocatesNothing(t *testing.T) {
	ticks := 0
	w, err := engine.New(engine.Config{
		Space: space.Ring{Length: 9}, Fields: cells(2), Recorder: engine.Recorders(silent{}, silent{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Watch(func(*engine.Tick) { ticks++ })
	step(t, w)
	if n := testing.AllocsPerRun(50, func() { step(t, w) }); n != 0 {
		t.Errorf("%v allocations a tick, want none", n)
	}
}

type silent struct{}

func (silent) Record(*engine.Tick) error { return nil }
func (silent) Settle(bool)               {}

// TestAppendState holds that a recorder and a watcher get the state that Save gives after
// the tick, with which the world is restored, hash included.
func TestAppendState(t *testing.T) {
	s := &saboteur{}
	c := busyConfig(s)
	var before, after []byte
	var rests [2]uint64
	var hash uint64
	c.Recorder = recorder(func(t *engine.Tick) (err error) {
		hash = t.Hash()
		before, rests[0], err = t.AppendState([]byte("ab"), []byte("descriptor"))
		return err
	})
	w := build(t, c)
	w.Watch(func(tick *engine.Tick) {
		var err error
		if after, rests[1], err = tick.AppendState(nil, []byte("descriptor")); err != nil {
			t.Error(err)
		}
	})
	for range 20 {
		step(t, w, busyInputs(w)...)
		want, err := w.Save([]byte("descriptor"))
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != "ab"+string(want) || !bytes.Equal(after, want) || rests[0] != rests[1] {
			t.Fatalf("tick %d: AppendState gives other states than Save: %d, %d, %d bytes", w.Tick(), len(before)-2, len(after), len(want))
		}
		again, err := engine.RestoreTick(busyConfig(&saboteur{}), []byte("descriptor"), after, rests[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Hash(); got != hash || got != w.Hash() {
			t.Fatalf("tick %d: restored with hash %016x, want %016x", w.Tick(), got, hash)
		}
		f := fork(t, w)
		equal(t, again, f, busyInputs(f)...)
	}
	if _, err := engine.RestoreTick(busyConfig(s), nil, after, rests[0]); err == nil {
		t.Error("RestoreTick takes a state of another descriptor")
	}
}

// TestAppendStateUnsavable holds for rules under which nothing is saved.
func TestAppendStateUnsavable(t *testing.T) {
	w := originalWorld(t)
	w.Record(recorder(func(t *engine.Tick) error {
		_, _, err := t.AppendState(nil, nil)
		return err
	}))
	if _, err := w.Step(); !errors.Is(err, engine.ErrUnsavable) {
		t.Errorf("Step = %v, want %v", err, engine.ErrUnsavable)
	}
}
