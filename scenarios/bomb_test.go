package scenarios_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestStatementBombs: what formulas of expectations keep for each cell counts before it is made.
func TestStatementBombs(t *testing.T) {
	text := "{murksim: 1, name: bomb, ticks: 1, space: {kind: square4, rows: 2000, cols: 2000}, fields: [{name: h, initial: 1}], expect: ["
	for i := range 64 {
		text += fmt.Sprintf("{that: 'sum(at(h, %d, 1 else 0)) > 1'}, ", i)
	}
	s, err := scenariotest.Parse("bomb.yaml", text+"]}")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Memory(); err != nil || n < 64*4*4_000_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	_, err = scenariotest.Parse("bomb.yaml", strings.ReplaceAll(text, "2000", "9000")+"]}")
	if err == nil || !strings.Contains(err.Error(), "steps to make; at most") {
		t.Error(err)
	}
}

// TestRuleBombs: a short rule whose meaning would be long takes little memory and time: it is refused, or computed once for all that use it.
func TestRuleBombs(t *testing.T) {
	chain := func(first, next string) string {
		lets := "l0: \"" + first + "\""
		for i := 1; i < 60; i++ {
			lets += fmt.Sprintf(", l%d: \"%s\"", i, strings.ReplaceAll(next, "L", fmt.Sprintf("l%d", i-1)))
		}
		return "{let: {" + lets + "}, set: {h: \"SET\"}}"
	}
	nested := func(n int, of func(string) string) string {
		x := "h"
		for range n {
			x = of(x)
		}
		return "{set: {h: \"" + x + "\"}}"
	}
	wide := func(x string) string { return "length(" + x + " * [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])" }
	for name, rule := range map[string]string{
		"lets of a cell":       strings.Replace(chain("h", "L - L"), "SET", "l59 * 0", 1),
		"uniform lets":         strings.Replace(chain("2 * tick", "L - L"), "SET", "h + l59", 1),
		"uniform conditions":   strings.Replace(chain("tick == 3", "L == L"), "SET", "if l59 then h else 0", 1),
		"fixed lets":           strings.Replace(chain("m", "L - L"), "SET", "h + number(l59)", 1),
		"vectors":              strings.Replace(chain("[h, 1]", "L * L[0] / 2"), "SET", "l59[1]", 1),
		"now":                  strings.Replace(chain("now(h)", "L - L"), "SET", "l59 * 0", 1),
		"lengths":              nested(17, func(x string) string { return "length([" + x + ", 0])" }),
		"wide vectors":         nested(14, wide),
		"at neighbours":        nested(1, func(string) string { return "sum(" + wide(wide(wide(wide("h")))) + ")" }),
		"lets near":            strings.Replace(chain("h", "L - L"), "SET", "sum(l59)", 1),
		"lets of an automaton": strings.NewReplacer("let: {", "let: {n: count(s == b), ", "h: \"SET\"", "s: \"if l59 > 0.3 then b else a\"").Replace(chain("n + number(s)", "L - 0.5 * L")),
		"branches of a vector": nested(9, func(x string) string { return "(if " + x + " > 0 then [1, 2, 3, 4] else [4, 3, 2, 1])[1]" }),
	} {
		text := "{murksim: 1, name: bomb, ticks: 2, space: {kind: square4, rows: 4, cols: 4}, fields: [{name: h, initial: 1}, {name: m, element: fixed, initial: 1}, {name: s, type: categorical, values: [a, b]}], propagators: [{rule: " + rule + "}]}"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := scenariotest.Parse("bomb.yaml", text)
		if err == nil {
			w, failed := s.World(1)
			if err = failed; err == nil {
				_, err = w.Step()
			}
			if err == nil {
				s.RulesAbout()
			}
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 32 {
			t.Errorf("%s: %d MiB allocated, %v", name, took, err)
		}
		if err != nil && !strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
