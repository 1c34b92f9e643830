package scenarios_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestDescriptorBytes holds the encoding of one scenario, byte for byte.
func TestDescriptorBytes(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small, "tick_rate=20", `about="an \"ä\"\tb"`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"rules":"murksim@1","murksim":1,"name":"small","about":"an \"ä\"\u0009b","seed":5,` +
		`"space":{"kind":"square4","rows":8,"cols":6},` +
		`"fields":[{"name":"heat","initial":[{"value":20}]},` +
		`{"name":"wall","type":"categorical","values":["open","brick"],"mutability":"static"}],` +
		`"propagators":[{"diffusion@2":{"name":"diffusion","field":"heat","rate":0.5,"blocked_by":"wall"}}]}`
	if got := string(s.Descriptor()); got != want {
		t.Errorf("Descriptor =\n%s\nwant\n%s", got, want)
	}
}

// TestDescriptorPage holds that DESCRIPTOR.md names every key, and that its example
// is what comes out.
func TestDescriptorPage(t *testing.T) {
	b, err := os.ReadFile("../replay/DESCRIPTOR.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	schema, err := worlds.Registry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	propertiesOf(root, keys)
	for key := range keys {
		yamlOnly := key == "fill" || key == "png" || key == "npy" || key == "file" || key == "probes"
		if there := strings.Contains(page, "| `"+key+"` |") || strings.Contains(page, "**"+key+"@") || key == "key"; there == yamlOnly {
			t.Errorf("key %q: in the page %t, want %t", key, there, !yamlOnly)
		}
	}
	if len(keys) < 80 {
		t.Errorf("the schema has %d keys, want 80 at least", len(keys))
	}
	for _, c := range worlds.Components() {
		id := c.ID()
		if !strings.Contains(page, "**"+id+"**") {
			t.Errorf("the page has no %s", id)
		}
	}
	_, rest, _ := strings.Cut(page, "```yaml\n")
	text, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```json\n")
	want, _, _ := strings.Cut(rest, "\n```")
	s, err := scenariotest.Parse("page.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Descriptor()); got != want {
		t.Errorf("the example's descriptor is\n%s\nthe page says\n%s", got, want)
	}
}

// propertiesOf collects the keys that a schema knows.
func propertiesOf(v any, keys map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			propertiesOf(x, keys)
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for key := range properties {
				keys[key] = true
			}
		}
		for _, x := range v {
			propertiesOf(x, keys)
		}
	}
}

// TestDescriptor holds that a world made from a descriptor is the same world.
func TestDescriptor(t *testing.T) {
	for _, info := range worlds.Embedded() {
		s, err := scenariotest.Open(info.Name, "ticks=20")
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		a, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.World(2)
		if err != nil {
			t.Fatal(err)
		}
		for range s.Ticks {
			scenariotest.Step(t, s, a)
			scenariotest.Step(t, again, b)
		}
		if got, want := b.Hash(), a.Hash(); got != want || again.Ticks != s.Ticks {
			t.Errorf("%s: hash %016x after %d ticks from the descriptor, want %016x", info.Name, got, again.Ticks, want)
		}
	}
}

func TestDescriptorRejects(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small)
	if err != nil {
		t.Fatal(err)
	}
	good := string(s.Descriptor())
	for _, tt := range []struct{ name, old, new, want string }{
		{"blank", `"seed":5`, `"seed": 5`, "not in canonical form"},
		{"default written out", `"seed":5`, `"seed":5,"generator":"chacha8"`, "not in canonical form"},
		{"keys swapped", `"rows":8,"cols":6`, `"cols":6,"rows":8`, "not in canonical form"},
		{"other spelling of a number", `"rate":0.5`, `"rate":5e-1`, "not in canonical form"},
		{"escaped letter", `"small"`, `"smal\u006c"`, "not in canonical form"},
		{"something behind", `"wall"}}]}`, `"wall"}}]} `, "not in canonical form"},
		{"key twice", `"seed":5`, `"seed":5,"seed":5`, `the key "seed" stands here twice`},
		{"cut", `}}]}`, `}}]`, "a comma or"},
		{"unknown key", `"seed"`, `"sed"`, `unknown key "sed"`},
		{"other rules", `murksim@1`, `murksim@2`, "needs rules murksim@2; this build has murksim@1"},
		{"no rules", `"rules":"murksim@1",`, ``, "is no descriptor"},
		{"strange rules", `murksim@1`, `x`, "names no rules"},
		{"newer form", `"murksim":1`, `"murksim":2`, "needs scenario form 2; this build has form 1"},
		{"newer component", `diffusion@2`, `diffusion@3`, "needs diffusion@3; this build has diffusion@2"},
		{"unknown component", `diffusion@2`, `magic@1`, "needs magic@1, which this build does not have"},
		{"no version", `diffusion@2`, `diffusion`, "needs diffusion; this build has diffusion@2"},
		{"a begin", `"wall"}}]}`, `"wall"}}],"begin":{"tick":3,"sha256":"00"}}`, `"begin" is not a key of a scenario; only recordings have it`},
		{"probes", `"wall"}}]}`, `"wall"}}],"probes":[{"name":"p","field":"heat","cell":[1,2]}]}`, "not in canonical form"},
		{"a file", `"initial":[{"value":20}]`, `"initial":[{"png":{"file":"a.png"}}]`, "may not name files"},
	} {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("%s: the descriptor has no %s", tt.name, tt.old)
		}
		_, err := scenariotest.FromDescriptor([]byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want … %s …", tt.name, err, tt.want)
		}
		_, incompatible := errors.AsType[*scenarios.IncompatibleError](err)
		if want := strings.HasPrefix(tt.want, "needs "); incompatible != want {
			t.Errorf("%s: %v, incompatible %t, want %t", tt.name, err, incompatible, want)
		}
		if want := strings.HasPrefix(tt.want, "not in"); errors.Is(err, scenarios.ErrNotCanonical) != want {
			t.Errorf("%s: %v, want ErrNotCanonical: %t", tt.name, err, want)
		}
	}
}

// TestBeginInScenario: only the descriptors of recordings have the key, and the error says what
// does the same.
func TestBeginInScenario(t *testing.T) {
	_, err := scenariotest.Parse("a.yaml", scenariotest.Small+"begin: {tick: 3}\n")
	if err == nil || !strings.Contains(err.Error(), `"begin" is not a key of a scenario`) || !strings.Contains(err.Error(), "run SCENARIO --state FILE") {
		t.Errorf("Parse = %v, want an error about begin", err)
	}
}

// TestDescriptorBits flips every bit of a descriptor: what is still taken encodes to
// the very bytes it was read from, so that nothing in it goes unnoticed.
func TestDescriptorBits(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Descriptor()
	taken := 0
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		if got, err := scenariotest.FromDescriptor(b); err == nil {
			taken++
			if again := got.Descriptor(); !bytes.Equal(again, b) {
				t.Errorf("bit %d: %s is taken, but encodes as %s", i, b, again)
			}
		}
		b[i/8] ^= 1 << (i % 8)
	}
	if taken == 0 {
		t.Error("no flip is taken, want some: names and numbers may be others")
	}
}

// TestDescriptorMemory feeds long descriptors that claim much.
func TestDescriptorMemory(t *testing.T) {
	const size = 1 << 20
	head := `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":9},"fields":[`
	for name, text := range map[string]string{
		"numbers":  head + strings.Repeat("1,", size/2),
		"brackets": head + strings.Repeat("[", size),
		"empty":    head + strings.Repeat("[],", size/3),
		"fields":   head + strings.Repeat(`{"name":"a","initial":[{"value":1}]},`, size/36),
		"layers":   head + `{"name":"a","initial":[` + strings.Repeat(`{"value":1},`, size/12) + `{"value":1}]}]}`,
		"cells":    head + `{"name":"a","initial":[{"cells":[` + strings.Repeat(`[1],`, size/4) + `[1]],"value":1}]}]}`,
		"text":     head + `{"name":"` + strings.Repeat(`a`, size) + `"}]}`,
		"keys":     `{"rules":"murksim@1",` + strings.Repeat(`"a":1,`, size/6) + `"b":1}`,
		"parts":    `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"product","parts":[` + strings.Repeat(`{"kind":"line","length":9},`, size/27) + `]},"fields":[]}`,
		"commands": `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":4096},"fields":[{"name":"a"}],"commands":[` +
			strings.Repeat(`{"tick":1,"set":{"field":"a","rect":{"from":[0],"to":[4095]},"value":1}},`, size/72) + `{"tick":1}]}`,
		"vectors": `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":4096},"fields":[{"name":"a","type":"vector(60000)"}],` +
			`"commands":[{"tick":1,"set":{"field":"a","rect":{"from":[0],"to":[4095]},"value":1}}]}`,
		"choices": head + `{"name":"a","initial":[{"choice":{"values":[` + strings.Repeat("1,", size/16) + `1]}}]}]}`,
		"expectations": `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":9},"fields":[{"name":"a"}],"expect":[` +
			strings.Repeat(`{"field":"a","range":[0,1]},`, size/128) + `{"field":"a","range":[0,1]}]}`,
		"places": head + `{"name":"a","initial":[{"cells":[` + strings.Repeat(`[1],`, size/16) + `[1]],"value":1}]}]}`,
		"names":  head + `{"name":"a","type":"categorical","values":[` + strings.Repeat(`"a",`, size/4) + `"a"]}]}`,
		"world":  `{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":2147483647},"fields":[{"name":"a","type":"vector(60000)","initial":[{"noise":{"from":0,"to":1}}]}]}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := scenariotest.FromDescriptor([]byte(text))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64*uint64(len(text))+8<<20 {
			t.Errorf("%s: %d MiB allocated for %d bytes (%v)", name, grown>>20, len(text), shortly(err))
		}
	}
}

// TestDescriptorLenient: a recording may hold commands that YAML refuses because they
// are never done.
func TestDescriptorLenient(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small+"commands: [{every: 5, from: 6, until: 7, set: {field: heat, cell: [0, 0], value: 1}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, until := range []string{`"until":5`, `"until":1`} {
		b := bytes.Replace(s.Descriptor(), []byte(`"until":7`), []byte(until), 1)
		again, err := scenariotest.FromDescriptor(b)
		if err != nil {
			t.Errorf("%s: %v, want a scenario", until, err)
			continue
		}
		if got := len(again.CommandsAt(6)); got != 0 {
			t.Errorf("%s: %d commands at tick 6, want none", until, got)
		}
	}
}

func shortly(err error) string { return fmt.Sprintf("%.80v", err) }

// TestRandomDescriptors makes scenarios at random and takes them there and back.
func TestRandomDescriptors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomScenario(t)
		s, err := scenariotest.Parse("a.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		b := s.Descriptor()
		again, err := scenariotest.FromDescriptor(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if got := again.Descriptor(); !bytes.Equal(got, b) {
			t.Fatalf("%s encodes as %s", b, got)
		}
		// The YAML form takes JSON, so the descriptor's parts read back, too.
		wa, err := s.World(1)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		wb, err := again.World(1)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if wa.Hash() != wb.Hash() {
			t.Fatalf("%s: genesis hash %016x, from the descriptor %016x", b, wa.Hash(), wb.Hash())
		}
	})
}

func randomScenario(t *rapid.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, "murksim: 1\nname: r\nseed: %d\n", rapid.Uint64().Draw(t, "seed"))
	if rapid.Bool().Draw(t, "rate") {
		fmt.Fprintf(&b, "tick_rate: %v\n", rapid.Float64Range(0.01, 1e6).Draw(t, "tick rate"))
	}
	fmt.Fprintf(&b, "generator: %s\n", rapid.SampledFrom([]string{"chacha8", "chacha20"}).Draw(t, "generator"))
	spaces := []string{
		"{kind: line, length: 9, edge: wrap}", "{kind: ring, length: 7}", "{kind: square4, rows: 5, cols: 4}",
		"{kind: square8, rows: 3, cols: 5, edge: clamp}", "{kind: hex, cols: 4, rows: 3}", "{kind: fcc12, w: 4, h: 4, d: 2, edge: wrap}",
		"{kind: product, parts: [{kind: ring, length: 3}, {kind: product, parts: [{kind: line, length: 2}]}]}",
	}
	fmt.Fprintf(&b, "space: %s\nfields:\n", rapid.SampledFrom(spaces).Draw(t, "space"))
	numbers := rapid.Float64Range(-1e6, 1e6)
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		x := numbers.Draw(t, "number")
		fmt.Fprintf(&b, "  - %s\n", rapid.SampledFrom([]string{
			fmt.Sprintf("{name: f%d, initial: %v, unit: \"%s\"}", i, x, rapid.StringMatching(`[a-z/ %°]{0,5}`).Draw(t, "unit")),
			fmt.Sprintf("{name: f%d, type: vector(3), initial: [%v, 1, 2]}", i, x),
			fmt.Sprintf("{name: f%d, initial: [{fill: %v}, {noise: {from: %v, to: %v}}]}", i, x, x, x+1),
			fmt.Sprintf("{name: f%d, type: categorical, values: [a, b], initial: {choice: {values: [a, b, 1], weights: [1, %v, 0]}}}", i, x*x),
			fmt.Sprintf("{name: f%d, element: fixed, mutability: sparse, min: %v, max: %v, at_bound: wrap, initial: %v}", i, x, x+2, x+1),
			fmt.Sprintf("{name: f%d, min: %v, max: %v, at_bound: reflect, initial: %v, mutability: static}", i, x, x+2, x+1),
		}).Draw(t, "field"))
	}
	fmt.Fprintf(&b, "parameters: {p: %v, q: {key: %d, value: 2}}\n", numbers.Draw(t, "p"), rapid.IntRange(1, 1<<30).Draw(t, "key"))
	fmt.Fprintf(&b, "commands:\n  - {every: %d, from: 2, param: {name: p, value: %v}, priority: %d}\n",
		rapid.IntRange(1, 1000).Draw(t, "every"), numbers.Draw(t, "value"), rapid.IntRange(0, 255).Draw(t, "priority"))
	fmt.Fprintf(&b, "  - {tick: 3, params: {q: 1, p: %v}, expires_after: %d}\n", numbers.Draw(t, "value"), rapid.IntRange(0, 9).Draw(t, "expiry"))
	return b.String()
}

// FuzzFromDescriptor looks for a panic, and for a descriptor with two spellings.
func FuzzFromDescriptor(f *testing.F) {
	for _, info := range worlds.Embedded() {
		s, err := scenariotest.Open(info.Name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Descriptor())
	}
	ruled, err := scenariotest.Parse("epidemic.yaml", epidemic)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ruled.Descriptor())
	f.Add([]byte(`{"rules":"murksim@1","murksim":1,"name":"a","space":{"kind":"line","length":9},"fields":[{"name":"a"}],"begin":{"tick":3,"sha256":"00"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := scenariotest.FromDescriptor(b)
		if err != nil {
			return
		}
		if again := s.Descriptor(); !bytes.Equal(again, b) {
			t.Errorf("%q is taken, but encodes as %q", b, again)
		}
		if _, err := s.Memory(); err != nil && err.Error() == "" {
			t.Error("an error that says nothing")
		}
	})
}
