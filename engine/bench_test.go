package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

func stepAll(b *testing.B, w *engine.World, inputs func()) {
	b.ReportAllocs()
	for b.Loop() {
		if inputs != nil {
			inputs()
		}
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
	}
}

func perSecond(b *testing.B, n int, what string) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), what)
}

func BenchmarkEmptyTick(b *testing.B) {
	stepAll(b, unchecked(b, engine.Config{Fields: cells(1)}), nil)
}

func BenchmarkEmptyTickWithEntities(b *testing.B) {
	stepAll(b, unchecked(b, engine.Config{Capacity: 100_000}), nil)
}

func BenchmarkSetField(b *testing.B) {
	const n = 10_000
	w := unchecked(b, engine.Config{Space: space.Square4{Rows: 100, Cols: 100}, Fields: cells(1)})
	list := make([]commands.Command, n)
	for i := range list {
		list[i] = commands.SetField(space.At(int32(i/100), int32(i%100)), 0, float32(i))
	}
	stepAll(b, w, submitter(b, w, list))
	perSecond(b, n, "commands/s")
}

// A drift is a system that moves every entity one cell on.
type drift struct{}

func (drift) Spec(*space.Lattice) engine.Spec {
	_, _, cell := engine.EntityColumns(1)
	return engine.Spec{Name: "drift", Incremental: engine.Fields(0, cell)}
}

func (drift) Update(c *engine.SystemContext) error {
	_, _, cell := engine.EntityColumns(1)
	at, energy, bulk := c.NextColumn(cell).Int32, c.Next(0), c.EntityBulk(0)
	for slot, id := range c.Entities().ID {
		if id == 0 {
			continue
		}
		energy[slot] += bulk.Float32(id)
		if at[slot]++; int(at[slot]) == c.Lattice().Cells() {
			at[slot] = 0
		}
	}
	return nil
}

func crowd(b *testing.B, s engine.System) *engine.World {
	const n = 100_000
	w := unchecked(b, engine.Config{
		Space: space.Square4{Rows: 500, Cols: 500}, Capacity: n, QueueSize: n, Systems: []engine.System{s},
		Fields: []fields.Def{{Name: "energy", Domain: fields.Entities}},
	})
	for i := range n {
		if _, err := w.Submit(commands.Spawn(w.Lattice().Coord(i * 2))); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Step(); err != nil {
		b.Fatal(err)
	}
	return w
}

func BenchmarkEntities(b *testing.B) {
	w := crowd(b, drift{})
	stepAll(b, w, nil)
	perSecond(b, w.Population(), "entities/s")
}

// live reads three attributes and a field, writes two and draws once in bulk.
type live struct{}

func (live) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "live", Prev: engine.Fields(0), Now: engine.Fields(1, 2, 3), Incremental: engine.Fields(4, 5)}
}

func (live) Update(c *engine.SystemContext) error {
	all, bulk, grass := c.Entities(), c.EntityBulk(0), c.Prev(0)
	health, energy, hunger, age, mood := c.Now(1), c.Now(2), c.Now(3), c.Next(4), c.Next(5)
	dt := float32(c.Dt())
	for slot, id := range all.ID {
		if id == 0 {
			continue
		}
		age[slot] += dt
		mood[slot] = float32(health[slot]*energy[slot]) - hunger[slot] + float32(grass[all.Cell[slot]]*bulk.Float32(id))
	}
	return nil
}

// BenchmarkEntitiesEight is a system on 100,000 entities of eight attributes.
func BenchmarkEntitiesEight(b *testing.B) {
	const n = 100_000
	c := engine.Config{Space: space.Square4{Rows: 256, Cols: 256}, Capacity: n, Systems: []engine.System{live{}}, Fields: []fields.Def{{Name: "grass"}}}
	for i := range 8 {
		c.Fields = append(c.Fields, fields.Def{Name: string(rune('a' + i)), Domain: fields.Entities, Initial: fields.Fill(0.5)})
	}
	w := unchecked(b, c)
	for i := range n {
		if i%50_000 == 0 {
			step(b, w)
		}
		submit(b, w, commands.Spawn(space.At(int32(i*7%256), int32(i/256%256))))
	}
	stepAll(b, w, nil)
	perSecond(b, w.Population(), "entities/s")
}

// Entities that look around after all have moved: the index by cell is made anew each tick.
func BenchmarkEntitiesLookAround(b *testing.B) {
	w := crowd(b, wander())
	stepAll(b, w, nil)
	perSecond(b, w.Population(), "entities/s")
}

func BenchmarkSpawnDespawn(b *testing.B) {
	const n = 1000
	w := unchecked(b, engine.Config{Capacity: 2 * n, Fields: []fields.Def{{Name: "energy", Domain: fields.Entities}}})
	spawn := commands.Spawn(space.At(1), commands.FieldValue{Field: 0, Value: 1})
	stepAll(b, w, func() {
		for i := range n {
			if id := w.Tick()<<20 | uint64(i+1); w.Tick() > 0 {
				if _, err := w.Submit(commands.Despawn(id)); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := w.Submit(spawn); err != nil {
				b.Fatal(err)
			}
		}
	})
	perSecond(b, 2*n, "commands/s")
}

func BenchmarkSnapshot(b *testing.B) {
	w := unchecked(b, engine.Config{Fields: cells(8)})
	b.ReportAllocs()
	for b.Loop() {
		w.Snapshot().Release()
	}
}

func BenchmarkHash(b *testing.B) {
	const side = 512
	w := diffusing(b, engine.Config{Space: space.Square4{Rows: side, Cols: side}, Generator: rng.ChaCha8})
	step(b, w)
	b.SetBytes(4 * side * side)
	for b.Loop() {
		w.Hash()
	}
}

// BenchmarkParallel compares one worker with two, in turns, of a propagator with vector code
// and of one without: where they are alike, a worker has about [engine.GoodShare] to do.
func BenchmarkParallel(b *testing.B) {
	vector := func(b *testing.B, c engine.Config) *engine.World {
		c.Fields = []fields.Def{{Name: "heat", Initial: fields.Fill(0.5)}}
		c.Propagators = []engine.Propagator{propagators.Diffusion{Name: "diffusion", Field: 0, Rate: 1}}
		w, err := engine.New(c)
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	plain := func(b *testing.B, c engine.Config) *engine.World { return diffusing(b, c) }
	for _, of := range []struct {
		name  string
		world func(*testing.B, engine.Config) *engine.World
	}{{"vector", vector}, {"plain", plain}} {
		for _, side := range []int{64, 128, 256, 512, 1024, 2048} {
			b.Run(fmt.Sprintf("%s%d", of.name, side), func(b *testing.B) {
				s := space.Square4{Rows: side, Cols: side}
				one, two := of.world(b, engine.Config{Space: s}), of.world(b, engine.Config{Space: s, Workers: 2})
				var took [2]time.Duration
				for b.Loop() {
					for i, w := range []*engine.World{one, two} {
						start := time.Now()
						for range 50 {
							if _, err := w.Step(); err != nil {
								b.Fatal(err)
							}
						}
						took[i] += time.Since(start)
					}
				}
				b.ReportMetric(float64(took[0])/float64(took[1]), "x")
				b.ReportMetric(float64(50*b.N*side*side)/took[1].Seconds(), "cells/s")
			})
		}
	}
}

// BenchmarkRestore restores a state of 32 MB, most of it columns, with 10,000 events.
func BenchmarkRestore(b *testing.B) {
	config := engine.Config{
		Space:  space.Square4{Rows: 1024, Cols: 2048},
		Fields: []fields.Def{{Name: "a", Initial: fields.Fill(1)}, {Name: "b", Element: fields.Int32}, {Name: "c", Element: fields.Fixed}},
		Systems: []engine.System{system{engine.Spec{Name: "sys"}, func(c *engine.SystemContext) error {
			for i := range uint64(10_000) {
				if _, err := c.Schedule(9+i%7, commands.Despawn(i)); err != nil {
					return err
				}
			}
			return nil
		}}},
	}
	w := build(b, config)
	step(b, w)
	state := save(b, w)
	b.SetBytes(int64(len(state)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Restore(config, about, state); err != nil {
			b.Fatal(err)
		}
	}
}
