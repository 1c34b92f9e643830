package measure

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/statehash"
	"github.com/murksim/murksim/internal/store"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// The grid of the rows on hashing: a row of it is a tile of 4 KiB, and the band of
// rows that is written in the quiet world is 5 % of it.
const (
	hashSide = 1024
	band     = 51
)

// steady is how many ticks are recorded before the rows on quiet worlds measure: by then
// the tables of what stays as it is are full, and the state is a steady one.
const steady = 1500

// touch is a propagator that changes one value in each of some rows, and costs
// next to nothing.
type touch struct {
	field fields.ID
	rows  int
}

// Spec implements [engine.Propagator].
func (p touch) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "touch", Incremental: engine.Fields(p.field)}
}

// Step implements [engine.Propagator].
func (p touch) Step(c *engine.Context) error {
	v := c.Next(p.field)
	for row := range p.rows {
		at := row*hashSide + int(c.Tick()%hashSide)
		v[at] = 1 + float32(c.Tick()%251)/256
		c.Changed(p.field, at, at+1)
	}
	return nil
}

// record records a world to nowhere; flush ends what the recorder has still to do.
func record(w *engine.World) (flush func() error, err error) {
	rec, err := replay.NewRecorder(io.Discard, w, nil)
	if err != nil {
		return nil, err
	}
	w.Record(rec)
	return rec.Flush, nil
}

// taped is a contender that takes the ticks of another, in a world that it records:
// the time includes what the recorder has still to do at the end.
func taped(w *engine.World, ticks contender) (contender, error) {
	flush, err := record(w)
	return timed(func(n int) error {
		if _, err := ticks(n); err != nil {
			return err
		}
		return flush()
	}), err
}

// fnvBasis is the hash of nothing.
const fnvBasis uint64 = 0xcbf29ce484222325

// fnv is the hash as the format defines it, byte by byte. Its loop is a function of its own, so
// that the hash stays in a register: TestByteLoop.
//
//go:noinline
func fnv(hash uint64, b []byte) uint64 {
	for _, c := range b {
		hash = (hash ^ uint64(c)) * 0x100000001b3
	}
	return hash
}

// byteLoop hashes some bytes again and again.
func byteLoop(b []byte) contender {
	hash := fnvBasis
	return timed(func(n int) error {
		for range n {
			hash = fnv(hash, b)
		}
		if hash == 0 {
			return fmt.Errorf("the byte loop gives 0") // never; but so the loop is not optimized away
		}
		return nil
	})
}

func bytesOf(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// hashDense hashes the states of ticks that lie side by side, as recording does, of a world
// in which every value changes, against the byte loop over one of them.
func hashDense(r *run) ([]reading, error) {
	var held [4]store.Delta
	var states [4]*store.State
	w, err := diffusingWorld(space.Square4{Rows: hashSide, Cols: hashSide})
	if err != nil {
		return nil, err
	}
	for i := range states {
		stop := w.Watch(func(t *engine.Tick) { t.View().HoldDelta(&held[i], store.Moment{}) })
		if _, err := w.Step(); err != nil {
			return nil, err
		}
		stop()
		states[i] = held[i].Whole()
		defer held[i].Release()
	}
	data := bytesOf(dense(hashSide * hashSide))
	table, err := r.rounds(timed(func(n int) error {
		var sums [len(states)]uint64
		for range n {
			statehash.Sums(sums[:], states[:])
		}
		return nil
	}), byteLoop(data))
	return readings(table, func(t []float64) reading {
		size, hash := float64(len(data)), t[0]/float64(len(states))
		return reading{size / hash, size / t[1], t[1] / hash}
	}), err
}

// hashQuiet measures what recording adds to a tick of a world of which 5 % of the tiles are
// written, by commands, on one core, against the byte loop over the same field.
func hashQuiet(r *run) ([]reading, error) {
	plain, ticks, err := quietHash()
	if err != nil {
		return nil, err
	}
	other, _, err := quietHash()
	if err != nil {
		return nil, err
	}
	tape, err := taped(other, ticks(other))
	if err != nil {
		return nil, err
	}
	if _, err := tape(steady); err != nil {
		return nil, err
	}
	data := bytesOf(dense(hashSide * hashSide))
	table, err := r.rounds(tape, ticks(plain), byteLoop(data))
	return readings(table, func(t []float64) reading {
		size, hash := float64(len(data)), max(t[0]-t[1], 1e-9)
		return reading{size / hash, size / t[2], t[2] / hash}
	}), err
}

// quietHash is a world of which 5 % of the tiles are written, by commands.
func quietHash() (*engine.World, func(*engine.World) contender, error) {
	w, err := engine.New(engine.Config{
		Space:  space.Square4{Rows: hashSide, Cols: hashSide},
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values(wide(dense(hashSide * hashSide)))}},
	})
	return w, func(w *engine.World) contender {
		return timed(func(n int) error {
			for range n {
				t := w.Tick()
				for k := range band {
					at := space.At(int32(k*hashSide/band), int32(t%hashSide))
					if _, err := w.Submit(commands.SetField(at, 0, 1+float32(t%251)/256)); err != nil {
						return err
					}
				}
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			return nil
		})
	}, err
}

// recordingDense measures the recording of a dense diffusion on two cores against the
// larger of the physics alone and half of the hash's work on one core.
func recordingDense(r *run) ([]reading, error) {
	grid := space.Square4{Rows: hashSide, Cols: hashSide}
	var worlds [3]*engine.World
	for i := range worlds {
		w, err := diffusingWorld(grid)
		if err != nil {
			return nil, err
		}
		worlds[i] = w
	}
	two, err := taped(worlds[0], step(worlds[0]))
	if err != nil {
		return nil, err
	}
	one, err := taped(worlds[2], step(worlds[2]))
	if err != nil {
		return nil, err
	}
	table, err := r.rounds(two, step(worlds[1]), onOneCore(one))
	return readings(table, func(t []float64) reading {
		best := max(t[1], (t[2]-t[1])/2)
		return reading{t[0] * 1e3, best * 1e3, t[0] / best}
	}), err
}

// recordingQuiet measures what recording adds on two cores where the diffusion changes
// 5 % of the tiles. The physics computes all of them: a band of rows between two that
// are held, and beyond them values that stay as they are, exactly.
func recordingQuiet(r *run) ([]reading, error) {
	plain, err := quietDiffusion()
	if err != nil {
		return nil, err
	}
	other, err := quietDiffusion()
	if err != nil {
		return nil, err
	}
	tape, err := taped(other, step(other))
	if err != nil {
		return nil, err
	}
	if _, err := tape(steady); err != nil {
		return nil, err
	}
	table, err := r.rounds(tape, step(plain))
	return readings(table, func(t []float64) reading { return reading{t[0] * 1e3, t[1] * 1e3, t[0] / t[1]} }), err
}

func quietDiffusion() (*engine.World, error) {
	const still = 1.5
	values := wide(dense(hashSide * hashSide))
	var wall []int
	for i := range values {
		if row := i / hashSide; row >= band {
			values[i] = still
			if row == band {
				wall = append(wall, i)
			}
		}
	}
	return engine.New(engine.Config{
		Space: space.Square4{Rows: hashSide, Cols: hashSide}, Timestep: gridTimestep,
		Fields: []fields.Def{{Name: "heat", Initial: fields.Values(values)}},
		Propagators: []engine.Propagator{
			propagators.Diffusion{Rate: 2, Hold: []propagators.Hold{{Cells: wall, Value: still}}}, // α is 1/2: the mean of equals is exact
			touch{0, band},
		},
	})
}

func onOneCore(c contender) contender {
	return func(n int) (cost, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		return c(n)
	}
}
