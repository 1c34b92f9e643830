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
