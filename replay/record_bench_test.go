package replay_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// A tiles writes all cells of some tiles of 2048 cells.
type tiles struct{ every int }

func (t tiles) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "tiles", Incremental: engine.Fields(0)}
}

func (t tiles) Step(c *engine.Context) error {
	const size = 2048
	next := c.Next(0)
	for lo := 0; lo < len(next); lo += t.every * size {
		for i := lo; i < min(lo+size, len(next)); i++ {
			next[i] = next[i]*0.99 + 0.01
		}
	}
	return nil
}

// A recordCase is a world to record.
type recordCase struct {
	name   string
	config func() engine.Config
	ticks  int // timed at once
	warm   int
}

func recordCases() []recordCase {
	noise := func(n int) fields.Initial {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(uint32(i)*2654435761>>8) / (1 << 24)
		}
		return fields.Values(v)
	}
	heat := func(side int) engine.Config {
		return engine.Config{
			Space:       space.Square4{Rows: side, Cols: side},
			Fields:      []fields.Def{{Name: "heat", Initial: noise(side * side)}},
			Propagators: []engine.Propagator{propagators.Diffusion{Name: "diffusion", Field: 0, Rate: 0.5}},
		}
	}
	return []recordCase{
		{"dense1024", func() engine.Config { return heat(1024) }, 48, 16},
		{"tiles5%", func() engine.Config {
			c := heat(1024)
			c.Propagators = []engine.Propagator{tiles{20}}
			return c
		}, 48, 3000},
		{"small64", func() engine.Config {
			c := heat(64)
			c.Capacity = 4
			c.Fields = append(c.Fields, fields.Def{Name: "wave"})
			c.Propagators = append(c.Propagators, propagators.Decay{Name: "decay", Field: 1, Rate: 0.1})
			return c
		}, 4000, 4000},
	}
}

// BenchmarkRecord compares, in turns, a world that is not recorded, the hashing of its
// ticks four at a time, and a world that is recorded.
func BenchmarkRecord(b *testing.B) {
	for _, c := range recordCases() {
		b.Run(c.name, func(b *testing.B) { benchmarkRecord(b, c) })
	}
}

func benchmarkRecord(b *testing.B, c recordCase) {
	build := func() *engine.World {
		w, err := engine.New(c.config())
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	plain, recorded := build(), build()
	r, err := replay.NewRecorder(io.Discard, recorded, nil)
	if err != nil {
		b.Fatal(err)
	}
	recorded.Record(r)
	timed := func(w *engine.World, n int) time.Duration {
		start := time.Now()
		for range n {
			if _, err := w.Step(); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start) / time.Duration(n)
	}
	timed(recorded, c.warm)
	timed(plain, c.warm)
	var physics, hash, record []time.Duration
	var sums [4]uint64
	for b.Loop() {
		physics = append(physics, timed(plain, c.ticks))
		record = append(record, timed(recorded, c.ticks))
		var held [4]store.Delta
		var four [4]*store.State
		for i := range four {
			stop := plain.Watch(func(t *engine.Tick) { t.View().HoldDelta(&held[i], store.Moment{}) })
			timed(plain, 1)
			stop()
			four[i] = held[i].Whole()
		}
		start := time.Now()
		statehash.Sums(sums[:], four[:])
		hash = append(hash, time.Since(start)/4)
		for _, s := range four {
			s.Release()
		}
	}
	median := func(v []time.Duration) float64 {
		slices.Sort(v)
		return float64(v[len(v)/2].Nanoseconds())
	}
	p, h, t := median(physics), median(hash), median(record)
	b.ReportMetric(p/1000, "physics-µs")
	b.ReportMetric(h/1000, "hash-µs")
	b.ReportMetric(t/1000, "recorded-µs")
	b.ReportMetric(t/p, "recorded/physics")
	b.ReportMetric(t/max(p, h/2), "recorded/bound")
	b.ReportMetric(1e9/t, "ticks/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkVerify verifies a recording, in turns as Verify does and with a hash after
// each tick.
func BenchmarkVerify(b *testing.B) {
	const ticks = 40
	for _, c := range recordCases() {
		b.Run(c.name, func(b *testing.B) {
			build := func(*replay.Header) (*engine.World, error) { return engine.New(c.config()) }
			w, err := build(nil)
			if err != nil {
				b.Fatal(err)
			}
			var sink bytes.Buffer
			r, err := replay.NewRecorder(&sink, w, nil)
			if err != nil {
				b.Fatal(err)
			}
			w.Record(r)
			for range ticks {
				if _, err := w.Step(); err != nil {
					b.Fatal(err)
				}
			}
			if err := r.Flush(); err != nil {
				b.Fatal(err)
			}
			timed := func(play func(*replay.Player) (uint64, error)) time.Duration {
				start := time.Now()
				if n, err := replayed(sink.Bytes(), build, play); n != ticks || err != nil {
					b.Fatalf("%d ticks match, %v", n, err)
				}
				return time.Since(start)
			}
			var whole, stepped time.Duration
			for b.Loop() {
				whole += timed((*replay.Player).Verify)
				stepped += timed(verifyPlain)
			}
			b.ReportMetric(float64(stepped)/float64(whole), "x")
			b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N*ticks), "ns/tick")
		})
	}
}
