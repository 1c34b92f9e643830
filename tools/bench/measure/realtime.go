package measure

import (
	"bytes"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// realTime runs a recorded world of 100×100 cells and four propagators at 1 kHz, as
// long as all rounds of a contender, and reads something off it in the end: how late
// the ticks came, in seconds, ascending. Timely says that this takes a processor that is free
// when a tick is due.
func realTime(timely bool, what func(late []float64) float64) func(*run) ([]reading, error) {
	return func(r *run) ([]reading, error) {
		const rate = 1000
		debug.FreeOSMemory() // what earlier rows took does not count
		w, err := realTimeWorld(rate)
		if err != nil {
			return nil, err
		}
		flush, err := record(w)
		if err != nil {
			return nil, err
		}
		pacer := engine.NewPacer(w.Dt())
		ticks := max(20, int(2*r.Seconds*rate))
		late := make([]float64, 0, ticks)
		watch := startWatch()
		for tick := range ticks + ticks/4 {
			if err := pacer.Wait(r.ctx); err != nil {
				return nil, err
			}
			if tick >= ticks/4 { // before, the system was busy with the memory that it got back
				late = append(late, pacer.Late().Seconds())
			}
			if _, err := w.Step(); err != nil {
				return nil, err
			}
		}
		if err := flush(); err != nil {
			return nil, err
		}
		if timely {
			took := watch.stop()
			took.sleeps = true
			r.costs = [][]cost{{took}}
		}
		slices.Sort(late)
		return []reading{{value: what(late)}}, nil
	}
}

func realTimeWorld(rate float64) (*engine.World, error) {
	const side = 100
	return engine.New(engine.Config{
		Space: space.Square4{Rows: side, Cols: side}, TickRate: rate,
		Fields: []fields.Def{
			{Name: "heat", Initial: fields.Values(wide(dense(side * side)))},
			{Name: "gradient", Type: fields.Vector(2)},
			{Name: "displacement", Initial: fields.Values(wide(dense(side * side)))}, {Name: "velocity"},
		},
		Propagators: []engine.Propagator{
			propagators.Diffusion{Field: 0, Rate: 0.1},
			propagators.Decay{Field: 0, Rate: 1e-6},
			propagators.Gradient{Field: 0, Output: 1},
			propagators.Wave{Displacement: 2, Velocity: 3, Speed: 1},
		},
	})
}

// lateness is the 99th percentile in milliseconds.
func lateness(late []float64) float64 { return late[(len(late)-1)*99/100] * 1e3 }

// memory is what the program takes, in MiB: its resident set where the system tells
// it, else what the Go runtime has and has not given back.
func memory([]float64) float64 {
	const mebi = 1 << 20
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, ok := bytes.Cut(status, []byte("\nVmRSS:")); ok {
			if f := bytes.Fields(rest); len(f) > 1 {
				if kib, err := strconv.ParseFloat(string(f[0]), 64); err == nil {
					return kib * 1024 / mebi
				}
			}
		}
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64()-s[1].Value.Uint64()) / mebi
}
