package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/sweep"
)

const designText = `sweep: 1
scenario: heat
ticks: 500
seeds: [1..2, 7]
vary:
  propagators.diffusion.rate: [0.5, 1]
  space.rows: 64..128/64
  space.edge: wrap
list:
  - {parameters.a: 1, parameters.b: "x, y"}
  - {parameters.b: [1, {c: 2}], parameters.a: 2}
exclude:
  - propagators.diffusion.rate > 0.9 and space.rows = 128
stats: [heat]
`

func readDesign(text string) (*sweep.Document, error) {
	root, err := yaml.Document("design.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return sweep.ReadDesign(root)
}

func TestReadDesign(t *testing.T) {
	d, err := readDesign(designText)
	if err != nil {
		t.Fatal(err)
	}
	got := points(t, d.Design)
	if len(got) != 2*3*3 || d.Scenario != "heat" || !slices.Equal(d.Stats, []string{"heat"}) {
		t.Errorf("the design of %s has %d jobs and the statistics %q", d.Scenario, len(got), d.Stats)
	}
	for job, want := range map[int]string{
		0:  `parameters.a=1 parameters.b="x, y" propagators.diffusion.rate=0.5 space.rows=64 space.edge=wrap ticks=500 seed=1`,
		5:  `parameters.a=1 parameters.b="x, y" propagators.diffusion.rate=0.5 space.rows=128 space.edge=wrap ticks=500 seed=7`,
		17: `parameters.a=2 parameters.b=[1, {c: 2}] propagators.diffusion.rate=1 space.rows=64 space.edge=wrap ticks=500 seed=7`,
	} {
		if got[job] != want {
			t.Errorf("job %d is\n%s, want\n%s", job, got[job], want)
		}
	}
	d, err = readDesign("sweep: 1\nscenario: heat\nlatin: 20\nsample_seed: 3\nvary: {a: 0.1..2.0, b: log 1.0..9.0}\n")
	if want := (sweep.Sampling{Kind: sweep.Latin, Count: 20, Seed: 3}); err != nil || d.Sampling != want {
		t.Errorf("the sampling is %v, %v, want %v", d, err, want)
	}
}

func TestReadDesignRejects(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"sweep: 1\nscenarios: heat\n", `design.yaml:2:1: unknown key "scenarios"; did you mean "scenario"?`},
		{"sweep: 2\nscenario: heat\n", "design.yaml:1:8: the design must say sweep: 1, the version of this form"},
		{"sweep: 1\n", `design.yaml:1:1: the key "scenario" is missing`},
		{"sweep: 1\nscenario: heat\nticks: 0\n", "design.yaml:3:8: ticks must be at least 1, not 0"},
		{"sweep: 1\nscenario: heat\nticks:\n", "ticks has no value"},
		{"sweep: 1\nscenario: heat\nseeds: [1, x]\n", `design.yaml:3:12: "x" are not seeds`},
		{"sweep: 1\nscenario: heat\nvary: [1]\n", "design.yaml:3:7: a list stands where values by their paths belong"},
		{"sweep: 1\nscenario: heat\nvary: {a: []}\n", "design.yaml:3:11: the list of values is empty"},
		{"sweep: 1\nscenario: heat\nvary: {a: 3..1}\n", "design.yaml:3:11: 3..1 ends before it begins"},
		{"sweep: 1\nscenario: heat\nvary: {a: 0.1..2.0}\n", "a=0.1..2 has no end of values"},
		{"sweep: 1\nscenario: heat\nlist: {a: 1}\n", "design.yaml:3:7: a mapping stands where a list of combinations belongs"},
		{"sweep: 1\nscenario: heat\nlist:\n  - {a: 1}\n  - {b: 1}\n", "design.yaml:5:5: the combination has no a, as the first one has"},
		{"sweep: 1\nscenario: heat\nlist:\n  - {a: 1}\n  - {a: 1, b: 1}\n", "a combination has 2 values, the first one 1"},
		{"sweep: 1\nscenario: heat\nlatin: 3\nrandom: 3\nvary: {a: [1, 2]}\n", "design.yaml:3:8: a design is random or latin, not both"},
		{"sweep: 1\nscenario: heat\nlatin: 0\n", "0 is out of range"},
		{"sweep: 1\nscenario: heat\nsample_seed: 1\n", "design.yaml:3:14: sample_seed needs random or latin"},
		{"sweep: 1\nscenario: heat\nexclude: 5\n", "design.yaml:3:10: 5 is not a text"},
		{"- sweep\n", "design.yaml:1:1: a list stands where a design belongs"},
	} {
		_, err := readDesign(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q gives the error\n  %v, want\n  %s", tt.text, err, tt.want)
		}
	}
}
