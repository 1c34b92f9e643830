package audit_test

import (
	"context"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// A gated store commits when it is let.
type gated struct {
	entered, let chan struct{}
}

func (g gated) Commit(context.Context, *audit.Batch) error {
	g.entered <- struct{}{}
	<-g.let
	return nil
}

// Every tick of a chain waits for its hash, waits for the store or is committed.
func TestProgress(t *testing.T) {
	const ticks = 5
	s, w := world(t, "heat", "expect=[]")
	g := gated{make(chan struct{}), make(chan struct{})}
	r, err := audit.NewRecorder(g, w, s.Descriptor(), 0)
	if err != nil {
		t.Fatal(err)
	}
	nanos := int64(0)
	r.Measure(func() int64 { nanos++; return nanos })
	if p, want := r.Progress(), (audit.Progress{Uncommitted: 1, Committed: -1}); p != want { // the genesis
		t.Errorf("at the beginning: %+v, want %+v", p, want)
	}
	w.Record(r)
	for range ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error)
	go func() { ended <- r.Close() }()
	for open := true; open; {
		select {
		case <-g.entered:
			if p := r.Progress(); p.Unhashed+p.Uncommitted != uint64(ticks-p.Committed) || p.Committed > ticks {
				t.Errorf("while it commits: %+v", p)
			}
			g.let <- struct{}{}
		case err := <-ended:
			if open = false; err != nil {
				t.Fatal(err)
			}
		}
	}
	p := r.Progress()
	if p.HashNanos <= 0 || p.Hashed != ticks {
		t.Errorf("%+v, want %d ticks hashed in some time", p, ticks)
	}
	if p.HashNanos, p.Hashed = 0, 0; p != (audit.Progress{Committed: ticks}) {
		t.Errorf("at the end: %+v, want all %d ticks committed and none behind", p, ticks)
	}

	k := new(kept)
	again, err := audit.ResumeRecorder(k, w, s.Descriptor(), 0, &audit.Head{Tick: ticks})
	if err != nil {
		t.Fatal(err)
	}
	if p, want := again.Progress(), (audit.Progress{Committed: ticks}); p != want {
		t.Errorf("where a chain goes on: %+v, want %+v", p, want)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
