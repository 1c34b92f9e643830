package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestModel: the model passes its own tests, which are all that its workflow runs, and prints the same table for any number of
// processors. Its golden run fails for another rule, and says at which tick and in which field.
func TestModel(t *testing.T) {
	workflow, err := os.ReadFile("model/test.yml")
	steps := regexp.MustCompile(`(?m)^ *- run: (.*)$`).FindAllStringSubmatch(string(workflow), -1)
	if err != nil || len(steps) != 1 || steps[0][1] != "go test ./..." {
		t.Fatalf("%v; the steps are %q", err, steps)
	}
	if out, err := inFolder("model", "go", "test", "-count=1", "./..."); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	program := built(t, "model", "")
	anew := copied(t, "model", "model.go")
	_, all := said(t, program, "-side", "41", "-ticks", "100", "-record", filepath.Join(anew, "testdata", "epidemic.murk"))
	t.Setenv("GOMAXPROCS", "1")
	const begin = "tick,susceptible,infected,recovered\n0,1680.0,1.0,0.0\n10,"
	_, one := said(t, program, "-side", "41", "-ticks", "100")
	if one != all || strings.Count(all, "\n") != 12 || !strings.HasPrefix(all, begin) {
		t.Errorf("the table is\n%swith one processor\n%s", all, one)
	}
	if out, err := inFolder(anew, "go", "test", "-run", "TestGolden", "."); err != nil {
		t.Errorf("with a recording of its own: %v: %s", err, out)
	}
	if status, text := said(t, program, "-beta", "2"); status != 1 || !strings.Contains(text, "beta must be 0 to 1, not 2") {
		t.Errorf("%d: %s", status, text)
	}

	changed := copied(t, "model", "model.go", ">= escape", "> escape", "escape := float32(1)", "escape := float32(0.999)")
	out, err := inFolder(changed, "go", "test", "-run", "TestGolden", ".")
	at := regexp.MustCompile(`state hash mismatch at byte \d+ \(tick \d+\)`)
	if err == nil || !at.MatchString(out) || !strings.Contains(out, "in that tick contagion changes health\n") {
		t.Errorf("with another rule: %v: %s", err, out)
	}
	if out, err := inFolder(changed, "go", "test", "-run", "TestGolden", ".", "-update"); err != nil {
		t.Errorf("recorded anew: %v: %s", err, out)
	}
	if out, err := inFolder(changed, "go", "test", "-run", "TestGolden", "."); err != nil {
		t.Errorf("after it was recorded anew: %v: %s", err, out)
	}
}
