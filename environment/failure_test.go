package environment_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/replay"
)

// crowd is a scenario of which tick 4 fails in the episodes in which somebody stands where eve is spawned.
const crowd = `
murksim: 1
name: crowd
space: {kind: square8, rows: 6, cols: 6, edge: wrap}
fields: [{name: energy, domain: entities, initial: 1}]
entities:
  capacity: 30
  occupancy: 1
  kinds: [hunter, grazer]
  spawn: [{kind: hunter, count: 2}, {kind: grazer, count: 14}]
environment:
  agents: {kind: hunter}
  actions: {moves: true}
  observation: [{field: energy}]
  reward: [{field: energy}]
  steps: 3
  ticks_per_step: %d
  warmup: %d
commands: [{tick: 4, spawn: {kind: grazer, cell: [1, 1], name: eve}}]
`

// first is a seed whose first episode does not fail.
const first = 2

// modes are the ways to begin another episode.
var modes = []environment.Autoreset{environment.NextStep, environment.SameStep, environment.Disabled}

// TestFailureBeforeTheFirstStepIsWhole: an episode that fails in its first step, or in its warmup, is told once, with its own failure, and
// recorded with the ticks before it, in each mode; one that ended well is told as such, even if the next one fails in the same step.
func TestFailureBeforeTheFirstStepIsWhole(t *testing.T) {
	for _, tt := range []struct{ perStep, warmup, ticks, failed int }{{3, 1, 10, 6}, {1, 5, 8, 6}} {
		s := parse(t, fmt.Sprintf(crowd, tt.perStep, tt.warmup))
		var want []string
		for _, mode := range modes {
			other := train(t, environment.Config{Scenario: s, Seed: first})
			r := train(t, environment.Config{Scenario: s, Seed: first, Autoreset: mode})
			folder := t.TempDir()
			var told []string
			var last environment.Episode
			r.RecordWhen(func(e *environment.Episode) string {
				told = append(told, fmt.Sprintf("%d, seed %x, %d steps, returns %v, %v", e.Number, e.Seed, e.Steps, e.Returns, e.Failure))
				last = *e
				return filepath.Join(folder, fmt.Sprint(e.Number))
			})
			err := r.Reset([]uint64{3}, nil)
			for failed := 0; len(told) < 12; err = r.goOn(t, mode) {
				if err == nil {
					continue
				}
				failed++
				if _, ok := errors.AsType[*environment.StepError](err); !ok || !errors.Is(err, last.Failure) {
					t.Fatalf("mode %d: %v; the last episode that was told failed with %v", mode, err, last.Failure)
				}
				r.recorded(t, last.Seed, 3)
				state, err := r.State()
				if err != nil {
					t.Fatal(err)
				}
				if err := other.Restore(state); err != nil {
					t.Fatal(err)
				}
				other.recorded(t, last.Seed, 3)
			}
			for i, e := range told[:12] {
				ticks := tt.ticks
				if !strings.HasSuffix(e, "<nil>") {
					ticks = 3
				}
				b, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(i)))
				if err != nil {
					t.Fatal(err)
				}
				if _, n := about(t, b); n != uint64(ticks) {
					t.Errorf("mode %d: episode %s is recorded with %d ticks, want %d", mode, e, n, ticks)
				}
			}
			if want == nil {
				want = told[:12]
			}
			if !slices.Equal(told[:12], want) {
				t.Errorf("mode %d: told\n%s\nmode 0:\n%s", mode, strings.Join(told, "\n"), strings.Join(want, "\n"))
			}
		}
		if n := len(slices.DeleteFunc(want, func(e string) bool { return strings.HasSuffix(e, "<nil>") })); n != tt.failed {
			t.Errorf("%d of 12 episodes failed, want %d", n, tt.failed)
		}
	}
}

// goOn takes a step, or begins an episode where nothing else does.
func (r *trainer) goOn(t testing.TB, mode environment.Autoreset) error {
	if mode == environment.Disabled && !slices.Contains(r.Alive, 1) {
		return r.Reset(nil, nil)
	}
	return r.step(t)
}

// recorded holds that Record writes an episode with so many ticks.
func (r *trainer) recorded(t testing.TB, seed, ticks uint64) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Record(0, &b); err != nil {
		t.Fatal(err)
	}
	if gotSeed, gotTicks := about(t, b.Bytes()); gotSeed != seed || gotTicks != ticks {
		t.Errorf("Record writes %d ticks of seed %x, want %d of %x", gotTicks, gotSeed, ticks, seed)
	}
}

// about verifies a recording, and says what it is of.
func about(t testing.TB, b []byte) (seed, ticks uint64) {
	t.Helper()
	verifyBytes(t, b, 0, 0)
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for f := (replay.Frame{}); r.Next(&f) == nil; {
		ticks = f.Tick
	}
	return r.Head().Seed, ticks
}

// The episode before the first step of another is the last one, also if it has failed before its own first step was whole.
func TestRecordAfterAFailure(t *testing.T) {
	for _, shape := range [][2]int{{3, 1}, {1, 5}} {
		r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(crowd, shape[0], shape[1])), Seed: first, Autoreset: environment.NextStep})
		err := r.Reset([]uint64{3}, nil)
		for n := 0; n < 5; err = r.step(t) {
			if err == nil {
				continue
			}
			failed := r.Scenario(0).Seed
			if err := r.step(t); err == nil && r.Began[0] == 1 {
				n++
				r.recorded(t, failed, 3)
			}
		}
	}
}

// TestRecordingFailsWithAWorld: what a recording lacks is told beside the failure of a world.
func TestRecordingFailsWithAWorld(t *testing.T) {
	r := train(t, environment.Config{Scenario: parse(t, bursting), Autoreset: environment.SameStep})
	missing := filepath.Join(t.TempDir(), "missing")
	r.RecordEvery(1, missing)
	err := errors.Join(r.StepDiscrete([]int64{1}), r.StepDiscrete([]int64{1}))
	if failed, ok := errors.AsType[*environment.StepError](err); !ok || failed.World != 0 || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("%v, want the failure of world 0, and that there is no folder %s", err, missing)
	}
}

// An episode that a task ends with a panic is told and recorded as others that fail.
func TestRecordOfAPanic(t *testing.T) {
	for _, mode := range modes {
		r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 50)), Task: clumsy{}, Autoreset: mode})
		path := filepath.Join(t.TempDir(), "panic.murk")
		var told []uint64
		r.RecordWhen(func(e *environment.Episode) string {
			if e.Failure == nil || !strings.Contains(e.Failure.Error(), "no such floor") {
				t.Errorf("mode %d: failed with %v", mode, e.Failure)
			}
			told = append(told, e.Number)
			return path
		})
		seed := r.Scenario(0).Seed
		if err := errors.Join(r.StepDiscrete([]int64{right}), r.StepDiscrete([]int64{right})); err == nil {
			t.Fatal("no step fails")
		}
		if !slices.Equal(told, []uint64{0}) {
			t.Errorf("mode %d: told of %v, want episode 0", mode, told)
		}
		verify(t, path)
		r.recorded(t, seed, 3)
	}
}

// An agent acts in the first step also where its episode would end before it, as that is looked at after a step only; so it does in the recording.
func TestRecordWhereTheEndHoldsAtTheBeginning(t *testing.T) {
	r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "{field: height, below: 10}", 50))})
	if err := r.StepDiscrete([]int64{right}); err != nil || r.Alive[0] != 1 {
		t.Fatalf("%v, alive %v", err, r.Alive)
	}
	r.recorded(t, r.Scenario(0).Seed, 2)
}
