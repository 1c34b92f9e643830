package environment_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/environment"
)

// TestStateOfAPanic: a batch in which a task has panicked is restored as it stands, in each mode, and goes on as the one that it was taken from.
func TestStateOfAPanic(t *testing.T) {
	for _, mode := range modes {
		c := environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50)), Task: clumsy{}, Worlds: 2, Autoreset: mode}
		from, to := train(t, c), train(t, c)
		if err := errors.Join(from.StepDiscrete([]int64{right, stay}), from.StepDiscrete([]int64{right, stay})); err == nil {
			t.Fatal("no step fails")
		}
		for step := range 4 {
			state, err := from.State()
			if err != nil {
				t.Fatal(err)
			}
			if err := to.Restore(state); err != nil {
				t.Fatalf("mode %d, before step %d: %v", mode, step, err)
			}
			for i := range 2 {
				if a, b := from.World(i), to.World(i); a.Tick() != b.Tick() || a.Hash() != b.Hash() || from.Returns[i] != to.Returns[i] && from.Began[i] == 0 {
					t.Errorf("mode %d, step %d: world %d is in tick %d, returns %v; restored in tick %d, returns %v", mode, step, i, a.Tick(), from.Returns, b.Tick(), to.Returns)
				}
			}
			if a, b := from.StepDiscrete([]int64{right, right}), to.StepDiscrete([]int64{right, right}); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("mode %d, step %d: %v, restored %v", mode, step, a, b)
			}
			for i := range 2 {
				if a, b := from.trace(i), to.trace(i); a != b {
					t.Errorf("mode %d, step %d: world %d is\n%s, restored\n%s", mode, step, i, a, b)
				}
			}
		}
	}
}

// TestStateOfAnotherTask: an episode that ends with another task where it did not, or the other way round, is noticed.
func TestStateOfAnotherTask(t *testing.T) {
	c := environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50)), Autoreset: environment.Disabled}
	without := train(t, c)
	c.Task = clumsy{}
	with := train(t, c)
	var states [2][]byte
	for i, r := range []*trainer{with, without} {
		for range 2 {
			_ = r.StepDiscrete([]int64{right}) // one of them panics
		}
		var err error
		if states[i], err = r.State(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		to    *trainer
		state []byte
		want  string
	}{
		{without, states[0], "comes to an episode that goes on at tick 3, where it had ended"},
		{with, states[1], "comes to an episode that ends at tick 3, where it went on"},
	} {
		err := tt.to.Restore(tt.state)
		if _, ok := errors.AsType[*environment.StateError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// TestPanicIsAFailure: a task that panics ends an episode as a tick that fails does, in each mode.
func TestPanicIsAFailure(t *testing.T) {
	for _, mode := range modes {
		var steps [2][]string
		for k, c := range []struct {
			environment.Config
			script []int64
		}{
			{environment.Config{Scenario: parse(t, bursting)}, []int64{1, 1, 0, 0}},
			{environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50)), Task: clumsy{}}, []int64{right, right, stay, stay}},
		} {
			c.Autoreset = mode
			r := train(t, c.Config)
			for i, choice := range c.script {
				err := r.StepDiscrete([]int64{choice})
				if (err != nil) != (i == 1) || (r.Failure(0) != nil) != (i == 1) {
					t.Fatalf("mode %d, step %d: %v", mode, i, err)
				}
				steps[k] = append(steps[k], fmt.Sprint("began ", r.Began, " alive ", r.Alive, " terminated ", r.Terminated, " truncated ", r.Truncated, " rewards ", r.Rewards, " returns ", r.Returns))
			}
		}
		if !slices.Equal(steps[0], steps[1]) {
			t.Errorf("mode %d: with a tick that fails\n%s\nwith a task that panics\n%s", mode, strings.Join(steps[0], "\n"), strings.Join(steps[1], "\n"))
		}
	}
}

// picky panics for the second agent, after the first has its reward.
type picky struct{}

func (picky) Judge(_ *environment.View, agent int) (reward float64, ends bool) {
	if agent == 1 {
		panic("not this one")
	}
	return 5, false
}

// TestPanicAfterARewardGivesNone: returns are the sums of the rewards, also after a panic for a later agent.
func TestPanicAfterARewardGivesNone(t *testing.T) {
	r := train(t, environment.Config{Scenario: open(t, "hunters", short...), Task: picky{}, Autoreset: environment.Disabled})
	var told []float64
	r.RecordWhen(func(e *environment.Episode) string {
		told = slices.Clone(e.Returns)
		return ""
	})
	none := make([]float64, r.agents)
	if err := r.step(t); err == nil || !slices.Equal(r.Rewards, none) || !slices.Equal(r.Returns, none) || !slices.Equal(told, none) {
		t.Errorf("%v; rewards %v, returns %v, told %v", err, r.Rewards, r.Returns, told)
	}
}

// gives is a task that gives the same for each step.
type gives float64

func (g gives) Judge(*environment.View, int) (reward float64, ends bool) { return float64(g), false }

// TestStateOfReturnsThatAreNotFinite: returns that overflow, or that a task makes so, are restored bit by bit, also those of the last episode.
func TestStateOfReturnsThatAreNotFinite(t *testing.T) {
	for _, tt := range []struct {
		constant string
		task     environment.Task
	}{
		{"1.7e+308", nil}, {"-1.7e+308", nil}, {"1", gives(math.Inf(1))}, {"1", gives(math.NaN())}, {"0.1", gives(0.2)},
	} {
		for _, mode := range modes {
			c := environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: "+tt.constant+"}", "", 3)), Task: tt.task, Autoreset: mode}
			from, to := train(t, c), train(t, c)
			for step := range 8 {
				state, err := from.State()
				if err != nil {
					t.Fatalf("%s and %v, mode %d, before step %d: %v", tt.constant, tt.task, mode, step, err)
				}
				if err := to.Restore(state); err != nil {
					t.Fatal(err)
				}
				a, b := math.Float64bits(from.Returns[0]), math.Float64bits(to.Returns[0])
				if a != b && from.Began[0] == 0 { // with SameStep they are still those of the episode that has ended
					t.Errorf("%s and %v, mode %d, before step %d: returns %016x, restored %016x", tt.constant, tt.task, mode, step, a, b)
				}
				if err := errors.Join(from.StepDiscrete([]int64{stay}), to.StepDiscrete([]int64{stay})); err != nil {
					t.Fatal(err)
				}
				if a, b := from.trace(0), to.trace(0); a != b {
					t.Errorf("%s and %v, mode %d, step %d:\n%s, restored\n%s", tt.constant, tt.task, mode, step, a, b)
				}
			}
		}
	}
}
