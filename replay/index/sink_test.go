package index_test

import (
	"testing"

	"github.com/murksim/murksim/internal/sinktest"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// TestSinkOfAnIndexThatEndsItsGoroutine holds that such a sink, as any that fails, ends the
// index and nothing else: the run goes on, and Flush says so.
func TestSinkOfAnIndexThatEndsItsGoroutine(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	most := 5 // writes
	if testing.Short() {
		most = 2
	}
	for name, instead := range sinktest.Misbehaviours() {
		for at := 2; at <= most; at++ {
			s := load(t, "heat")
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			sink := &sinktest.Sink{At: at, Instead: instead}
			h := replay.HeaderOf(w, s.Descriptor())
			offset := int64(len(h.AppendBytes(nil)))
			r, err := index.NewRecorder(sink, w, &h, &frames{world: w, end: func() int64 { offset += 20; return offset }}, index.Options{Now: ticking()})
			if err != nil {
				t.Fatal(err)
			}
			w.Record(r)
			ended := 0
			for range 1500 {
				if sinktest.Apart(t, func() error { _, err := w.Step(); return err }) != nil {
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
		r, err := index.NewRecorder(&sinktest.Sink{At: 2, Instead: instead}, w, &h, &frames{world: w, end: func() int64 { return 1000 }}, index.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.Record(r)
		for range 3 {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if first, again := sinktest.Apart(t, r.Flush), sinktest.Apart(t, r.Flush); first == nil || again == nil {
			t.Errorf("%s: Flush = %v, then %v", name, first, again)
		}
	}
}
