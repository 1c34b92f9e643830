package observe_test

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// bench observes for agents all over a lattice and reports how many valid cells that is a second.
func bench(b *testing.B, s space.Space, agents int, entries ...observe.Entry) {
	l, err := s.Build()
	if err != nil {
		b.Fatal(err)
	}
	defs := []fields.Def{{Name: "heat", Initial: fields.Fill(0.5)}, {Name: "wind", Type: fields.Vector(2)}, {Name: "soil", Type: fields.Categorical(4), Element: fields.Int32}}
	c := engine.Config{Space: s, Fields: defs, Capacity: max(agents, 1)}
	w, err := engine.New(c)
	if err != nil {
		b.Fatal(err)
	}
	plan, err := observe.Compile(observe.Spec{Entries: entries}, l, w.Defs())
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]observe.Agent, agents)
	for i := range list {
		list[i] = observe.Agent{Cell: int32(r.IntN(l.Cells())), Slot: int32(i)}
	}
	if agents == 0 {
		list = nil
	}
	n := max(agents, 1)
	o, mask := plan.Observer(), make([]uint8, n*plan.MaskLen())
	var run func() error
	switch plan.Element() {
	case observe.Float32:
		out := make([]float32, n*plan.Len())
		run = func() error { return o.Float32(w, list, out, mask) }
	case observe.Uint8:
		out := make([]uint8, n*plan.Len())
		run = func() error { return o.Uint8(w, list, out, mask) }
	default:
		out := make([]uint16, n*plan.Len())
		run = func() error { return o.Float16(w, list, out, mask) }
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	valid := 0
	for _, v := range mask {
		valid += int(v)
	}
	b.ReportMetric(float64(valid)*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}

func hexagons(side int) space.Space { return space.Hex{Cols: side, Rows: side, Edge: space.Wrap} }

// A thousand agents, each of whom sees 37 hexes.
func BenchmarkAgents(b *testing.B) {
	disk := observe.Entry{Region: observe.AgentDisk(3)}
	normalized, halves, bytes := disk, disk, disk
	normalized.Transform = observe.Normalize(-1, 1)
	halves.Element = observe.Float16
	bytes.Element, bytes.Transform = observe.Uint8, observe.Normalize(-1, 1)
	b.Run("identity", func(b *testing.B) { bench(b, hexagons(64), 1000, disk) })
	b.Run("million", func(b *testing.B) { bench(b, hexagons(1024), 1000, disk) })
	b.Run("normalize", func(b *testing.B) { bench(b, hexagons(64), 1000, normalized) })
	b.Run("float16", func(b *testing.B) { bench(b, hexagons(64), 1000, halves) })
	b.Run("uint8", func(b *testing.B) { bench(b, hexagons(64), 1000, bytes) })
	b.Run("count", func(b *testing.B) {
		bench(b, hexagons(64), 1000, observe.Entry{Source: observe.Source{Count: true}, Region: observe.AgentDisk(3)})
	})
	b.Run("vector", func(b *testing.B) {
		bench(b, hexagons(64), 1000, observe.Entry{Source: observe.Source{Field: 1}, Region: observe.AgentDisk(3)})
	})
	b.Run("pool", func(b *testing.B) {
		bench(b, hexagons(64), 1000, observe.Entry{Region: observe.AgentDisk(3), Pool: observe.Pool{Kernel: observe.Mean, Size: 3, Stride: 2}})
	})
	b.Run("onehot", func(b *testing.B) {
		bench(b, hexagons(64), 1000, observe.Entry{Source: observe.Source{Field: 2}, Region: observe.AgentDisk(3), Transform: observe.OneHot(4)})
	})
}

// Four agents on a small map, with two fields and who is near.
func BenchmarkSmall(b *testing.B) {
	local := observe.AgentRect(2, 2)
	bench(b, space.Square4{Rows: 64, Cols: 64}, 4, observe.Entry{Region: local},
		observe.Entry{Region: local}, observe.Entry{Region: local, Source: observe.Source{Count: true}})
}

// A whole map of a million cells, as agents see it that are not on it, and around an agent.
func BenchmarkMap(b *testing.B) {
	grid := space.Square8{Rows: 1000, Cols: 1000, Edge: space.Wrap}
	b.Run("all", func(b *testing.B) { bench(b, grid, 0, observe.Entry{}) })
	b.Run("normalize", func(b *testing.B) { bench(b, grid, 0, observe.Entry{Transform: observe.Normalize(0, 1)}) })
	b.Run("agent", func(b *testing.B) { bench(b, grid, 1, observe.Entry{Region: observe.AgentDisk(500)}) })
	b.Run("pool", func(b *testing.B) {
		bench(b, grid, 0, observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Size: 4, Stride: 4}})
	})
}
