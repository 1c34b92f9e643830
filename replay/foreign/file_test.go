package foreign_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
)

const world = `{
 "space": {"type": "line1d", "len": 4},
 "fields": [{"name": "a", "type": "scalar", "mutability": "per_tick"}],
 "propagators": [{"type": "const", "output": 0, "value": 1}],
 "dt": 0.25, "seed": "7"
}`

// TestParseErrors holds that a world file that is wrong is refused with a reason and,
// where it is known, the place.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"dt": 0.25,`, ``, "w: dt is missing or 0"},
		{`"dt": 0.25`, `"dt": "x"`, "w:5:10: cannot unmarshal string into Go struct field File.dt of type float64"},
		{`"dt": 0.25`, `"td": 0.25`, `w:5:2: unknown key "td"`},
		{`"seed": "7"`, `"seed": -7`, "w:5:22: -7 is not a whole number of 0 to 18446744073709551615"},
		{`"const"`, `"cnst"`, `w: propagators[0]: there is no propagator "cnst"`},
		{`"value": 1`, `"value": 1, "valeu": 2`, `w:4:61: propagators[0]: const: unknown key "valeu"`},
		{`"value": 1`, `"value": []`, "w: propagators[0]: const: cannot unmarshal array into Go struct field constant.value of type float64"},
		{`"const", "output": 0, "value": 1`, `"init_then", "inner": null`, "w: propagators[0]: init_then: its type is missing"},
		{`"const", "output": 0, "value": 1`, `"init_then", "inner": {"type": "init_then"}`, "w: propagators[0]: init_then: init_then in init_then"},
		{`[{"type": "const", "output": 0, "value": 1}]`, `[null]`, "w: propagators[0]: its type is missing"},
		{`}]`, `}],,`, "w:3:72: invalid character ',' looking for beginning of object key string"},
		{"\n}", "", "w:5:24: the document ends here, unfinished"},
		{"\n}", "\n} {}", "w:6:3: something follows the document"},
		{`"dt"`, `"steps": [{"step": 2}, {"step": 2}], "dt"`, "w: steps[1]: step 2; steps ascend from 1 to step_count"},
		{`"dt"`, `"dt": 1, "dt"`, `w:5:11: the key "dt" occurs twice`},
		{`"dt"`, `"\u0064t": 1, "dt"`, `w:5:16: the key "dt" occurs twice`},
		{`"dt"`, `"DT"`, `w:5:2: unknown key "DT"`},
		{`"len"`, `"Len"`, `w:2:30: unknown key "Len"`},
		{`"len"`, `"lenght": 4, "len"`, `w:2:30: unknown key "lenght"`},
		{`"dt"`, `"steps": [{"step": 1, "commands": [{"type": "a", "coord": [1], "tpye": "b"}]}], "dt"`, `w:5:65: unknown key "tpye"`},
		{`"const", "output": 0, "value": 1`, `"init_then", "init": [{"feild": 0}], "inner": {"type": "const"}`, `w:4:50: propagators[0]: init_then: unknown key "feild"`},
		{`"const", "output": 0, "value": 1`, `"init_then", "inner": {"type": "const", "kind": 0}`, `w:4:67: propagators[0]: init_then: const: unknown key "kind"`},
		{`"value": 1`, `"value": 1, "value" : 2`, `w:4:61: the key "value" occurs twice`},
		{`"dt"`, `"steps": [{"step": 1, "actions": [[-1, "north"]]}], "dt"`, "w:5:36: -1 is no uint16"},
		{`"dt"`, `"steps": [{"step": 1, "actions": [[1, "up"]]}], "dt"`, `w:5:36: heading "up" is unknown; use stay, north, south, east or west`},
		{`"dt"`, `"steps": [{"step": 1, "actions": [[1, "north", 2]]}], "dt"`, "w:5:36: an array of two values is needed"},
		{`"const", "output": 0, "value": 1`, `"scalar_diffusion", "sources": [[3]]`, "w:4:59: propagators[0]: scalar_diffusion: an array of two values is needed"},
		{`"const", "output": 0, "value": 1`, `"scalar_diffusion", "sources": [null]`, "w:4:59: propagators[0]: scalar_diffusion: an array of two values is needed"},
		{`"const", "output": 0, "value": 1`, `"agent_movement", "initial_positions": [[65536, 1]]`, "w:4:67: propagators[0]: agent_movement: 65536 is no uint16"},
		{`"dt"`, `"hashes": [` + strings.Repeat("[],", foreign.MaxParts) + `[]], "dt"`, "w: more than 2097152 objects and arrays"},
		{`"name": "a"`, `"name": "a", "id": 3`, "w: fields[0]: its id is 3; fields stand in the order of their ids"},
		{`"propagators": [{`, `"propagators": [` + strings.Repeat(`{"type": "const", "output": 0, "value": 1}, `, 1024) + `{`, "w:4:17: propagators[1024]: at most 1024 propagators are allowed"},
		{`"propagators": [{"type": "const", "output": 0, "value": 1}]`, `"propagators": 5`, "w: propagators: a list is needed"},
	} {
		text := strings.Replace(world, c.old, c.new, 1)
		if text == world {
			t.Errorf("%q is not there", c.old)
		}
		_, err := foreign.Parse("w", strings.NewReader(text))
		if err == nil || err.Error() != c.want {
			t.Errorf("with %.999s: %v, want %s", c.new, err, c.want)
		}
		if e, ok := errors.AsType[*foreign.Error](err); !ok || e.File != "w" {
			t.Errorf("with %s: error %T %v, want *foreign.Error of w", c.new, err, err)
		}
	}
}

// TestDenseWorldFileIsBounded holds that reading a world file takes no more than a small multiple of
// its size, however short its elements are.
func TestDenseWorldFileIsBounded(t *testing.T) {
	const most = 40 // times the size, allocated one after the other
	const refused = ": the lists up to here would take more than 16 times the size of the file in memory"
	for _, c := range []struct{ name, key, element, rest, want string }{
		{"parts of a space", `"space": {"type": "product", "components": [`, `{}`, `]}`, refused},
		{"fields", `"fields": [`, `0`, `]`, refused},
		{"steps", `"steps": [`, `{}`, `]`, refused},
		{"commands", `"steps": [{"commands": [`, `{}`, `]}]`, refused},
		{"commands with a type", `"steps": [{"commands": [`, `{"type":"despawn"}`, `]}]`, "steps[0]: step 0; steps ascend from 1 to step_count"},
		{"actions", `"steps": [{"actions": [`, `[1,"east"]`, `]}]`, "steps[0]: step 0; steps ascend from 1 to step_count"},
		{"an action", `"steps": [{"actions": [[`, `0`, `]]}]`, "0 is no string"},
		{"propagators", `"propagators": [`, `0`, `]`, "propagators[0]: json: cannot unmarshal number"},
		{"initial values", `"init": [`, `0`, `]`, ""},
		{"keys", `"build_metadata": {`, `"%06d":0`, `}`, ""},
	} {
		n := 1 << 20 / len(c.element)
		if n = min(n, 250_000); c.name == "an action" {
			n++
		}
		var b strings.Builder
		b.WriteString(`{"dt": 0.1, ` + c.key)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.Contains(c.element, "%") {
				fmt.Fprintf(&b, c.element, i)
			} else {
				b.WriteString(c.element)
			}
		}
		b.WriteString(c.rest + "}")
		text := b.String()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := foreign.Parse("w", strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(c.want, "json: ", "")) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(most*len(text)) {
			t.Errorf("%s: %d bytes took %d bytes of memory, %d times as many; want %d times at most", c.name, len(text), took, took/uint64(len(text)), most)
		} else {
			t.Logf("%s: %d bytes took %d times as many", c.name, len(text), took/uint64(len(text)))
		}
	}
}

// TestRemarks holds that what a file says beside the world may have any keys, once.
func TestRemarks(t *testing.T) {
	text := strings.Replace(world, `"dt"`, `"build_metadata": {"GOOS": {"A": [{"B": "\"{"}]}, "goos": 1}, "dt"`, 1)
	if _, err := foreign.Parse("w", strings.NewReader(text)); err != nil {
		t.Error(err)
	}
	_, err := foreign.Parse("w", strings.NewReader(strings.Replace(text, `"goos"`, `"GOOS"`, 1)))
	if want := `w:5:52: the key "GOOS" occurs twice`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestStepsWithoutEnd holds that a recording that ends before the last step of the
// world file is not taken for whole, also where no step_count says how many there are.
func TestStepsWithoutEnd(t *testing.T) {
	var empty bytes.Buffer
	w, err := replay.NewWriter(&empty, replay.Header{Seed: 7, FieldCount: 1, CellCount: 4})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ steps, want string }{
		{`[]`, "EOF"},
		{`[{"step": 1, "reset_seed": 8}]`, "tick 1: the recording ends before step 1 of 1"},
		{`[{"step": 1, "error": null}]`, "tick 1: the recording ends before step 1 of 1"},
		{`[{"step": 1000, "error": {}}]`, "tick 1: the recording ends before step 1 of 1000"},
	} {
		f, err := foreign.Parse("w", strings.NewReader(strings.Replace(world, `"dt"`, `"steps": `+c.steps+`, "dt"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewReader(bytes.NewReader(empty.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := foreign.NewPlayer(f, r, 1, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Step(); err == nil || err.Error() != c.want {
			t.Errorf("steps %s: %v, want %s", c.steps, err, c.want)
		}
	}
}

// TestWorldErrors holds that a world that cannot be built is refused with the reason.
func TestWorldErrors(t *testing.T) {
	recording, err := os.ReadFile(filepath.Join(vectors.Path("murk/sim"), "wave_0_0.murkreplay"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"line1d"`, `"line"`, `w: space: there is no space "line"; use line1d, ring1d, square4, square8, hex2d, fcc12 or product`},
		{`"len": 4`, `"len": 4, "edge": "x"`, `w: space: `},
		{`"len": 4`, `"len": 0`, `w: space: `},
		{`"scalar"`, `"tensor"`, `w: fields[0]: there is no type "tensor"; use scalar, vector or categorical`},
		{`"per_tick"`, `"often"`, `w: fields[0]: there is no mutability "often"; use per_tick, sparse or static`},
		{`"output": 0`, `"output": 7`, "w: engine: propagator \"const 0\": field 7 does not exist; the number of fields is 1"},
		{`"len": 4`, `"len": 120000000`, "w: its world may take "},
		{`"dt": 0.25`, `"dt": -1`, "w: engine: Timestep must be 1e-9 to 1e9 seconds, not -1"},
		{`"const", "output": 0, "value": 1`, `"reward", "heat_bonus": 1, "step_cost": 0`, `w: engine: propagator "reward 0": `},
		{`"const", "output": 0, "value": 1`, `"legacy_diffusion", "diffusivity": 1`, `w: engine: propagator "legacy_diffusion 0": `},
		{`"const", "output": 0, "value": 1`, `"init_then", "init": []`, `w: propagators[0]: inner is missing`},
		{`"const", "output": 0, "value": 1`, `"init_then", "init": [{"field": 1, "f32_le_hex": ""}], "inner": {"type": "const", "output": 0, "value": 1}`,
			`w: engine: propagator "init_then 0": init[0]: its inner does not write field 1`},
		{`"const", "output": 0, "value": 1`, `"init_then", "init": [{"field": 0, "f32_le_hex": "0000000000000000000000000000000000000000"}], "inner": {"type": "const", "output": 0, "value": 1}`,
			`w: engine: propagator "init_then 0": init[0]: 5 values for 4 elements`},
	} {
		text := strings.Replace(world, c.old, c.new, 1)
		f, err := foreign.Parse("w", strings.NewReader(text))
		if err != nil {
			t.Errorf("with %s: %v", c.new, err)
			continue
		}
		r, err := replay.NewReader(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := foreign.NewPlayer(f, r, 1, plenty); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("with %s: %v, want %s", c.new, err, c.want)
		}
	}
}

// FuzzWorld holds that no document takes more than its length allows, or panics, and
// that what is taken can be played.
func FuzzWorld(f *testing.F) {
	recording, err := os.ReadFile(filepath.Join(vectors.Path("murk/sim"), "rollback_0.murkreplay"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"rollback_0", "overlay_modes_0", "legacy_diffusion_0_0", "kitchen_ring1d_0"} {
		b, err := os.ReadFile(filepath.Join(vectors.Path("murk/sim"), name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(world))
	f.Fuzz(func(t *testing.T, doc []byte) {
		w, err := foreign.Parse("w", bytes.NewReader(doc))
		if err != nil {
			return
		}
		r, err := replay.NewReader(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		p, err := foreign.NewPlayer(w, r, 2, 1<<24)
		for err == nil {
			err = p.Step()
		}
	})
}
