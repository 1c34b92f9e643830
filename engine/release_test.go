package engine_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestRelease: a fork that takes the memory of a released one is as a new one, in every bit, whatever happened in that one, and whoever else forks meanwhile.
func TestRelease(t *testing.T) {
	c := zooConfig()
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		submit(t, w, commands.Spawn(space.At(int32(round%4))))
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		state, err := w.Save(nil)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				draws := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
				for range 5 {
					aheadOf(t, w, state, draws)
				}
			})
		}
		all.Wait()
	}
}

// aheadOf compares some ticks of a fork with those of a world that was restored.
func aheadOf(t *testing.T, w *engine.World, state []byte, draws *rand.Rand) {
	f, err := w.Fork()
	if err != nil {
		t.Error(err)
		return
	}
	want, err := engine.Restore(zooConfig(), nil, state)
	if err != nil {
		t.Error(err)
		return
	}
	if f.Pending() != want.Pending() || f.Tick() != want.Tick() {
		t.Error("a fork begins with something else")
	}
	for range 1 + draws.IntN(4) {
		order := commands.Spawn(space.At(draws.Int32N(4)))
		if draws.IntN(3) == 0 {
			order = commands.SetField(space.At(draws.Int32N(4)), 0, draws.Float32())
		}
		for _, x := range []*engine.World{f, want} {
			if _, err := x.Submit(order); err != nil {
				t.Error(err)
			}
			if _, err := x.Step(); err != nil {
				t.Error(err)
			}
		}
		if f.Hash() != want.Hash() {
			t.Error("a fork goes on otherwise")
		}
	}
	f.Watch(func(*engine.Tick) { t.Error("a watcher of a released world is called") })
	f.Stop()
	if err := f.Release(); err != nil {
		t.Error(err)
	}
}

// TestReleased: a released world works no more, and says so; a world is released between ticks, without a recorder.
func TestReleased(t *testing.T) {
	w := forkable(t)
	f, err := w.Fork()
	if err != nil {
		t.Fatal(err)
	}
	f.Record(noRecord{})
	if err := f.Release(); err != engine.ErrRecorded {
		t.Errorf("with a recorder: %v", err)
	}
	f.Record(nil)
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, "was released") {
				t.Errorf("a tick of a released world: %q", text)
			}
		}()
		f.Step()
	}()
	if err := w.Renew(3, []fields.Initial{fields.Fill(4), {}, {}, {}}); err != nil {
		t.Fatal(err)
	}
	again, err := w.Fork()
	if err != nil || again == f || again.Reset(3) != nil || again.Column(0).Float32[0] != 4 {
		t.Errorf("a fork after Renew has other initial values: %v", err)
	}
	if got := testing.AllocsPerRun(100, func() {
		f, err := w.Fork()
		if err == nil {
			_, err = f.Step()
		}
		if err == nil {
			err = f.Release()
		}
		if err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations a fork, a tick and a release", got)
	}
}

type noRecord struct{}

// Record implements [engine.Recorder].
func (noRecord) Record(*engine.Tick) error { return nil }
