package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestListsThatTheCallerChangesLater holds that a world does not see it when what it was built
// of is changed afterwards: neither a Reset, which must not fail either, nor a fork.
func TestListsThatTheCallerChangesLater(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	c := engine.Config{
		Space: space.Line{Length: 4}, Fields: []fields.Def{{Name: "a", Initial: fields.Values(values), Bounds: &fields.Bounds{Max: 9}}},
		Propagators: []engine.Propagator{propagator{engine.Spec{Name: "p", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
			c.Next(0)[1]++
			return nil
		}}},
		Parameters: []engine.Parameter{{Key: 1, Value: 5}},
	}
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	genesis, _ := w.Save(nil)
	values[0] = 1e308
	c.Fields[0].Name, c.Fields[0].Bounds.Max = "other", 2
	c.Propagators[0], c.Parameters[0].Value = nil, 6
	if err := w.Reset(w.Seed()); err != nil {
		t.Fatal(err)
	}
	fork, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	for _, world := range []*engine.World{w, fork} {
		if state, err := world.Save(nil); err != nil || !bytes.Equal(state, genesis) || world.Defs()[0].Name != "a" {
			t.Errorf("another genesis: %v", err)
		}
		for range 8 {
			step(t, world)
		}
		if got := world.Value(0, 1); got != 9 {
			t.Errorf("cell 1 has %v after 8 ticks, want 9", got)
		}
	}
}

// A nilRecorder is a recorder that no nil pointer can be.
type nilRecorder struct{ ticks int }

func (r *nilRecorder) Record(*engine.Tick) error { r.ticks++; return nil }

func (r *nilRecorder) Settle(bool) { r.ticks++ }

// TestNilIsRefusedWhereItIsGiven holds that a nil or zero value says what it is where it is
// given, and not at each tick.
func TestNilIsRefusedWhereItIsGiven(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1)})
	for _, tt := range []struct {
		want string
		use  func()
	}{
		{"engine: Watch needs a function", func() { w.Watch(nil) }},
		{"engine: recorder 1 of Recorders must not be nil", func() { engine.Recorders(new(nilRecorder), nil) }},
		{"engine: recorder 0 of Recorders must not be nil", func() { engine.Recorders((*nilRecorder)(nil)) }},
		{"engine: Record of a nil *engine_test.nilRecorder", func() { w.Record((*nilRecorder)(nil)) }},
		{"engine: AppendIn needs a region", func() { w.AppendIn(nil, nil) }},
		{"engine: a method of a Batch that NewBatch did not make", func() { (*engine.Batch)(nil).Worlds() }},
		{"engine: a method of a Batch that NewBatch did not make", func() { new(engine.Batch).Worlds() }},
		{"engine: a method of a World that New did not make", func() { new(engine.World).Tiling(0) }},
		{"engine: a method of a World that New did not make", func() { (*engine.World)(nil).Watch(nil) }},
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.HasPrefix(v, tt.want) {
					t.Errorf("%s; want %s", v, tt.want)
				}
			}()
			tt.use()
		}()
	}
	if _, err := engine.NewBatch([]*engine.World{w, {}}, 1); err == nil || err.Error() != "engine: batch: world 1 was not made by New, Restore or Fork" {
		t.Errorf("NewBatch = %v", err)
	}
	_, err := engine.New(engine.Config{Space: space.Line{Length: 2}, Recorder: (*nilRecorder)(nil)})
	if err == nil || !strings.Contains(err.Error(), "Recorder must not be a nil *engine_test.nilRecorder") {
		t.Errorf("New = %v", err)
	}
	step(t, w)
}

// TestGoexitInABatchLeavesTheOthers holds that the worlds of a batch go on when some of them
// end their worker, also if that is the goroutine that called Run.
func TestGoexitInABatchLeavesTheOthers(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		var worlds []*engine.World
		ends := func(i int) bool { return i%3 == 0 }
		for i := range 40 {
			w, err := engine.New(exitConfig(1, func(int) bool { return ends(i) }))
			if err != nil {
				t.Fatal(err)
			}
			worlds = append(worlds, w)
		}
		b, err := engine.NewBatch(worlds, workers)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Run(4)
		}()
		<-done
		for i, w := range worlds {
			want := uint64(4)
			if ends(i) {
				want = 0
			}
			if w.Tick() != want {
				t.Errorf("%d workers: world %d is at tick %d, want %d", workers, i, w.Tick(), want)
			}
		}
		if ends = func(int) bool { return false }; true {
			if _, err := b.Run(1); err != nil {
				t.Error(err)
			}
		}
	}
}
