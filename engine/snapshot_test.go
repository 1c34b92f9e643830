package engine_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Snapshots held for 100 ticks, read by others meanwhile, stay what they were.
func TestSnapshotsStay(t *testing.T) {
	const held = 100
	w := busy(t, &saboteur{})
	type taken struct {
		*engine.Snapshot
		hash uint64
	}
	var list []taken
	var wait sync.WaitGroup
	for range held {
		step(t, w, busyInputs(w)...)
		s := taken{w.Snapshot(), w.Hash()}
		list = append(list, s)
		wait.Go(func() {
			for range 5 {
				if got := s.Hash(); got != s.hash {
					t.Errorf("snapshot hash %016x, want %016x", got, s.hash)
				}
			}
		})
	}
	wait.Wait()
	for i, s := range list {
		if got := s.Hash(); got != s.hash {
			t.Errorf("snapshot of tick %d: hash %016x, want %016x", i+1, got, s.hash)
		}
		s.Release()
		s.Release() // the second does nothing
	}
	equal(t, w, replayed(t, w.Tick()), busyInputs(w)...)
}

// replayed is a busy world that never had a snapshot, at a tick.
func replayed(t *testing.T, tick uint64) *engine.World {
	w := busy(t, &saboteur{})
	for w.Tick() < tick {
		step(t, w, busyInputs(w)...)
	}
	return w
}

func TestSnapshotsReleasedElsewhere(t *testing.T) {
	w, calm := busy(t, &saboteur{}), busy(t, &saboteur{})
	var wait sync.WaitGroup
	for range 50 {
		equal(t, w, calm, busyInputs(w)...)
		s, hash := w.Snapshot(), w.Hash()
		wait.Go(func() {
			defer s.Release()
			if got := s.Hash(); got != hash {
				t.Errorf("snapshot hash %016x, want %016x", got, hash)
			}
		})
	}
	wait.Wait()
}

// A snapshot that the recorder took of a tick that then failed keeps its hash, too.
func TestSnapshotOfAFailedTick(t *testing.T) {
	var s *engine.Snapshot
	var hash uint64
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{add("add", 1, 1)}, Recorder: recorder(func(k *engine.Tick) error {
		s, hash = k.Snapshot(), k.Hash()
		return errors.New("disk full")
	})})
	before := w.Hash()
	submit(t, w, set(space.At(1), 0, 5))
	if _, err := w.Step(); err == nil {
		t.Fatal("Step succeeds, want the recorder's error")
	}
	if got := s.Hash(); got != hash {
		t.Errorf("snapshot hash %016x, want %016x", got, hash)
	}
	w.Record(nil)
	if got := w.Hash(); got != before {
		t.Errorf("world hash %016x, want %016x", got, before)
	}
	step(t, w)
	wantValues(t, w, 0, 0, 0, 0, 0)
}

func TestSnapshotReads(t *testing.T) {
	w := build(t, engine.Config{Space: space.Line{Length: 2}, Fields: []fields.Def{
		{Name: "heat", Initial: fields.Fill(20)},
		{Name: "flow", Type: fields.Vector(2), Element: fields.Fixed, Initial: fields.Values([]float64{0, 0.5, -1, 2})},
	}})
	n := w.Snapshot()
	defer n.Release()
	if n.Len(1) != 4 || n.At(1, 3) != 2 || n.Column(1).Fixed[3] != 1<<17 {
		t.Errorf("flow: %d elements, the last %v, want 4 and 2", n.Len(1), n.At(1, 3))
	}
	if got := n.AppendFloat32([]float32{7}, 0); len(got) != 3 || got[0] != 7 || got[2] != 20 {
		t.Errorf("AppendFloat32 = %v, want [7 20 20]", got)
	}
	copied := n.Column(0)
	copied.Float32[0] = 9
	if n.At(0, 0) != 20 {
		t.Errorf("writing to a copied column changes the snapshot to %v", n.At(0, 0))
	}
	for id := range n.Defs() {
		if got, want := n.FieldHash(fields.ID(id)), w.FieldHash(fields.ID(id)); got != want {
			t.Errorf("FieldHash(%d) = %016x, want the world's %016x", id, got, want)
		}
	}
	if got, want := n.Bytes(), 2*4+4*8+8; got != want { // heat, flow, world.rest
		t.Errorf("Bytes = %d, want %d", got, want)
	}
	if n.Hash() != w.Hash() {
		t.Errorf("Hash = %016x, want the world's %016x", n.Hash(), w.Hash())
	}
}

func TestTickTellsTheRecorder(t *testing.T) {
	var hashes, sums []uint64
	w := zoo(t)
	w.Record(recorder(func(k *engine.Tick) error {
		if k.Number != w.Tick()+1 || len(k.Inputs) != 2 || len(k.Receipts) != 2 {
			t.Errorf("tick %d with %d inputs and %d receipts, want %d, 2, 2", k.Number, len(k.Inputs), len(k.Receipts), w.Tick()+1)
		}
		s := k.Snapshot()
		defer s.Release()
		hashes, sums = append(hashes, k.Hash(), s.Hash()), append(sums, k.FieldHash(zooHeat), s.FieldHash(zooHeat))
		return nil
	}))
	for range 3 {
		step(t, w, set(space.At(0), zooHeat, float32(w.Tick())), set(space.At(9), zooHeat, 1))
		for i := len(hashes) - 2; i < len(hashes); i++ {
			if hashes[i] != w.Hash() || sums[i] != w.FieldHash(zooHeat) {
				t.Errorf("tick %d: recorder saw %016x, %016x, want %016x, %016x", w.Tick(), hashes[i], sums[i], w.Hash(), w.FieldHash(zooHeat))
			}
		}
	}
}

func TestReleasedBuffersAreReused(t *testing.T) {
	const bytes = 4 << 16
	w := diffusing(t, engine.Config{Space: space.Ring{Length: bytes / 4}})
	run := func() {
		s := w.Snapshot()
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	run()
	run()
	if got := allocated(run); got > bytes/4 {
		t.Errorf("a tick with a snapshot allocates %d bytes, want less than a column of %d", got, bytes)
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestForgottenSnapshotsAreCollected(t *testing.T) {
	const bytes = 4 << 18
	w := diffusing(t, engine.Config{Space: space.Ring{Length: bytes / 4}})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range 50 {
		w.Snapshot()
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+8*bytes {
		t.Errorf("heap grew from %d to %d bytes in 50 ticks, want at most 8 columns of %d", before, after, bytes)
	}
	runtime.KeepAlive(w)
}

// diffusing is a world of one field that a propagator rewrites in full every tick;
// it runs in parallel if there are workers. Its parts are not checked.
func diffusing(t testing.TB, c engine.Config) *engine.World {
	t.Helper()
	c.Fields = append(cells(1), c.Fields...)
	c.Propagators = append([]engine.Propagator{smooth{}}, c.Propagators...)
	w, err := engine.New(c)
	if err != nil {
		t.Fatalf("New = %v", err)
	}
	return w
}

// smooth moves every cell of field 0 towards the mean of its neighbours, and adds
// a little noise.
type smooth struct{}

func (smooth) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "smooth", Prev: engine.Fields(0), Full: engine.Fields(0), Parallel: true, Scratch: 8}
}

func (smooth) Step(c *engine.Context) error {
	prev, next, noise := c.Prev(0), c.Next(0), c.Bulk(0)
	for _, s := range c.Spans() {
		for k := range s.Count {
			i := s.First + k*s.Stride
			sum := float32(0)
			for _, d := range s.Pattern.Offsets {
				sum += prev[i+d]
			}
			n := float32(max(1, len(s.Pattern.Offsets)))
			next[i] = prev[i]/2 + sum/n/2 + noise.Float32(uint64(i))
		}
	}
	return nil
}
