package engine_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Fields and parameters of a zoo, the world with one of everything.
const (
	zooHeat, zooFlow, zooWall, zooKind, zooCount, zooHunger = 0, 1, 2, 3, 4, 5

	zooRate, zooGain = 10, 20

	zooHandler, zooRefuser = 1, 2
)

// zoo is a world on a ring of 4 cells with room for 2 entities. One lives already,
// in slot 0: its id is zooFirst.
func zoo(t testing.TB, systems ...engine.System) *engine.World {
	t.Helper()
	w := build(t, zooConfig(systems...))
	applied(t, w, commands.Spawn(space.At(1)))
	return w
}

const zooFirst = 1<<20 | 1

func zooConfig(systems ...engine.System) engine.Config {
	return engine.Config{
		Space: space.Ring{Length: 4}, Capacity: 2, Seed: 99, Systems: systems,
		Fields: []fields.Def{
			zooHeat:   {Name: "heat"},
			zooFlow:   {Name: "flow", Type: fields.Vector(2)},
			zooWall:   {Name: "wall", Mutability: fields.Static},
			zooKind:   {Name: "kind", Type: fields.Categorical(3)},
			zooCount:  {Name: "count", Element: fields.Int32, Mutability: fields.Sparse},
			zooHunger: {Name: "hunger", Domain: fields.Entities, Initial: fields.Fill(1)},
		},
		Parameters: []engine.Parameter{{Key: zooRate, Name: "rate", Value: 1}, {Key: zooGain, Name: "gain", Value: 2}},
		Handlers:   []engine.Handler{handler{zooHandler, zooHandle}, handler{zooRefuser, zooRefuse}},
	}
}

// zooHandle does a little of everything that a handler may.
func zooHandle(c *engine.HandlerContext, data []byte) commands.Reason {
	if len(data) == 0 {
		return commands.BadValue
	}
	c.Set(zooHeat, 0, c.Get(zooHeat, 0)+float64(data[0]))
	c.Apply(commands.SetParameter(zooRate, c.Get(zooHeat, 0)))
	c.Apply(commands.Move(zooFirst, space.At(int32(c.Stream(0).Below(4)))))
	_, _ = c.Schedule(c.Tick()+2, commands.SetField(space.At(3), zooHeat, 3))
	return commands.Applied
}

// Made once, since commands with data allocate.
var (
	refusedSpawn = commands.Spawn(space.At(2), commands.FieldValue{Field: zooHunger, Value: 8})
	refusedBatch = commands.SetParameterBatch(commands.Parameter{Key: zooGain, Value: 7})
)

// zooRefuse does the same and more, and then refuses.
func zooRefuse(c *engine.HandlerContext, data []byte) commands.Reason {
	zooHandle(c, data)
	c.Apply(refusedSpawn)
	c.Apply(commands.SetField(space.At(0), zooCount, 4))
	c.Apply(refusedBatch)
	c.Apply(commands.Despawn(zooFirst))
	return commands.CapacityFull
}

func set(at space.Coord, field uint32, v float32) commands.Command {
	return commands.SetField(at, field, v)
}

func TestRefusals(t *testing.T) {
	nan, inf := float32(math.NaN()), math.Inf(1)
	first := commands.EntityCoord(zooFirst)
	expired := set(space.At(0), zooHeat, 1)
	expired.Expires = 1
	for _, tt := range []struct {
		name    string
		command commands.Command
		want    commands.Reason
	}{
		{"expired", expired, commands.Expired},
		{"move nobody", commands.Move(77, space.At(0)), commands.UnknownEntity},
		{"move entity 0", commands.Move(0, space.At(0)), commands.UnknownEntity},
		{"move away", commands.Move(zooFirst, space.At(4)), commands.OutsideSpace},
		{"move in another dimension", commands.Move(zooFirst, space.At(0, 0)), commands.OutsideSpace},
		{"despawn nobody", commands.Despawn(77), commands.UnknownEntity},
		{"spawn outside", commands.Spawn(space.At(-1)), commands.OutsideSpace},
		{"spawn with an unknown field", commands.Spawn(space.At(0), commands.FieldValue{Field: 77}), commands.UnknownField},
		{"spawn with a field of cells", commands.Spawn(space.At(0), commands.FieldValue{Field: zooHeat}), commands.UnknownField},
		{"spawn with entity.id", commands.Spawn(space.At(0), commands.FieldValue{Field: 6}), commands.UnknownField},
		{"spawn with NaN", commands.Spawn(space.At(0), commands.FieldValue{Field: zooHunger, Value: nan}), commands.NotFinite},
		{"spawn of half a kind", commands.Spawn(space.At(0), commands.FieldValue{Field: 7, Value: 0.5}), commands.BadValue},
		{"set an unknown field", set(space.At(0), 77, 1), commands.UnknownField},
		{"set an engine's column", set(first, 6, 1), commands.UnknownField},
		{"set a static field", set(space.At(0), zooWall, 1), commands.StaticField},
		{"set outside", set(space.At(4), zooHeat, 1), commands.OutsideSpace},
		{"set without a coordinate", set(space.Coord{}, zooHeat, 1), commands.OutsideSpace},
		{"set a vector without a component", set(space.Coord{}, zooFlow, 1), commands.OutsideSpace},
		{"set a component there is not", set(space.At(0, 2), zooFlow, 1), commands.OutsideSpace},
		{"set NaN", set(space.At(0), zooHeat, nan), commands.NotFinite},
		{"set infinity", set(space.At(0), zooHeat, float32(inf)), commands.NotFinite},
		{"set a category there is not", set(space.At(0), zooKind, 3), commands.BadValue},
		{"set half an int32", set(space.At(0), zooCount, 0.5), commands.BadValue},
		{"set too large an int32", set(space.At(0), zooCount, 1e10), commands.BadValue},
		{"set a field of cells for an entity", set(first, zooHeat, 1), commands.OutsideSpace},
		{"set a vector of cells for an entity", set(first, zooFlow, 1), commands.OutsideSpace},
		{"set nobody's attribute", set(commands.EntityCoord(77), zooHunger, 1), commands.UnknownEntity},
		{"set an attribute by cell", set(space.At(1), zooHunger, 1), commands.UnknownEntity},
		{"unknown parameter", commands.SetParameter(11, 1), commands.UnknownParameter},
		{"parameter NaN", commands.SetParameter(zooRate, math.NaN()), commands.NotFinite},
		{"batch with an unknown parameter", commands.SetParameterBatch(commands.Parameter{Key: zooRate, Value: 5}, commands.Parameter{Key: 11}), commands.UnknownParameter},
		{"batch with infinity", commands.SetParameterBatch(commands.Parameter{Key: zooRate, Value: 5}, commands.Parameter{Key: zooGain, Value: inf}), commands.NotFinite},
		{"custom without a handler", commands.Custom(3, nil), commands.Unsupported},
		{"custom refused by its handler", commands.Custom(zooHandler, nil), commands.BadValue},
		{"custom refused after much work", commands.Custom(zooRefuser, []byte{1}), commands.CapacityFull},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := zoo(t)
			before := stateOf(w)
			r := step(t, w, tt.command)[0]
			if r.Reason != tt.want || r.Made != 0 {
				t.Errorf("%v (made %d), want %v", r.Reason, r.Made, tt.want)
			}
			wantSame(t, w, before)
			if w.Pending() != 0 {
				t.Errorf("%d events pending, want 0", w.Pending())
			}
		})
	}
}

func TestCapacityFull(t *testing.T) {
	w := zoo(t)
	receipts := step(t, w, commands.Spawn(space.At(0)), commands.Spawn(space.At(0)))
	if receipts[0].Reason != commands.Applied || receipts[1].Reason != commands.CapacityFull {
		t.Errorf("spawns: %v, %v, want applied, capacity full", receipts[0].Reason, receipts[1].Reason)
	}
}

func TestEveryKindIsApplied(t *testing.T) {
	w := zoo(t)
	applied(t, w,
		commands.Spawn(space.At(2), commands.FieldValue{Field: zooHunger, Value: 4}),
		commands.Move(zooFirst, space.At(3)),
		set(space.At(1), zooHeat, 5),
		set(commands.EntityCoord(zooFirst), zooHunger, 6),
		set(space.At(1), zooKind, 2),
		set(space.At(2), zooCount, -9),
		commands.SetParameter(zooRate, 3),
		commands.SetParameterBatch(commands.Parameter{Key: zooGain, Value: 4}, commands.Parameter{Key: zooGain, Value: 5}),
	)
	wantValues(t, w, zooHeat, 0, 5, 0, 0)
	wantValues(t, w, zooKind, 0, 2, 0, 0)
	wantValues(t, w, zooCount, 0, 0, -9, 0)
	wantValues(t, w, zooHunger, 6, 4)
	wantValues(t, w, 8, 3, 2)
	for _, want := range []commands.Parameter{{Key: zooRate, Value: 3}, {Key: zooGain, Value: 5}} {
		if got, _ := w.Parameter(want.Key); got != want.Value {
			t.Errorf("parameter %d = %v, want %v", want.Key, got, want.Value)
		}
	}
	applied(t, w, commands.Custom(zooHandler, []byte{200}))
	wantValues(t, w, zooHeat, 200, 5, 0, 0)
	if got, _ := w.Parameter(zooRate); got != 200 || w.Pending() != 1 {
		t.Errorf("rate %v, %d events, want 200, 1", got, w.Pending())
	}
	applied(t, w, commands.Despawn(zooFirst))
	wantValues(t, w, zooHunger, 1, 4)
	step(t, w)
	wantValues(t, w, zooHeat, 200, 5, 0, 3)
}

// What cannot be encoded is refused at once: hashing it would have to fail.
func TestSubmitRefusesWhatNoFrameCanHold(t *testing.T) {
	w := zoo(t)
	half := commands.Spawn(space.At(0), commands.FieldValue{})
	half.Data = half.Data[:5]
	odd := commands.SetParameterBatch(commands.Parameter{})
	odd.Data = odd.Data[:8]
	for _, tt := range []struct {
		name    string
		command commands.Command
		want    commands.Reason
	}{
		{"unknown kind", commands.Command{Kind: 7}, commands.Unsupported},
		{"half an attribute", half, commands.BadValue},
		{"half a parameter", odd, commands.BadValue},
		{"too large", commands.Custom(zooHandler, make([]byte, commands.MaxPayload-7)), commands.BadValue},
	} {
		if _, err := w.Submit(tt.command); !errors.Is(err, tt.want) {
			t.Errorf("%s: Submit = %v, want %v", tt.name, err, tt.want)
		}
		inputs := []commands.Command{tt.command}
		if _, err := w.Replay(inputs); !errors.Is(err, tt.want) {
			t.Errorf("%s: Replay = %v, want %v", tt.name, err, tt.want)
		}
		schedule := handler{5, func(c *engine.HandlerContext, _ []byte) commands.Reason {
			if _, err := c.Schedule(c.Tick()+1, tt.command); !errors.Is(err, tt.want) {
				t.Errorf("%s: Schedule = %v, want %v", tt.name, err, tt.want)
			}
			return commands.Applied
		}}
		applied(t, build(t, engine.Config{Handlers: []engine.Handler{schedule}}), commands.Custom(5, nil))
	}
}

func TestExpiry(t *testing.T) {
	w := zoo(t)
	for _, tt := range []struct {
		after uint64 // ticks between this and the last valid one
		want  commands.Reason
	}{{0, commands.Expired}, {1, commands.Applied}, {2, commands.Applied}} {
		c := set(space.At(0), zooHeat, 1)
		c.Expires = w.Tick() + tt.after
		if r := step(t, w, c)[0]; r.Reason != tt.want {
			t.Errorf("tick %d, expires %d: %v, want %v", w.Tick(), r.Expires, r.Reason, tt.want)
		}
	}
}

func TestCanonicalOrder(t *testing.T) {
	w := zoo(t)
	anonymous := set(space.At(0), zooHeat, 1)
	system := set(space.At(0), zooHeat, 2)
	system.Priority = commands.PrioritySystem
	noSeq := set(space.At(0), zooHeat, 3)
	noSeq.HasSource, noSeq.Source = true, 5
	receipts := applied(t, w,
		anonymous, noSeq, set(space.At(0), zooHeat, 4).From(9, 1), set(space.At(0), zooHeat, 5).From(5, 8),
		set(space.At(0), zooHeat, 6).From(5, 7), set(space.At(0), zooHeat, 7), system)
	var got, arrivals []uint64
	for _, r := range receipts {
		got = append(got, uint64(r.Float32()))
		arrivals = append(arrivals, r.Arrival)
	}
	if want := []uint64{2, 6, 5, 3, 4, 1, 7}; !slices.Equal(got, want) {
		t.Errorf("order %d, want %d", got, want)
	}
	if want := []uint64{8, 6, 5, 3, 4, 2, 7}; !slices.Equal(arrivals, want) { // 1 was the zoo's spawn
		t.Errorf("arrivals %d, want %d", arrivals, want)
	}
	wantValues(t, w, zooHeat, 7, 0, 0, 0)
}

func TestQueueFullAndStopped(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), QueueSize: 2})
	submit(t, w, set(space.At(0), 0, 1), set(space.At(0), 0, 2))
	if _, err := w.Submit(set(space.At(0), 0, 3)); !errors.Is(err, commands.QueueFull) {
		t.Errorf("third Submit = %v, want queue full", err)
	}
	step(t, w)
	wantValues(t, w, 0, 2, 0, 0, 0)
	submit(t, w, set(space.At(0), 0, 4))
	w.Stop()
	if _, err := w.Submit(set(space.At(0), 0, 5)); !errors.Is(err, commands.Stopped) {
		t.Errorf("Submit after Stop = %v, want stopped", err)
	}
	step(t, w)
	wantValues(t, w, 0, 4, 0, 0, 0)
}

func TestSubmitFromManyGoroutines(t *testing.T) {
	const senders, each = 8, 200
	w := build(t, engine.Config{Fields: cells(1), Handlers: []engine.Handler{handler{1, func(c *engine.HandlerContext, data []byte) commands.Reason {
		return c.Set(0, int(data[0])%4, c.Get(0, int(data[0])%4)+float64(data[1]))
	}}}})
	var wait sync.WaitGroup
	for s := range senders {
		wait.Go(func() {
			for i := range each {
				data := []byte{byte(s), 1}
				if _, err := w.Submit(commands.Custom(1, data).From(uint64(s), uint64(i))); err != nil {
					t.Errorf("Submit = %v", err)
				}
				data[0] = 0xff // the world has its own copy
			}
		})
	}
	taken := 0
	for taken < senders*each {
		taken += len(applied(t, w))
	}
	wait.Wait()
	wantValues(t, w, 0, 400, 400, 400, 400)
}

// TestManySetFields holds that commands that follow each other on one field do what
// they do one by one: a field with bounds, which they never reach, is written so.
func TestManySetFields(t *testing.T) {
	far := &fields.Bounds{Min: -math.MaxFloat32, Max: math.MaxFloat32}
	world := func(b *fields.Bounds) *engine.World {
		attempts := 0
		return build(t, engine.Config{
			Space:  space.Square4{Rows: 5, Cols: 6},
			Fields: []fields.Def{{Name: "a", Bounds: b}, {Name: "b", Bounds: b}, {Name: "c", Mutability: fields.Static}, {Name: "d", Type: fields.Vector(2)}},
			Systems: []engine.System{scheduler(func(c *engine.SystemContext) error {
				_, err := c.Schedule(c.Tick()+1, set(space.At(1, 1), 0, 77))
				if attempts++; attempts%5 == 3 {
					return errPlanned
				}
				return err
			})},
		})
	}
	many, each := world(nil), world(far)
	random := rand.New(rand.NewPCG(3, 4))
	var held []*engine.Snapshot
	var hashes []uint64
	for range 60 {
		var list []commands.Command
		for id := range uint32(5) {
			for range random.IntN(30) {
				c := set(space.At(int32(random.IntN(6)), int32(random.IntN(6))), id, float32(random.IntN(100)))
				switch random.IntN(12) {
				case 0:
					c.Bits = uint64(math.Float32bits(float32(math.Inf(random.IntN(2) - 1))))
				case 1:
					c.Bits |= 1 << 40 // not of the value
				case 2:
					c.Expires = 3
				case 3:
					c.Priority = 0
				case 4:
					c = commands.Move(1, space.At(0, 0))
				}
				list = append(list, c)
			}
		}
		if random.IntN(3) == 0 {
			held, hashes = append(held, many.Snapshot()), append(hashes, many.Hash())
		}
		for _, w := range []*engine.World{many, each} {
			if _, _, err := w.SubmitAll(list); err != nil {
				t.Fatal(err)
			}
		}
		got, err1 := many.Step()
		want, err2 := each.Step()
		if (err1 == nil) != (err2 == nil) || len(got) != len(want) {
			t.Fatalf("%d receipts, %v; want %d, %v", len(got), err1, len(want), err2)
		}
		for i := range got {
			if got[i].Reason != want[i].Reason || got[i].Event != want[i].Event || got[i].Arrival != want[i].Arrival {
				t.Fatalf("receipt %d: %v of %d, want %v of %d", i, got[i].Reason, got[i].Arrival, want[i].Reason, want[i].Arrival)
			}
		}
		if many.Hash() != each.Hash() {
			t.Fatalf("after tick %d: a %v, want %v", many.Tick(), values(many, 0), values(each, 0))
		}
	}
	for i, s := range held {
		if s.Hash() != hashes[i] {
			t.Errorf("snapshot %d of %d changed", i, len(held))
		}
	}
}

func TestSubmitAll(t *testing.T) {
	bad := set(space.At(0), 0, 1)
	bad.Kind = 99
	one := func(v float32) commands.Command { return set(space.At(1), 0, v) }
	for _, tt := range []struct {
		name string
		list []commands.Command
		want int
		err  error
	}{
		{"none", nil, 0, nil},
		{"all", []commands.Command{one(1), one(2), one(3)}, 3, nil},
		{"more than the queue holds", []commands.Command{one(1), one(2), one(3), one(4), one(5)}, 4, commands.QueueFull},
		{"a bad one", []commands.Command{one(1), one(2), bad, one(3)}, 2, commands.Unsupported},
		{"a bad one beyond what the queue holds", []commands.Command{one(1), one(2), one(3), one(4), one(5), bad}, 4, commands.QueueFull},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := build(t, engine.Config{Fields: cells(1), QueueSize: 4})
			if _, n, err := w.SubmitAll(tt.list); n != tt.want || err != tt.err {
				t.Fatalf("SubmitAll = %d, %v; want %d, %v", n, err, tt.want, tt.err)
			}
			receipts := step(t, w)
			if len(receipts) != tt.want {
				t.Fatalf("%d receipts, want %d", len(receipts), tt.want)
			}
			for i, r := range receipts {
				if r.Arrival != uint64(i+1) || r.Float32() != float32(i+1) {
					t.Errorf("receipt %d: arrival %d, value %v; want %d", i, r.Arrival, r.Float32(), i+1)
				}
			}
		})
	}
	w := build(t, engine.Config{Fields: cells(1)})
	w.Stop()
	if _, n, err := w.SubmitAll([]commands.Command{one(1)}); n != 0 || err != commands.Stopped {
		t.Errorf("after Stop: %d, %v; want 0, %v", n, err, commands.Stopped)
	}
}

// A SetField for an entity never writes a cell, also where cells have two coordinates as
// entities do.
func TestSetFieldForEntityIsNotForCell(t *testing.T) {
	w := build(t, engine.Config{
		Space: space.Square4{Rows: 4, Cols: 4}, Capacity: 2, Fields: []fields.Def{{Name: "grass"}, {Name: "hunger", Domain: fields.Entities}},
	})
	applied(t, w, commands.Spawn(space.At(0, 0)))
	if _, err := w.Submit(commands.SetField(commands.EntityCoord(1<<20|1), 0, 5)); err != nil {
		t.Fatal(err)
	}
	receipts, err := w.Step()
	if err != nil || len(receipts) != 1 || receipts[0].Reason != commands.OutsideSpace {
		t.Errorf("receipts %v, %v, want one that is refused as %v", receipts, err, commands.OutsideSpace)
	}
	applied(t, w, commands.SetField(commands.EntityCoord(1<<20|1), 1, 5))
}
