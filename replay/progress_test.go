package replay_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A recorder whose progress is asked for all the time records the same bytes as one that is not measured. Every tick is either to be
// hashed, to be written or written, and each is hashed once.
func TestProgress(t *testing.T) {
	const ticks = 300
	for _, cells := range []int{3, 20_000, 0} { // small frames, large states, and a state too large to be held
		record := func(measured bool) []byte {
			w, err := engine.New(engine.Config{Space: space.Ring{Length: max(cells, 3)}, Fields: []fields.Def{{Name: "heat"}}})
			if err != nil {
				t.Fatal(err)
			}
			var sink bytes.Buffer
			r, err := replay.NewRecorder(&sink, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			if cells == 0 {
				r.AsIfOf(1 << 30)
			}
			w.Record(r)
			var nanos atomic.Int64
			var asking sync.WaitGroup
			stop := make(chan struct{})
			if measured {
				r.Measure(func() int64 { return nanos.Add(1) })
				asking.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if p := r.Progress(); p.Hashed > ticks || p.Unhashed > ticks || p.Unwritten > ticks {
							t.Errorf("progress %+v of %d ticks", p, ticks)
							return
						}
					}
				})
			}
			for range ticks {
				if _, err := w.Step(); err != nil {
					t.Fatal(err)
				}
			}
			close(stop)
			asking.Wait()
			if measured && cells == 3 { // whose frames are fewer bytes than are written at once; some may be on their way from one to the other
				waiting.For(t, "all ticks are unhashed or unwritten", func() bool {
					p := r.Progress()
					return p.Unhashed+p.Unwritten == ticks
				})
			}
			if err := r.Flush(); err != nil {
				t.Fatal(err)
			}
			p := r.Progress()
			if p.Unhashed != 0 || p.Unwritten != 0 {
				t.Errorf("after Flush: %+v, want nothing left", p)
			}
			if measured && (p.Hashed != ticks || p.HashNanos <= 0) {
				t.Errorf("%+v, want %d ticks hashed in some time", p, ticks)
			}
			return sink.Bytes()
		}
		if !bytes.Equal(record(true), record(false)) {
			t.Errorf("%d cells: a recorder that is measured records other bytes", cells)
		}
	}
}

// What a sink refuses is never written.
func TestProgressOfAFailure(t *testing.T) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRecorder(deaf{}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Measure(func() int64 { return 0 })
	w.Record(r)
	for range 5 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err == nil {
		t.Error("the sink took it")
	}
	if p, want := r.Progress(), (replay.Progress{Unwritten: 5, Hashed: 5}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}
