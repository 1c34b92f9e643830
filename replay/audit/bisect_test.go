package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// A planted propagator changes the first cell of the first field, as other code would.
type planted struct {
	by    func(tick uint64) float32
	fails uint64                 // at this tick and later; 0: never
	fail  func(tick uint64) bool // likewise, if there is one
	draws uint64                 // a number more at this tick; 0: never
}

// Spec implements [engine.Propagator].
func (planted) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "planted", Incremental: engine.Fields(0)}
}

// Step implements [engine.Propagator].
func (p planted) Step(c *engine.Context) error {
	switch tick := c.Tick(); {
	case p.fails > 0 && tick >= p.fails || p.fail != nil && p.fail(tick):
		return c.Fail(0, "planted")
	case p.draws == tick:
		c.Stream(0).Uint64()
	}
	if p.by != nil {
		c.Next(0)[0] += p.by(c.Tick())
	}
	return nil
}

// at returns a change of one tick.
func at(tick uint64, by float32) func(uint64) float32 {
	return func(t uint64) float32 {
		if t == tick {
			return by
		}
		return 0
	}
}

// otherHeat is a world of heat with another propagator, as another build has it.
func otherHeat(t testing.TB, p planted, sets ...string) (*scenarios.Scenario, *engine.World) {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), "heat", sets...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Config(1)
	if err != nil {
		t.Fatal(err)
	}
	c.Propagators = append(c.Propagators, p)
	w, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

var shortHeat = []string{"ticks=120", "expect=[]"}

// reruns returns a function that makes a rerun of a run by the worlds of a build.
func reruns(t testing.TB, k *kept, p planted) func() *audit.Rerun {
	return func() *audit.Rerun {
		s, w := otherHeat(t, p, shortHeat...)
		return &audit.Rerun{Evidence: k, World: w, Descriptor: s.Descriptor(), To: s.Ticks}
	}
}

// brief is a step without its states.
func brief(s *audit.Step) string {
	if s == nil {
		return "no step"
	}
	return fmt.Sprintf("tick %d, equal before %t, %d and %d bytes, outcomes %v", s.Tick, s.EqualBefore, len(s.Before), len(s.State), s.Outcomes)
}

// bisect is [audit.FirstDivergence] of reruns that can be made.
func bisect(ctx context.Context, rerun func() *audit.Rerun, repeat int) (*audit.Step, error) {
	step, _, err := audit.FirstDivergence(ctx, func() (*audit.Rerun, error) { return rerun(), nil }, repeat)
	return step, err
}

// bisected finds the tick in which a run and its rerun part, and holds that the bisection finds what the audit does.
func bisected(t *testing.T, rerun func() *audit.Rerun) *audit.Step {
	t.Helper()
	linear := rerun().Run(t.Context())
	step, err := bisect(t.Context(), rerun, 3)
	if err != nil {
		if linear == nil || err.Error() != linear.Error() {
			t.Errorf("the bisection: %v; the audit: %v", err, linear)
		}
		return nil
	}
	d, diverged := errors.AsType[*audit.DivergenceError](linear)
	switch {
	case step == nil && linear == nil:
	case step == nil || !diverged || step.Tick != d.Tick:
		t.Errorf("the bisection: %s; the audit: %v", brief(step), linear)
	case step.Stable() && step.Divergence().Error() != d.Error():
		t.Errorf("the bisection: %v; the audit: %v", step.Divergence(), linear)
	}
	return step
}

// TestBisectRewritten holds that a state that was changed at any tick, and everything after it chained anew, is found there.
func TestBisectRewritten(t *testing.T) {
	k := record(t, "heat", 0, shortHeat...)
	if step := bisected(t, reruns(t, k, planted{})); step != nil {
		t.Errorf("a run that is whole: %s", brief(step))
	}
	for x := range k.links {
		if x > 20 && x < 110 && x%9 > 0 {
			continue
		}
		bad := k.clone()
		bad.links[x].Digests = slices.Clone(bad.links[x].Digests)
		bad.links[x].Digests[2].Sum[0] ^= 1
		for i := x; i < len(bad.links); i++ {
			if i > 0 {
				bad.links[i].Prev = bad.links[i-1].Hash
			}
			bad.links[i].Rehash()
		}
		step := bisected(t, reruns(t, bad, planted{}))
		if step == nil || step.Tick != uint64(x) || !step.Stable() || step.EqualBefore != (x > 0) {
			t.Errorf("changed at tick %d: %s", x, brief(step))
		}
	}
}

// TestBisectBuilds holds that another build, whose chain is honest, is found at the tick at which it does something else.
func TestBisectBuilds(t *testing.T) {
	for _, tt := range []struct {
		what           string
		recorded, here planted
		tick           uint64
		sections       []uint16
	}{
		{"first tick", planted{by: at(1, 1)}, planted{}, 1, []uint16{3}},
		{"one bit", planted{by: at(77, 2e-6)}, planted{}, 77, []uint16{3}},
		{"last tick", planted{by: at(120, 1)}, planted{}, 120, []uint16{3}},
		{"a draw", planted{draws: 64}, planted{}, 64, []uint16{5}},
		{"a draw here", planted{}, planted{draws: 64}, 64, []uint16{5}},
		{"fails here", planted{}, planted{fails: 91}, 91, nil},
		{"differs, fails later", planted{}, planted{by: at(30, 1), fails: 91}, 30, []uint16{3}},
	} {
		s, w := otherHeat(t, tt.recorded, shortHeat...)
		step := bisected(t, reruns(t, recordWorld(t, s, w, 0), tt.here))
		if step == nil || step.Tick != tt.tick || !step.Stable() || !step.EqualBefore || step.Outcomes[0].Times != 4 {
			t.Errorf("%s: %s, want tick %d", tt.what, brief(step), tt.tick)
			continue
		}
		d := step.Divergence().(*audit.DivergenceError)
		if !slices.Equal(d.Sections, tt.sections) || (step.State == nil) != (d.Err != nil) || (d.Err != nil) != (tt.sections == nil) {
			t.Errorf("%s: sections %v, want %v; %v", tt.what, d.Sections, tt.sections, d.Err)
		}
	}
}

// TestBisectUnstable holds that a build that does not come to the same each time is told from one that does something else.
func TestBisectUnstable(t *testing.T) {
	calls := float32(0)
	hidden := planted{by: func(tick uint64) float32 {
		if tick < 50 {
			return 0
		}
		calls++
		return calls
	}}
	k := record(t, "heat", 0, shortHeat...)
	step := bisected(t, reruns(t, k, hidden))
	if step == nil || step.Tick != 50 || step.Stable() || len(step.Outcomes) != 4 || step.Equal() {
		t.Errorf("%s, want 4 outcomes of tick 50", brief(step))
	}
	// A tick that is another one in one computation alone shows later, as a hash that does not come again.
	calls = 0
	step, err := bisect(t.Context(), reruns(t, k, planted{by: func(tick uint64) float32 {
		if tick != 80 {
			return 0
		}
		calls++
		return at(1, 1)(uint64(calls))
	}}), 3)
	if err != nil || step == nil || len(step.Outcomes) != 2 || step.Outcomes[1] != (audit.Outcome{Hash: step.Committed.Hash, Times: 3}) {
		t.Errorf("%s, %v, want 2 outcomes", brief(step), err)
	} else if d := step.Divergence().(*audit.DivergenceError); d.Calculated != step.Outcomes[0].Hash {
		t.Errorf("%v", d)
	}
}

// TestBisectFirstTick: what the first computation came to counts at the first tick, too.
func TestBisectFirstTick(t *testing.T) {
	k, first := record(t, "heat", 0, shortHeat...), true
	whole := reruns(t, k, planted{})
	step, err := bisect(t.Context(), func() *audit.Rerun {
		r := whole()
		if first {
			r.World.Column(0).Float32[0]++
		}
		first = false
		return r
	}, 3)
	if err != nil || step == nil || step.Tick != 0 || step.Equal() || len(step.Outcomes) != 2 || step.Outcomes[1].Hash != step.Committed.Hash {
		t.Errorf("%s, %v, want 2 outcomes of tick 0", brief(step), err)
	}
}

// TestBisectInputs holds that inputs that no tick can have are an error only where no tick before them differs.
func TestBisectInputs(t *testing.T) {
	k := record(t, "heat", 0, shortHeat...)
	x := slices.IndexFunc(k.inputs, func(in audit.Input) bool { return in.Tick >= 100 })
	k.inputs[x].Kind++ // that of another command
	var c audit.Events
	for i := range k.inputs {
		if err := c.Add(&k.inputs[i].Event); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bisect(t.Context(), reruns(t, k, planted{}), 3); err == nil || !strings.Contains(err.Error(), "input_events, seq ") {
		t.Errorf("%v, want a broken input", err)
	}
	if step := bisected(t, reruns(t, k, planted{by: at(60, 1)})); step == nil || step.Tick != 60 {
		t.Errorf("%s, want tick 60", brief(step))
	}
	if step := bisected(t, reruns(t, k, planted{fails: 60})); step == nil || step.Tick != 60 {
		t.Errorf("%s, want tick 60", brief(step))
	}
}

// TestBisectStops holds that a bisection ends with its context.
func TestBisectStops(t *testing.T) {
	k := record(t, "heat", 0, shortHeat...)
	ctx, cancel := context.WithCancel(t.Context())
	computed := 0
	made := reruns(t, k, planted{by: at(60, 1)})
	rerun := func() *audit.Rerun {
		r := made()
		r.Passed = func(uint64) {
			if computed++; computed == 100 {
				cancel()
			}
		}
		return r
	}
	if _, err := bisect(ctx, rerun, 3); !errors.Is(err, context.Canceled) || computed > 101 {
		t.Errorf("%v after %d ticks", err, computed)
	}
}

// TestAt holds that any tick can be computed, before and after the one that differs, from genesis and from a snapshot.
func TestAt(t *testing.T) {
	s, w := otherHeat(t, planted{by: at(60, 1)}, shortHeat...)
	k := recordWorld(t, s, w, 20)
	_, clean := otherHeat(t, planted{}, shortHeat...)
	for tick := range s.Ticks + 1 {
		if err := (&runner.Run{Scenario: s, World: clean}).To(t.Context(), tick); err != nil {
			t.Fatal(err)
		}
		if tick > 3 && tick < 58 || tick > 62 && tick < 119 {
			continue
		}
		want := must(clean.Save(s.Descriptor()))
		step, err := reruns(t, k, planted{})().At(t.Context(), tick, 1)
		if err != nil || !slices.Equal(step.State, want) || step.Equal() != (tick < 60) || step.EqualBefore != (tick > 0 && tick <= 60) || (step.Before == nil) != (tick == 0) {
			t.Errorf("tick %d: %s, %v", tick, brief(step), err)
		}
		if tick < 40 {
			continue
		}
		x, head, err := audit.Open(t.Context(), k, 40)
		if err != nil {
			t.Fatal(err)
		}
		r := reruns(t, k, planted{})()
		if r.World, err = s.Restore(1, x.State, nil); err != nil {
			t.Fatal(err)
		}
		r.From = head
		if step, err := r.At(t.Context(), tick, 0); err != nil || !slices.Equal(step.State, want) || step.Equal() != (tick < 60) {
			t.Errorf("tick %d from a snapshot: %s, %v", tick, brief(step), err)
		}
	}
	if _, err := reruns(t, k, planted{fails: 9})().At(t.Context(), 30, 0); err == nil || !strings.Contains(err.Error(), "tick 9 cannot be computed") {
		t.Errorf("behind a tick that fails: %v", err)
	}
}

// TestBisectFailsElsewhere holds that a build which differs late, and fails earlier when it is asked again, is found where it fails: nothing can be
// computed after that.
func TestBisectFailsElsewhere(t *testing.T) {
	k, times, last := record(t, "heat", 0, shortHeat...), 0, uint64(1000)
	moves := planted{by: at(100, 1), fail: func(tick uint64) bool {
		if tick <= last {
			times++ // the world went back
		}
		last = tick
		return times > 1 && tick >= 30
	}}
	_, err := bisect(t.Context(), reruns(t, k, moves), 1)
	if d, ok := errors.AsType[*audit.DivergenceError](err); !ok || d.Tick != 30 || d.Err == nil || d.Expected != k.links[30].Hash {
		t.Errorf("%v; want tick 30", err)
	}
}

// TestBisectHidden holds that a tick is not accused that comes to the committed hash on the way from the first tick, though a propagator remembers
// something that shows where the world goes back.
func TestBisectHidden(t *testing.T) {
	s, w := otherHeat(t, planted{}, shortHeat...)
	k := recordWorld(t, s, w, 0)
	remembering := func() *audit.Rerun {
		steps := uint64(0)
		return reruns(t, k, planted{by: func(tick uint64) float32 {
			if steps++; steps != tick {
				return float32(steps)
			}
			return 0
		}})()
	}
	if step := bisected(t, remembering); step != nil {
		t.Errorf("a run that is whole: %s", brief(step))
	}
	for i := 80; i < len(k.links); i++ {
		if i == 80 {
			k.links[i].Digests = slices.Clone(k.links[i].Digests)
			k.links[i].Digests[2].Sum[0] ^= 1
		}
		k.links[i].Prev = k.links[i-1].Hash
		k.links[i].Rehash()
	}
	if step := bisected(t, remembering); step == nil || step.Tick != 80 || step.Stable() || !step.EqualBefore {
		t.Errorf("%s, want tick 80, which does not come to the same each time", brief(step))
	}
}

// TestDivergenceFails: of a tick that failed once, and came to the committed hash the other times, the error is told, not the committed
// hash as the calculated one.
func TestDivergenceFails(t *testing.T) {
	l := &audit.Link{Tick: 7, Hash: audit.Hash{1}}
	for _, outcomes := range [][]audit.Outcome{
		{{Err: "boom", Times: 1}, {Hash: l.Hash, Times: 3}},
		{{Hash: l.Hash, Times: 1}, {Err: "boom", Times: 3}},
	} {
		s := audit.Step{Tick: 7, Committed: l, Calculated: l, Outcomes: outcomes}
		d, ok := errors.AsType[*audit.DivergenceError](s.Divergence())
		if !ok || d.Err == nil || d.Err.Error() != "boom" || d.Calculated != (audit.Hash{}) || d.Expected != l.Hash {
			t.Errorf("%v: %+v", outcomes, d)
		}
	}
}
