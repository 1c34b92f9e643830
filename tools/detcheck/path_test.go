package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// user writes the module of a new user: a main package with a propagator of its own, which
// reads clocks, files and maps around a world.
func user(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, requires, _ := strings.Cut(read(filepath.Join(root, "go.mod")), "require (")
	all := map[string]string{
		"go.mod": "module example.org/user\n\ngo 1.26.0\n\nrequire github.com/murksim/murksim v0.0.0\n\nreplace github.com/murksim/murksim => " +
			strconv.Quote(filepath.ToSlash(root)) + "\n\nrequire (" + requires,
		"go.sum":  read(filepath.Join(root, "go.sum")),
		"main.go": read("testdata/user/main.go.txt"),
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
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

// TestNewUsersProgram holds that the program around a world gives no alarm, and that all of
// it is checked on request.
func TestNewUsersProgram(t *testing.T) {
	dir := user(t, nil)
	if status, out, errs := detcheck(t, dir, "./..."); status != 0 || out+errs != "" {
		t.Errorf("status %d, want 0 and nothing:\n%s%s", status, out, errs)
	}
	status, out, errs := detcheck(t, dir, "-all", "./...")
	if n := strings.Count(out, "\n"); status != 1 || n < 15 || errs != "" {
		t.Errorf("-all: status %d and %d findings, want 1 and 15 at least:\n%s%s", status, n, out, errs)
	}
}

// TestStatePathOfUser holds that a fault is found wherever a propagator can come to it. Each
// line marked "want" has one, and no other line has.
func TestStatePathOfUser(t *testing.T) {
	files := map[string]string{
		"parts.go": `package main

import (
	"math"
	"sort"
	"time"

	"example.org/user/help"
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

type part struct {
	shape  help.Shape
	after  func(float64) float64
	speeds map[string]float64
}

func (p part) Spec(*space.Lattice) engine.Spec {
	if time.Now().IsZero() { // want clock
		return engine.Spec{}
	}
	return engine.Spec{Name: "part", Incremental: engine.Fields(0)}
}

func (p part) Check(*space.Lattice, []fields.Def) error { _ = math.Exp(1); return nil } // want transcendental

type other struct{}
type Ctx = engine.Context

func (other) Step(c *Ctx) error { _ = math.Log(3); return nil } // want transcendental

func (p *part) Step(c *engine.Context) error {
	heat := c.Next(0)
	heat[0] = float32(math.Sin(1)) // want transcendental
	heat[1] = float32(help.Far(2))
	heat[2] = float32(p.shape.Area())
	heat[3] = float32(p.after(3))
	heat[4] = float32(p.total())
	heat[5] = factor
	heat[6] = limit
	each(func(i int) { heat[i] += float32(math.Cos(2)) }) // want transcendental
	list := ordered{3, 2, 1}
	sort.Sort(list)
	help.Counter.Add()
	return nil
}

func each(f func(int)) { f(7) }

type ordered []int

func (o ordered) Len() int           { return len(o) }
func (o ordered) Less(i, j int) bool { return math.Exp(float64(o[i])) < 2 } // want transcendental
func (o ordered) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }

func (p *part) total() (sum float64) {
	for _, v := range p.speeds { // want maprange
		sum += v
	}
	return sum
}

var factor = float32(math.Tan(1)) // want transcendental

var limit float32

func init() { limit = float32(math.Log(2)) } // want transcendental

func calm() { limit = 4 } // want pkgvar

func quiet() { unused = int(time.Now().Unix()) }

var unused int

func newPart() *part {
	started := time.Now()
	p := &part{shape: disk{}, after: func(x float64) float64 { return math.Sqrt(x) + math.Cbrt(x) }} // want transcendental
	_ = time.Since(started)
	return p
}

type disk struct{}

func (disk) Area() float64 { return math.Pow(2, 3) } // want transcendental
func (disk) Show() string  { return time.Now().String() }

type mind struct{}

func (mind) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "mind"} }
func (mind) Update(c *engine.SystemContext) error { return think(c.Tick()) }

func think(tick uint64) error { _ = time.Now(); return nil } // want clock

type hand struct{}

func (hand) Type() uint32 { return 5 }
func (hand) Handle(*engine.HandlerContext, []byte) commands.Reason { _ = time.Now(); return commands.Applied } // want clock

func literal() { _ = func(c *engine.Context) error { _ = time.Now(); return nil } } // want clock

func initial() fields.Def { return fields.Def{Initial: fields.Values(hill())} }

func hill() []float64 { return []float64{math.Sinh(1)} } // want transcendental
`,
		"help/help.go": `// Package help helps.
package help

import (
	"math"
	"os"
	"time"
)

type Shape interface{ Area() float64 }

func Far(x float64) float64 { return further(x) }

func further(x float64) float64 { return math.Exp(x) } // want transcendental

func Log(text string) { os.Stdout.WriteString(time.Now().String() + text) }

type counter struct{ n int }

var Counter = new(counter)

func (c *counter) Add() { c.n++; _ = time.Now() } // want clock
`,
	}
	dir := user(t, files)
	var want []string
	for name, text := range files {
		for i, line := range strings.Split(text, "\n") {
			if _, rule, ok := strings.Cut(line, "// want "); ok {
				want = append(want, place(name, i+1)+" "+rule)
			}
		}
	}
	status, out, errs := detcheck(t, dir, "./...")
	if status != 1 || errs != "" {
		t.Errorf("status %d, want 1: %s", status, errs)
	}
	got := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		part := strings.SplitN(line, ":", 5)
		if len(part) < 5 {
			t.Fatalf("a finding reads %q", line)
		}
		got[part[0]+":"+part[1]+" "+strings.TrimSpace(part[3])] = true
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("not found: %s", w)
		}
		delete(got, w)
	}
	for g := range got {
		t.Errorf("false alarm: %s", g)
	}
	if status, out, _ := detcheck(t, dir, "./help"); status != 1 || strings.Count(out, "\n") != 2 {
		t.Errorf("of the helpers alone: status %d, want the two faults that main reaches:\n%s", status, out)
	}
}

func place(file string, line int) string { return file + ":" + strconv.Itoa(line) }
