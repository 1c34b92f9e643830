package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// A run, which may compute several ticks in one sweep, gives the bits of single steps in
// every scenario that comes with the program, for one worker and for several.
func TestRunGivesTheSameBits(t *testing.T) {
	const ticks = 60
	for i, info := range worlds.Embedded() {
		if testing.Short() && i%5 != 0 {
			continue
		}
		s := open(t, info.Name)
		step := world(t, s, 1)
		alone := runner.Run{Scenario: s, World: step}
		var runs []*runner.Run
		for workers := 1; workers <= 3; workers++ {
			runs = append(runs, &runner.Run{Scenario: s, World: world(t, s, workers)})
		}
		for tick := uint64(1); tick <= ticks; tick++ {
			list, err := alone.Scheduled(tick)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list {
				if _, err := step.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := step.Step(); err != nil {
				t.Fatalf("%s: %v", info.Name, err)
			}
			if tick%7 != 0 && tick != ticks {
				continue
			}
			for i, r := range runs {
				if err := r.To(t.Context(), tick); err != nil {
					t.Fatalf("%s: %v", info.Name, err)
				}
				if got, want := r.World.Hash(), step.Hash(); got != want || r.World.Tick() != tick {
					t.Fatalf("%s, %d workers: the hash at tick %d is %016x, want %016x at %d", info.Name, i+1, r.World.Tick(), got, want, tick)
				}
			}
		}
	}
}

func open(t *testing.T, name string, sets ...string) *scenarios.Scenario {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func world(t *testing.T, s *scenarios.Scenario, workers int) *engine.World {
	t.Helper()
	w, err := s.World(workers)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A picky watcher wants to see every so many ticks, and notes what it sees.
type picky struct {
	every uint64
	seen  []uint64
}

func (p *picky) Next(after uint64) uint64 {
	if p.every == 0 {
		return runner.Never
	}
	return (after/p.every + 1) * p.every
}

func (p *picky) Observe(w *engine.World) error {
	p.seen = append(p.seen, w.Tick())
	return nil
}

var errSeen = errors.New("seen enough")

// Watchers see the ticks that they want, and no others, whoever else watches.
func TestWatchers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		s := open(t, "diffusion")
		last := 1 + r.Uint64N(300)
		var all []*picky
		run := &runner.Run{Scenario: s, World: world(t, s, 1)}
		for range r.IntN(4) {
			p := &picky{every: r.Uint64N(40)}
			all, run.Watchers = append(all, p), append(run.Watchers, p)
		}
		if r.IntN(4) == 0 {
			run.World.Record(recorder{})
		}
		passed, longest := uint64(0), uint64(0)
		run.Passed = func() error {
			longest = max(longest, run.World.Tick()-passed)
			passed = run.World.Tick()
			return nil
		}
		if err := run.To(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			var want []uint64
			for tick := uint64(1); tick <= last; tick++ {
				if p.every > 0 && tick%p.every == 0 {
					want = append(want, tick)
				}
			}
			if !slices.Equal(p.seen, want) {
				t.Errorf("one that looks every %d ticks saw %d, want %d", p.every, p.seen, want)
			}
		}
		if passed != last || longest > engine.MaxSweep {
			t.Errorf("Passed was called last at tick %d, after %d ticks at most; want %d and at most %d", passed, longest, last, engine.MaxSweep)
		}
	}
}

type recorder struct{}

func (recorder) Record(*engine.Tick) error { return nil }

// A run ends where it is told to, with the reason, at a whole tick, and goes on from there.
func TestRunEnds(t *testing.T) {
	s := open(t, "heat")
	for _, tt := range []struct {
		name string
		end  func(r *runner.Run, cancel func())
		want error
		tick uint64
	}{
		{"context", func(r *runner.Run, cancel func()) {
			r.Passed = func() error {
				if r.World.Tick() == 30 {
					cancel()
				}
				return nil
			}
			r.Watchers = []runner.Watcher{runner.EveryTick(func(*engine.World) error { return nil })}
		}, context.Canceled, 30},
		{"a watcher", func(r *runner.Run, _ func()) {
			other := &picky{every: 20}
			r.Watchers = []runner.Watcher{runner.EveryTick(func(w *engine.World) error {
				if w.Tick() == 40 {
					return errSeen
				}
				return nil
			}), other}
			t.Cleanup(func() {
				if !slices.Equal(other.seen, []uint64{20, 40}) {
					t.Errorf("the other watcher saw %d, want 20 and 40", other.seen)
				}
			})
		}, errSeen, 40},
		{"between ticks", func(r *runner.Run, _ func()) { r.Passed = func() error { return errSeen }; r.World.Record(recorder{}) }, errSeen, 1},
		{"receipts", func(r *runner.Run, _ func()) { r.Receipts = func([]commands.Receipt) error { return errSeen } }, errSeen, 100},
		{"a full queue", func(r *runner.Run, _ func()) { r.World.Stop() }, commands.Stopped, 99},
		{"in real time", func(r *runner.Run, cancel func()) { r.Realtime = true; cancel() }, context.Canceled, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &runner.Run{Scenario: s, World: world(t, s, 1)}
			tt.end(r, cancel)
			if err := r.To(ctx, 150); !errors.Is(err, tt.want) || r.World.Tick() != tt.tick {
				t.Errorf("the run ended at tick %d with %v, want %d and %v", r.World.Tick(), err, tt.tick, tt.want)
			}
			if tt.want == commands.Stopped {
				return // for good
			}
			r.World.Record(nil)
			again := &runner.Run{Scenario: s, World: r.World}
			whole := &runner.Run{Scenario: s, World: world(t, s, 1)}
			if err := errors.Join(again.To(t.Context(), 150), whole.To(t.Context(), 150)); err != nil {
				t.Fatal(err)
			}
			if got, want := again.World.Hash(), whole.World.Hash(); got != want {
				t.Errorf("what went on has the hash %016x, want %016x", got, want)
			}
		})
	}
}

// sometimes reports whether something is so in one of many tries: what a busy machine may prevent, but not always.
func sometimes(so func() bool) bool {
	for range 50 {
		if so() {
			return true
		}
	}
	return false
}

// TestClock: the clock of a run in real time stands while it waits for its tick rate.
func TestClock(t *testing.T) {
	if !sometimes(func() bool { return stands(t) }) {
		t.Error("the clock of a run goes on for half of the time in which the run waits, and more")
	}
}

// stands reports whether less than half of the time that some ticks take passes by the clock of the run.
func stands(t *testing.T) bool {
	s := open(t, "heat")
	r := &runner.Run{Scenario: s, World: world(t, s, 1), Realtime: true}
	from, began := r.Clock(), time.Now()
	if err := r.To(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	passed, took := r.Clock().Sub(from), time.Since(began)
	if due := time.Duration(10 * r.World.Dt() * float64(time.Second)); took < due {
		t.Errorf("12 ticks took %v, want at least %v", took, due)
	}
	return passed <= took/2
}

// TestSpeed: a run in real time goes as many times as fast as it is told to, and says how late a tick
// began.
func TestSpeed(t *testing.T) {
	s := open(t, "heat")
	for speed, most := range map[float64]float64{4: 0.9, math.Inf(1): 0.2} { // of the time at speed 1
		var r *runner.Run
		if !sometimes(func() bool { var took float64; r, took = atSpeed(t, s, speed); return took < most }) {
			t.Errorf("at speed %v, ticks take more than %v of their time at speed 1", speed, most)
		}
		slow := func(*engine.World) error {
			time.Sleep(time.Duration(1.5 * r.World.Dt() / 4 * float64(time.Second)))
			return nil
		}
		if r.Watchers = []runner.Watcher{runner.EveryTick(slow)}; speed == 4 {
			if err := r.To(t.Context(), 23); err != nil {
				t.Fatal(err)
			}
			if r.Late() < time.Millisecond {
				t.Errorf("after a tick that took too long, the next is late by %v", r.Late())
			}
		}
	}
}

// atSpeed runs 20 ticks, and says which part of their time at speed 1 they took: never less than the speed says.
func atSpeed(t *testing.T, s *scenarios.Scenario, speed float64) (r *runner.Run, part float64) {
	t.Helper()
	r, began := &runner.Run{Scenario: s, World: world(t, s, 1), Realtime: true, Speed: speed}, time.Now()
	if r.Late() != 0 {
		t.Errorf("before the first tick it is late by %v", r.Late())
	}
	if err := r.To(t.Context(), 21); err != nil {
		t.Fatal(err)
	}
	part = time.Since(began).Seconds() / (20 * r.World.Dt())
	if part < 0.99/speed {
		t.Errorf("at speed %v, 20 ticks took %v of their time at speed 1", speed, part)
	}
	return r, part
}

// TestLastTickIsLookedAt: expectations look at the tick during which the context ends.
func TestLastTickIsLookedAt(t *testing.T) {
	r, err := runner.New(runner.Config{Scenario: open(t, "heat"), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Receipts = func([]commands.Receipt) error { cancel(); return nil }
	if err := r.To(ctx, 150); err != ctx.Err() || r.World.Tick() != 100 {
		t.Fatalf("To = %v at tick %d, want %v at tick 100", err, r.World.Tick(), ctx.Err())
	}
	if got, want := r.Checker.Results()[0].Text, "heat from -5 to 300: ok to tick 100"; got != want {
		t.Errorf("the first expectation: %s, want %s", got, want)
	}
}

// Receipts tells of every tick that took inputs.
func TestReceipts(t *testing.T) {
	s := open(t, "heat")
	refused, ticks := 0, map[uint64]bool{}
	r := &runner.Run{Scenario: s, World: world(t, s, 1)}
	r.Receipts = func(list []commands.Receipt) error {
		for i := range list {
			if list[i].Reason != commands.Applied {
				refused++
			}
		}
		ticks[r.World.Tick()] = true
		return nil
	}
	if err := r.To(t.Context(), s.Ticks); err != nil {
		t.Fatal(err)
	}
	for tick := uint64(1); tick <= s.Ticks; tick++ {
		if want := len(s.CommandsAt(tick)) > 0; ticks[tick] != want {
			t.Fatalf("tick %d: told %v, want %v", tick, ticks[tick], want)
		}
	}
	if refused != 1 {
		t.Errorf("%d commands were refused, want 1", refused)
	}
}

// TestWithinATick holds that a run which is told to go on within one of its ticks says so and
// submits nothing.
func TestWithinATick(t *testing.T) {
	s := open(t, "heat")
	taken := func(meddle bool) (inputs int, hash uint64) {
		r := &runner.Run{Scenario: s, World: world(t, s, 1)}
		r.World.Watch(func(tick *engine.Tick) {
			if inputs += len(tick.Inputs); !meddle {
				return
			}
			if err := r.To(t.Context(), 101); !errors.Is(err, engine.ErrUnderWay) {
				t.Errorf("To within tick %d = %v, want %v", tick.Number, err, engine.ErrUnderWay)
			}
		})
		if err := r.To(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		return inputs, r.World.Hash()
	}
	inputs, hash := taken(false)
	if n, h := taken(true); n != inputs || h != hash || inputs == 0 {
		t.Errorf("%d inputs, hash %016x; want %d and %016x", n, h, inputs, hash)
	}
}

func ExampleRun() {
	s, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		panic(err)
	}
	w, err := s.World(1)
	if err != nil {
		panic(err)
	}
	checker := scenarios.NewChecker(s, w)
	r := runner.Run{Scenario: s, World: w, Checker: checker}
	if err := r.To(context.Background(), s.Ticks); err != nil {
		panic(err)
	}
	fmt.Printf("tick %d, hash %016x\n", w.Tick(), w.Hash())
	// Output: tick 1000, hash 569cec420698e0fa
}

// slow is a propagator of ticks that take long.
type slow struct{ ticks *int }

func (slow) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "slow", Prev: engine.Fields(0), Full: engine.Fields(0)}
}

func (s slow) Step(c *engine.Context) error {
	*s.ticks++
	time.Sleep(30 * time.Millisecond)
	copy(c.Next(0), c.Prev(0))
	return nil
}

// TestLongTicksAreInterruptible: a run whose ticks take long ends soon after the context does.
func TestLongTicksAreInterruptible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "life", "ticks=60")
		ticks := 0
		w, err := engine.New(engine.Config{Space: space.Line{Length: 4}, TickRate: 1, Fields: []fields.Def{{Name: "a"}}, Propagators: []engine.Propagator{slow{&ticks}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := &runner.Run{Scenario: s, World: w}
		if err := r.To(ctx, 60); err != ctx.Err() || ticks > 5 {
			t.Errorf("To = %v after %d ticks, want %v after 4 or so", err, ticks, ctx.Err())
		}
	})
}
