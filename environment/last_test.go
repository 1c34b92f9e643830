package environment_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/environment"
)

// forge returns a state after a change to its worlds.
func forge(t *testing.T, state []byte, change func(worlds []map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	var worlds []map[string]any
	for _, w := range m["worlds"].([]any) {
		worlds = append(worlds, w.(map[string]any))
	}
	change(worlds)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// set returns a change of a number of the last episode of world 0.
func set(key string, to uint64) func([]map[string]any) {
	return func(w []map[string]any) { w[0]["last"].(map[string]any)[key] = to }
}

// TestLastEpisodeOfAnother: a last episode whose seed is not that of the world and its number is noticed.
func TestLastEpisodeOfAnother(t *testing.T) {
	r := train(t, environment.Config{Scenario: open(t, "heat_seeker", short...), Worlds: 2, Seed: 3, Autoreset: environment.SameStep})
	for r.Began[0] = 0; r.Began[0] == 0; {
		r.act(t, 0)
	}
	state, err := r.State()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]map[string]any){
		"exchanged":      func(w []map[string]any) { w[0]["last"], w[1]["last"] = w[1]["last"], w[0]["last"] },
		"of both worlds": func(w []map[string]any) { w[0]["last"] = w[1]["last"] },
		"seed":           set("seed", 7),
		"number":         set("number", 1),
		"master":         set("master", 4),
	} {
		err := r.Restore(forge(t, state, change))
		if x, ok := errors.AsType[*environment.StateError](err); !ok || x.World != 0 || !strings.Contains(err.Error(), "has a last episode with the seed ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Restore(state); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var b bytes.Buffer
		if err := r.Record(i, &b); err != nil {
			t.Fatal(err)
		}
		if seed, _ := about(t, b.Bytes()); seed != environment.EpisodeSeed(3, uint64(i), 0, 0) {
			t.Errorf("world %d: Record writes the seed %x", i, seed)
		}
	}
}

// TestLastEpisodeOfAnotherMaster: the last episode may be one from before a Reset with other seeds.
func TestLastEpisodeOfAnotherMaster(t *testing.T) {
	c := environment.Config{Scenario: open(t, "heat_seeker", short...), Seed: 3}
	r, to := train(t, c), train(t, c)
	r.act(t, 0)
	if err := r.Reset([]uint64{8}, nil); err != nil {
		t.Fatal(err)
	}
	state, err := r.State()
	if err == nil {
		err = to.Restore(state)
	}
	if err != nil {
		t.Fatal(err)
	}
	to.recorded(t, environment.EpisodeSeed(3, 0, 0, 0), 4)
	r.act(t, 0)
	to.act(t, 0)
	if a, b := r.trace(0), to.trace(0); a != b {
		t.Errorf("it is\n%s, restored\n%s", a, b)
	}
}

// TestLastEpisodeOfALaterAttempt: the seed of a last episode may be one after others that had no room; one without room cannot be recorded.
func TestLastEpisodeOfALaterAttempt(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(crowd, 1, 1), "count: 14}]", "count: 14}, {kind: grazer, count: 1, cells: [[1, 1]]}]", 1)
	text = strings.Replace(text, "tick: 4, spawn", "tick: 90, spawn", 1) // after the episodes
	r := train(t, environment.Config{Scenario: parse(t, text), Autoreset: environment.SameStep})
	later := 0
	for episode := range uint64(12) {
		for r.Began[0] = 0; r.Began[0] == 0; {
			r.act(t, 0)
		}
		state, err := r.State()
		if err == nil {
			err = r.Restore(state)
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Record(0, &b); err != nil {
			t.Fatal(err)
		}
		seed, _ := about(t, b.Bytes())
		if seed == environment.EpisodeSeed(0, 0, episode, 0) {
			continue
		}
		later++
		if err := r.Restore(forge(t, state, set("seed", environment.EpisodeSeed(0, 0, episode, 0)))); err != nil {
			t.Fatal(err)
		}
		if err := r.Record(0, &b); err == nil || !strings.Contains(err.Error(), "finds no room for its first population, so it ends at tick 1; it has ") {
			t.Errorf("episode %d: %v", episode, err)
		}
		if err := r.Restore(state); err != nil {
			t.Fatal(err)
		}
	}
	if later == 0 {
		t.Error("no episode needs another attempt")
	}
}
