package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

const herd = `murksim: 1
name: herd
seed: 5
ticks: 4
space: {kind: line, length: 4}
fields: [{name: grass, type: categorical, values: [bare, green], initial: green}, {name: energy, domain: entities, initial: 9}]
entities: {capacity: 3, kinds: [sheep, wolf], spawn: [{kind: sheep, name: dolly, count: 1, set: {energy: 2}}, {kind: sheep, count: 1}]}
systems:
  - rule: {for: sheep, order: id, do: [{set: {energy: energy - 1}}, {when: energy < 0, die: true}]}
`

// look lets a scenario run and returns its statistics tick by tick.
func look(t *testing.T, s *scenarios.Scenario) (rows []string) {
	t.Helper()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	reader := s.NewStatsReader()
	row := func(w *engine.World) {
		text := ""
		for _, x := range reader.Look(w) {
			if x.Err != nil {
				text += " (" + x.Err.Error() + ")"
				continue
			}
			text += fmt.Sprint(" ", x.Value)
		}
		rows = append(rows, strings.TrimSpace(text))
	}
	row(w)
	for range s.Ticks {
		scenariotest.Step(t, s, w)
		row(w)
	}
	return rows
}

// TestStats: statistics stand in the descriptor in the order of the document, hang on the state alone, and change no hash.
func TestStats(t *testing.T) {
	const list = `stats: {sheep: count( sheep ), all: not any(sheep.energy < (3)), mean: "mean(sheep.energy) * 2", dolly: entity(dolly).energy, green: count(grass == green)}` + "\n"
	s, err := scenariotest.Parse("herd.yaml", herd+list)
	if err != nil {
		t.Fatal(err)
	}
	const want = `,"stats":[["sheep","count(sheep)"],["all","not any(sheep.energy < 3)"],["mean","mean(sheep.energy) * 2"],["dolly","entity(dolly).energy"],["green","count(grass == green)"]]}`
	if d := string(s.Descriptor()); !strings.HasSuffix(d, want) {
		t.Errorf("the descriptor is %s, want it to end with %s", d, want)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	const gone = "(entity(dolly).energy: there is no such entity now; ask alive(…) first)"
	rows := []string{
		"0 1 (mean(sheep.energy): no such entity lives; say what counts then: mean(sheep.energy else 0)) " + gone + " 4",
		"2 0 9 1 4", "2 0 7 0 4", "1 1 12 " + gone + " 4", "1 1 10 " + gone + " 4",
	}
	for _, x := range []*scenarios.Scenario{s, again} {
		for i, got := range look(t, x) {
			if got != rows[i] {
				t.Errorf("tick %d: %s, want %s", i, got, rows[i])
			}
		}
	}
	plain, err := scenariotest.Parse("herd.yaml", herd)
	if err != nil {
		t.Fatal(err)
	}
	if plain.NewStatsReader() != nil || strings.Contains(string(plain.Descriptor()), "stats") {
		t.Error("a scenario without statistics has some")
	}
}

// TestStatsErrors: an error shows its place.
func TestStatsErrors(t *testing.T) {
	many := ""
	for i := range 257 {
		many += fmt.Sprintf("a%d: count(sheep), ", i)
	}
	long := "sum(" + strings.TrimSuffix(strings.Repeat("exp(grass.x) + ", 60), " + ") + ")"
	for stats, want := range map[string]string{
		"{a: count(ship)}":                  `herd.yaml:10:18: no field, parameter, let or value is called ship`,
		"{a b: count(sheep)}":               `herd.yaml:10:9: "a b" cannot name a statistic`,
		"{a: count(sheep), a: count(wolf)}": `herd.yaml:10:26: `,
		"{a: 'cell(grass, 1)'}":             "herd.yaml:10:13: cell(grass, 1) is a category (bare, green) where a number belongs, or true or false; write number(cell(grass, 1))",
		"{a: 3}":                            "herd.yaml:10:12: 3 looks at nothing in the world",
		"{a: }":                             "herd.yaml:10:11: a has no formula",
		"[count(sheep)]":                    "herd.yaml:10:8: a list stands where names and formulas",
		"{a: mean(grass)}":                  "herd.yaml:10:17: mean adds numbers",
		"{" + many + "}":                    "at most 256 statistics are allowed",
		"{a: \"" + strings.ReplaceAll(long, "grass.x", "i") + "\"}": "",
	} {
		_, err := scenariotest.Parse("herd.yaml", herd+"stats: "+stats+"\n")
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", stats, err, want)
		}
	}
	costly := "{"
	for i := range 60 {
		costly += fmt.Sprintf("a%d: \"%s\", ", i, strings.ReplaceAll(long, "grass.x", "i"))
	}
	if _, err := scenariotest.Parse("herd.yaml", herd+"stats: "+costly+"}\n"); err == nil || !strings.Contains(err.Error(), "more than 65536 steps for each cell or entity") {
		t.Errorf("costly statistics: %.200v", err)
	}
	plain := strings.Replace(herd, "ticks: 4", "ticks: 4\nstats: {a: count(sheep)}", 1)
	s, err := scenariotest.Parse("herd.yaml", plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scenariotest.FromDescriptor([]byte(strings.Replace(string(s.Descriptor()), "count(sheep)", "count( sheep)", 1))); err == nil || !strings.Contains(err.Error(), "not in the form of a descriptor") {
		t.Errorf("a formula that is not canonical: %v", err)
	}
}

// TestStatsAllocations: looking allocates nothing.
func TestStatsAllocations(t *testing.T) {
	s, err := scenariotest.Parse("herd.yaml", herd+`stats: {n: count(sheep), mean: "mean(sheep.energy where here.grass == green else 0) + 1", dolly: entity(dolly).energy, alive: alive(dolly) or 2 > count(anyone), cell: "sum(i) * cell(i, 2)", d: distinct(grass)}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	reader := s.NewStatsReader()
	scenariotest.Step(t, s, w)
	reader.Look(w)
	if n := testing.AllocsPerRun(100, func() { reader.Look(w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
