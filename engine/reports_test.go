package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A propagator that never asks for an output, leaves it as it is and reports that does not
// speak for the propagators before it.
func TestReportsWithoutWriting(t *testing.T) {
	writes := changer(false, true, func(*engine.Context, int) {})
	leaves := propagator{engine.Spec{Name: "leaves", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
		c.Changed(0, 0, 0)
		return nil
	}}
	w := build(t, engine.Config{
		Space: space.Ring{Length: 32 << 10}, Fields: cells(1), Propagators: []engine.Propagator{writes, leaves},
	})
	w.Record(&holder{t: t})
	for range 5 {
		step(t, w)
	}
}

// A report counts also if the propagator asks for the output several times.
func TestReportsOfWhatIsAskedForTwice(t *testing.T) {
	asks := propagator{engine.Spec{Name: "asks", Incremental: engine.Fields(0)}, func(c *engine.Context) error {
		for i := range 3 {
			c.Next(0)[i]++
		}
		c.Changed(0, 0, 3)
		return nil
	}}
	w := build(t, engine.Config{Space: space.Ring{Length: 32 << 10}, Fields: cells(1), Propagators: []engine.Propagator{asks}})
	h := &holder{t: t}
	w.Record(h)
	for range 5 {
		step(t, w)
	}
	if h.parts != 4 {
		t.Errorf("%d ticks held in parts, want all but the first", h.parts)
	}
	wantValues(t, w, 0, append([]float64{5, 5, 5}, make([]float64, 32<<10-3)...)...)
}

// A reporter does something else to each of its outputs in every Step: it changes some
// elements or none, asks for them or not, and reports all changes, more than those, or nothing.
type reporter struct {
	spec engine.Spec
	seed uint64
}

func (p *reporter) Spec(*space.Lattice) engine.Spec { return p.spec }

func (p *reporter) Step(c *engine.Context) error {
	lo, hi := c.Range()
	r := rand.New(rand.NewPCG(p.seed^c.Tick(), uint64(lo)))
	for _, id := range p.spec.Full {
		n := c.Components(id)
		copy(c.Next(id)[lo*n:hi*n], c.Prev(id)[lo*n:hi*n])
		p.change(c, r, id, lo*n, hi*n)
	}
	for _, id := range p.spec.Incremental {
		n := c.Components(id)
		p.change(c, r, id, lo*n, hi*n)
	}
	if r.IntN(40) == 0 {
		return errPlanned
	}
	return nil
}

// change changes elements from lo to hi of an output.
func (p *reporter) change(c *engine.Context, r *rand.Rand, id fields.ID, lo, hi int) {
	reports := r.IntN(4) > 0
	if reports {
		c.Changed(id, 0, 0)
	}
	for range r.IntN(4) {
		from := lo + r.IntN(hi-lo)
		to := min(hi, from+1+r.IntN(1500))
		for i := from; i < to; i += 1 + r.IntN(300) {
			c.Next(id)[i] = r.Float32()
		}
		if reports {
			c.Changed(id, max(lo, from-r.IntN(50)), min(hi, to+r.IntN(50)))
		}
	}
}

// reporting is a world of reporters, with commands that are taken back and events that come
// on top of what was written.
func reporting(t *testing.T, r *rand.Rand) *engine.World {
	t.Helper()
	c := engine.Config{
		Space: space.Ring{Length: 16<<10 + r.IntN(3000)}, Workers: 1 + r.IntN(3), MaxFailures: -1, Paranoid: r.IntN(8) == 0,
		Fields: []fields.Def{
			{Name: "a"}, {Name: "b", Bounds: &fields.Bounds{Min: 0.25, Max: 0.5}}, {Name: "c", Type: fields.Vector(2)}, {Name: "quiet", Initial: fields.Fill(1)},
		},
		Handlers: []engine.Handler{handler{1, func(c *engine.HandlerContext, data []byte) commands.Reason {
			c.Set(fields.ID(data[0]), int(data[1])<<6, float64(data[2]))
			return commands.Reason(data[3]) // some refuse what they have done
		}}},
	}
	full := make([]bool, 3)
	for i := range 2 + r.IntN(4) {
		p := &reporter{engine.Spec{Name: fmt.Sprint("reporter ", i), Parallel: r.IntN(2) == 0}, r.Uint64()}
		for id := range fields.ID(3) {
			switch r.IntN(3) {
			case 0:
				if !full[id] {
					p.spec.Full, p.spec.Prev = append(p.spec.Full, id), append(p.spec.Prev, id)
				} else {
					p.spec.Incremental = append(p.spec.Incremental, id)
				}
				full[id] = true
			case 1:
				p.spec.Incremental = append(p.spec.Incremental, id)
				full[id] = true
			}
		}
		c.Propagators = append(c.Propagators, p)
	}
	c.Systems = []engine.System{scheduler(func(c *engine.SystemContext) error {
		r := rand.New(rand.NewPCG(c.Tick(), 3))
		if r.IntN(3) > 0 {
			return nil
		}
		_, err := c.Schedule(c.Tick()+r.Uint64N(2), set(space.At(r.Int32N(16<<10)), 3*r.Uint32N(2), r.Float32()))
		return err
	})}
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestReportingAtRandom holds the hash of what is held as changed equal to that of the whole
// state, after every tick of worlds that do all that may be done: report, or not, what they
// change, ask for an output or leave it, fail, take commands back, go on without the
// recorder, are recorded by another, and begin anew.
func TestReportingAtRandom(t *testing.T) {
	parts, worlds := 0, uint64(50)
	if testing.Short() {
		worlds = 12
	}
	for seed := range worlds {
		r := rand.New(rand.NewPCG(seed, 11))
		w := reporting(t, r)
		first, second := &holder{t: t}, &holder{t: t}
		fails := false
		w.Record(recorder(func(tick *engine.Tick) error {
			err := first.Record(tick)
			if r.IntN(3) == 0 {
				err = errors.Join(err, second.Record(tick))
			}
			if fails {
				err = errors.Join(err, errPlanned) // after the state was held
			}
			return err
		}))
		var held []*engine.Snapshot
		for range 40 {
			if r.IntN(12) == 0 {
				w.Reset(r.Uint64())
			}
			for range r.IntN(3) {
				submit(t, w, set(space.At(r.Int32N(16<<10)), 3, r.Float32()),
					commands.Custom(1, []byte{byte(3 * r.IntN(2)), byte(r.IntN(200)), byte(r.IntN(3)), byte(r.IntN(2)) * byte(commands.BadValue)}))
			}
			fails = r.IntN(10) == 0
			if _, err := w.Step(); err != nil && !errors.Is(err, errPlanned) {
				t.Fatalf("world %d, tick %d: %v", seed, w.Tick()+1, err)
			}
			if t.Failed() {
				t.Fatalf("world %d", seed)
			}
			if r.IntN(4) == 0 {
				held = append(held, w.Snapshot())
			}
			if len(held) > 3 {
				held[0].Release()
				held = slices.Delete(held, 0, 1)
			}
		}
		parts += first.parts
	}
	if parts < 6*int(worlds) {
		t.Errorf("%d ticks held in parts; the test wants more", parts)
	}
}
