package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestMain lets the test be a child, too: one that can be told to crash.
func TestMain(m *testing.M) {
	faults["crash"] = func() engine.Propagator {
		return planted(func(uint64) float32 {
			fmt.Fprintln(os.Stderr, "planted")
			os.Exit(3)
			return 0
		})
	}
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// TestCrash holds that a run that crashes is told with what it said, and that runs after it
// are answered.
func TestCrash(t *testing.T) {
	e := &environment{program: os.Args[0]}
	if !e.works() {
		t.Fatal(e.left)
	}
	_, err := e.ask(request{Scenario: "heat", Ticks: 40, Workers: 1, Fault: "crash"})
	if _, ended := errors.AsType[*crash](err); !ended || !strings.Contains(err.Error(), "planted") {
		t.Errorf("a run that crashes: %v, want a crash that says why", err)
	}
	if _, err := e.ask(request{Scenario: "nothing", Ticks: 1, Workers: 1}); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a scenario that does not exist: %v", err)
	}
	if a, err := e.ask(request{Scenario: "heat", Ticks: 3, Workers: 1}); err != nil || strings.Count(a.Table, "\n") != 4 {
		t.Errorf("a run after a crash: %+v, %v, want 3 ticks", a, err)
	}
	if err := e.end(); err != nil || e.started != 2 || e.seconds == 0 {
		t.Errorf("%d processes took %v and ended with %v, want 2", e.started, e.seconds, err)
	}
}

// TestFromState holds that a run from a saved state is told to be the same, and that one with a
// memory is not.
func TestFromState(t *testing.T) {
	for _, fault := range []string{"", "memory"} {
		whole := request{Scenario: "heat", Ticks: 6, Workers: 1, SaveAt: []uint64{0, 2}, SaveIn: t.TempDir(), Fault: fault}
		want, err := whole.run()
		if err != nil {
			t.Fatal(err)
		}
		table, err := parseTable(want.Table)
		if err != nil {
			t.Fatal(err)
		}
		again := request{Scenario: "heat", Ticks: 6, Workers: 2, From: statePath(whole.SaveIn, 2), Fault: fault}
		got, err := again.run()
		if err == nil {
			err = sameRun(table, want.State, got, 2)
		}
		if _, differs := errors.AsType[*difference](err); differs != (fault != "") || (err != nil) != differs {
			t.Errorf("with the fault %q: %v", fault, err)
		}
	}
}

// TestParse holds which arguments are taken, in any order, and which are not.
func TestParse(t *testing.T) {
	for line, want := range map[string]options{
		"":                             {ticks: 1000, every: 1},
		"waves --ticks 5 -self-test a": {ticks: 5, every: 1, selfTest: true, scenarios: []string{"waves", "a"}},
		"--resume":                     {ticks: 200, every: 1, resume: true},
		"--resume --ticks=7 --every 3": {ticks: 7, every: 3, resume: true},
		"--update heat":                {ticks: 1000, every: 1, update: true, scenarios: []string{"heat"}},
	} {
		o, err := parse(".", strings.Fields(line))
		if err != nil {
			t.Errorf("%q: %v", line, err)
		} else if got := *o; got.ticks != want.ticks || got.every != want.every || got.resume != want.resume || got.selfTest != want.selfTest ||
			got.update != want.update || strings.Join(got.scenarios, " ") != strings.Join(want.scenarios, " ") {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
	for _, line := range []string{"--ticks", "--ticks 0", "--ticks x", "--every 2", "--resume --every 0", "--resume --arch all", "--arch pdp11", "--arch 386 --ticks 1", "--what"} {
		if _, err := parse(".", strings.Fields(line)); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}

// TestScenarios holds that what cannot be run is told in a line each, with its name.
func TestScenarios(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(heat(t), "diffusion:", "difusion:", 1)
	for name, text := range map[string]string{"good.yaml": heat(t), "unknown.yaml": text, "broken.yaml": "a: [", "empty.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := scenariosOf([]string{"heat", filepath.Join(dir, "good.yaml")}); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	for _, name := range []string{"unknown.yaml", "broken.yaml", "empty.yaml", "missing.yaml", "."} {
		path := filepath.Join(dir, name)
		if _, err := scenariosOf([]string{"heat", path}); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want a line with the name", name, err)
		}
	}
	if _, err := scenariosOf([]string{"heta"}); err == nil || !strings.Contains(err.Error(), `did you mean "heat"`) {
		t.Errorf("heta: %v", err)
	}
}

// heat returns the text of a scenario.
func heat(t *testing.T) string {
	for _, info := range worlds.Embedded() {
		if info.Name == "heat" {
			return string(info.Source)
		}
	}
	t.Fatal("there is no scenario heat")
	return ""
}
