package engine_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestForkInto holds that a world which is made a fork again and again, of whichever of its
// kin, goes on as that one does, whatever it did before, held snapshots included.
func TestForkInto(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	worlds := []*engine.World{busy(t, &saboteur{})}
	worlds[0].Record(nil)
	twins := []*engine.World{busy(t, &saboteur{})} // stepped alike, and never forked
	for range 3 {
		step(t, worlds[0], busyInputs(worlds[0])...)
		step(t, twins[0], busyInputs(twins[0])...)
	}
	for range 3 {
		worlds, twins = append(worlds, fork(t, worlds[0])), append(twins, replica(t, twins[0]))
	}
	var held []*engine.Snapshot
	var hashes []uint64
	for round := range 200 {
		i, k := r.IntN(len(worlds)), r.IntN(len(worlds))
		switch r.IntN(4) {
		case 0:
			if i != k {
				submit(t, worlds[k], set(space.At(1), zooHeat, 99)) // dropped
			}
			if err := worlds[i].ForkInto(worlds[k]); err != nil {
				t.Fatal(err)
			}
			twins[k] = replica(t, twins[i])
		case 1:
			held = append(held, worlds[i].Snapshot())
			hashes = append(hashes, worlds[i].Hash())
		default:
			inputs := busyInputs(worlds[i])[:r.IntN(11)]
			step(t, worlds[i], inputs...)
			step(t, twins[i], inputs...)
		}
		for i, w := range worlds {
			if w.Hash() != twins[i].Hash() || w.Tick() != twins[i].Tick() || w.Population() != twins[i].Population() {
				t.Fatalf("round %d: world %d is at tick %d with hash %016x, want %d, %016x", round, i, w.Tick(), w.Hash(), twins[i].Tick(), twins[i].Hash())
			}
			if !bytes.Equal(saved(t, w), saved(t, twins[i])) {
				t.Fatalf("round %d: world %d is saved otherwise", round, i)
			}
		}
		if len(held) > 5 {
			k := r.IntN(len(held))
			held[k].Release()
			held, hashes = slices.Delete(held, k, k+1), slices.Delete(hashes, k, k+1)
		}
		for i, s := range held {
			if s.Hash() != hashes[i] {
				t.Fatalf("round %d: a snapshot has changed", round)
			}
		}
	}
}

// replica is a world in the same state that shares no memory.
func replica(t *testing.T, w *engine.World) *engine.World {
	t.Helper()
	c := busyConfig(&saboteur{})
	c.Paranoid = true
	var rest uint64
	column := w.Column(fields.ID(len(w.Defs()) - 1))
	rest = column.Uint64[0]
	again, err := engine.RestoreTick(c, nil, saved(t, w), rest)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func saved(t *testing.T, w *engine.World) []byte {
	t.Helper()
	b, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestForkIntoAtOnce holds that forks go on in goroutines of their own while the world that
// they come from does.
func TestForkIntoAtOnce(t *testing.T) {
	c := lookAheadConfig()
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	forks := []*engine.World{fork(t, w), fork(t, w), fork(t, w)}
	for range 20 {
		for _, f := range forks {
			if err := w.ForkInto(f); err != nil {
				t.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		for i, f := range append(slices.Clone(forks), w) {
			wait.Go(func() {
				for range i + 1 {
					if _, err := f.Submit(commands.SetField(space.At(3, int32(i)), 0, float32(i))); err != nil {
						t.Error(err)
					}
					if _, err := f.Step(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		again := fork(t, w)
		step(t, again)
		before := w.Hash()
		step(t, forks[0])
		if w.Hash() != before {
			t.Fatal("a fork writes to the world that it came from")
		}
	}
}

// TestForkIntoKin holds that only kin is forked into, and only between ticks.
func TestForkIntoKin(t *testing.T) {
	w := busy(t, &saboteur{})
	f := fork(t, w)
	other := busy(t, &saboteur{})
	w.Record(nil)
	other.Record(nil)
	step(t, other)
	before := stateOf(other)
	if err := w.ForkInto(other); err != engine.ErrNotKin {
		t.Errorf("ForkInto = %v, want %v", err, engine.ErrNotKin)
	}
	wantSame(t, other, before)
	if err := w.ForkInto(w); err != nil {
		t.Errorf("ForkInto itself = %v", err)
	}
	if err := fork(t, f).ForkInto(w); err != nil {
		t.Errorf("ForkInto = %v, from the fork of a fork", err)
	}
	w.Record(recorder(func(*engine.Tick) error {
		for _, err := range []error{w.ForkInto(f), f.ForkInto(w), w.Load(nil, nil)} {
			if !errors.Is(err, engine.ErrUnderWay) {
				t.Errorf("within a tick: %v, want %v", err, engine.ErrUnderWay)
			}
		}
		return nil
	}))
	step(t, w)
}

// TestMoveRecorded holds that a recorded world is not put into another state: its recorder
// would go on, and the recording could not be replayed.
func TestMoveRecorded(t *testing.T) {
	w := busy(t, &saboteur{})
	f := fork(t, w)
	step(t, f)
	state := saved(t, f)
	w.Record(&holder{t: t})
	before := stateOf(w)
	for what, err := range map[string]error{"Load": w.Load(nil, state), "ForkInto": f.ForkInto(w)} {
		if !errors.Is(err, engine.ErrRecorded) {
			t.Errorf("%s = %v, want %v", what, err, engine.ErrRecorded)
		}
	}
	wantSame(t, w, before)
	w.Record(nil)
	if err := errors.Join(w.Load(nil, state), f.ForkInto(w)); err != nil || w.Tick() != 1 {
		t.Errorf("without a recorder: %v, at tick %d; want tick 1", err, w.Tick())
	}
}

// TestSnapshotWithinATick holds that no snapshot is taken of half a tick.
func TestSnapshotWithinATick(t *testing.T) {
	var w *engine.World
	half := false
	w = build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "p", Incremental: engine.Fields(0)},
		func(*engine.Context) error {
			if half {
				w.Snapshot()
			}
			return nil
		},
	}}})
	half = true
	if _, err := w.Step(); !errors.Is(err, engine.ErrUnderWay) || w.Tick() != 0 {
		t.Errorf("Step = %v at tick %d, want %v", err, w.Tick(), engine.ErrUnderWay)
	}
	half = false
	step(t, w)
	w.Snapshot().Release()
}

// TestForkIntoWakes holds that a world which has halted goes on as a fork.
func TestForkIntoWakes(t *testing.T) {
	s := &saboteur{stage: "late"}
	w := busy(t, s)
	f := fork(t, w)
	s.how = func() error { return errPlanned }
	for range engine.DefaultFailures {
		f.Step()
	}
	s.how = nil
	if _, err := f.Step(); !errors.Is(err, engine.ErrHalted) {
		t.Fatalf("Step = %v, want %v", err, engine.ErrHalted)
	}
	if err := w.ForkInto(f); err != nil {
		t.Fatal(err)
	}
	s.how = func() error { return errPlanned }
	for i := range engine.DefaultFailures { // it begins to count anew
		if _, err := f.Step(); errors.Is(err, engine.ErrHalted) {
			t.Fatalf("halted before failure %d of %d", i+1, engine.DefaultFailures)
		}
	}
	s.how = nil
	if err := w.ForkInto(f); err != nil {
		t.Fatal(err)
	}
	equal(t, f, w, busyInputs(w)...)
}

// TestLoad holds that a world is put into any state that fits it, and stays as it is if the
// state does not.
func TestLoad(t *testing.T) {
	w := busy(t, &saboteur{})
	w.Record(nil)
	var states [][]byte
	var hashes []uint64
	for range 12 {
		states, hashes = append(states, saved(t, w)), append(hashes, fork(t, w).Hash())
		step(t, w, busyInputs(w)...)
	}
	watched := 0
	w.Watch(func(*engine.Tick) { watched++ })
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(states)) {
		now := stateOf(w)
		for _, bad := range [][]byte{nil, states[i][:len(states[i])-1], append(slices.Clone(states[i]), 0)} {
			if _, ok := errors.AsType[*engine.StateError](w.Load(nil, bad)); !ok {
				t.Fatalf("Load = %v, want a StateError", w.Load(nil, bad))
			}
			wantSame(t, w, now)
		}
		if err := w.Load(nil, states[i]); err != nil {
			t.Fatal(err)
		}
		if w.Tick() != uint64(i) || !bytes.Equal(saved(t, w), states[i]) {
			t.Fatalf("loaded at tick %d, saved otherwise", w.Tick())
		}
		if i+1 < len(hashes) {
			step(t, w, busyInputs(w)...)
			if w.Hash() != hashes[i+1] {
				t.Errorf("from tick %d: hash %016x, want %016x", i, w.Hash(), hashes[i+1])
			}
		}
	}
	if watched != len(states)-1 {
		t.Errorf("watched %d ticks, want %d", watched, len(states)-1)
	}
}

// lookAheadConfig is a world of the size of a game's: heat, walls, and some hundred who walk.
func lookAheadConfig() engine.Config {
	const side, people = 64, 200
	_, _, cell := engine.EntityColumns(3)
	blur := propagator{
		engine.Spec{Name: "blur", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true},
		func(c *engine.Context) error {
			prev, next := c.Prev(0), c.Next(0)
			for i := range next {
				next[i] = (prev[i] + prev[(i+1)%len(prev)]) / 2
			}
			return nil
		},
	}
	walk := system{engine.Spec{Name: "walk", Incremental: engine.Fields(2, cell)}, func(c *engine.SystemContext) error {
		at, hunger := c.NextColumn(cell).Int32, c.Next(2)
		for slot, id := range c.Entities().ID {
			if id != 0 {
				at[slot] = (at[slot] + 1) % (side * side)
				hunger[slot]++
			}
		}
		return nil
	}}
	return engine.Config{
		Space: space.Square4{Rows: side, Cols: side}, Capacity: people,
		Fields: []fields.Def{
			{Name: "heat", Initial: fields.Fill(2)}, {Name: "wall", Mutability: fields.Static},
			{Name: "hunger", Domain: fields.Entities},
		},
		Propagators: []engine.Propagator{blur}, Systems: []engine.System{walk},
	}
}

// lookAhead is such a world with its people in it, and with events that wait.
func lookAhead(t testing.TB) *engine.World {
	t.Helper()
	w, err := engine.New(lookAheadConfig())
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(200) {
		submit(t, w, commands.Spawn(space.At(i%64, i/64)))
	}
	for i := range uint64(10) {
		submit(t, w, commands.Later(1000+i, commands.SetField(space.At(1, 1), 0, 1)))
	}
	step(t, w)
	return w
}

// TestForkIntoAllocatesNothing holds for a look-ahead that goes back again and again.
func TestForkIntoAllocatesNothing(t *testing.T) {
	w := lookAhead(t)
	f := fork(t, w)
	look := func() {
		if err := w.ForkInto(f); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			step(t, f, set(space.At(1, 2), 0, 3))
		}
	}
	for range 5 {
		look()
		step(t, w)
	}
	if n := testing.AllocsPerRun(50, look); n != 0 {
		t.Errorf("%v allocations a look, want none", n)
	}
	if n := testing.AllocsPerRun(50, func() { look(); step(t, w) }); n != 0 {
		t.Errorf("%v allocations a look and a tick, want none", n)
	}
}

// BenchmarkLookAhead is what a program pays that looks 20 ticks ahead on each of 100 ways.
func BenchmarkLookAhead(b *testing.B) {
	const ways, ticks = 100, 20
	run := func(b *testing.B, next func(w *engine.World) *engine.World) {
		w := lookAhead(b)
		b.ReportAllocs()
		for b.Loop() {
			for range ways {
				if err := next(w).Run(ticks); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("Fork", func(b *testing.B) { run(b, func(w *engine.World) *engine.World { return fork(b, w) }) })
	b.Run("ForkInto", func(b *testing.B) {
		var f *engine.World
		run(b, func(w *engine.World) *engine.World {
			if f == nil {
				f = fork(b, w)
			} else if err := w.ForkInto(f); err != nil {
				b.Fatal(err)
			}
			return f
		})
	})
	b.Run("ForkIntoOnly", func(b *testing.B) {
		w := lookAhead(b)
		f := fork(b, w)
		b.ReportAllocs()
		for b.Loop() {
			if err := w.ForkInto(f); err != nil {
				b.Fatal(err)
			}
		}
	})
}
