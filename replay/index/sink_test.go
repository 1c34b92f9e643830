package index_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// A misbehaving sink does something else instead of a write, once.
type misbehaving struct {
	bytes.Buffer
	at, writes int
	instead    func() (int, error)
}

func (m *misbehaving) Write(b []byte) (int, error) {
	if m.writes++; m.writes == m.at {
		return m.instead()
	}
	return m.Buffer.Write(b)
}

// apart calls f in a goroutine of its own, which f may end.
func apart(t *testing.T, f func() error) (err error) {
	t.Helper()
	err = engine.ErrGoexit
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it hangs")
	}
	return err
}

// TestSinkOfAnIndexThatEndsItsGoroutine holds that such a sink, as any that fails, ends the
// index and nothing else: the run goes on, and Flush says so.
func TestSinkOfAnIndexThatEndsItsGoroutine(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	for name, instead := range map[string]func() (int, error){
		"ends its goroutine": func() (int, error) { runtime.Goexit(); return 0, nil },
		"panics":             func() (int, error) { panic("sink") },
		"panics with nil":    func() (int, error) { panic(nil) },
		"gives a nil error":  func() (int, error) { return 0, (*engine.ArgError)(nil) },
	} {
		for at := 2; at < 6; at++ {
			s := load(t, "heat")
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			sink := &misbehaving{at: at, instead: instead}
			h := replay.HeaderOf(w, s.Descriptor())
			offset := int64(len(h.AppendBytes(nil)))
			r, err := index.NewRecorder(sink, w, &h, func() int64 { offset += 20; return offset }, index.Options{Now: ticking()})
			if err != nil {
				t.Fatal(err)
			}
			w.Record(r)
			ended := 0
			for range 1500 {
				if apart(t, func() error { _, err := w.Step(); return err }) != nil {
					ended++
				}
			}
			if ended > 1 || w.Tick() < 1499 {
				t.Errorf("%s at write %d: %d ticks failed, tick %d", name, at, ended, w.Tick())
			}
			size := sink.Len()
			if err := r.Flush(); err == nil || sink.Len() != size {
				t.Errorf("%s at write %d: Flush = %v, and %d bytes were written after the failure", name, at, err, sink.Len()-size)
			}
		}
		s := load(t, "heat")
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		h := replay.HeaderOf(w, s.Descriptor())
		r, err := index.NewRecorder(&misbehaving{at: 2, instead: instead}, w, &h, func() int64 { return 1000 }, index.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range 3 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if first, again := apart(t, r.Flush), apart(t, r.Flush); first == nil || again == nil {
			t.Errorf("%s: Flush = %v, then %v", name, first, again)
		}
	}
}
