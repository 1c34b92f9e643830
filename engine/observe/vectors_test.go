package observe_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/foreign"
	"github.com/murksim/murksim/space"
)

type entryJSON struct {
	Field  fields.ID `json:"field_id"`
	Region struct {
		Type             string
		Center, Min, Max []int32
		Radius, Depth    int
		Coords           [][]int32
		Half             []int `json:"half_extent"`
	}
	Pool *struct {
		Kernel string
		Size   int `json:"kernel_size"`
		Stride int
	}
	Transform json.RawMessage
	Dtype     string
}

func (j *entryJSON) entry(t *testing.T) (e observe.Entry) {
	t.Helper()
	e.Source.Field = j.Field
	switch r := &j.Region; r.Type {
	case "all":
	case "disk":
		e.Region = observe.Fixed(space.Disk{Center: space.At(r.Center...), Radius: r.Radius})
	case "neighbours":
		e.Region = observe.Fixed(space.Neighbours{Center: space.At(r.Center...), Depth: r.Depth})
	case "rect":
		e.Region = observe.Fixed(space.Rect{Min: space.At(r.Min...), Max: space.At(r.Max...)})
	case "coords":
		var cells space.Cells
		for _, c := range r.Coords {
			cells = append(cells, space.At(c...))
		}
		e.Region = observe.Fixed(cells)
	case "agent_disk":
		e.Region = observe.AgentDisk(r.Radius)
	case "agent_rect":
		e.Region = observe.AgentRect(r.Half...)
	default:
		t.Fatalf("unknown region %q", r.Type)
	}
	if p := j.Pool; p != nil {
		kernels := []string{"", "mean", "max", "min", "sum"}
		k := slices.Index(kernels, p.Kernel)
		if k < 1 {
			t.Fatalf("unknown kernel %q", p.Kernel)
		}
		e.Pool = observe.Pool{Kernel: observe.Kernel(k), Size: p.Size, Stride: p.Stride}
	}
	var bounds struct{ Normalize []float64 }
	if string(j.Transform) == `"identity"` {
	} else if err := json.Unmarshal(j.Transform, &bounds); err != nil || len(bounds.Normalize) != 2 {
		t.Fatalf("unknown transform %s", j.Transform)
	} else {
		e.Transform = observe.Normalize(bounds.Normalize[0], bounds.Normalize[1])
	}
	if j.Dtype != "f32" {
		t.Fatalf("unknown element %q", j.Dtype)
	}
	return e
}

type specJSON struct {
	Entries      []entryJSON
	MOBS         string  `json:"mobs_hex"`
	OutputLen    int     `json:"output_len"`
	MaskLen      int     `json:"mask_len"`
	Shapes       [][]int `json:"entry_shapes"`
	Standard     bool
	Centers      [][]int32 `json:"agent_centers"`
	Output       string    `json:"output_f32_le_hex"`
	Mask         string
	Coverage     []float64
	Age          uint64 `json:"age_ticks"`
	CompileError string `json:"compile_error"`
	ExecuteError string `json:"execute_error"`
}

type caseJSON struct {
	Space      foreign.Space
	Tick       uint64 `json:"snapshot_tick"`
	EngineTick uint64 `json:"engine_tick"`
	Fields     []struct {
		Field  int
		Dims   int    `json:"vector_dims"`
		Values string `json:"f32_le_hex"`
	}
	Specs []specJSON
}

func floats(t *testing.T, text string) []float32 {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b)%4 != 0 {
		t.Fatalf("%d digits are no list of float32: %v", len(text), err)
	}
	c := fields.NewColumn(fields.Float32, len(b)/4)
	c.SetBytes(b)
	return c.Float32
}

func TestVectors(t *testing.T) {
	folder := vectors.Path("murk/obs")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	cases, specs, numbers := 0, 0, 0
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Schema string
			Cases  []caseJSON
		}
		if err := json.Unmarshal(b, &v); err != nil || v.Schema != "murk-obs-vectors-1" || len(v.Cases) == 0 {
			t.Fatalf("%s: not a file of observations (schema %q, error %v)", f.Name(), v.Schema, err)
		}
		for i := range v.Cases {
			c := &v.Cases[i]
			described, err := c.Space.Build()
			if err != nil {
				t.Fatal(err)
			}
			l, err := described.Build()
			if err != nil {
				t.Fatal(err)
			}
			for k := range c.Specs {
				t.Run(f.Name()+"/"+l.Space().String()+"/"+strconv.Itoa(k), func(t *testing.T) {
					numbers += c.check(t, l, &c.Specs[k])
				})
				specs++
			}
			cases++
		}
	}
	if len(files) == 0 {
		t.Errorf("no files in %s", folder)
	}
	t.Logf("murk/obs: %d files, %d spaces, %d specs, %d numbers", len(files), cases, specs, numbers)
}

// check observes what one spec says and returns how many numbers that gave.
func (c *caseJSON) check(t *testing.T, l *space.Lattice, j *specJSON) int {
	spec := observe.Spec{Rules: engine.Murk019}
	for i := range j.Entries {
		spec.Entries = append(spec.Entries, j.Entries[i].entry(t))
	}
	checkMOBS(t, spec, j.MOBS)
	var world snapshot
	var defs []fields.Def
	for i, f := range c.Fields {
		if f.Field != i {
			t.Fatalf("field %d stands where field %d belongs", f.Field, i)
		}
		d := fields.Def{Name: "f" + strconv.Itoa(i)}
		if f.Dims > 0 {
			d.Type = fields.Vector(f.Dims)
		}
		defs, world = append(defs, d), append(world, fields.Column{Float32: floats(t, f.Values)})
	}
	plan, err := observe.Compile(spec, l, defs)
	if j.CompileError != "" || err != nil {
		checkRefusal(t, err, j.CompileError)
		return 0
	}
	var shapes [][]int
	for _, p := range plan.Parts() {
		shapes = append(shapes, p.Shape)
	}
	if plan.Len() != j.OutputLen || plan.MaskLen() != j.MaskLen || plan.Agents() != j.Standard || !reflect.DeepEqual(shapes, j.Shapes) {
		t.Errorf("%d elements, %d in the mask, agents %v, shapes %v; want %d, %d, %v, %v",
			plan.Len(), plan.MaskLen(), plan.Agents(), shapes, j.OutputLen, j.MaskLen, j.Standard, j.Shapes)
	}
	n, agents := 1, []observe.Agent(nil)
	if j.Standard {
		n = len(j.Centers)
		agents = []observe.Agent{}
	}
	for _, center := range j.Centers {
		rank, ok := l.Rank(space.At(center...))
		if !ok {
			t.Fatalf("no cell at %v", center)
		}
		agents = append(agents, observe.Agent{Cell: int32(rank), Slot: -1})
	}
	out, mask := make([]float32, n*plan.Len()), make([]uint8, n*plan.MaskLen())
	err = plan.Observer().Float32(world, agents, out, mask)
	if j.ExecuteError != "" || err != nil {
		checkRefusal(t, err, j.ExecuteError)
		return 0
	}
	want := floats(t, j.Output)
	if len(want) != len(out) || len(j.Mask) != len(mask) || len(j.Coverage) != n {
		t.Fatalf("%d elements, mask of %d, %d observations; want %d, %d, %d", len(out), len(mask), n, len(want), len(j.Mask), len(j.Coverage))
	}
	for i := range out {
		if math.Float32bits(out[i]) != math.Float32bits(want[i]) {
			t.Fatalf("element %d = %v (%08x), want %v (%08x)", i, out[i], math.Float32bits(out[i]), want[i], math.Float32bits(want[i]))
		}
	}
	for i := range mask {
		if mask[i] != j.Mask[i]-'0' {
			t.Fatalf("byte %d of the mask = %d, want %c", i, mask[i], j.Mask[i])
		}
	}
	for i, want := range j.Coverage {
		if got := observe.Coverage(mask[i*plan.MaskLen():][:plan.MaskLen()]); got != want {
			t.Errorf("observation %d: coverage %v, want %v", i, got, want)
		}
	}
	if got := (observe.Moment{Observed: c.Tick, Now: c.EngineTick}).Age(); got != j.Age {
		t.Errorf("age %d ticks, want %d", got, j.Age)
	}
	return len(out)
}

// refusals says which of our faults answers to what the original reports.
var refusals = []struct {
	pattern string
	fault   observe.Fault
}{
	{`^invalid obsspec: ObsSpec has no entries$`, observe.ErrEmpty},
	{`^invalid obsspec: entry \d+: Normalize min`, observe.ErrTransform},
	{`^invalid obsspec: entry \d+: AgentRect half_extent has \d+ dims, but space requires \d+$`, observe.ErrRegion},
	{`^invalid obsspec: entry \d+: region compile failed`, observe.ErrRegion},
	{`^invalid obsspec: entry \d+: pool`, observe.ErrPool},
	{`^invalid composition: entry \d+: valid_ratio [0-9.]+ < 0\.35$`, observe.ErrCoverage},
	{`^execution failed: field FieldId\(\d+\) not in snapshot$`, observe.ErrField},
}

var entryNumber = regexp.MustCompile(`: entry (\d+):`)

// checkRefusal compares an error with the original's words for it; "" stands for no error.
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*observe.Error](err)
	if !ok || want == "" {
		t.Fatalf("error %v, want %q", err, want)
	}
	i := slices.IndexFunc(refusals, func(r struct {
		pattern string
		fault   observe.Fault
	}) bool {
		return regexp.MustCompile(r.pattern).MatchString(want)
	})
	if i < 0 {
		t.Fatalf("nothing is known of the error %q", want)
	}
	entry := -1
	if m := entryNumber.FindStringSubmatch(want); m != nil {
		entry, _ = strconv.Atoi(m[1])
	}
	if e.Fault != refusals[i].fault || e.Entry != entry && refusals[i].fault != observe.ErrField {
		t.Errorf("error %v (entry %d), want one that answers to %q", err, e.Entry, want)
	}
	if ratio, ok := strings.CutPrefix(want, "invalid composition: entry "+strconv.Itoa(entry)+": valid_ratio "); ok {
		if share := strings.Fields(ratio)[0]; !strings.HasPrefix(e.Detail, share) {
			t.Errorf("error %v, want a share of %s", err, share)
		}
	}
}

// checkMOBS writes a spec and reads it back.
func checkMOBS(t *testing.T, s observe.Spec, want string) {
	t.Helper()
	b, err := observe.AppendMOBS(nil, s)
	if err != nil || hex.EncodeToString(b) != want {
		t.Errorf("AppendMOBS = %x, %v; want %s", b, err, want)
	}
	b, err = hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := observe.DecodeMOBS(b)
	if got.Rules = engine.Murk019; err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("DecodeMOBS = %+v, %v; want %+v", got, err, s)
	}
	again, err := observe.AppendMOBS([]byte("x"), got)
	if err != nil || !bytes.Equal(again[1:], b) {
		t.Errorf("what DecodeMOBS gives is written as %x, %v; want %s", again, err, want)
	}
	for n := range b {
		if _, err := observe.DecodeMOBS(b[:n]); !errors.Is(err, observe.ErrTruncated) {
			t.Errorf("the first %d of %d bytes: %v, want %v", n, len(b), err, observe.ErrTruncated)
		}
	}
	if _, err := observe.DecodeMOBS(append(b, 0)); !errors.Is(err, observe.ErrMalformed) {
		t.Errorf("with a byte left over: %v, want %v", err, observe.ErrMalformed)
	}
}
