package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/tools/detcheck/rules"
)

var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "detcheck")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "detcheck")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// detcheck runs the program in a folder.
func detcheck(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), out.String(), errs.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String(), errs.String()
}

// module writes one with a fault in its package and another in the tests.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.org/sim\n\ngo 1.26\n",
		"sim.go":       "package sim\n\nimport \"time\"\n\nvar start = time.Now()\n",
		"sim_test.go":  "package sim\n\nimport \"time\"\n\nvar again = time.Now()\n",
		"calm/calm.go": "package calm\n\nfunc Half(x float64) float64 { return x / 2 }\n",
		"bad/bad.go":   "package bad\n\nfunc Half() int { return \"half\" }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCommand(t *testing.T) {
	const finding = "sim.go:5:18: clock: time.Now reads real time; count ticks; time is the tick times a constant step\n"
	for _, tt := range []struct {
		args           string
		status         int
		stdout, stderr string // parts of what is printed; empty for nothing
	}{
		{"./calm", 0, "", "the module has no propagators, systems or handlers; all code of the packages is checked"},
		{".", 1, finding, "the module has no propagators"},
		{"-all ./calm", 0, "", ""},
		{"-all .", 1, finding, ""},
		{"-all -tests .", 1, finding + "sim_test.go:5:18: clock: ", ""},
		{"./bad", 2, "", "bad.go:3:26: cannot use \"half\""},
		{"./none", 2, "", "detcheck: "},
		{"", 2, "", "name the packages"},
		{"--loud .", 2, "", "flag provided but not defined"},
	} {
		status, stdout, stderr := detcheck(t, module(t), strings.Fields(tt.args)...)
		if status != tt.status {
			t.Errorf("detcheck %s: status %d, want %d\n%s%s", tt.args, status, tt.status, stdout, stderr)
		}
		if !strings.HasPrefix(stdout, tt.stdout) || tt.stdout == "" && stdout != "" {
			t.Errorf("detcheck %s prints %q, want %q", tt.args, stdout, tt.stdout)
		}
		if !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
			t.Errorf("detcheck %s complains %q, want %q", tt.args, stderr, tt.stderr)
		}
	}
}

func TestEachFindingOnce(t *testing.T) {
	_, stdout, _ := detcheck(t, module(t), "-tests", ".")
	if n := strings.Count(stdout, "\n"); n != 2 {
		t.Errorf("%d findings, want 2:\n%s", n, stdout)
	}
}

func TestJSON(t *testing.T) {
	_, stdout, _ := detcheck(t, module(t), "--json", ".")
	var got struct {
		File          string
		Line, Column  int
		Rule, Message string
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if got.File != "sim.go" || got.Line != 5 || got.Column != 18 || got.Rule != "clock" || !strings.HasPrefix(got.Message, "time.Now reads") {
		t.Errorf("got %+v, want sim.go, 5, 18, clock and the message", got)
	}
}

// TestCgo holds that C is found where it is imported, and that nothing is said of the
// code that cgo makes.
func TestCgo(t *testing.T) {
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Logf("cgo is off (%s, %v): the file is no part of the package", out, err)
		return
	}
	dir := module(t)
	const text = "package calm\n\n// static int f(int x) { return x + 1; }\nimport \"C\"\n\nfunc F(x int) int { return int(C.f(C.int(x))) }\n"
	if err := os.WriteFile(filepath.Join(dir, "calm", "c.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := detcheck(t, dir, "-all", "./calm")
	const want = "calm/c.go:4:8: foreign: cgo or go:linkname is used; write it in Go\n"
	if status != 1 || stdout != want || stderr != "" {
		t.Errorf("status %d, %q, %q, want 1 and %q", status, stdout, stderr, want)
	}
}

func TestHelp(t *testing.T) {
	status, stdout, stderr := detcheck(t, ".", "--help")
	if status != 0 || stderr != "" {
		t.Errorf("status %d and %q, want 0 and nothing", status, stderr)
	}
	for _, r := range rules.All {
		if !strings.Contains(stdout, "  "+r.Name) || !strings.Contains(stdout, r.Why+": "+r.Instead) {
			t.Errorf("the help does not explain %s", r.Name)
		}
	}
}

// statePath are our packages whose code decides bits of the state.
var statePath = []string{"./space", "./fields", "./internal/store", "./internal/statehash", "./commands", "./rng", "./exact/...",
	"./engine/...", "./scenarios/...", "./environment"}

func TestStatePath(t *testing.T) {
	if status, stdout, stderr := detcheck(t, "../..", append([]string{"-all"}, statePath...)...); status != 0 {
		t.Errorf("status %d, want 0:\n%s%s", status, stdout, stderr)
	}
}
