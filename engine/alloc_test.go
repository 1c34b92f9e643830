package engine_test

import (
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// wantAllocs checks how often a tick of a world that has run in allocates.
func wantAllocs(t *testing.T, want float64, w *engine.World, inputs func()) {
	t.Helper()
	tick := func() {
		if inputs != nil {
			inputs()
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		tick()
	}
	if got := testing.AllocsPerRun(200, tick); got != want {
		t.Errorf("%v allocations a tick, want %v", got, want)
	}
}

// unchecked is build without Paranoid, which allocates.
func unchecked(t testing.TB, c engine.Config) *engine.World {
	t.Helper()
	if c.Space == nil {
		c.Space = space.Ring{Length: 64}
	}
	w, err := engine.New(c)
	if err != nil {
		t.Fatalf("New = %v", err)
	}
	return w
}

func TestNoAllocations(t *testing.T) {
	t.Run("empty", func(t *testing.T) { wantAllocs(t, 0, unchecked(t, engine.Config{}), nil) })
	t.Run("diffusion", func(t *testing.T) {
		wantAllocs(t, 0, diffusing(t, engine.Config{Space: space.Square4{Rows: 9, Cols: 9}}), nil)
	})
	t.Run("workers", func(t *testing.T) {
		wantAllocs(t, 0, diffusing(t, engine.Config{Space: space.Square4{Rows: 9, Cols: 9}, Workers: 4}), nil)
	})
	t.Run("recorded", func(t *testing.T) {
		sum := uint64(0)
		w := diffusing(t, engine.Config{Space: space.Ring{Length: 9}, Recorder: recorder(func(k *engine.Tick) error {
			sum += k.Hash() + k.FieldHash(0)
			return nil
		})})
		wantAllocs(t, 0, w, nil)
	})
	t.Run("commands", func(t *testing.T) {
		w := unchecked(t, zooConfig())
		wantAllocs(t, 0, w, submitter(t, w, zooInputs()))
	})
	t.Run("population", func(t *testing.T) {
		w := populated(t, rng.ChaCha8, 200)
		wantAllocs(t, 0, w, submitter(t, w, []commands.Command{
			commands.Spawn(space.At(1), commands.FieldValue{Field: 0, Value: 4}), commands.Move(1<<20|2, space.At(5)), commands.Despawn(1<<20 | 3),
		}))
	})
}

// zooInputs are commands of every kind, applied and refused.
func zooInputs() []commands.Command {
	return []commands.Command{
		commands.Spawn(space.At(2), commands.FieldValue{Field: zooHunger, Value: 4}), commands.Spawn(space.At(2)), commands.Spawn(space.At(99)),
		set(space.At(0), zooHeat, 1), set(space.At(1, 1), zooFlow, 2), set(space.At(1), zooWall, 3), set(space.At(2), zooCount, 7),
		set(commands.EntityCoord(zooFirst), zooHunger, 3), commands.Move(zooFirst, space.At(3)), commands.Despawn(zooFirst),
		commands.SetParameter(zooRate, 4), commands.SetParameterBatch(commands.Parameter{Key: zooGain, Value: 1}, commands.Parameter{Key: 77}),
		commands.Custom(zooHandler, []byte("xyz")).From(4, 2), commands.Custom(zooRefuser, []byte("xyz")), commands.Custom(88, nil),
	}
}

func submitter(t testing.TB, w *engine.World, list []commands.Command) func() {
	return func() {
		for i := range list {
			if _, err := w.Submit(list[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A drawer is a system that draws in every way there is, writes entity columns,
// looks around and schedules events.
type drawer struct{ seen []int32 }

func (*drawer) Spec(*space.Lattice) engine.Spec {
	_, _, cell := engine.EntityColumns(1)
	return engine.Spec{Name: "drawer", Incremental: engine.Fields(0, cell)}
}

func (d *drawer) Update(c *engine.SystemContext) error {
	_, _, cell := engine.EntityColumns(1)
	at, energy, bulk, cells := c.NextColumn(cell).Int32, c.Next(0), c.EntityBulk(7), c.Bulk(8)
	for slot, id := range c.Entities().ID {
		if id == 0 {
			continue
		}
		d.seen = c.AppendAt(d.seen[:0], int(at[slot]))
		energy[slot] = float32(len(d.seen)) + bulk.Float32(id) + cells.Float32(uint64(at[slot]))
		if slot < drawn {
			energy[slot] += c.Stream(id).Float32()
		}
		at[slot] = (at[slot] + int32(c.Stream(0).Below(3))) % int32(c.Lattice().Cells())
	}
	_, err := c.Schedule(c.Tick()+3, commands.SetField(commands.EntityCoord(1<<20|1), 0, 2))
	return err
}

const drawn = 10 // entities that have a stream of their own

// populated is a world with one attribute of entities, a drawer, and n entities.
func populated(t testing.TB, g rng.Generator, n int) *engine.World {
	w := unchecked(t, engine.Config{
		Generator: g, Capacity: n + n/8, Fields: []fields.Def{{Name: "energy", Domain: fields.Entities}}, Systems: []engine.System{&drawer{}},
	})
	for i := range n {
		submit(t, w, commands.Spawn(space.At(int32(i%w.Lattice().Cells()))))
	}
	applied(t, w)
	return w
}

// With chacha20 a tick allocates once for each stream that it opens.
func TestChaCha20AllocatesOncePerStream(t *testing.T) {
	wantAllocs(t, drawn+1, populated(t, rng.ChaCha20, 200), nil)
}

// While a snapshot is held, commands copy each field once; afterwards nothing is allocated.
func TestNoAllocationsWhileASnapshotIsHeld(t *testing.T) {
	w := unchecked(t, zooConfig())
	inputs := submitter(t, w, zooInputs())
	for range 3 {
		inputs()
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	s := w.Snapshot()
	hash := s.Hash()
	wantAllocs(t, 0, w, inputs)
	if got := s.Hash(); got != hash {
		t.Errorf("snapshot hash %016x, want %016x", got, hash)
	}
}
