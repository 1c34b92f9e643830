package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "mutate.exe") // Windows runs no other
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// planted is a module with a package whose tests see every change but two: that of a
// boundary, and one which changes nothing. The other package guards a third.
var planted = map[string]string{
	"go.mod": "module example.org/planted\n\ngo 1.26\n",
	"count/count.go": `package count

const far = 9

// Within counts the numbers that are less than far.
func Within(list []int) (n int) {
	for _, v := range list {
		if v < far {
			n++
		}
	}
	return n
}

// Wait returns when n is 0.
func Wait(n int) {
	for n != 0 {
		n--
	}
}

func reserve(n int) []int { return make([]int, 0, n+1) }

// Double is seen by the other package only.
func Double(n int) []int { return append(reserve(n), n*2) }
`,
	"count/count_test.go": `package count

import "testing"

func TestWithin(t *testing.T) {
	if n := Within([]int{1, 8, 20}); n != 2 {
		t.Errorf("%d numbers, want 2", n)
	}
	Wait(3)
}
`,
	"guard/guard_test.go": `package guard

import (
	"testing"

	"example.org/planted/count"
)

func TestDouble(t *testing.T) {
	if d := count.Double(3); d[0] != 6 {
		t.Errorf("%d, want 6", d)
	}
}
`,
}

func plant(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range planted {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// mutate runs the program in a folder.
func mutate(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
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

// A line is a change, or the summary.
type line struct {
	File, Function, From, To, Outcome string
	Line                              int

	Tried, Caught, Survived, Equivalent int
	NotCompiled                         int `json:"not_compiled"`
	Percent                             float64
}

func lines(t *testing.T, out string) (all []line) {
	t.Helper()
	for _, text := range strings.Split(strings.TrimSpace(out), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		all = append(all, l)
	}
	return all
}

// TestAllChangesOfThePlantedPackage tries every change, and holds which survive and that a
// listed one is not tried, wherever it stands.
func TestAllChangesOfThePlantedPackage(t *testing.T) {
	dir := plant(t)
	args := []string{"-count", "0", "-timeout", "1s", "-workers", "2", "-json", "-list", "list.txt", "-also", "example.org/planted/guard", "./count"}
	status, out, errs := mutate(t, dir, args...)
	if status != 1 || errs != "" {
		t.Fatalf("status %d, %s, want 1:\n%s", status, errs, out)
	}
	all := lines(t, out)
	sum, found := all[len(all)-1], map[string]string{}
	for _, l := range all[:len(all)-1] {
		found[l.From+" => "+l.To] = l.Outcome
		if l.File != "count/count.go" || l.Line < 3 || l.Function == "" {
			t.Errorf("a change stands at %q, line %d, in %q", l.File, l.Line, l.Function)
		}
	}
	for change, want := range map[string]string{
		"if v < far { => if v <= far {":      "survived", // no test has a 9
		"if v < far { => if !(v < far) {":    "caught",
		"const far = 9 => const far = (9-1)": "caught",
		"const far = 9 => const far = (9+1)": "survived",
		"n++ => n--":                         "caught",
		"for n != 0 { => for n == 0 {":       "survived",
		"n-- => n++":                         "timed out",
		"func reserve(n int) []int { return make([]int, 0, n+1) } => func reserve(n int) []int { return make([]int, 0, n-1) }":           "", // left out
		"func Double(n int) []int { return append(reserve(n), n*2) } => func Double(n int) []int { return append(reserve(n), n/2) }":     "caught",
		"func Double(n int) []int { return append(reserve(n), n*2) } => func Double(n int) []int { return append(reserve(n), n*(2+1)) }": "caught",
	} {
		if found[change] != want {
			t.Errorf("%s: %q, want %q", change, found[change], want)
		}
	}
	if n := len(all) - 1; sum.Tried != n || sum.Caught+sum.Survived != n || sum.Survived < 3 || sum.Percent != 100*float64(sum.Caught)/float64(n) {
		t.Errorf("the summary is %+v of %d changes", sum, n)
	}
	put(t, dir, "list.txt", "# what no test can see\ncount/count.go:77 Within\n- if v < far {\n+ if v <= far {\n  the number is never far\n")
	put(t, dir, "count/count.go", "// Package count counts.\n"+planted["count/count.go"])
	_, out, errs = mutate(t, dir, append([]string{"-n"}, args...)...)
	if strings.Contains(out, "v <= far") || !strings.Contains(out, "count/count.go:9 Within\n- if v < far {\n+ if !(v < far) {\n") {
		t.Errorf("with a list:\n%s%swant no v <= far, and the others a line further down", out, errs)
	}
}

// TestSameSeedSameChanges holds that a seed chooses the changes.
func TestSameSeedSameChanges(t *testing.T) {
	dir := plant(t)
	of := func(seed string) string {
		_, out, _ := mutate(t, dir, "-n", "-count", "5", "-seed", seed, "./count")
		return out
	}
	if a, b := of("7"), of("7"); a != b || strings.Count(a, "\n+") != 5 {
		t.Errorf("seed 7 gives\n%s\nand\n%s\nwant five changes, the same", a, b)
	}
	if of("7") == of("8") {
		t.Error("seeds 7 and 8 give the same changes")
	}
}

// TestOtherCodeLeavesTheOrder holds that code which comes changes nothing in the order of
// the changes that there were.
func TestOtherCodeLeavesTheOrder(t *testing.T) {
	dir := plant(t)
	of := func() (order []string) {
		_, out, _ := mutate(t, dir, "-n", "-count", "0", "-seed", "7", "./count")
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, "+ ") && !strings.Contains(line, "later") {
				order = append(order, line)
			}
		}
		return order
	}
	before := of()
	put(t, dir, "count/count.go", planted["count/count.go"]+"\nfunc unused(later int) bool { return later > 3 && later != 5 }\n")
	if after := of(); len(before) < 5 || !slices.Equal(after, before) {
		t.Errorf("in this order:\n%q\nbefore it was\n%q", after, before)
	}
}

func TestRefuses(t *testing.T) {
	dir := plant(t)
	put(t, dir, "gone.txt", "count/count.go Within\n- if v > far {\n+ if v >= far {\n  it was so once\n")
	put(t, dir, "mute.txt", "count/count.go Within\n- if v < far {\n+ if v <= far {\n")
	put(t, dir, "broken/broken_test.go", "package broken\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Error(\"planned\") }\n")
	put(t, dir, "broken/broken.go", "package broken\n\nvar One = 1\n")
	for _, tt := range []struct{ args, want string }{
		{"", "name the packages"},
		{"./none", "none"},
		{"-list gone.txt ./count", "gone.txt:1: there is no such change in count/count.go any more"},
		{"-list mute.txt ./count", "mute.txt:1: an entry must have a change and a reason"},
		{"./broken", "fail without any change:"},
	} {
		status, out, errs := mutate(t, dir, strings.Fields(tt.args)...)
		if status != 2 || !strings.Contains(errs, tt.want) || out != "" {
			t.Errorf("mutate %s: status %d, %q, %q; want 2 and %q", tt.args, status, out, errs, tt.want)
		}
	}
}
