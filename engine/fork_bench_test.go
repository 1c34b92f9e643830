package engine_test

import (
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// forkable is a world of 64×64 cells with four fields.
func forkable(b testing.TB) *engine.World {
	b.Helper()
	w, err := engine.New(engine.Config{
		Space:       space.Square4{Rows: 64, Cols: 64},
		Fields:      []fields.Def{{Name: "heat", Initial: fields.Fill(1)}, {Name: "smoke"}, {Name: "water"}, {Name: "wall", Mutability: fields.Static}},
		Propagators: []engine.Propagator{propagators.Decay{Name: "decay", Field: 0, Rate: 0.1}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return w
}

func BenchmarkFork(b *testing.B) {
	w := forkable(b)
	if _, err := w.Step(); err != nil {
		b.Fatal(err)
	}
	f, err := w.Fork()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Fork(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("and release", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := w.Fork()
			if err == nil {
				err = f.Release()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("into", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := w.ForkInto(f); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("into and step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := w.ForkInto(f); err != nil {
				b.Fatal(err)
			}
			if _, err := f.Step(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.Step(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
