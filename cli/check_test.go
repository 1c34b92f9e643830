package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWarnings: a rule that adds what has different units is told of, where it is, and runs.
func TestWarnings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "units.yaml")
	const text = `murksim: 1
name: units
ticks: 2
space: {kind: ring, length: 5}
fields: [{name: u, unit: m, initial: 1}, {name: v, unit: m/s}]
propagators:
  - rule: {set: {v: u + v}}
expect: [{that: sum(v) > 1}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "units.yaml:7:21: warning: u is in m, and v is in m/s\n"
	for _, args := range [][]string{{"check", file}, {"run", file, "--no-record"}} {
		status, out, errs := murksim(t, nil, args...)
		if status != 0 || strings.Count(errs, want) != 1 || strings.Contains(out, "warning") || !strings.Contains(errs, "^^^^^") {
			t.Errorf("%s: %d %s%s", args[0], status, out, errs)
		}
	}
	_, out, errs := murksim(t, nil, "check", "--json", file)
	if !strings.Contains(out, `"ok":true`) || !strings.Contains(out, `"warnings":[{"message":"u is in m, and v is in m/s","line":7,"column":21}]`) || errs != "" {
		t.Errorf("%s%s", out, errs)
	}
	if _, out, _ := murksim(t, nil, "run", "--json", file, "--no-record"); strings.Contains(out, "warning") {
		t.Error(out)
	}
}

// TestPatternWarning: a pattern whose header names another rule than the automaton's is told of; another spelling of the same one is not.
func TestPatternWarning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "highlife.yaml")
	for rule, warns := range map[string]bool{"B36/S23": false, "b36s23": false, "23/36:T100,100": false, "B3/S23": true, "nobody's": false} {
		text := `murksim: 1
name: highlife
ticks: 2
space: {kind: square8, rows: 8, cols: 8}
fields: [{name: state, type: categorical, values: [dead, alive], initial: {rle: {text: "x = 3, y = 1, rule = ` + rule + `\n3o!"}}}]
propagators:
  - automaton: {field: state, rule: B36/S23}
`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := murksim(t, nil, "check", file)
		want := "highlife.yaml:5:88: warning: the pattern is for the rule B3/S23; the automaton of \"state\" has B36/S23\n"
		if status != 0 || strings.Contains(errs, want) != warns || strings.Contains(errs, "warning") != warns {
			t.Errorf("%s: %d %s%s", rule, status, out, errs)
		}
	}
}

// TestFailedTick: an expectation that failed before a tick did is told, too.
func TestFailedTick(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grows.yaml")
	const text = `murksim: 1
name: grows
ticks: 200
space: {kind: ring, length: 5}
fields: [{name: u, initial: 1}]
propagators:
  - rule: {set: {u: u * 10}}
expect: [{that: most(u) < 500}, {that: least(u) > 0}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errs := murksim(t, nil, "run", file, "--no-record")
	if status != 1 || !strings.HasPrefix(errs, "grows: tick 39: rule: cell [0]: set u: ") || !strings.Contains(errs, "\n  before that: most(u) < 500: FAILED at tick 3: most(u) is 1000") || strings.Contains(errs, "least(u) > 0") {
		t.Errorf("%d %s", status, errs)
	}
}
