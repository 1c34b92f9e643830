package worlds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

const functions = "functions.json"

// A vectorFile holds small worlds and their states. README.md beside the files describes it.
type vectorFile struct {
	Cases []*vectorCase
}

type vectorCase struct {
	About      string
	Descriptor json.RawMessage
	States     []*vectorState
}

type vectorState struct {
	Tick    uint64
	Hash    string
	Columns json.RawMessage // nil: only the hash is held
}

// TestVectorsPropagators recomputes the conformance kit of docs/spec/propagators.md and worlds.md. With
// -update it keeps the worlds and ticks of the files and writes the states anew.
func TestVectorsPropagators(t *testing.T) {
	folder := vectors.Path("spec/propagators")
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range list {
		if f.Name() == "README.md" {
			continue
		}
		t.Run(f.Name(), func(t *testing.T) {
			path := filepath.Join(folder, f.Name())
			had, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, had...)
			check := checkWorlds
			if f.Name() == functions {
				check = checkFunctions
			}
			is := check(t, had)
			if *update {
				if err := os.WriteFile(path, is, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(had, is) && !t.Failed() {
				t.Error("the file has the right numbers, but another form; write it with -update")
			}
		})
	}
	for _, c := range worlds.Components() {
		if c.Name != "minewars" && !bytes.Contains(all, []byte(`{"`+c.ID()+`":`)) {
			t.Errorf("no case has %s; docs/spec specifies it", c.ID())
		}
	}
}

// checkWorlds computes the states of a file of worlds and returns the file with them.
func checkWorlds(t *testing.T, had []byte) []byte {
	var file vectorFile
	if err := json.Unmarshal(had, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%v, or no case", err)
	}
	var b strings.Builder
	for i, c := range file.Cases {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "{\n\"about\": %q,\n\"descriptor\": %s,\n\"states\": [\n", c.About, c.Descriptor)
		s, err := scenariotest.FromDescriptor(c.Descriptor)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		w, err := s.World(1)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		for k, state := range c.States {
			for w.Tick() < state.Tick {
				scenariotest.Step(t, s, w)
			}
			hash, columns := fmt.Sprintf("%016x", w.Hash()), json.RawMessage(nil)
			if state.Columns != nil {
				columns = columnsOf(w)
			}
			if !*update && (hash != state.Hash || !bytes.Equal(columns, state.Columns)) {
				t.Errorf("case %d, %s: tick %d: hash %s, want %s, columns\n%s\nwant\n%s", i, c.About, state.Tick, hash, state.Hash, columns, state.Columns)
			}
			if k > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, "{\"tick\": %d, \"hash\": %q", w.Tick(), hash)
			if columns != nil {
				fmt.Fprintf(&b, ", \"columns\": %s", columns)
			}
			b.WriteByte('}')
		}
		b.WriteString("\n]\n}")
	}
	return []byte("{\"cases\": [\n" + b.String() + "\n]}\n")
}

// columnsOf writes all columns of a world: float32 and uint64 as the hexadecimal digits of their bits, the
// others as whole numbers.
func columnsOf(w *engine.World) json.RawMessage {
	view := w.Snapshot()
	defer view.Release()
	var b strings.Builder
	for i, d := range view.Defs() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: [", d.Name)
		c := view.Column(fields.ID(i))
		for k := range c.Len() {
			if k > 0 {
				b.WriteByte(',')
			}
			switch bits := c.Bits(k); d.Element {
			case fields.Float32:
				fmt.Fprintf(&b, "\"%08x\"", bits)
			case fields.Uint64:
				fmt.Fprintf(&b, "\"%016x\"", bits)
			case fields.Int32:
				fmt.Fprint(&b, int32(uint32(bits)))
			case fields.Fixed:
				fmt.Fprint(&b, int64(bits))
			}
		}
		b.WriteByte(']')
	}
	return json.RawMessage("{" + b.String() + "}")
}

// checkFunctions computes the results of a file of functions and returns the file with them. A float64
// stands there as its bits, a fixed-point number as its units.
func checkFunctions(t *testing.T, had []byte) []byte {
	var file struct {
		Float64, Fixed []struct {
			Name string
			Args []string
			Is   string
		}
	}
	if err := json.Unmarshal(had, &file); err != nil || len(file.Float64) == 0 || len(file.Fixed) == 0 {
		t.Fatalf("%v, or no function", err)
	}
	var lists [2][]string
	result := func(list int, name string, args []string, got, want string) {
		if got != want && !*update {
			t.Errorf("%s(%s) = %s, want %s", name, strings.Join(args, ", "), got, want)
		}
		lists[list] = append(lists[list], fmt.Sprintf("{\"name\": %q, \"args\": [\"%s\"], \"is\": %q}", name, strings.Join(args, `", "`), got))
	}
	for _, f := range file.Float64 {
		bits, err := strconv.ParseUint(f.Args[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		is := map[string]func(float64) float64{"exp": exact.Exp, "log": exact.Log, "cos": exact.Cos}[f.Name](math.Float64frombits(bits))
		result(0, f.Name, f.Args, fmt.Sprintf("%016x", math.Float64bits(is)), f.Is)
	}
	for _, f := range file.Fixed {
		result(1, f.Name, f.Args, fixedResult(t, f.Name, f.Args), f.Is)
	}
	return fmt.Appendf(nil, "{\"float64\": [\n%s\n], \"fixed\": [\n%s\n]}\n", strings.Join(lists[0], ",\n"), strings.Join(lists[1], ",\n"))
}

// fixedResult computes a fixed-point function.
func fixedResult(t *testing.T, name string, args []string) string {
	var x [3]fixed.Fixed
	for i, a := range args {
		v, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		x[i] = fixed.Fixed(v)
	}
	var m fixed.Calc
	var is fixed.Fixed
	switch name {
	case "add":
		is = m.Add(x[0], x[1])
	case "sub":
		is = m.Sub(x[0], x[1])
	case "mul":
		is = m.Mul(x[0], x[1])
	case "div":
		is = m.Div(x[0], x[1])
	case "mod":
		is = m.Mod(x[0], x[1])
	case "lerp":
		is = m.Lerp(x[0], x[1], x[2])
	case "sqrt":
		is = m.Sqrt(x[0])
	case "hypot":
		is = m.Hypot(x[0], x[1])
	default:
		t.Fatalf("there is no function %q", name)
	}
	if m.Err() != nil {
		return "fault"
	}
	return fmt.Sprint(int64(is))
}
