package yaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// bad scenarios: each replaces a piece of the small one, or adds to its end if the
// piece is "".
var bad = []struct{ name, old, new, want string }{
	{"misspelt component", "- diffusion:", "- difusion:", `10:5: unknown propagator or system "difusion"; did you mean "diffusion"?`},
	{"no such component", "- diffusion:", "- warm:", `10:5: unknown propagator or system "warm"`},
	{"misspelt key", "seed: 5", "sed: 5", `3:1: unknown key "sed"; did you mean "seed"?`},
	{"misspelt field key", "initial: 20", "inital: 20", `7:18: unknown key "inital"; did you mean "initial"?`},
	{"nothing like it", "seed: 5", "temperature: 5", `3:1: unknown key "temperature"`},
	{"missing key", "field: heat, ", "", `10:16: the key "field" is missing`},
	{"missing name", "name: small\n", "", `1:1: the key "name" is missing`},
	{"key twice", "seed: 5", "seed: 5\nseed: 6", `4:1: mapping key "seed" already defined at [3:1]`},
	{"text for a number", "seed: 5", "seed: five", `3:7: five is not a whole number`},
	{"quoted number", "seed: 5", `seed: "5"`, `3:7: the text "5" is not a whole number`},
	{"fraction for a seed", "seed: 5", "seed: 1.5", `3:7: 1.5 is not a whole number`},
	{"fraction for a size", "rows: 8", "rows: 1.5", `5:30: 1.5 is not a whole number`},
	{"2^64", "seed: 5", "seed: 18446744073709551616", `3:7: 18446744073709551616 is out of range: it must be 0 to 18446744073709551615`},
	{"negative seed", "seed: 5", "seed: -1", `3:7: -1 is out of range: it must be 0 to 18446744073709551615`},
	{"huge seed", "seed: 5", "seed: " + strings.Repeat("9", 5000), `3:7: ` + strings.Repeat("9", 40) + `… is out of range: it must be 0 to 18446744073709551615`},
	{"2^31 rows", "rows: 8", "rows: 2147483648", `5:30: 2147483648 is out of range: it must be 1 to 2147483647`},
	{"1e400", "initial: 20", "initial: 1e400", `7:27: 1e400 is out of range: numbers go up to 1.8e308`},
	{"1e-400", "rate: 0.5", "rate: 1e-400", `10:36: 1e-400 is too small to be told from 0`},
	{"beyond float32", "initial: 20", "initial: 1e39", `7:27: 1e39 is more than field "heat" can hold (float32)`},
	{"not exact", "rate: 0.5", "rate: 9007199254740993", `10:36: 9007199254740993 cannot be held exactly; the nearest number is 9007199254740992`},
	{"nan", "rate: 0.5", "rate: .nan", `10:36: .nan: numbers must be finite`},
	{"infinity", "rate: 0.5", "rate: -.inf", `10:36: -.inf: numbers must be finite`},
	{"list for a number", "rate: 0.5", "rate: [1]", `10:36: a list is not a number`},
	{"below a minimum", "rate: 0.5", "rate: -0.5", `10:36: rate must be at least 0, not -0.5`},
	{"zero rows", "rows: 8", "rows: 0", `5:30: 0 is out of range: it must be 1 to 2147483647`},
	{"no value", "seed: 5", "seed:", `3:6: seed has no value`},
	{"control character", "name: small", `name: "a\x1b[2J"`, `2:7: the text "a·[2J" holds a control character`},
	{"number for a text", "name: small", "name: 7", `2:7: 7 is not a text; write "7"`},
	{"bool for a text", "name: small", "name: true", `2:7: true is not a text; write "true"`},
	{"name with a blank", "name: small", "name: very small", `2:7: "very small" cannot name a scenario; use up to 64 letters, digits, _ and -, a letter first`},
	{"mapping for a list", "fields:\n", "fields: {a: 1}\nx:\n", `7:1: unknown key "x"`},
	{"unknown kind of space", "square4", "sqare4", `5:15: kind "sqare4" is unknown; did you mean "square4"?`},
	{"key of another space", "cols: 6", "length: 6", `5:8: the key "cols" is missing; a square4 has rows, cols or edge`},
	{"foreign key of a space", "cols: 6", "cols: 6, w: 3", `5:42: a square4 has no "w"; it has rows, cols, edge`},
	{"unknown edge", "cols: 6", "cols: 6, edge: warp", `5:48: edge "warp" is unknown; did you mean "wrap"?`},
	{"unknown type", "type: categorical", "type: categoric", `8:24: type "categoric" is unknown; did you mean "categorical"?`},
	{"unknown field", "field: heat", "field: haet", `10:24: there is no field "haet"; did you mean "heat"?`},
	{"wrong sort of field", "field: heat, rate: 0.5", "gradient: heat, field: heat, rate: 0.5", `10:27: field "heat" is a scalar field; a vector of 2 is needed here`},
	{"field twice", "name: wall", "name: heat", `8:12: there is a field "heat" already`},
	{"value that no category has", "mutability: static", "initial: brik", `8:69: field "wall" has no value "brik"; did you mean "brick"?`},
	{"a kind twice, and one in use", "", "entities: {capacity: 3, kinds: [ant, ant], spawn: [{kind: anz}]}\n", `11:38: there is a kind "ant" already`},
	{"a malformed kind", "", "entities: {capacity: 3, kinds: [an ant]}\n", `11:33: "an ant" cannot name a kind; use up to 64 letters, digits, _ and -, a letter first`},
	{"a value twice, and one in use", "[open, brick]", "[open, open], initial: brick", `8:52: there is a value "open" already`},
	{"inverted bounds", "initial: 20", "initial: 20, min: 400, max: 0", `7:46: max must be above min, 400, not 0`},
	{"a wall of itself", "blocked_by: wall", "blocked_by: heat", `10:53: field and blocked_by are both "heat"`},
	{"sizes too large together", "rows: 8, cols: 6", "rows: 2147483647, cols: 6", `5:8: square4: has more than 2147483647 cells`},
	{"bounds of no number", "type: categorical", "min: 0, max: 1, type: categorical", `8:5: field "wall": categorical(2) float32 takes no bounds`},
	{"half a bound", "initial: 20", "min: 3", `7:5: min and max go together: one of them is missing`},
	{"initial beyond a bound", "initial: 20", "min: 0, max: 10, initial: 20", `7:44: 20 is above the maximum of "heat", 10`},
	{"layer off the space", "initial: 20", "initial: [{rect: {from: [0, 0], to: [8, 5]}, value: 1}]", `7:54: [8, 5] is no cell of square4 8×6 absorb`},
	{"coordinate too long", "initial: 20", "initial: {cells: [[1, 2, 3]], value: 1}", `7:36: a coordinate on square4 has 2 components, such as [row, col]; this one has 3`},
	{"corners swapped", "initial: 20", "initial: {rect: {from: [2, 2], to: [1, 3]}, value: 1}", `7:53: to [1, 3] lies before from [2, 2]`},
	{"no cells", "initial: 20", "initial: {cells: [], value: 1}", `7:35: no cells are listed`},
	{"two sources", "initial: 20", "initial: {fill: 1, noise: {from: 0, to: 1}}", `7:27: a layer gives one of value, fill, noise, choice, picture, png, npy and rle`},
	{"picture too large", "initial: 20", `initial: {picture: {rows: ["1111111"], legend: {"1": 1}}}`, `7:37: a picture of 1×7 at row 0, column 0 does not fit square4 8×6 absorb`},
	{"not in the legend", "initial: 20", `initial: {picture: {rows: ["1x"], legend: {"1": 1}}}`, `7:45: row 0, character 1: 'x' is not in the legend`},
	{"anchor", "seed: 5", "seed: &a 5", `3:7: anchors, aliases and merge keys are not allowed: write the value out`},
	{"tag", "seed: 5", "seed: !!int 5", `3:7: tags ("!!int") are not allowed`},
	{"two documents", "", "---\nname: b\n", `12:1: a second document; a scenario is one`},
	{"tab", "seed: 5", "\tseed: 5", `3:1: a tab; YAML indents with spaces`},
	{"open bracket", "cols: 6}", "cols: 6", `6:1: ',' or '}' must be specified`},
	{"deep nesting", "", "x: " + strings.Repeat("[", 70) + "\n", `11:67: is nested more than 64 deep`},
	{"deep blocks", "", strings.Repeat("- ", 70) + "\n", `11:129: is nested more than 64 deep`},
	{"system among propagators", "- diffusion: {field: heat, rate: 0.5, blocked_by: wall}",
		"- hunting: {kind: a, energy: heat, pace: 1, cost: 1, breed_at: 1, prey: a, catch: 1, gain: 1}", `10:21: the scenario has no "entities"`},
	{"attribute of nobody", "mutability: static}", "mutability: static}\n  - {name: energy, domain: entities}", `9:5: field "energy" belongs to entities, but the scenario has no "entities"`},
	{"attribute for a field", "initial: 20", "domain: entities", `10:24: field "heat" is an attribute of entities; a field of cells is needed here`},
	{"command without a time", "", "commands: [{set: {field: heat, cell: [0, 0], value: 1}}]\n", `11:12: a command has either "tick" or "every"`},
	{"command off the space", "", "commands: [{tick: 1, set: {field: heat, cell: [0, 9], value: 1}}]\n", `11:47: [0, 9] is no cell of square4 8×6 absorb`},
	{"unknown parameter", "", "commands: [{tick: 1, param: {name: wind, value: 1}}]\n", `11:36: there is no parameter "wind"`},
	{"two deeds", "", "commands: [{tick: 1, despawn: {entity: 1}, custom: {type: 1}}]\n", `11:12: a command does one of set, param, params, spawn, move, despawn and custom`},
	{"expectation of two things", "", "expect: [{field: heat, range: [0, 1], total: 5}]\n", `11:10: an expectation is one of range, total, sum, shares, value, that, population, hash and digest`},
	{"from after until", "", "commands: [{every: 9, from: 50, until: 49, set: {field: heat, cell: [0, 0], value: 1}}]\n", `11:29: the command is never done: its first tick is 50, the last 49`},
	{"every after until", "", "commands: [{every: 9, until: 8, set: {field: heat, cell: [0, 0], value: 1}}]\n", `11:20: the command is never done: its first tick is 9, the last 8`},
	{"ticks below", "seed: 5", "ticks: -1", `3:8: -1 is out of range: it must be 1 to 8796093022207`},
	{"no ticks", "seed: 5", "ticks: 0", `3:8: 0 is out of range: it must be 1 to 8796093022207`},
	{"another form", "murksim: 1", "murksim: 2", `1:10: the scenario is of form 2; this murksim knows form 1`},
	{"kind twice", "", "entities: {capacity: 3, kinds: [fox, hare, fox]}\n", `11:44: there is a kind "fox" already`},
	{"no kinds", "", "entities: {capacity: 3, kinds: []}\n", `11:32: no kinds are listed`},
	{"too many kinds", "", "entities: {capacity: 3, kinds: [" + strings.Repeat("a,", 4096) + "a]}\n", `11:32: 4097 names; at most 4096 are allowed`},
	{"too many values", "open, brick", strings.Repeat("a,", 5000) + "a", `8:45: 5001 names; at most 4096 are allowed`},
	{"vectors of many numbers", "fields:\n  - {name: heat, initial: 20}\n", "commands: [{tick: 1, set: {field: heat, cell: [0, 0], value: 1}}]\nfields:\n  - {name: heat, type: vector(40000)}\n",
		`6:27: the commands write more than 32768 numbers in all`},
	{"bad rule", "diffusion: {field: heat, rate: 0.5, blocked_by: wall}", "automaton: {field: wall, rule: Z3}", `10:36: rule "Z3": must look like B3/S23 or B2/S/3, or 23/3 or /2/3 with the survivals first; what no such rule can say, a "rule" propagator can`},
	{"umlauts before the place", "seed: 5", "about: [ä, ö]", `3:8: a list stands where a text belongs`},
}

// TestErrors holds what is said about bad scenarios, and where.
func TestErrors(t *testing.T) {
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(scenariotest.Small, tt.old) {
				t.Fatalf("the small scenario has no %q", tt.old)
			}
			text := strings.Replace(scenariotest.Small, tt.old, tt.new, 1)
			if tt.old == "" {
				text = scenariotest.Small + tt.new
			}
			_, err := scenariotest.Parse("a.yaml", text)
			if err == nil {
				t.Fatalf("Parse takes it, want %s", tt.want)
			}
			got, _, _ := strings.Cut(err.Error(), "\n")
			if got != "a.yaml:"+tt.want {
				t.Errorf("Parse =\n\t%s\nwant\n\ta.yaml:%s", got, tt.want)
			}
			if e, ok := errors.AsType[*document.Error](err); !ok || e.File != "a.yaml" || e.Line == 0 {
				t.Errorf("Parse = %#v, want an Error with a place", err)
			}
		})
	}
}

// TestErrorsText holds errors as they are printed, whole.
func TestErrorsText(t *testing.T) {
	_, err := scenariotest.Parse("fire.yaml", strings.Replace(scenariotest.Small, "diffusion", "difusion", 1))
	want := `fire.yaml:10:5: unknown propagator or system "difusion"; did you mean "diffusion"?
   9 | propagators:
> 10 |   - difusion: {field: heat, rate: 0.5, blocked_by: wall}
     |     ^`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	for _, text := range []string{"*a", "a > 0 ? 1 : 2", "!a", "- a + 1", "&a", "@a", "> 'a'", "a: 1", "? a", "`a`"} {
		_, err := scenariotest.Parse("a.yaml", "about: "+text+"\n")
		want := "\n  if it is a text, such as a formula, put it in quotes: about: '" + strings.ReplaceAll(text, "'", "''") + "'"
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("about: %s: %v, want at its end%s", text, err, want)
			continue
		}
		_, quoted, _ := strings.Cut(want, "quotes: ")
		if n, err := yaml.Document("a.yaml", []byte(quoted)); err != nil || n.Get("about").Raw != text {
			t.Errorf("%s: %v", quoted, err)
		}
	}
	for name, text := range map[string]string{
		"a.yaml: is empty":          "# nothing\n",
		"a.yaml: is not UTF-8 text": "name: \xff",
		"a.yaml:1:1: seven stands where a mapping belongs\n> 1 | seven\n    | ^": "seven",
	} {
		if _, err := scenariotest.Parse("a.yaml", text); err == nil || err.Error() != name {
			t.Errorf("Parse(%q) = %v, want %s", text, err, name)
		}
	}
}

// TestShortened: whoever asks for fewer ticks than the document has may leave its
// expectations unreached, also in the recording's descriptor.
func TestShortened(t *testing.T) {
	late := scenariotest.Small + "ticks: 20\nexpect: [{field: heat, total: 5, tick: 20}]\ncommands: [{tick: 20, set: {field: heat, cell: [0, 0], value: 1}}]\n"
	s, err := scenariotest.Parse("a.yaml", late, "ticks=3")
	if err != nil || s.Ticks != 3 {
		t.Fatalf("Parse with ticks=3: %v", err)
	}
	if again, err := scenariotest.FromDescriptor(s.Descriptor()); err != nil || again.Ticks != 3 {
		t.Errorf("FromDescriptor = %v, want the scenario of 3 ticks", err)
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct{ set, want string }{
		{"seed=77", ""},
		{"space.rows=16", ""},
		{"space={kind: ring, length: 9}", ""},
		{"fields.heat.initial=3.5", ""},
		{"fields.0.initial=3.5", ""},
		{"propagators.diffusion.rate=0.25", ""},
		{"propagators.0.diffusion.rate=0.25", ""},
		{"ticks=5", ""},
		{"propagators.diffusion.hold=[{cells: [[1, 1]], value: 5}]", ""},
		{"about=a = b", ""},
		{"sed=77", `--set:1:1: unknown key "sed"; did you mean "seed"?`},
		{"spce.rows=16", `--set:1:1: the scenario has no "spce"; did you mean "space"?`},
		{"fields.haet.initial=3", `--set:1:8: the list of 2 has no "haet"; did you mean "heat"?`},
		{"fields.2.initial=3", `--set:1:8: the list of 2 has no "2"`},
		{"propagators.diffusion.rate=fast", `--set:1:28: fast is not a number`},
		{"seed.x=1", `--set:1:6: "x" leads nowhere: the scenario has 5 there`},
		{"space.rws=9", `--set:1:7: unknown key "rws"; did you mean "rows"?`},
		{"fields[0].initial=3", `--set:1:1: a path has no brackets`},
		{"fields.name.x=3", `--set:1:8: the list of 2 has no "name"; use heat or wall`},
		{"space.rows=2147483647", `a.yaml:5:8: square4: has more than 2147483647 cells (with --set space.rows=2147483647)`},
		{"fields.0.name=cold", `a.yaml:10:24: there is no field "heat"; use cold or wall (with --set fields.0.name=cold)`},
		{"seed", `--set:1:1: "seed" is not of the form path=value`},
		{"=5", `--set:1:1: "=5" is not of the form path=value`},
		{"seed=", `--set:1:6: seed has no value`},
		{"seed=[1", `--set:1:1: sequence end token ']' not found`},
		{"seed=1.5", `--set:1:6: 1.5 is not a whole number`},
	} {
		_, err := scenariotest.Parse("a.yaml", scenariotest.Small, tt.set)
		got := ""
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("--set %q: %q, want %q", tt.set, got, tt.want)
		}
	}
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small, "seed=77", "space.rows=16", "ticks=5")
	if err != nil {
		t.Fatal(err)
	}
	if s.Seed != 77 || s.Space.Rows != 16 || s.Ticks != 5 {
		t.Errorf("seed %d, rows %d, ticks %d; want 77, 16, 5", s.Seed, s.Space.Rows, s.Ticks)
	}
}

// TestSetHint holds what is said about brackets in a path.
func TestSetHint(t *testing.T) {
	_, err := scenariotest.Parse("a.yaml", scenariotest.Small, "fields[0].initial=3")
	if e, ok := errors.AsType[*document.Error](err); !ok || e.Hint != "write fields.0 or fields.heat" {
		t.Errorf("Parse = %v, want the hint to write fields.0 or fields.heat", err)
	}
}

// TestSetAmbiguous: a kind that stands in the list twice names neither.
func TestSetAmbiguous(t *testing.T) {
	text := []byte(scenariotest.Small + "  - decay: {field: heat, rate: 1}\n  - decay: {name: late, field: heat, rate: 2}\n")
	_, err := scenariotest.Parse("a.yaml", string(text), "propagators.decay.rate=3")
	want := `--set:1:13: "decay" may be any of 2 elements; write 1.decay or 2.decay`
	if err == nil || !strings.HasPrefix(err.Error(), want+"\n") {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	for _, set := range []string{"propagators.1.decay.rate=3", "propagators.2.decay.rate=3", "propagators.late.rate=3"} {
		if _, err := scenariotest.Parse("a.yaml", string(text), set); err != nil {
			t.Errorf("%s: %v, want a scenario", set, err)
		}
	}
}

// TestSetBlamed: of several sets those are named that cause the error, and all if
// none does alone.
func TestSetBlamed(t *testing.T) {
	text := []byte(scenariotest.Small + "commands: [{tick: 1, set: {field: heat, cell: [7, 5], value: 1}}]\n")
	for _, tt := range []struct {
		sets []string
		want string
	}{
		{[]string{"seed=4", "space.rows=4", "ticks=9"}, "(with --set space.rows=4)"},
		{[]string{"space.rows=4", "space.cols=4"}, "(with --set space.rows=4 --set space.cols=4)"},
	} {
		_, err := scenariotest.Parse("a.yaml", string(text), tt.sets...)
		if e, ok := errors.AsType[*document.Error](err); !ok || e.Line != 11 || !strings.HasSuffix(e.Msg, tt.want) {
			t.Errorf("%q: %v, want an error of line 11 %s", tt.sets, err, tt.want)
		}
	}
}

// TestReplaced: what a set replaces must have been right, too.
func TestReplaced(t *testing.T) {
	for _, tt := range []struct{ old, new, set, want string }{
		{"seed: 5", "ticks: abc", "ticks=5", "a.yaml:3:8: abc is not a whole number"},
		{"seed: 5", "seed: -1", "seed=5", "a.yaml:3:7: -1 is out of range"},
		{"initial: 20", "initial: hot", "fields.heat.initial=5", "a.yaml:7:27: hot is not a number"},
	} {
		_, err := scenariotest.Parse("a.yaml", strings.Replace(scenariotest.Small, tt.old, tt.new, 1), tt.set)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "--set") {
			t.Errorf("%s with %s: %v, want %s", tt.new, tt.set, err, tt.want)
		}
	}
}

// FuzzParse looks for a panic.
func FuzzParse(f *testing.F) {
	f.Add(scenariotest.Small)
	for _, info := range worlds.Embedded() {
		f.Add(string(info.Source))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenariotest.Parse("a.yaml", text)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q: an error that says nothing", text)
			}
			return
		}
		if _, err := scenariotest.FromDescriptor(s.Descriptor()); err != nil {
			t.Errorf("%q parses, but its descriptor does not: %v", text, err)
		}
	})
}

// TestASetOfOneKeyIsToldItsPath: who sets a key that stands deeper in the scenario is told where.
func TestASetOfOneKeyIsToldItsPath(t *testing.T) {
	for set, want := range map[string]string{
		"rate=2":    "write propagators.diffusion.rate",
		"rows=9":    "write space.rows",
		"initial=4": "write fields.heat.initial",
		"zonk=4":    "",
		"a.rate=4":  "",
	} {
		_, err := scenariotest.Parse("a.yaml", scenariotest.Small, set)
		e, ok := errors.AsType[*document.Error](err)
		if !ok || !strings.HasPrefix(e.Hint, want) || want == "" && e.Hint != "" {
			t.Errorf("--set %s: %v, want the hint %q", set, err, want)
		}
	}
}
