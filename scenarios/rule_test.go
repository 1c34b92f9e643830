package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// epidemic is a scenario that holds its rule.
const epidemic = `murksim: 1
name: epidemic
seed: 42
ticks: 30
space: {kind: square4, rows: 8, cols: 8}
fields:
  - {name: state, type: categorical, values: [susceptible, infected, recovered], initial: {cells: [[3, 3]], value: infected}}
  - {name: heat, unit: K, initial: 3}
  - {name: wind, type: vector(2)}
  - {name: wall, mutability: static}
parameters: {rate: 0.5}
propagators:
  - diffusion: {field: heat, rate: 1}
  - rule:
      name: epidemic
      parameters: {beta: 0.3, gamma: {key: 9, value: 0.1}, delta: 1}
      let: {sick: count(state == infected)}  # of the neighbours
      where: "tick > delta"
      set:
        state: |
          if state == susceptible and chance(1 - pow(1 - beta, sick)) then infected
          else if state == infected and chance(gamma) then recovered
          else state
        wind[1]: -rate
commands:
  - {tick: 5, param: {name: epidemic.beta, value: 0.9}}
  - {tick: 6, params: {rate: 1, epidemic.gamma: 0.5}}
`

// TestRule: a rule and its parameters are in the descriptor, in one form, from which the same scenario comes back, and a world whose commands set them.
func TestRule(t *testing.T) {
	s, err := scenariotest.Parse("epidemic.yaml", epidemic)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"rule@1":{"name":"epidemic",` +
		`"parameters":[["beta",{"key":1,"value":0.3}],["gamma",{"key":9,"value":0.1}],["delta",{"key":10,"value":1}]],` +
		`"let":[["sick","count(state == infected)"]],"where":"tick > delta",` +
		`"set":[["state","if state == susceptible and chance(1 - pow(1 - beta, sick)) then infected else if state == infected and chance(gamma) then recovered else state"],` +
		`["wind[1]","-rate"]]}}`
	descriptor := s.Descriptor()
	if !strings.Contains(string(descriptor), want) {
		t.Errorf("the descriptor is\n%s\nwithout\n%s", descriptor, want)
	}
	again, err := worlds.Registry().FromDescriptor(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Descriptor(); string(got) != string(descriptor) {
		t.Errorf("the descriptor of its scenario is\n%s", got)
	}
	w, err := again.World(2)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, _, err := w.SubmitAll(again.CommandsAt(w.Tick() + 1)); err != nil {
			t.Fatal(err)
		}
		receipts, err := w.Step()
		for i := range receipts {
			if receipts[i].Reason != 0 {
				t.Errorf("tick %d: %s", w.Tick(), receipts[i].Why())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[uint32]float64{1: 0.9, 9: 0.5, 10: 1} {
		if v, ok := w.Parameter(key); !ok || v != want {
			t.Errorf("parameter %d is %v", key, v)
		}
	}
	if v := w.Column(2).Float32; v[0] != 0 || v[1] != -1 {
		t.Errorf("the wind is %v", v[:2])
	}
	for _, other := range [][2]string{
		{`"tick > delta"`, `"tick>delta"`}, {`["state","if`, `["state","  if`}, {`"count(state == infected)"`, `"count((state == infected))"`},
		{`[["beta",{"key":1,"value":0.3}],`, `[["beta",{"key":1,"value":0.3}],["beta",{"key":2,"value":0.3}],`}, {`["gamma",{"key":9,`, `["gamma",{"key":1,`},
		{`,["wind[1]","-rate"]]`, `,["heat","1"]]`}, {`"let":[["sick",`, `"let":[["a","1"],["a","2"],["sick",`}, {`"let":[[`, `"let":[["sick"],[`}, {`-rate`, `- rate`},
	} {
		forged := strings.Replace(string(descriptor), other[0], other[1], 1)
		if s, err := worlds.Registry().FromDescriptor([]byte(forged)); err == nil {
			t.Errorf("%s: is taken, and written\n%s", forged, s.Descriptor())
		}
	}
}

// TestRuleMistakes: what is wrong with a rule is said in its line and column, and underlined, however YAML writes the formula.
func TestRuleMistakes(t *testing.T) {
	for _, tt := range []struct {
		old, new  string
		line, col int
		says      string
		marked    string // what stands above the mark
	}{
		{"== susceptible", "== suceptible", 21, 23, `no field, parameter, let or value is called suceptible; did you mean "susceptible"?`, "suceptible"},
		{"chance(gamma)", "chance(1.2)", 22, 48, "a chance is 0 to 1", "1.2"},
		{"count(state == infected)", "count(state = infected)", 17, 31, "write ==", "="},
		{`"tick > delta"`, `"tick > heat[0]"`, 18, 22, "heat is a number, which has no components", "heat[0]"},
		{`"tick > delta"`, `'tick > heat[0]'`, 18, 22, "heat is a number, which has no components", "heat[0]"},
		{`"tick > delta"`, "tick >\n        now(heat) + wind", 19, 9, "now(heat) is a number, wind a vector of 2; take wind[0] or length(wind)", "now(heat) + wind"},
		{`"tick > delta"`, "heat + 1", 18, 14, "heat + 1 is a number where true or false belongs", "heat + 1"},
		{"wind[1]: -rate", "wind[2]: -rate", 24, 9, `"wind[2]" is no component of wind; write wind[0] to wind[1]`, ""},
		{"wind[1]: -rate", "wall: 1", 24, 9, "wall is static", ""},
		{"wind[1]: -rate", "wend: 1", 24, 9, `there is no field "wend" of cells; did you mean "wind"?`, ""},
		{"wind[1]: -rate", "wind: [1, degre]", 24, 15, "no field, parameter, let or value is called degre", ""},
		{"wind[1]: -rate", "wind: {a: 1}", 24, 15, "a mapping stands where a formula belongs", ""},
		{"wind[1]: -rate", "wind[1]:", 24, 17, "has no formula", ""},
		{"      name: epidemic\n", "", 14, 5, "this rule draws; give it a name", ""},
		{"gamma: {key: 9,", "gamma: {key: 1,", 16, 38, "another parameter has the key 1 already", ""},
		{"name: epidemic.beta", "name: epidemic.bta", 26, 29, `there is no parameter "epidemic.bta"; did you mean "epidemic.beta"?`, ""},
		{"gamma: {key: 9, value: 0.1}", "gamma: {key: 9, value: 0.1}, gama: 2", 16, 66, `no formula of the rule has the parameter "gama"; did you mean "gamma"?`, ""},
		{"delta: 1}", "delta: 1, dt: 2}", 16, 74, "dt is a word of the language, and cannot name a parameter", ""},
		{"let: {sick:", "let: {heat: \"1\", sick:", 17, 20, "heat is a field already, and cannot name a let", ""},
		{"let: {sick: count(state == infected)}", "let: {sick: sum(sick)}", 17, 23, "sick needs itself: sick, sick", "sick"},
	} {
		text := strings.Replace(epidemic, tt.old, tt.new, 1)
		s, err := scenariotest.Parse("e.yaml", text)
		if err == nil {
			_, err = s.World(1)
		}
		e, ok := err.(*document.Error)
		if !ok || e.Line != tt.line || e.Col != tt.col || !strings.Contains(e.Msg, tt.says) {
			t.Errorf("%s:\n%v\nwant %d:%d: %s", tt.new, err, tt.line, tt.col, tt.says)
			continue
		}
		lines := strings.Split(e.Excerpt, "\n")
		if mark := strings.TrimLeft(strings.SplitN(lines[len(lines)-1], "|", 2)[1], " "); tt.marked != "" && mark != strings.Repeat("^", len(tt.marked)) {
			t.Errorf("%s: marked by %q\n%v", tt.new, mark, err)
		}
	}
}

// TestRuleUndoes: a rule that would undo what an earlier part wrote is refused; one that keeps it, or writes another component, is not.
func TestRuleUndoes(t *testing.T) {
	for set, says := range map[string]string{
		"heat: 3": "heat is written by diffusion before, and would be undone; add where, or read now(heat)", "heat: now(heat) / 2": "",
		"heat: half": "", "wind[0]: 1": "", "wind[1]: 1": "wind[1] is written by epidemic before", "wind: [1, 2]": "wind is written by epidemic before",
	} {
		text := strings.Replace(epidemic, "commands:", "  - rule: {name: more, let: {half: now(heat) / 2}, set: {\""+strings.Replace(set, ": ", "\": \"", 1)+"\"}}\ncommands:", 1)
		s, err := scenariotest.Parse("e.yaml", text)
		if err == nil {
			_, err = s.World(1)
		}
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", set, err, says)
		}
	}
}
