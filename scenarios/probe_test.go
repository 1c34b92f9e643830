package scenarios_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// Probes are read and checked, and change neither the descriptor nor the world.
func TestProbes(t *testing.T) {
	const list = "probes: [{name: middle, field: heat, cell: [3, 4]}, {name: wall, field: wall, cell: [0, 5]}]\n"
	plain, err := scenariotest.Parse("a.yaml", scenariotest.Small)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small+list)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Probes) != 2 || s.Probes[0].Name != "middle" || s.Probes[1].Field != "wall" || s.Probes[1].Cell.At(1) != 5 {
		t.Errorf("Probes = %v, want middle of heat and wall of wall at [0, 5]", s.Probes)
	}
	if got, want := s.Descriptor(), plain.Descriptor(); !bytes.Equal(got, want) {
		t.Errorf("with probes the descriptor is\n%s, want that without\n%s", got, want)
	}
	if len(s.Probes) != 2 {
		t.Error("Descriptor took the probes away")
	}
}

// An error in a probe shows its place.
func TestProbeErrors(t *testing.T) {
	const two = "{name: p, field: heat, cell: [0, 0]}, {name: p, field: wall, cell: [0, 0]}"
	for probes, want := range map[string]string{
		"{field: heat, cell: [0, 0]}":                 `a.yaml:11:10: the key "name" is missing`,
		"{name: p, cell: [0, 0]}":                     `a.yaml:11:10: the key "field" is missing`,
		"{name: p, field: heat}":                      `a.yaml:11:10: the key "cell" is missing`,
		"{name: p, field: heet, cell: [0, 0]}":        `a.yaml:11:27: there is no field "heet"; did you mean "heat"?`,
		"{name: p, field: heat, cell: [0]}":           `a.yaml:11:39: a coordinate on square4 has 2 components, such as [row, col]; this one has 1`,
		"{name: p, field: heat, cell: [0, 6]}":        `a.yaml:11:39: [0, 6] is no cell of square4 8×6 absorb`,
		"{name: a b, field: heat, cell: [0, 0]}":      `a.yaml:11:17: "a b" cannot name a probe`,
		"{name: p, field: heat, cell: [0, 0], at: 1}": `a.yaml:11:47: unknown key "at"`,
		two: `a.yaml:11:55: there is a probe "p" already`,
	} {
		_, err := scenariotest.Parse("a.yaml", scenariotest.Small+"probes: ["+probes+"]\n")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", probes, err, want)
		}
	}
	_, err := scenariotest.Parse("a.yaml", strings.Replace(scenariotest.Busy, "expect:", "probes: [{name: p, field: energy, cell: [0, 0]}]\nexpect:", 1))
	if want := `field "energy" belongs to entities; a probe is of a field of cells`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a probe of an attribute: %v, want %s", err, want)
	}
	many := "probes: [" + strings.Repeat("{name: p, field: heat, cell: [0, 0]}, ", 1025) + "]\n"
	if _, err := scenariotest.Parse("a.yaml", scenariotest.Small+many); err == nil || !strings.Contains(err.Error(), "1025 probes; at most 1024 are allowed") {
		t.Errorf("too many probes: %v", err)
	}
}
