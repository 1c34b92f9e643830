package replay_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/sinktest"
	"github.com/murksim/murksim/replay"
)

// TestSinkThatEndsItsGoroutine holds that a sink which does so, as t.Fatal does in a test, is
// as one that fails, and so are other sinks that misbehave: ticks fail with its error once
// it shows, nothing is written after it, nothing hangs, and no goroutine is left. That is so
// for states of any size.
func TestSinkThatEndsItsGoroutine(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	for name, instead := range sinktest.Misbehaviours() {
		for _, stateBytes := range []int{1 << 10, 1 << 20, 1 << 30} {
			for _, at := range []int{2, 3} {
				fails := false
				w := moodyWorld(t, 9, &fails)
				sink := &sinktest.Sink{At: at, Instead: instead}
				r, err := replay.NewRecorder(sink, w, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.AsIfOf(stateBytes)
				w.Record(r)
				before := runtime.NumGoroutine()
				step := func() error { _, err := w.Step(); return err }
				failed := uint64(0)
				for range 200 {
					if _, err := w.Submit(commands.Custom(8, make([]byte, 3000))); err != nil {
						t.Fatal(err)
					}
					tick := w.Tick()
					if err := sinktest.Apart(t, step); err != nil && w.Tick() == tick {
						failed++
					}
				}
				if failed == 0 || w.Tick()+failed < 190 {
					t.Errorf("%s, %d bytes: %d ticks failed, %d happened", name, stateBytes, failed, w.Tick())
				}
				size := sink.Len()
				_, stepErr := w.Step()
				if e, ok := errors.AsType[*engine.TickError](stepErr); !ok || e.Where != "recorder" {
					t.Errorf("%s, %d bytes: Step = %v, want the recorder's error", name, stateBytes, stepErr)
				}
				if err := r.Flush(); err == nil || sink.Len() != size {
					t.Errorf("%s, %d bytes: Flush = %v, and %d bytes were written after the failure", name, stateBytes, err, sink.Len()-size)
				}
				if _, err := w.Save(nil); err != nil {
					t.Errorf("%s, %d bytes: Save = %v", name, stateBytes, err)
				}
				settle(t, before)
				wholeFrames(t, sink.Bytes())
			}
		}
	}
}

// TestSinkThatEndsTheGoroutineOfFlush holds that another Flush says why it failed.
func TestSinkThatEndsTheGoroutineOfFlush(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	for name, instead := range sinktest.Misbehaviours() {
		fails := false
		w := moodyWorld(t, 9, &fails)
		r, err := replay.NewRecorder(&sinktest.Sink{At: 1, Instead: instead}, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range 20 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if first, again := sinktest.Apart(t, r.Flush), sinktest.Apart(t, r.Flush); first == nil || again == nil {
			t.Errorf("%s: Flush = %v, then %v", name, first, again)
		}
	}
}

// TestTableSinkThatEndsItsGoroutine holds that no line of a hash table is written twice after
// the sink has ended a tick, and that the error stays.
func TestTableSinkThatEndsItsGoroutine(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	short := sinktest.Misbehaviours()
	short["writes less"] = func() (int, error) { return 7, nil }
	for name, instead := range short {
		fails := false
		w := moodyWorld(t, 4, &fails)
		sink := &sinktest.Sink{At: 2, Instead: instead}
		table := replay.NewTableWriter(sink, w.Defs())
		w.Record(table)
		for range 100 {
			sinktest.Apart(t, func() error { _, err := w.Step(); return err })
		}
		size := sink.Len()
		if _, err := w.Step(); err == nil {
			t.Errorf("%s: Step succeeds after it", name)
		}
		if err := table.Flush(); err == nil || sink.Len() != size {
			t.Errorf("%s: Flush = %v, and %d bytes were written after the failure", name, err, sink.Len()-size)
		}
	}
}
