package scenarios_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// NextCommands agrees with a look at every tick, for commands of every timing.
func TestNextCommands(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		const ticks = 60
		var b strings.Builder
		fmt.Fprintf(&b, "murksim: 1\nname: next\nticks: %d\nspace: {kind: line, length: 4}\nfields: [{name: a}]\n", ticks)
		if r.IntN(3) == 0 {
			b.WriteString("entities: {capacity: 4, kinds: [x], spawn: [{kind: x, count: 1}]}\n")
		}
		b.WriteString("commands:\n")
		for range 1 + r.IntN(3) {
			when := fmt.Sprintf("tick: %d", 1+r.IntN(ticks))
			if r.IntN(2) == 0 {
				from := 1 + r.IntN(ticks)
				when = fmt.Sprintf("every: %d, from: %d", 1+r.IntN(30), from)
				if r.IntN(2) == 0 {
					when += fmt.Sprintf(", until: %d", from+r.IntN(40))
				}
			}
			fmt.Fprintf(&b, "  - {%s, set: {field: a, cell: [0], value: 1}}\n", when)
		}
		s, err := scenariotest.Parse("next", b.String())
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(0) // of the ticks looked at: none
		for after := uint64(4 * ticks); ; after-- {
			got := s.NextCommands(after)
			if want != 0 && got != want || want == 0 && got <= 4*ticks {
				t.Fatalf("after tick %d come commands at %d, want %d:\n%s", after, got, want, &b)
			}
			if after == 0 {
				break
			}
			if len(s.CommandsAt(after)) > 0 {
				want = after
			}
		}
	}
}

// A Checker wants to see the ticks at which its expectations look, and no others.
func TestCheckerNext(t *testing.T) {
	for _, tt := range []struct {
		expect string
		want   []uint64
	}{
		{"{field: a, range: [0, 1], tick: 7}", []uint64{7}},
		{"{field: a, range: [0, 1], every: 8}", []uint64{8, 16, 20}},
		{"{field: a, range: [0, 1], every: 8, from: 9}", []uint64{16, 20}},
		{"{field: a, range: [0, 1], every: 50}", []uint64{20}},
		{"{field: a, range: [0, 1], from: 19}", []uint64{19, 20}},
		{"{field: a, range: [0, 1], every: 8, seed: 5}", nil},
		{"{hash: '0000000000000000'}", []uint64{20}},
		{"{field: a, range: [1, 2], every: 4}", []uint64{4}}, // it fails there
		{"{field: a, range: [0, 1], tick: 7}\n  - {field: a, total: 0, every: 10}", []uint64{7, 10, 20}},
	} {
		s, err := scenariotest.Parse("next", "murksim: 1\nname: next\nticks: 20\nspace: {kind: line, length: 4}\nfields: [{name: a}]\nexpect:\n  - "+tt.expect+"\n")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, s)
		c := scenarios.NewChecker(s, w)
		var got []uint64
		for tick := uint64(1); tick <= 20; tick++ {
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			if c.Next(tick-1) == tick {
				got = append(got, tick)
				c.Observe(w)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s looks at %d, want %d", tt.expect, got, tt.want)
		}
	}
}

func newWorld(t *testing.T, s *scenarios.Scenario) *engine.World {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
