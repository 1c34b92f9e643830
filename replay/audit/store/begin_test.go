package store_test

import (
	"errors"
	"testing"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestBegin holds that a run that was begun is there with its first ticks, and not before.
func TestBegin(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		there := func() int {
			runs, err := d.Runs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return len(runs)
		}
		w, err := d.Begin(ctx, newRun(1))
		if err != nil {
			t.Fatal(err)
		}
		if there() != 0 {
			t.Error("it is there without a tick")
		}
		bad := maker{tick: 5}
		if err := w.Commit(ctx, bad.batch(1, 0)); err == nil || there() != 0 {
			t.Errorf("a batch that does not follow: %v, and there are %d runs", err, there())
		}
		var m maker
		commit(t, w, m.batch(3, 0))
		commit(t, w, m.batch(3, 2))
		w.Close()
		commit(t, writer(t, d, newRun(1).ID), m.batch(3, 2))
		if got := links(t, evidence(t, d, newRun(1).ID)); len(got) != 9 || there() != 1 {
			t.Errorf("%d links of %d runs, want 9 of 1", len(got), there())
		}
		again, err := d.Begin(ctx, newRun(1))
		if err == nil {
			err = again.Commit(ctx, new(maker).batch(1, 0))
			again.Close()
		}
		if err == nil {
			t.Error("a run is begun twice")
		}
		orphan := newRun(3)
		orphan.Parent = audit.ID{9}
		alone, err := d.Begin(ctx, orphan)
		if err == nil {
			err = alone.Commit(ctx, new(maker).batch(1, 0))
			alone.Close()
		}
		if !errors.Is(err, store.ErrNoRun) {
			t.Errorf("a fork without its parent: %v, want %v", err, store.ErrNoRun)
		}
	})
}
