package enginetest_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/enginetest"
	"github.com/murksim/murksim/space"
)

// planted is what the tests of this file do wrong; nothing where they are run with the others.
var planted = flag.String("planted", "", "what TestPlanted does wrong")

// A memory is what a propagator remembers of the first tick that it computed.
type memory struct {
	base float32
	set  bool
}

var shared memory // by all propagators of the process

// A glob adds a thousandth of a cell to all, by what it has remembered if that is planted.
type glob struct{ own memory }

func (g *glob) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "glob", Prev: engine.Fields(1), Full: engine.Fields(1)}
}

func (g *glob) Step(c *engine.Context) error {
	m, prev, next := new(memory), c.Prev(1), c.Next(1)
	switch *planted {
	case "variable":
		m = &shared
	case "field":
		m = &g.own
	}
	if !m.set {
		*m = memory{prev[5] * 0.001, true}
	}
	for i := range next {
		next[i] = prev[i] + m.base
	}
	return nil
}

// field is the world of glob, which has a second field and a propagator of it before glob's.
func field() engine.Config {
	return engine.Config{
		Space: space.Square4{Rows: 3, Cols: 3}, TickRate: 1, Paranoid: true,
		Fields:      []fields.Def{{Name: "age"}, {Name: "seeds", Initial: fields.Fill(20)}},
		Propagators: []engine.Propagator{&ripener{}, &glob{}},
	}
}

// TestPlanted passes as it is; TestFinds runs it with something planted. Its calls of Test have
// different last ticks: another process that answered the wrong one would be found.
func TestPlanted(t *testing.T) {
	enginetest.Test(t, enginetest.Of(field), 2)
	for _, name := range []string{"a/b (c)", "a/b (c)"} {
		t.Run(name, func(t *testing.T) { enginetest.Test(t, enginetest.Of(field), 50) })
	}
	if *planted == "early" && len(os.Getenv("MURKSIM_ENGINETEST_CALL")) > 0 {
		t.Fatal("something is not there")
	}
	enginetest.Test(t, enginetest.Of(field), 5)
}

// margin is what the package testing shifts lines by, more in subtests.
var margin = regexp.MustCompile(`\n +`)

// TestFinds: Test finds a value that a propagator has kept in itself, by restored worlds, and in
// a package variable, by the other process; Paranoid finds neither. The message names the
// propagator, both values and a cause.
func TestFinds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ planted, want string }{
		{"", "PASS"},
		{"variable", `enginetest: tick 50 has another result in another process, from the state of tick 49
the first part of the tick that differs: propagator "glob"
field "seeds", cell [0, 0]: `},
		{"variable", " in the run, "},
		{"variable", ` in the other process
and 4 more
Something outside of the state influences propagator "glob": a package variable that keeps a value (tools/detcheck finds it), the environment, a clock, or the order of a map.
What must be remembered from one tick to the next is a field, which is part of the state.`},
		{"variable", "--- FAIL: TestPlanted/a/b_(c)#01 "},
		{"field", `enginetest: tick 2 has another result in a world restored from the state of tick 1
the first part of the tick that differs: propagator "glob"
field "seeds", cell [0, 0]: 20.04 in the run, 20.04002 in the restored world
`},
		{"field", `Something outside of the state influences propagator "glob": a variable that keeps a value, random numbers`},
		{"early", "in another process the test ended before it came to Test (exit status 1):\n"},
		{"early", "something is not there"},
	} {
		out, err := exec.Command(self, "-test.run=^TestPlanted$", "-planted="+tt.planted).CombinedOutput()
		text := margin.ReplaceAllString(string(out), "\n")
		if failed := err != nil; failed != (tt.planted != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%q planted: %v\n%s\nwant\n%s", tt.planted, err, out, tt.want)
		}
	}
}
