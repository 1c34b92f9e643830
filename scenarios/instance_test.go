package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// Propagators without names are named after their component, numbered past names that are given.
func TestPropagatorsAreNumbered(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", many("{}", "{}", "{name: decay_3}", "{}", "{name: decay_4}", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range s.Propagators {
		names = append(names, x.Name)
	}
	if want := []string{"decay", "decay_2", "decay_3", "decay_5", "decay_4", "decay_6"}; !slices.Equal(names, want) {
		t.Errorf("the names are %q, want %q", names, want)
	}
}

// Reading 1,024 propagators takes no more than about twice the work of 512, counted in allocations.
func TestManyPropagatorsAreReadInLinearTime(t *testing.T) {
	work := func(n int) float64 {
		text := many(slices.Repeat([]string{"{}"}, n)...)
		return testing.AllocsPerRun(1, func() {
			if _, err := scenariotest.Parse("a.yaml", text); err != nil {
				t.Fatal(err)
			}
		})
	}
	if half, all := work(512), work(1024); all > 2.5*half {
		t.Errorf("512 propagators take %v allocations, 1024 take %v; want 2.5 times as many at most", half, all)
	}
}

// many is a scenario with a decay for each mapping of more keys.
func many(keys ...string) string {
	var b strings.Builder
	b.WriteString("murksim: 1\nname: many\nspace: {kind: ring, length: 8}\nfields: [{name: a}]\npropagators:\n")
	for _, more := range keys {
		fmt.Fprintf(&b, "  - decay: {field: a, rate: 0.01, %s\n", strings.TrimPrefix(more, "{"))
	}
	return b.String()
}
