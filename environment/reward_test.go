package environment_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/environment"
)

// corridor is a line of seven cells; one walker begins on cell 3, a stone lies on cell 1.
const corridor = `
murksim: 1
name: corridor
space: {kind: line, length: 7}
fields:
  - {name: height, mutability: static, initial: [0, 1, 4, 9, 16, 25, 36]}
  - {name: mark}
  - {name: energy, domain: entities, initial: 2}
parameters: {wind: 0.5}
entities:
  capacity: 3
  occupancy: 1
  kinds: [walker, stone]
  spawn:
    - {name: ann, kind: walker, cells: [[3]]}
    - {kind: stone, cells: [[1]]}
probes: [{name: far, field: mark, cell: [6]}]
environment:
  agents: {kind: walker}
  actions:
    moves: true
    choices:
      - {set: {field: mark, value: 3}}
      - {set: {field: energy, value: 7}}
      - {param: {name: wind, value: 4}}
  observation: [{field: height, around: {here: true}}]
  reward: [%s]
  terminated: [%s]
  steps: %d
`

// The choices of the corridor.
const (
	stay = iota
	left
	right
	mark
	eat
	blow
)

func TestRewards(t *testing.T) {
	for _, tt := range []struct {
		reward string
		script []int64
		want   []float64
	}{
		{"{constant: -0.25}", []int64{stay, right}, []float64{-0.25, -0.25}},
		{"{field: height}", []int64{right, right, left}, []float64{16, 25, 16}},
		{"{field: height, weight: 0.5}, {constant: 1}", []int64{right}, []float64{9}},
		{"{field: height, change: true}", []int64{right, stay, left, left}, []float64{7, 0, -7, -5}},
		{"{field: height, above: 10, weight: 3}", []int64{stay, right, left}, []float64{0, 3, 0}},
		{"{field: height, above: 10, below: 20, weight: 3}", []int64{right, right}, []float64{3, 0}},
		{"{field: energy}", []int64{stay, eat}, []float64{2, 7}},
		{"{param: wind, change: true}", []int64{stay, blow, blow}, []float64{0, 3.5, 0}},
		{"{total: mark}", []int64{mark, right, mark}, []float64{3, 3, 6}},
		{"{probe: far}", []int64{right, right, right, mark}, []float64{0, 0, 0, 3}},
		{"{field: mark, cell: [4]}", []int64{right, mark}, []float64{0, 3}},
		{"{count: stone}", []int64{stay}, []float64{1}},
		{"{near: {kind: stone, radius: 1}}", []int64{stay, left, right}, []float64{0, 1, 0}},
		{"{happened: blocked}", []int64{right, right, right, right, stay, left, left, left, left, left}, []float64{0, 0, 0, 1, 0, 0, 0, 0, 0, 1}},
	} {
		s := parse(t, fmt.Sprintf(corridor, tt.reward, "", 50))
		r := train(t, environment.Config{Scenario: s, Worlds: 2})
		var got []float64
		for _, choice := range tt.script {
			if err := r.StepDiscrete([]int64{stay, choice}); err != nil { // the second world
				t.Fatal(err)
			}
			got = append(got, r.Rewards[1])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s after %v: rewards %v, want %v", tt.reward, tt.script, got, tt.want)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		ends       string
		steps      int
		script     []int64
		terminated []uint8
		truncated  []uint8
	}{
		{"", 2, []int64{stay, stay}, []uint8{0, 0}, []uint8{0, 1}},
		{"{field: height, above: 20}", 9, []int64{right, right}, []uint8{0, 1}, []uint8{0, 0}},
		{"{field: height, above: 20}", 2, []int64{right, right}, []uint8{0, 1}, []uint8{0, 0}},
		{"{param: wind}", 2, []int64{stay}, []uint8{1}, []uint8{0}},
		{"{field: height, change: true, below: -6}", 9, []int64{right, left}, []uint8{0, 1}, []uint8{0, 0}},
		{"{happened: blocked}", 9, []int64{left, left}, []uint8{0, 1}, []uint8{0, 0}},
	} {
		r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", tt.ends, tt.steps)), Autoreset: environment.Disabled})
		var terminated, truncated []uint8
		for _, choice := range tt.script {
			if err := r.StepDiscrete([]int64{choice}); err != nil {
				t.Fatal(err)
			}
			terminated, truncated = append(terminated, r.Terminated[0]), append(truncated, r.Truncated[0])
		}
		if !slices.Equal(terminated, tt.terminated) || !slices.Equal(truncated, tt.truncated) {
			t.Errorf("%q, %d steps: terminated %v, truncated %v, want %v, %v", tt.ends, tt.steps, terminated, truncated, tt.terminated, tt.truncated)
		}
	}
}

// Changes in the first step of an episode do not depend on what was last done in the one before.
func TestChangesBeginAnew(t *testing.T) {
	s := parse(t, fmt.Sprintf(corridor, "{happened: blocked, change: true}", "", 9))
	r := train(t, environment.Config{Scenario: s})
	if err := r.StepDiscrete([]int64{left}); err != nil { // from the cell on which the next episode begins
		t.Fatal(err)
	}
	if err := r.Reset(nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.StepDiscrete([]int64{stay}); err != nil {
		t.Fatal(err)
	}
	if r.Rewards[0] != 0 {
		t.Errorf("reward %v for what is as it was", r.Rewards[0])
	}
}

// An agent that was gone before it could act has terminated in the first step, so that nobody waits for the end of its episode.
func TestDeathBeforeTheFirstStep(t *testing.T) {
	s := parse(t, fmt.Sprintf(duel, "[0, 0]", "[0, 1]", 20))
	for _, mode := range []environment.Autoreset{environment.NextStep, environment.SameStep, environment.Disabled} {
		r := train(t, environment.Config{Scenario: s, Autoreset: mode})
		if r.Alive[0] != 0 {
			t.Fatal("the walker lives")
		}
		for step, want := range [][]uint8{{1, 0, 1}, {1, 1, 1}, {1, 0, 0}}[mode] {
			if err := r.StepDiscrete([]int64{stay}); err != nil {
				t.Fatal(err)
			}
			if r.Terminated[0] != want || r.Truncated[0] != 0 || r.Rewards[0] != 0 || r.Returns[0] != 0 {
				t.Errorf("mode %d, step %d: terminated %v, truncated %v, reward %v, return %v; want %d", mode, step, r.Terminated, r.Truncated, r.Rewards, r.Returns, want)
			}
		}
	}
}

// duel is a plain with walkers, and a wolf that catches those beside it.
const duel = `
murksim: 1
name: duel
space: {kind: square4, rows: 4, cols: 4}
fields: [{name: energy, domain: entities, initial: 1}]
entities:
  capacity: 3
  kinds: [walker, wolf]
  spawn:
    - {kind: walker, cells: [%s]}
    - {kind: wolf, cells: [%s]}
systems:
  - hunting: {kind: wolf, energy: energy, prey: walker, pace: 0, catch: 100, gain: 1, cost: 0, breed_at: 1000}
environment:
  agents: {kind: walker}
  actions: {moves: true}
  observation: [{field: energy}]
  reward: [{happened: died, weight: -5}, {field: energy}]
  steps: 4
  warmup: %d
`

// An agent that has died ends its episode, and the others go on.
func TestDeath(t *testing.T) {
	s := parse(t, fmt.Sprintf(duel, "[0, 0], [3, 3]", "[0, 2]", 1))
	r := train(t, environment.Config{Scenario: s})
	east := int64(slices.Index(r.Layout().Choices, "east"))
	for step, want := range []struct {
		rewards                 []float64
		alive, over, late, seen []float64
	}{
		{[]float64{-5, 1}, []float64{0, 1}, []float64{1, 0}, []float64{0, 0}, []float64{0, 1}}, // beside the wolf, and gone
		{[]float64{0, 1}, []float64{0, 1}, []float64{0, 0}, []float64{0, 0}, []float64{0, 1}},
		{[]float64{0, 1}, []float64{0, 1}, []float64{0, 0}, []float64{0, 0}, []float64{0, 1}},
		{[]float64{0, 1}, []float64{0, 0}, []float64{0, 0}, []float64{0, 1}, []float64{0, 1}},
		{[]float64{0, 0}, []float64{1, 1}, []float64{0, 0}, []float64{0, 0}, []float64{1, 1}}, // another episode
	} {
		if err := r.StepDiscrete([]int64{east, 0}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Rewards, want.rewards) || !same(r.Alive, want.alive) || !same(r.Terminated, want.over) ||
			!same(r.Truncated, want.late) || !same(r.Float32, want.seen) {
			t.Errorf("step %d: rewards %v, alive %v, terminated %v, truncated %v, energy %v; want %v", step, r.Rewards, r.Alive, r.Terminated, r.Truncated, r.Float32, want)
		}
	}
}

func same[T uint8 | float32](got []T, want []float64) bool {
	return slices.EqualFunc(got, want, func(a T, b float64) bool { return float64(a) == b })
}

// stoker has numbers as actions, and a cell as its agent; a stove above 50 bursts.
const stoker = `
murksim: 1
name: stoker
space: {kind: line, length: 5}
fields: [{name: heat}]
parameters: {draught: 0}
environment:
  agents: {cells: [[2], [4]]}
  actions:
    controls:
      - {name: stove, set: {field: heat}, from: -10, to: 10}
      - {param: {name: draught}, from: 0, to: 1}
  observation: [{field: heat, around: {rect: [1]}}]
  reward: [{field: heat}, {param: draught, weight: 100}]
  steps: 5
`

func TestControls(t *testing.T) {
	r := train(t, environment.Config{Scenario: parse(t, stoker)})
	y := r.Layout()
	if !slices.Equal(y.Controls, []string{"stove", "draught"}) || !slices.Equal(y.Low, []float32{-10, 0}) || !slices.Equal(y.High, []float32{10, 1}) {
		t.Errorf("controls %v from %v to %v", y.Controls, y.Low, y.High)
	}
	if err := r.StepContinuous([]float32{3, 0.5, 99, 0.25}); err != nil { // 99 counts as 10
		t.Fatal(err)
	}
	if want := []float64{28, 35}; !slices.Equal(r.Rewards, want) {
		t.Errorf("rewards %v, want %v: both set the draught, the last one counts", r.Rewards, want)
	}
	if want := []float32{0, 3, 0, 0, 10, 0}; !slices.Equal(r.Float32, want) {
		t.Errorf("observed %v, want %v", r.Float32, want)
	}
	var wrong *environment.ActionError
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		if err := r.StepContinuous([]float32{1, 0, 1, v}); !errors.As(err, &wrong) || wrong.Agent != 1 || wrong.Control != 1 {
			t.Errorf("StepContinuous(%v) = %v", v, err)
		}
	}
	if r.Steps[0] != 1 {
		t.Errorf("%d steps after refused ones, want 1", r.Steps[0])
	}
}

// bursting is a scenario in which choice 1 makes a tick fail when it is taken a second time.
const bursting = `
murksim: 1
name: burst
space: {kind: line, length: 3}
fields: [{name: spark}, {name: heat}]
propagators: [{emission: {field: heat, presence: spark, intensity: 3e+38}}]
environment:
  agents: {cells: [[1]]}
  actions: {choices: [{stay: true}, {set: {field: spark, value: 1}}]}
  observation: [{field: spark}]
  reward: [{constant: 1}]
  steps: 6
`

// A world that fails is truncated; the others are not affected, it begins anew, and what it
// did up to there is a recording.
func TestFailure(t *testing.T) {
	s := parse(t, bursting)
	for _, mode := range []environment.Autoreset{environment.NextStep, environment.SameStep} {
		r := train(t, environment.Config{Scenario: s, Worlds: 3, Workers: 2, Autoreset: mode})
		folder := t.TempDir()
		r.RecordEvery(1, folder)
		var failed *environment.StepError
		for step := range 2 {
			err := r.StepDiscrete([]int64{0, 1, 0})
			if (step == 1) != errors.As(err, &failed) {
				t.Fatalf("step %d: %v", step, err)
			}
		}
		if failed.World != 1 || failed.Failed != 1 || r.Failure(1) == nil || r.Failure(0) != nil {
			t.Errorf("%v; worlds 0 and 1 say %v and %v", failed, r.Failure(0), r.Failure(1))
		}
		if want := []uint8{0, 1, 0}; !slices.Equal(r.Truncated, want) || !slices.Equal(r.Terminated, make([]uint8, 3)) || !slices.Equal(r.Rewards, []float64{1, 0, 1}) {
			t.Errorf("truncated %v, terminated %v, rewards %v", r.Truncated, r.Terminated, r.Rewards)
		}
		verify(t, filepath.Join(folder, "burst-1-0.murk"))
		for range 8 {
			if err := r.StepDiscrete([]int64{0, 0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		if files, _ := filepath.Glob(filepath.Join(folder, "*")); len(files) != 4 {
			t.Errorf("recordings %v, want one of each world's first episode, and of the second world's second", files)
		}
	}
}

// farthest rewards the distance from the left end, and ends where the agent has not moved.
type farthest struct{}

func (farthest) Judge(v *environment.View, agent int) (reward float64, ends bool) {
	at := v.Agents[agent].Cell
	return float64(at) * 10, at == v.Before[agent]
}

func TestTask(t *testing.T) {
	s := parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50))
	r := train(t, environment.Config{Scenario: s, Task: farthest{}, Autoreset: environment.SameStep})
	for i, tt := range []struct {
		choice     int64
		reward     float64
		terminated uint8
	}{{right, 41, 0}, {right, 51, 0}, {stay, 51, 1}, {left, 21, 0}} {
		if err := r.StepDiscrete([]int64{tt.choice}); err != nil {
			t.Fatal(err)
		}
		if r.Rewards[0] != tt.reward || r.Terminated[0] != tt.terminated {
			t.Errorf("step %d: reward %v, terminated %d, want %v, %d", i, r.Rewards[0], r.Terminated[0], tt.reward, tt.terminated)
		}
	}
}

// clumsy panics on cell 5.
type clumsy struct{}

func (clumsy) Judge(v *environment.View, agent int) (reward float64, ends bool) {
	if v.Agents[agent].Cell == 5 {
		panic("no such floor")
	}
	return 0, false
}

func TestTaskThatPanics(t *testing.T) {
	s := parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50))
	r := train(t, environment.Config{Scenario: s, Task: clumsy{}, Worlds: 2, Workers: 2})
	var failed *environment.StepError
	for step := range 2 {
		err := r.StepDiscrete([]int64{stay, right})
		if (step == 1) != errors.As(err, &failed) {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	if failed.World != 1 || !slices.Equal(r.Truncated, []uint8{0, 1}) || !slices.Equal(r.Rewards, []float64{1, 0}) {
		t.Errorf("%v, truncated %v, rewards %v", failed, r.Truncated, r.Rewards)
	}
	if err := r.StepDiscrete([]int64{stay, right}); err != nil || r.Began[1] != 1 {
		t.Errorf("the next step: %v, began %v", err, r.Began)
	}
}

// What happened in an episode is not known in the next one: a move from the cell on which it begins is none that was blocked.
func TestHappenedInAnotherEpisode(t *testing.T) {
	s := parse(t, fmt.Sprintf(corridor, "{happened: blocked, change: true}", "", 50))
	r := train(t, environment.Config{Scenario: s})
	for range 2 {
		if err := r.Reset([]uint64{1}, nil); err != nil {
			t.Fatal(err)
		}
		for _, choice := range []int64{stay, right, left, right} {
			if err := r.StepDiscrete([]int64{choice}); err != nil {
				t.Fatal(err)
			}
			if r.Rewards[0] != 0 {
				t.Errorf("a reward of %v, want 0", r.Rewards[0])
			}
		}
	}
}

// An agent that has died before it could act terminates in the first step.
func TestDeathInTheWarmup(t *testing.T) {
	text := fmt.Sprintf(corridor, "{constant: 1}", "", 5) + "  warmup: 2\ncommands: [{tick: 2, despawn: {entity: ann}}]\n"
	for _, mode := range []environment.Autoreset{environment.NextStep, environment.SameStep, environment.Disabled} {
		r := train(t, environment.Config{Scenario: parse(t, text), Autoreset: mode})
		for range 3 {
			if err := r.Reset(nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := r.StepDiscrete([]int64{right}); err != nil {
				t.Fatal(err)
			}
			if r.Terminated[0] != 1 || r.Truncated[0] != 0 || r.Rewards[0] != 0 {
				t.Errorf("mode %d: terminated %d, truncated %d, reward %v; want 1, 0, 0", mode, r.Terminated[0], r.Truncated[0], r.Rewards[0])
			}
		}
	}
}
