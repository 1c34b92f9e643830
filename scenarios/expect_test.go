package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestExpectations holds the checks of sums, shares and attributes, and of one seed.
func TestExpectations(t *testing.T) {
	const text = `murksim: 1
name: few
seed: 5
ticks: 2
space: {kind: line, length: 2}
fields: [{name: v, type: vector(2), initial: [1, 3]}, {name: a, domain: entities, initial: 9}]
entities: {capacity: 3, kinds: [x, y], spawn: [{kind: x, count: 1, set: {a: 5}}]}
expect: [{%s}]
`
	for expect, want := range map[string]string{
		"field: v, component: 1, sum: [6, 6]":                                         "sum of v[1] from 6 to 6: ok",
		"field: v, sum: [1, 7]":                                                       "sum of v from 1 to 7: FAILED at tick 1: it is 8",
		"field: v, shares: [0.25, 0.75]":                                              "shares of v from 0.25 to 0.75: ok",
		"field: v, shares: [0.3, 1]":                                                  "shares of v from 0.3 to 1: FAILED at tick 1: that of component 0 is 0.25",
		"field: a, range: [5, 5]":                                                     "a from 5 to 5: ok",
		"field: a, kind: y, range: [0, 0]":                                            "a of y from 0 to 0: ok",
		"field: a, range: [0, 1], from: 2":                                            "a from 0 to 1: FAILED at tick 2: it is 5 for entity 1048577",
		"field: v, component: 0, range: [1, 1]":                                       "v[0] from 1 to 1: ok",
		"field: v, sum: [1, 7], seed: 5":                                              "sum of v from 1 to 7 under seed 5: FAILED at tick 1: it is 8",
		"field: v, sum: [1, 7], seed: 6":                                              "sum of v from 1 to 7 under seed 6: another seed",
		"field: v, sum: [1, 8], seed: 5, tick: 2":                                     "sum of v from 1 to 8 at tick 2 under seed 5: ok",
		"field: v, sum: [1, 8], seed: 0":                                              "sum of v from 1 to 8 under seed 0: another seed",
		"field: v, sum: [1, 9], tick: 9":                                              "sum of v from 1 to 9 at tick 9: not reached",
		"field: v, sum: [0, 1], from: 3, every: 10":                                   "sum of v from 0 to 1: not reached",
		"that: 'sum(v.x)==(2.0)', tick: 2":                                            "sum(v[0]) == 2 at tick 2: ok",
		"that: 'most(v[1]) < 3'":                                                      "most(v[1]) < 3: FAILED at tick 1: most(v[1]) is 3 at [0]",
		"that: 'count(x) == 1 and mean(anyone.a) == 5 and count(y) == 0'":             "count(x) == 1 and mean(anyone.a) == 5 and count(y) == 0: ok",
		"that: 'entity(1048577).a + entity(1048577).i < 5 or not alive(17)', tick: 2": "entity(1048577).a + entity(1048577).i < 5 or not alive(17) at tick 2: ok",
		"that: 'sum(x.a where here.v.y > 3) > 5'":                                     "sum(x.a where here.v[1] > 3) > 5: FAILED at tick 1: sum(x.a where here.v[1] > 3) is 0",
		"that: 'most(y.a) > 5'":                                                       "most(y.a) > 5: FAILED at tick 1: most(y.a): no such entity lives; say what counts then: most(y.a else 0)",
		"that: 'count(v[0] + i > 1) > 1', seed: 5":                                    "count(v[0] + i > 1) > 1 under seed 5: FAILED at tick 1: count(v[0] + i > 1) is 1",
	} {
		s, err := scenariotest.Parse("few.yaml", fmt.Sprintf(text, expect))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		checks := scenarios.NewChecker(s, w)
		for range s.Ticks {
			scenariotest.Step(t, s, w)
			checks.Observe(w)
		}
		if got := checks.Results()[0].Text; got != want {
			t.Errorf("%s: %q, want %q", expect, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{{0, "0"}, {12000, "12,000"}, {-1234567.25, "-1,234,567.25"}, {999, "999"}, {-999, "-999"}, {0.1, "0.1"}, {1e-9, "1e-09"}} {
		if got := scenarios.Number(tt.v); got != tt.want {
			t.Errorf("Number(%v) = %s, want %s", tt.v, got, tt.want)
		}
	}
}
