package yaml_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestYAMLTakesLittleMemory feeds documents that say much in few bytes: whatever comes of them,
// no more than 160 MiB is allocated, garbage included.
func TestYAMLTakesLittleMemory(t *testing.T) {
	const head, field = "murksim: 1\nname: a\nspace: {kind: line, length: 9}\n", "fields: [{name: a}]\n"
	many := strings.Repeat
	for name, text := range map[string]string{
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
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := scenariotest.Parse("a.yaml", text)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 160<<20 {
			t.Errorf("%s: %d KiB allocated for %d bytes (%.80v)", name, grown>>10, len(text), err)
		}
	}
}
