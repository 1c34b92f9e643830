package yaml_test

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/cputime"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

const head, field = "murksim: 1\nname: a\nspace: {kind: line, length: 9}\n", "fields: [{name: a}]\n"

// costly returns documents that say much in few bytes.
func costly() map[string]string {
	many := strings.Repeat
	return map[string]string{
		"cells":         head + "fields: [{name: a, initial: {value: 1, cells: [" + many("[0],", 80000) + "[0]]}}]\n",
		"cells, block":  head + "fields:\n  - name: a\n    initial:\n      value: 1\n      cells:\n" + many("      - - 0\n", 80000),
		"layers":        head + "fields: [{name: a, initial: [" + many("{},", 80000) + "{}]}]\n",
		"propagators":   head + field + "propagators: [" + many("{},", 40000) + "{}]\n",
		"diffusions":    head + field + "propagators: [" + many("{diffusion: {field: a, rate: 1}},", 10000) + "{}]\n",
		"fields":        head + "fields: [" + many("{name: a},", 40000) + "{}]\n",
		"commands":      head + field + "commands: [" + many("{tick: 1, despawn: {entity: 1}},", 32000) + "{}]\n",
		"expectations":  head + field + "expect: [" + many("{field: a, range: [0,1]},", 20000) + "{}]\n",
		"populations":   head + field + "entities: {capacity: 9, kinds: [a], spawn: [" + many("{},", 80000) + "{}]}\n",
		"kinds":         head + field + "entities: {capacity: 9, kinds: [" + many("a,", 80000) + "a]}\n",
		"regions":       head + field + "propagators: [{diffusion: {field: a, rate: 1, hold: [" + many("{value: 1, cells: [[0]]},", 20000) + "]}}]\n",
		"table":         head + field + "propagators: [{automaton: {field: a, table: [" + many("{become: 1},", 30000) + "{become: 1}]}}]\n",
		"parts":         "murksim: 1\nname: x\nspace: {kind: product, parts: [" + many("{kind: line, length: 1},", 20000) + "]}\n" + field,
		"choice":        head + "fields: [{name: a, initial: {choice: {values: [" + many("1,", 80000) + "1]}}}]\n",
		"colons":        head + "x: [" + many("a:,", 80000) + "]\n",
		"lines":         head + "x: |\n" + many(" a\n", 80000),
		"texts":         head + "x:\n" + many("- |\n  a\n", 30000),
		"comments":      head + many("#\n", 150000),
		"too many":      head + "x: [" + many("1,", 500000) + "]\n",
		"long text":     head + "about: \"" + many("x", 2<<20-100) + "\"\n",
		"long key":      head + many("x", 2<<20-100) + ": 1\n",
		"too long":      head + "# " + many("x", 15<<20),
		"keys":          head + "x: {" + many("a: 1,", 60000) + "}\n",
		"open brackets": head + "x: " + many("[", 300000),
		"percents":      many("%", 2<<20),
		"ats":           many("@", 2<<20),
		"backticks":     many("`", 2<<20),
		"tabs":          many("\t", 2<<20),
		"bad escapes":   head + "about: \"" + many("\\q", 1<<20-100),
		"ends":          many("...\n", 99000),
		"documents":     many("---\n", 99000),
		"names":         head + "fields: [" + many("a,", 90000) + "]\n",
		"nothing":       head + "fields: [" + many(",", 90000) + "]\n",
		"blank text":    head + field + "about: |\n" + many("\n", 90000),
		"blank end":     head + field + "about: |\n  x\n" + many("\n", 90000),
		"blank file":    "|" + many("\n", 99000),
		"blank folded":  head + field + "about: >\n  x\n" + many(" \r\n", 90000),
		"blank at last": head + field + "about: |\n  " + many("x", 2<<20-200) + many("\n", 49),
		"less":          many("<", 2<<20),
		"less, divided": many(many("<", 99)+" ", 20000),
		"lone keys":     "{" + many("aaaaaaaaaaaaaaa,", 95000) + "a}",
		"lone key runs": "[" + many("{"+many("a,", 900)+"a},", 100) + "]",
		"empty keys":    "[" + many("{"+many("a: ,", 400)+"a: },", 100) + "]",
		"empty items":   many("-\n", 49000),
		"key of all":    many("x", 1<<20) + ": [" + many("1,", 45000) + "]\n",
		"long keys":     many("x", 180) + ": {" + many("y", 180) + ": [" + many("1,", 30000) + "]}\n",
		"text of tabs":  head + field + "about: \"" + many("\tx", 1<<20-100) + "\"",
		"wrong columns": head + field + "about: [" + many("\ta,", 99) + many("abc de,", 90000) + "]",
	}
}

// TestYAMLTakesLittleMemory: whatever is written in a text, and whether it is accepted or
// refused, less than 160 MB are in use at a time, as docs/SCENARIO.md says: what lives has less than half of that, and the garbage
// collector lets as much again pile up. It may be late on a busy machine, so garbage does not count here.
func TestYAMLTakesLittleMemory(t *testing.T) {
	for name, text := range costly() {
		runtime.GC()
		before := live()
		end, peak := make(chan struct{}), make(chan uint64)
		go func() {
			most := uint64(0)
			for {
				select {
				case <-end:
					peak <- max(most, live())
					return
				case <-time.After(time.Millisecond):
					most = max(most, live())
				}
			}
		}()
		_, err := scenariotest.Parse("a.yaml", text)
		close(end)
		if most := <-peak; most > before+70_000_000 {
			t.Errorf("%s: %d MB in use for %d bytes (%.80v)", name, (most-before)/1_000_000, len(text), err)
		}
	}
}

// live returns the bytes of the heap that lived when garbage was collected last.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestYAMLAnswersSoon: no text takes long to be read or refused. It took 20 s and more.
func TestYAMLAnswersSoon(t *testing.T) {
	const most = 12 * time.Second // of the processor; two on a usual machine, more with the race detector
	for name, text := range costly() {
		var err error
		took := cputime.Of(func() { _, err = scenariotest.Parse("a.yaml", text) })
		if t.Logf("%s: %v", name, took); took > most {
			t.Errorf("%s: %v of processor time for %d bytes (%.80v)", name, took, len(text), err)
		}
	}
}

// TestYAMLSaysWhatIsTooMuch: a text that would take long is refused with the place.
func TestYAMLSaysWhatIsTooMuch(t *testing.T) {
	many := strings.Repeat
	for _, tt := range []struct {
		text      string
		line, col int
		msg       string
	}{
		{head + "about: |\n" + many("\n", 60), 55, 1, "more than 50 blank lines in a row"},
		{head + "about: |\n" + many("  \r\n", 60), 55, 4, "more than 50 blank lines in a row"},
		{"é" + many("<", 200), 1, 102, `more than 100 "<" in a row`},
		{"a: \"" + many("\tx", 200) + "\"", 1, 205, "more than 100 tabs on one line"},
		{"{" + many("a,", 2000) + "a}", 1, 2051, "more than 1024 keys and items without a value so far"},
		{many("k: a\n", 2000), 1025, 4, "more than 1024 keys in one mapping"},
		{"a:\n" + many("  k: a # x\n", 2000), 1026, 6, "more than 1024 keys in one mapping"},
		{"parameters:\n" + many("  k0: {key: 0}\n", 2000), 1026, 7, "more than 1024 keys in one mapping"},
		{many("-\n", 2000), 1026, 1, "more than 1024 keys and items without a value so far"},
		{many("---\n", 99), 18, 1, "more than 16 lines --- and ...; a scenario is one document"},
		{"a: [" + many("1,", 200_000), 1, 200002, "more than 100000 lines, commas, colons and brackets so far"},
		{"about: @\n" + many("@\n", 9), 1, 8, "'@' is a reserved character"},
	} {
		_, err := scenariotest.Parse("a.yaml", tt.text)
		e, ok := errors.AsType[*document.Error](err)
		if !ok || e.Line != tt.line || e.Col != tt.col || e.Msg != tt.msg {
			t.Errorf("%.30q: %.200v, want %d:%d: %s", tt.text, err, tt.line, tt.col, tt.msg)
		}
	}
}

// TestYAMLMayHaveBlankLinesAndLists: what is usual is not refused.
func TestYAMLMayHaveBlankLinesAndLists(t *testing.T) {
	many := strings.Repeat
	for name, text := range map[string]string{
		"blank lines":   head + field + many("\n", 49) + "about: |\n  x\n" + many("\n", 49) + "  y\n",
		"lists of keys": head + "fields:\n- name: a\n" + "commands:\n" + many("- {tick: 1, set: {field: a, cell: [0],\n value: 1}}\n", 1500),
		"comments":      head + "fields: # x\n" + many("  # x\n", 40000) + "  - {name: a}\n",
	} {
		if _, err := scenariotest.Parse("a.yaml", text); err != nil {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
