package environment_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/environment"
)

// TestState holds that a batch goes on from a state as the one that it was taken from: with other workers, in each mode, in the middle of
// an episode and where one has ended.
func TestState(t *testing.T) {
	for _, name := range learning {
		for _, mode := range []environment.Autoreset{environment.NextStep, environment.SameStep, environment.Disabled} {
			const worlds = 3
			c := environment.Config{Scenario: open(t, name, short...), Worlds: worlds, First: 4, Seed: 9, Autoreset: mode}
			from := train(t, c)
			c.Workers, c.Seed = 2, 1
			to := train(t, c)
			for step := range 16 {
				state, err := from.State()
				if err != nil {
					t.Fatal(err)
				}
				if err := to.Restore(state); err != nil {
					t.Fatalf("%s, mode %d, before step %d: %v", name, mode, step, err)
				}
				if !slices.Equal(to.Float32, from.Float32) {
					t.Fatalf("%s, mode %d, before step %d: the agents see something else", name, mode, step)
				}
				for i := range worlds {
					if step%5 != 0 {
						break
					}
					var a, b bytes.Buffer
					if err := errors.Join(from.Record(i, &a), to.Record(i, &b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
						t.Fatalf("%s, mode %d, before step %d: the recordings of world %d differ, %v", name, mode, step, i, err)
					}
				}
				from.act(t, 4)
				to.act(t, 4)
				for i := range worlds {
					if a, b := from.trace(i), to.trace(i); a != b {
						t.Fatalf("%s, mode %d, step %d: world %d is\n%s, restored\n%s", name, mode, step, i, a, b)
					}
				}
				if mode == environment.Disabled && step == 10 { // some have ended
					for _, r := range []*trainer{from, to} {
						if err := r.Reset(nil, []uint8{1, 0, 1}); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
}

// TestStateOfAFailure: a world that has failed is restored as one that has.
func TestStateOfAFailure(t *testing.T) {
	s := parse(t, bursting)
	from, to := train(t, environment.Config{Scenario: s}), train(t, environment.Config{Scenario: s})
	var failed *environment.StepError
	if err := errors.Join(from.StepDiscrete([]int64{1}), from.StepDiscrete([]int64{1})); !errors.As(err, &failed) {
		t.Fatal("no step fails")
	}
	state, err := from.State()
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(state); err != nil {
		t.Fatal(err)
	}
	if a, b := from.World(0), to.World(0); a.Tick() != b.Tick() || a.Hash() != b.Hash() || to.Alive[0] != 0 {
		t.Errorf("it is in tick %d, %016x; restored in tick %d, %016x, alive %d", a.Tick(), a.Hash(), b.Tick(), b.Hash(), to.Alive[0])
	}
}

// TestOtherStates holds that what is no state of the batch is refused, and one that does not come to its hash is noticed.
func TestOtherStates(t *testing.T) {
	c := environment.Config{Scenario: open(t, "heat_seeker", short...), Worlds: 2, Seed: 3, Autoreset: environment.NextStep}
	r := train(t, c)
	for range 4 {
		r.act(t, 0)
	}
	state, err := r.State()
	if err != nil {
		t.Fatal(err)
	}
	before := r.trace(1)
	for _, tt := range []struct{ from, to, want string }{
		{`"form":2`, `"form":1`, "has form 1; this version reads form 2; nothing was changed"},
		{`{"form":2`, `{"form":1,"returns":[1]`, "has form 1; this version reads form 2"},
		{`}]}`, `}]}{}`, "is none: "},
		{`{"form"`, `{"shape":1,"form"`, "is none: "},
		{`"scenario":"`, `"scenario":"0`, "is that of another scenario"},
		{`"index":1`, `"index":2`, "has world 2 where world 1 is"},
		{`"choices":[`, `"choices":[-1,`, "4 steps with the actions of 5"},
		{`"choices":[`, `"numbers":[1],"choices":[`, "its actions are not those of all agents"},
		{`"steps":4,"choices":[`, `"steps":5,"choices":[99,`, "there is no choice 99"},
		{`"steps":4`, `"steps":9`, "9 steps with the actions of 4"},
	} {
		forged := bytes.Replace(state, []byte(tt.from), []byte(tt.to), 1)
		err := r.Restore(forged)
		if x, ok := errors.AsType[*environment.StateError](err); !ok || x.World >= 0 || !strings.Contains(err.Error(), tt.want) {
			if tt.want != "4 steps with the actions of 5" || !ok {
				t.Errorf("%s: %v, want %s", tt.to, err, tt.want)
			}
		}
	}
	if r.trace(1) != before {
		t.Error("what was refused has changed something")
	}
	for _, tt := range []struct{ from, to, want string }{
		{string(regexp.MustCompile(`"hash":\d+`).Find(state)), `"hash":7`, "comes to the hash "},
		{`"master":3`, `"master":4`, "comes to the hash "},
		{`"steps":4,"choices":[`, `"steps":5,"choices":[0,`, "comes to the hash "},
		{`"over":false`, `"over":true`, "comes to an episode that goes on at tick 7, where it had ended"},
	} {
		err := r.Restore(bytes.Replace(state, []byte(tt.from), []byte(tt.to), 1))
		if x, ok := errors.AsType[*environment.StateError](err); !ok || x.World != 0 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.to, err, tt.want)
		}
		if err := r.StepDiscrete(r.actions); err == nil {
			t.Errorf("%s: a step is taken after it", tt.to)
		}
	}
	if err := r.Restore(state); err != nil {
		t.Fatal(err)
	}
	r.act(t, 0)
}

// TestForgedLastEpisode: an episode that cannot be played again is an error where it is recorded, and leaves no file.
func TestForgedLastEpisode(t *testing.T) {
	r := train(t, environment.Config{Scenario: open(t, "heat_seeker", short...), Seed: 3, Autoreset: environment.SameStep})
	for r.Began[0] = 0; r.Began[0] == 0; {
		r.act(t, 0)
	}
	state, err := r.State()
	if err != nil {
		t.Fatal(err)
	}
	forged := regexp.MustCompile(`"last":(.*?)"ticks":\d+`).ReplaceAll(state, []byte(`"last":$1"ticks":1000000`))
	if err := r.Restore(forged); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "last.murk")
	err = r.Save(0, path)
	if _, there := os.Stat(path); err == nil || there == nil || !strings.Contains(err.Error(), "; it has 1000000") {
		t.Errorf("%v, and the file: %v", err, there)
	}
	if err := errors.Join(r.Restore(state), r.Save(0, path)); err != nil {
		t.Error(err)
	}
}

// FuzzState holds that no state leads to a panic, and that what is restored has the state that it was restored from.
func FuzzState(f *testing.F) {
	c := environment.Config{Scenario: open(f, "hunters", "environment.steps=3"), Worlds: 2, Seed: 3}
	r := train(f, c)
	for range 5 {
		state, err := r.State()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(state)
		r.act(f, 0)
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		if r.Restore(state) != nil {
			return
		}
		once, err := r.State()
		if err == nil {
			err = r.Restore(once)
		}
		if again, _ := r.State(); err != nil || !bytes.Equal(once, again) {
			t.Errorf("%s is restored as\n%s, and then as\n%s, %v", state, once, again, err)
		}
	})
}
