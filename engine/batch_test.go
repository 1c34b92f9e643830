package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// someWorlds are worlds of different seeds and sizes, each with a recorder that keeps
// its hashes.
func someWorlds(t testing.TB, n int) (worlds []*engine.World, hashes [][]uint64) {
	t.Helper()
	hashes = make([][]uint64, n)
	for i := range n {
		worlds = append(worlds, diffusing(t, engine.Config{
			Space: space.Square4{Rows: 3 + i%5, Cols: 7}, Seed: uint64(i),
			Recorder: recorder(func(k *engine.Tick) error {
				hashes[i] = append(hashes[i], k.Hash())
				return nil
			}),
		}))
	}
	return worlds, hashes
}

func TestBatchGivesTheSameBits(t *testing.T) {
	const worlds, ticks = 13, 6
	alone, want := someWorlds(t, worlds)
	for i, w := range alone {
		for k := range ticks {
			if k == 2 {
				submit(t, w, set(space.At(1, 1), 0, float32(i)))
			}
			step(t, w)
		}
	}
	for _, workers := range []int{1, 2, 3, 8, worlds, engine.MaxWorkers} {
		list, got := someWorlds(t, worlds)
		b, err := engine.NewBatch(list, workers)
		if err != nil {
			t.Fatal(err)
		}
		run(t, b, 2)
		for i, w := range b.Worlds() {
			submit(t, w, set(space.At(1, 1), 0, float32(i)))
		}
		if results := run(t, b, 1); len(results[4].Receipts) != 1 || results[4].Receipts[0].Float32() != 4 {
			t.Errorf("%d workers: the receipts of world 4 are %+v; want those of its command", workers, results[4].Receipts)
		}
		run(t, b, ticks-3)
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%d workers, world %d: hashes %x, alone %x", workers, i, got[i], want[i])
			}
		}
	}
}

func run(t testing.TB, b *engine.Batch, ticks int) []engine.Result {
	t.Helper()
	results, err := b.Run(ticks)
	if err != nil {
		t.Fatalf("Run(%d) = %v", ticks, err)
	}
	return results
}

// A world that fails stops by itself; the error names the first.
func TestBatchErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 8} {
		var worlds []*engine.World
		for i := range 9 {
			worlds = append(worlds, build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{propagator{
				engine.Spec{Name: "p", Incremental: engine.Fields(0)},
				func(c *engine.Context) error {
					if i%4 == 3 && c.Tick() == uint64(i) {
						return broken
					}
					return nil
				},
			}}}))
		}
		b, err := engine.NewBatch(worlds, workers)
		if err != nil {
			t.Fatal(err)
		}
		results, err := b.Run(8)
		first, ok := errors.AsType[*engine.BatchError](err)
		if !ok || first.Index != 3 || first.Failed != 2 || !errors.Is(err, broken) ||
			err.Error() != "world 3, the first of 2 that failed: engine: tick 3: p: broken" {
			t.Fatalf("%d workers: %v; want world 3, of 2", workers, err)
		}
		for i, w := range worlds {
			want := uint64(8)
			if i%4 == 3 {
				want = uint64(i) - 1
			}
			if w.Tick() != want || (results[i].Err != nil) != (i%4 == 3) {
				t.Errorf("%d workers, world %d: tick %d, %v; want tick %d", workers, i, w.Tick(), results[i].Err, want)
			}
		}
		if _, err := b.Run(0); err != nil {
			t.Errorf("no ticks after that give %v", err)
		}
	}
}

// TestBatchWatchers holds that a watcher which panics ends the ticks of its world
// alone, for any number of workers.
func TestBatchWatchers(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		var worlds []*engine.World
		for range 5 {
			worlds = append(worlds, build(t, engine.Config{Fields: cells(1)}))
		}
		stop := worlds[3].Watch(func(*engine.Tick) { panic("look") })
		b, err := engine.NewBatch(worlds, workers)
		if err != nil {
			t.Fatal(err)
		}
		results, err := b.Run(3)
		if err == nil {
			t.Fatalf("%d workers: no error", workers)
		}
		for i, r := range results {
			want, tick := "<nil>", uint64(3)
			if i == 3 {
				want, tick = "engine: tick 1: watcher: panic: look", 1
			}
			if fmt.Sprint(r.Err) != want || worlds[i].Tick() != tick {
				t.Errorf("%d workers, world %d: %v at tick %d, want %s at tick %d", workers, i, r.Err, worlds[i].Tick(), want, tick)
			}
		}
		stop()
		if results, _ = b.Run(2); results[3].Err != nil || worlds[3].Tick() != 3 {
			t.Errorf("%d workers: %v at tick %d without the watcher, want tick 3", workers, results[3].Err, worlds[3].Tick())
		}
	}
}

// TestBatchWithinItself holds that a watcher which runs the batch of its own world gets an
// error and does not wait for ever, and that an error which it gets from another batch hides
// no panic of its own.
func TestBatchWithinItself(t *testing.T) {
	worlds := []*engine.World{build(t, engine.Config{Fields: cells(1)}), build(t, engine.Config{Fields: cells(1)})}
	b, err := engine.NewBatch(worlds, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := engine.NewBatch(worlds[:1], 1)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	worlds[0].Watch(func(*engine.Tick) {
		calls++
		if _, err := b.Run(1); !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("Run within Run = %v, want %v", err, engine.ErrUnderWay)
		}
		if _, err := other.Run(1); !errors.Is(err, engine.ErrUnderWay) {
			t.Errorf("Run of another batch = %v, want %v", err, engine.ErrUnderWay)
		}
		if calls == 3 {
			panic("look")
		}
	})
	const want = "world 0: engine: tick 3: watcher: panic: look"
	if _, err = b.Run(5); fmt.Sprint(err) != want || calls != 3 {
		t.Errorf("Run = %v after %d calls, want %s after 3", err, calls, want)
	}
}

// A worker that waits does not keep its other worlds waiting. Two of the worlds are one
// worker's share, and the one waits for the other.
func TestBatchHelpsOut(t *testing.T) {
	done := make(chan bool)
	waits := func(do func()) *engine.World {
		return unchecked(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Incremental: engine.Fields(0)},
			func(*engine.Context) error { do(); return nil },
		}}})
	}
	b, err := engine.NewBatch([]*engine.World{
		waits(func() { <-done }), waits(func() { close(done) }), waits(func() {}), waits(func() {}),
	}, 2)
	if err != nil {
		t.Fatal(err)
	}
	run(t, b, 1)
	for i, w := range b.Worlds() {
		if w.Tick() != 1 {
			t.Errorf("world %d is at tick %d, want 1", i, w.Tick())
		}
	}
}

func TestNewBatchRefuses(t *testing.T) {
	worlds, _ := someWorlds(t, 3)
	for _, tt := range []struct {
		worlds  []*engine.World
		workers int
		want    string
	}{
		{worlds, 0, "engine: batch: workers must be 1 to 256, not 0"},
		{worlds, engine.MaxWorkers + 1, "engine: batch: workers must be 1 to 256, not 257"},
		{[]*engine.World{worlds[0], nil}, 1, "engine: batch: world 1 is nil"},
		{[]*engine.World{worlds[0], worlds[1], worlds[0]}, 1, "engine: batch: worlds 0 and 2 are the same"},
	} {
		if b, err := engine.NewBatch(tt.worlds, tt.workers); b != nil || err == nil || err.Error() != tt.want {
			t.Errorf("NewBatch = %v, %v; want %s", b, err, tt.want)
		}
	}
	b, err := engine.NewBatch(nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	if results := run(t, b, 3); len(results) != 0 {
		t.Errorf("no worlds give %d results", len(results))
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	var worlds []*engine.World
	for range 16 {
		worlds = append(worlds, diffusing(t, engine.Config{Space: space.Square4{Rows: 9, Cols: 9}}))
	}
	for _, workers := range []int{1, 2, 8} {
		b, err := engine.NewBatch(worlds, workers)
		if err != nil {
			t.Fatal(err)
		}
		run(t, b, 20)
		if got := testing.AllocsPerRun(50, func() { run(t, b, 2) }); got != 0 {
			t.Errorf("%d workers: %v allocations a call, want 0", workers, got)
		}
	}
}

// Two worlds at once, on two goroutines.
func ExampleBatch() {
	var worlds []*engine.World
	for seed := range uint64(2) {
		w, err := engine.New(engine.Config{Space: space.Ring{Length: 8}, Fields: cells(1), Seed: seed})
		if err != nil {
			fmt.Println(err)
			return
		}
		worlds = append(worlds, w)
	}
	batch, err := engine.NewBatch(worlds, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := worlds[1].Submit(commands.SetField(space.At(3), 0, 7)); err != nil {
		fmt.Println(err)
		return
	}
	results, err := batch.Run(1)
	for i, w := range batch.Worlds() {
		fmt.Println(i, w.Tick(), w.Value(0, 3), len(results[i].Receipts))
	}
	fmt.Println(err)
	// Output:
	// 0 1 0 0
	// 1 1 7 1
	// <nil>
}

// BenchmarkBatch is a thousand small worlds, on one core and on two.
func BenchmarkBatch(b *testing.B) {
	const count, side = 1000, 32
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			var worlds []*engine.World
			for i := range count {
				worlds = append(worlds, diffusing(b, engine.Config{Space: space.Square4{Rows: side, Cols: side}, Seed: uint64(i)}))
			}
			batch, err := engine.NewBatch(worlds, workers)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				run(b, batch, 1)
			}
			perSecond(b, count, "ticks/s")
		})
	}
}
