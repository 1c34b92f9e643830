package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

func TestCommandsAt(t *testing.T) {
	s, err := scenariotest.Parse("busy.yaml", scenariotest.Busy)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[uint64]int{1: 8, 2: 3, 3: 3, 4: 1, 5: 4, 6: 5, 7: 1, 8: 0, 9: 3, 10: 0, 12: 3}
	for tick, want := range counts {
		if got := len(s.CommandsAt(tick)); got != want {
			t.Errorf("tick %d: %d commands, want %d: %v", tick, got, want, s.CommandsAt(tick))
		}
	}
	if c := s.CommandsAt(3)[0]; c.Expires != 5 || c.Kind != commands.KindSetField || c.Float32() != 5 {
		t.Errorf("tick 3: %+v, want a SetField of 5 that expires after tick 5", c)
	}
	if c := s.CommandsAt(6)[4]; c.Kind != commands.KindCustom || c.ID != 9 || !slices.Equal(c.Data, []byte{0x0a, 0xff}) {
		t.Errorf("tick 6: %+v, want a Custom of type 9 with 0a ff", c)
	}
	for i, c := range s.CommandsAt(1) {
		if c.Kind != commands.KindSpawn || c.Priority != commands.PrioritySystem {
			t.Errorf("tick 1: command %d is %+v, want a Spawn of the system's priority", i, c)
		}
	}
}

// TestCommandsApplied holds what the commands do, and what the checker makes of it.
func TestCommandsApplied(t *testing.T) {
	s, err := scenariotest.Parse("busy.yaml", scenariotest.Busy)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	checks := scenarios.NewChecker(s, w)
	var refused []string
	for tick := uint64(1); tick <= 10; tick++ {
		for _, c := range s.CommandsAt(tick) {
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		receipts, err := w.Step()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range receipts {
			if r.Reason != commands.Applied {
				refused = append(refused, fmt.Sprintf("tick %d %v: %v", tick, r.Command.Kind, r.Reason))
			}
		}
		checks.Observe(w)
	}
	if want := []string{"tick 6 custom: unsupported"}; !slices.Equal(refused, want) {
		t.Errorf("refused: %q, want %q", refused, want)
	}
	if v, ok := w.Parameter(7); !ok || v != 2 {
		t.Errorf("parameter rain is %v, want 2", v)
	}
	want := []string{
		"entities: 8 to 9 alive: ok to tick 10",
		"mouse: 5 to 5 alive at tick 4: ok",
		"heat at [1, 2] is 9 at tick 2: ok",
		"flow at [1, 2] is [3, 4] at tick 10: ok",
		"total heat 9 at tick 2: ok",
		"heat from 0 to 8: FAILED at tick 2: it is 9 at [1, 2]",
		"total flow conserved ±0.5: FAILED at tick 2: the total is 7, not 0",
		"total heat 1 at tick 1,000: not reached",
	}
	for i, r := range checks.Results()[:len(want)] {
		if r.Text != want[i] || r.OK != (i < 5) || r.Reached != (i < 7) {
			t.Errorf("result %d: %+v, want %q, ok %t, reached %t", i, r, want[i], i < 5, i < 7)
		}
	}
	if r := checks.Results()[8]; r.OK || len(r.Text) < 40 {
		t.Errorf("result 8: %+v, want a failure that names the hash", r)
	}
}

// TestCrowdedTick holds that the most commands and the largest population that a
// scenario may have fit into one tick.
func TestCrowdedTick(t *testing.T) {
	set := "  - {tick: 1, set: {field: a, rect: {from: [0], to: [4095]}, value: 1}}\n"
	s, err := scenariotest.Parse("a.yaml", `murksim: 1
name: crowd
space: {kind: ring, length: 32768}
fields: [{name: a}]
entities: {capacity: 40000, kinds: [ant], spawn: [{kind: ant}]}
commands:
`+strings.Repeat(set, 8))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	list := s.CommandsAt(1)
	for i, c := range list {
		if _, err := w.Submit(c); err != nil {
			t.Fatalf("command %d of %d: %v", i+1, len(list), err)
		}
	}
	if want := 65536; len(list) != want {
		t.Errorf("%d commands, want %d", len(list), want)
	}
}

// TestHashExpected takes a hash from one run and expects it of another.
func TestHashExpected(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small, "ticks=7")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for range s.Ticks {
		scenariotest.Step(t, s, w)
	}
	again, err := scenariotest.Parse("a.yaml", scenariotest.Small, "ticks=7", fmt.Sprintf("expect=[{hash: \"%016x\"}]", w.Hash()))
	if err != nil {
		t.Fatal(err)
	}
	if w, err = again.World(2); err != nil {
		t.Fatal(err)
	}
	checks := scenarios.NewChecker(again, w)
	for range again.Ticks {
		scenariotest.Step(t, again, w)
		checks.Observe(w)
	}
	if r := checks.Results(); len(r) != 1 || !r[0].OK {
		t.Errorf("%+v, want the hash found", r)
	}
}

// TestHashShortened: a hash without a tick is that of the document's last tick, in
// runs of other lengths, too, and in their recordings.
func TestHashShortened(t *testing.T) {
	text := []byte(scenariotest.Small + "ticks: 9\nexpect: [{hash: \"0000000000000000\"}]\n")
	for _, tt := range []struct {
		sets  []string
		ticks uint64 // run, beyond what was planned
		want  string
	}{
		{nil, 9, "hash 0000000000000000: FAILED at tick 9: "},
		{nil, 8, "hash 0000000000000000: not reached"},
		{[]string{"ticks=4"}, 4, "hash 0000000000000000 at tick 9: not reached"},
		{[]string{"ticks=12"}, 12, "hash 0000000000000000 at tick 9: FAILED at tick 9: "},
	} {
		s, err := scenariotest.Parse("a.yaml", string(text), tt.sets...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*scenarios.Scenario{s, again} {
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			s.Ticks = tt.ticks
			checks := scenarios.NewChecker(s, w)
			for range tt.ticks {
				scenariotest.Step(t, s, w)
				checks.Observe(w)
			}
			if got := checks.Results()[0].Text; !strings.HasPrefix(got, tt.want) {
				t.Errorf("%q, %d ticks: %s, want %s", tt.sets, tt.ticks, got, tt.want)
			}
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	s, err := scenariotest.Open("heat")
	if err != nil {
		b.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	checks := scenarios.NewChecker(s, w)
	if _, err := w.Step(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(4 * s.Lattice().Cells()))
	for b.Loop() {
		checks.Observe(w)
	}
}
