package engine_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

func spec(name string, change func(*engine.Spec)) []engine.Propagator {
	s := engine.Spec{Name: name}
	if change != nil {
		change(&s)
	}
	return []engine.Propagator{propagator{s, nothing}}
}

func writes(name string, full, incremental []fields.ID) engine.Propagator {
	return propagator{engine.Spec{Name: name, Full: full, Incremental: incremental}, nothing}
}

// A fault is a change that makes a good Config bad, and the error it must give.
type fault struct {
	name   string
	change func(*engine.Config)
	part   string
	index  int
	who    string // ConfigError.Name
	says   string
}

var faults = []fault{
	{"no space", func(c *engine.Config) { c.Space = nil }, "", -1, "", "Space is required"},
	{"zero size", func(c *engine.Config) { c.Space = space.Square4{Rows: 0, Cols: 3} }, "space", -1, "", "rows"},
	{"negative size", func(c *engine.Config) { c.Space = space.Line{Length: -1} }, "space", -1, "", "length"},
	{"overflow of cells", func(c *engine.Config) { c.Space = space.Square4{Rows: 1 << 20, Cols: 1 << 20} }, "space", -1, "", "cells"},
	{"negative capacity", func(c *engine.Config) { c.Capacity = -1 }, "", -1, "", "Capacity must be 0 to 268435456, not -1"},
	{"huge capacity", func(c *engine.Config) { c.Capacity = engine.MaxEntities + 1 }, "", -1, "", "Capacity must be 0 to 268435456, not 268435457"},
	{"tick rate NaN", func(c *engine.Config) { c.TickRate = math.NaN() }, "", -1, "", "TickRate must be 1e-9 to 1e9 ticks a second, not NaN"},
	{"tick rate below zero", func(c *engine.Config) { c.TickRate = -20 }, "", -1, "", "TickRate must be 1e-9 to 1e9 ticks a second, not -20"},
	{"tick rate infinite", func(c *engine.Config) { c.TickRate = math.Inf(1) }, "", -1, "", "TickRate must be 1e-9 to 1e9 ticks a second, not +Inf"},
	{"tick rate too low", func(c *engine.Config) { c.TickRate = 1e-300 }, "", -1, "", "TickRate must be 1e-9 to 1e9 ticks a second, not 1e-300"},
	{"negative queue", func(c *engine.Config) { c.QueueSize = -1 }, "", -1, "", "QueueSize must be 0 to 1000000, not -1"},
	{"huge queue", func(c *engine.Config) { c.QueueSize = 1 << 30 }, "", -1, "", "QueueSize must be 0 to 1000000, not 1073741824"},
	{"negative workers", func(c *engine.Config) { c.Workers = -2 }, "", -1, "", "Workers must be 0 to 256, not -2"},
	{"a negative share", func(c *engine.Config) { c.Share = -1 }, "", -1, "", "Share must be at least 0, not -1ns"},
	{"too many workers", func(c *engine.Config) { c.Workers = 257 }, "", -1, "", "Workers must be 0 to 256, not 257"},
	{"generator", func(c *engine.Config) { c.Generator = rng.Generator(9) }, "", -1, "", "Generator 9"},

	{"field without a name", func(c *engine.Config) { c.Fields[1].Name = "" }, "field", 1, "", "no name"},
	{"two fields of one name", func(c *engine.Config) { c.Fields[2].Name = "a" }, "field", 2, "a", "two fields"},
	{"engine's name", func(c *engine.Config) { c.Fields[0].Name = "world.rest" }, "field", 0, "world.rest", "reserved for the engine"},
	{"engine's prefix", func(c *engine.Config) { c.Fields[0].Name = "entity.x" }, "field", 0, "entity.x", "reserved for the engine"},
	{"entity field without entities", func(c *engine.Config) { c.Capacity = 0 }, "field", 2, "c", "capacity is 0"},
	{"unknown element", func(c *engine.Config) { c.Fields[0].Element = 9 }, "field", 0, "a", "element 9"},
	{"empty bounds", func(c *engine.Config) { c.Fields[0].Bounds = &fields.Bounds{Min: 1, Max: 1} }, "field", 0, "a", "bounds"},
	{"too many components", func(c *engine.Config) { c.Fields[0].Type = fields.Vector(1 << 20) }, "field", 0, "a", "vector"},
	{"negative components", func(c *engine.Config) { c.Fields[0].Type = fields.Vector(-1) }, "field", 0, "a", "vector"},
	{"initial value NaN", func(c *engine.Config) { c.Fields[0].Initial = fields.Fill(math.NaN()) }, "field", 0, "a", "NaN"},
	{"too few initial values", func(c *engine.Config) { c.Fields[0].Initial = fields.Values([]float64{1, 2}) }, "field", 0, "a", "2 initial values for 4"},
	{"an initial value infinite", func(c *engine.Config) {
		c.Fields[0].Initial = fields.Values([]float64{1, 2, math.Inf(1), 4})
	}, "field", 0, "a", "element 2"},
	{"fractional initial category", func(c *engine.Config) {
		c.Fields[0].Type, c.Fields[0].Initial = fields.Categorical(3), fields.Fill(0.5)
	}, "field", 0, "a", "0.5"},
	{"memory", func(c *engine.Config) {
		c.Space, c.Fields[0].Type = space.Line{Length: 1 << 28}, fields.Vector(1<<16)
	}, "field", 0, "a", "bytes"},
	{"memory of entities", func(c *engine.Config) {
		c.Capacity, c.Fields[2].Type, c.Fields[2].Element = 1<<20, fields.Vector(1<<16), fields.Fixed
	}, "field", 2, "c", "bytes"},

	{"parameter NaN", func(c *engine.Config) { c.Parameters[1].Value = math.NaN() }, "parameter", 1, "q", "NaN"},
	{"parameter -Inf", func(c *engine.Config) { c.Parameters[1].Value = math.Inf(-1) }, "parameter", 1, "q", "Inf"},
	{"parameter +Inf", func(c *engine.Config) { c.Parameters[1].Value = math.Inf(1) }, "parameter", 1, "q", "Inf"},
	{"two parameters of one key", func(c *engine.Config) { c.Parameters[1].Key = 1 }, "parameter", 1, "q", "key 1"},
	{"two parameters of one name", func(c *engine.Config) { c.Parameters[1].Name = "p" }, "parameter", 1, "p", "name"},

	{"nil propagator", func(c *engine.Config) { c.Propagators = []engine.Propagator{nil} }, "propagator", 0, "", "nil"},
	{"nil system", func(c *engine.Config) { c.Systems = []engine.System{nil} }, "system", 0, "", "nil"},
	{"nil handler", func(c *engine.Config) { c.Handlers = []engine.Handler{nil} }, "handler", 0, "", "nil"},
	{"no space", func(c *engine.Config) { c.Space = nil }, "", -1, "", "Space is required"},
	{"a pointer to no space", func(c *engine.Config) { c.Space = (*space.Hex)(nil) }, "", -1, "", "Space is required"},
	{"no space in a product", func(c *engine.Config) { c.Space = space.Product{space.Ring{Length: 4}, nil} }, "space", -1, "", "part 1 must not be nil"},
	{"a pointer to no space in a product", func(c *engine.Config) {
		c.Space = space.Product{space.Product{(*space.Line)(nil)}}
	}, "space", -1, "", "part 0 must not be nil"},
	{"a pointer to no propagator", func(c *engine.Config) { c.Propagators = []engine.Propagator{(*checker)(nil)} }, "propagator", 0, "", "must not be nil"},
	{"a pointer to no system", func(c *engine.Config) { c.Systems = []engine.System{(*system)(nil)} }, "system", 0, "", "must not be nil"},
	{"a pointer to no handler", func(c *engine.Config) { c.Handlers = []engine.Handler{(*handler)(nil)} }, "handler", 0, "", "must not be nil"},
	{"two handlers of one type", func(c *engine.Config) {
		c.Handlers = []engine.Handler{handler{typeID: 7}, handler{typeID: 7}}
	}, "handler", 1, "", "type id 7"},
	{"propagator without a name", func(c *engine.Config) { c.Propagators = spec("", nil) }, "propagator", 0, "", "empty"},
	{"name not ASCII", func(c *engine.Config) { c.Propagators = spec("ü", nil) }, "propagator", 0, "ü", "ASCII"},
	{"long name", func(c *engine.Config) { c.Propagators = spec(strings.Repeat("x", 256), nil) }, "propagator", 0, strings.Repeat("x", 256), "256 bytes"},
	{"handler's name", func(c *engine.Config) { c.Propagators = spec("custom:7", nil) }, "propagator", 0, "custom:7", "reserved for the engine"},
	{"two propagators of one name", func(c *engine.Config) {
		c.Propagators = append(spec("x", nil), spec("x", nil)...)
	}, "propagator", 1, "x", "this name"},
	{"system with a propagator's name", func(c *engine.Config) {
		c.Propagators = spec("x", nil)
		c.Systems = []engine.System{system{spec: engine.Spec{Name: "x"}}}
	}, "system", 0, "x", "this name"},
	{"read of an undefined field", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Prev = engine.Fields(99) })
	}, "propagator", 0, "x", "field 99"},
	{"read of the last id there is", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Now = engine.Fields(math.MaxUint32) })
	}, "propagator", 0, "x", "field 4294967295"},
	{"write of an undefined field", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Full = engine.Fields(99) })
	}, "propagator", 0, "x", "field 99"},
	{"write to a static field", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Incremental = engine.Fields(3) })
	}, "propagator", 0, "x", `"d", which is static`},
	{"write to world.rest", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Full = engine.Fields(7) })
	}, "propagator", 0, "x", "world.rest"},
	{"write to entity.id", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Incremental = engine.Fields(4) })
	}, "propagator", 0, "x", "entity.id"},
	{"two full writers", func(c *engine.Config) {
		c.Propagators = []engine.Propagator{writes("x", engine.Fields(1), nil), writes("y", engine.Fields(0, 1), nil)}
	}, "propagator", 1, "y", `"b" in full, over what "x" wrote; a field has one such writer; the others add`},
	{"full writer after an incremental one", func(c *engine.Config) {
		c.Propagators = []engine.Propagator{writes("x", nil, engine.Fields(1)), writes("y", engine.Fields(1), nil)}
	}, "propagator", 1, "y", `"b" in full, over what "x" wrote; it must come before "x"`},
	{"full and incremental at once", func(c *engine.Config) {
		c.Propagators = []engine.Propagator{writes("x", engine.Fields(1), engine.Fields(1))}
	}, "propagator", 0, "x", "both"},
	{"full writer of entities", func(c *engine.Config) {
		c.Propagators = []engine.Propagator{writes("x", engine.Fields(2), nil)}
	}, "propagator", 0, "x", "incrementally"},
	{"parallel writer of entities", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Parallel, s.Incremental = true, engine.Fields(2) })
	}, "propagator", 0, "x", "parallel"},
	{"parallel and Now of its output", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Parallel, s.Incremental, s.Now = true, engine.Fields(1), engine.Fields(1) })
	}, "propagator", 0, "x", `"b" with Now`},
	{"Now of its output in full", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Full, s.Now = engine.Fields(1), engine.Fields(1) })
	}, "propagator", 0, "x", `"b", its own Full output, with Now`},
	{"parallel system", func(c *engine.Config) {
		c.Systems = []engine.System{system{spec: engine.Spec{Name: "s", Parallel: true}}}
	}, "system", 0, "s", "Parallel"},
	{"negative scratch", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Scratch = -1 })
	}, "propagator", 0, "x", "elements, not -1"},
	{"huge scratch", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.Scratch = math.MaxInt })
	}, "propagator", 0, "x", "Scratch must be 0 to "},
	{"stability limit NaN", func(c *engine.Config) {
		c.Propagators = spec("x", func(s *engine.Spec) { s.MaxDt = math.NaN() })
	}, "propagator", 0, "x", "MaxDt must be above zero, or 0 for any, not NaN s"},
	{"a negative cost", func(c *engine.Config) { c.Propagators = spec("x", func(s *engine.Spec) { s.Cost = -1 }) }, "propagator", 0, "x", "its Cost must be 0 to 100ms, not -1ns"},
	{"a part that refuses itself", func(c *engine.Config) { c.Propagators = []engine.Propagator{checker{}} }, "propagator", 0, "checker", "refused"},
}

// A checker is a propagator that refuses every world.
type checker struct{}

func (checker) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "checker"} }

func (checker) Step(*engine.Context) error { return nil }

func (checker) Check(*space.Lattice, []fields.Def) error { return errors.New("refused") }

// good is a configuration with fields a, b (of cells), c (of entities), d (static)
// and two parameters; its engine columns are 4 to 7.
func good() engine.Config {
	return engine.Config{
		Space:      space.Ring{Length: 4},
		Capacity:   3,
		Fields:     []fields.Def{{Name: "a"}, {Name: "b"}, {Name: "c", Domain: fields.Entities}, {Name: "d", Mutability: fields.Static}},
		Parameters: []engine.Parameter{{Key: 1, Name: "p"}, {Key: 2, Name: "q"}},
	}
}

func TestNewNamesTheCulprit(t *testing.T) {
	if _, err := engine.New(good()); err != nil {
		t.Fatalf("New of the good configuration = %v", err)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			c := good()
			f.change(&c)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := engine.New(c)
			runtime.ReadMemStats(&after)
			got, ok := errors.AsType[*engine.ConfigError](err)
			if !ok {
				t.Fatalf("New = %v, want a ConfigError", err)
			}
			if got.Part != f.part || got.Index != f.index || got.Name != f.who {
				t.Errorf("part %q, index %d, name %q, want %q, %d, %q", got.Part, got.Index, got.Name, f.part, f.index, f.who)
			}
			if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(f.says)) {
				t.Errorf("error %q does not say %q", err, f.says)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("refusing allocated %d bytes", n)
			}
		})
	}
}

// TestConfigLimitsAreTheOnesNamed holds that what an error names as the least and the most is
// accepted, and the next number beyond is not.
func TestConfigLimitsAreTheOnesNamed(t *testing.T) {
	up, down := math.Inf(1), math.Inf(-1)
	for name, tt := range map[string]struct {
		valid  bool
		change func(*engine.Config)
	}{
		"the most ticks a second":   {true, func(c *engine.Config) { c.TickRate = 1e9 }},
		"more ticks a second":       {false, func(c *engine.Config) { c.TickRate = math.Nextafter(1e9, up) }},
		"the fewest ticks a second": {true, func(c *engine.Config) { c.TickRate = 1e-9 }},
		"fewer ticks a second":      {false, func(c *engine.Config) { c.TickRate = math.Nextafter(1e-9, down) }},
		"ticks a second below zero": {false, func(c *engine.Config) { c.TickRate = -1e-9 }},
		"the longest step":          {true, func(c *engine.Config) { c.Timestep = 1e9 }},
		"a longer step":             {false, func(c *engine.Config) { c.Timestep = math.Nextafter(1e9, up) }},
		"the shortest step":         {true, func(c *engine.Config) { c.Timestep = 1e-9 }},
		"a shorter step":            {false, func(c *engine.Config) { c.Timestep = math.Nextafter(1e-9, down) }},
		"a step below zero":         {false, func(c *engine.Config) { c.Timestep = -1e-9 }},
		"a step that is no number":  {false, func(c *engine.Config) { c.Timestep = math.NaN() }},
		"a step and a rate":         {false, func(c *engine.Config) { c.Timestep, c.TickRate = 1, 1 }},
		"the longest queue":         {true, func(c *engine.Config) { c.QueueSize = 1_000_000 }},
		"a longer queue":            {false, func(c *engine.Config) { c.QueueSize = 1_000_001 }},
		"the most workers":          {true, func(c *engine.Config) { c.Workers = 256 }},
		"workers below zero":        {false, func(c *engine.Config) { c.Workers = -1 }},
		"occupancy below zero":      {false, func(c *engine.Config) { c.Occupancy = -1 }},
		"all as it is by default":   {true, func(c *engine.Config) { c.Capacity, c.Fields = 0, nil }},
	} {
		c := good()
		tt.change(&c)
		if _, err := c.Memory(); (err == nil) != tt.valid {
			t.Errorf("%s: %v; want it accepted: %v", name, err, tt.valid)
		}
	}
}

// TestConfigErrorsNameThePart holds that an error names the part by its name, else by its
// index, and where there is neither only what is wrong.
func TestConfigErrorsNameThePart(t *testing.T) {
	bad := errors.New("bad")
	for _, tt := range []struct {
		err  engine.ConfigError
		want string
	}{
		{engine.ConfigError{"field", 3, "heat", bad}, `engine: field "heat": bad`},
		{engine.ConfigError{"field", -1, "heat", bad}, `engine: field "heat": bad`},
		{engine.ConfigError{"handler", 0, "", bad}, "engine: handler 0: bad"},
		{engine.ConfigError{"propagator", 2, "", bad}, "engine: propagator 2: bad"},
		{engine.ConfigError{"space", -1, "", bad}, "bad"},
		{engine.ConfigError{"", -1, "", bad}, "bad"},
		{engine.ConfigError{"", 0, "heat", bad}, "bad"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%+v says %q, want %q", tt.err, got, tt.want)
		}
	}
}

// TestZeroValuesSayWhatIsMissing: a World, or a Batch, that nothing made panics with words.
func TestZeroValuesSayWhatIsMissing(t *testing.T) {
	made, err := engine.New(good())
	if err != nil {
		t.Fatal(err)
	}
	zero, none := new(engine.World), (*engine.World)(nil)
	for name, call := range map[string]func(){
		"Step":          func() { zero.Step() },
		"Step of nil":   func() { none.Step() },
		"Run":           func() { zero.Run(1) },
		"Replay":        func() { zero.Replay(nil) },
		"Submit":        func() { zero.Submit(commands.Despawn(1)) },
		"Queued":        func() { zero.Queued() },
		"SubmitAll":     func() { zero.SubmitAll(nil) },
		"Stop":          func() { zero.Stop() },
		"Reset":         func() { zero.Reset(1) },
		"Save":          func() { zero.Save(nil) },
		"Load":          func() { zero.Load(nil, nil) },
		"Fork":          func() { zero.Fork() },
		"ForkInto zero": func() { made.ForkInto(zero) },
		"ForkInto nil":  func() { made.ForkInto(nil) },
		"Snapshot":      func() { zero.Snapshot() },
		"Hash":          func() { zero.Hash() },
		"FieldHash":     func() { zero.FieldHash(0) },
		"Value":         func() { zero.Value(0, 0) },
		"Parameter":     func() { zero.Parameter(1) },
		"Column":        func() { zero.Column(0) },
		"Entities":      func() { zero.Entities() },
		"Slot":          func() { zero.Slot(1) },
		"AppendAt":      func() { zero.AppendAt(nil, 0) },
		"AppendKind":    func() { zero.AppendKind(nil, 0) },
		"AppendNearest": func() { zero.AppendNearest(nil, 0, 1, 1, nil) },
		"Tick of nil":   func() { none.Tick() },
		"Population":    func() { zero.Population() },
		"Pending":       func() { zero.Pending() },
		"Setup":         func() { zero.Setup(nil) },
		"Record":        func() { zero.Record(nil) },
		"Watch":         func() { zero.Watch(nil) },
		"UUID":          func() { zero.UUID(1) },
		"a Batch":       func() { new(engine.Batch).Run(1) },
		"a nil Batch":   func() { (*engine.Batch)(nil).Run(1) },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "engine: a method of a ") {
					t.Errorf("%s: panic %q, want words about a zero value", name, said)
				}
			}()
			call()
		}()
	}
}

func TestUnstable(t *testing.T) {
	c := engine.Config{
		Space: space.Square4{Rows: 5, Cols: 5}, Fields: cells(1), TickRate: 10,
		Propagators: append(spec("calm", nil), spec("hasty", func(s *engine.Spec) { s.MaxDt = 0.05 })...),
	}
	_, err := engine.New(c)
	got, ok := errors.AsType[*engine.UnstableError](err)
	if want := (engine.UnstableError{Dt: 0.1, MaxDt: 0.05, Space: c.Space.String(), MaxDegree: 4}); !ok || *got != want {
		t.Fatalf("New = %v, want %v", err, &want)
	}
	at, ok := errors.AsType[*engine.ConfigError](err)
	if !ok || at.Part != "propagator" || at.Index != 1 || at.Name != "hasty" {
		t.Errorf("New = %#v, want propagator 1, hasty", at)
	}
	c.TickRate = 20
	if _, err := engine.New(c); err != nil {
		t.Errorf("at the limit New = %v, want success", err)
	}
}

func TestFullThenIncrementalIsAllowed(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(1), Propagators: []engine.Propagator{copies("full", 1, 0, false), add("add", 0, 1)}[1:]})
	if got := len(w.Defs()); got != 2 {
		t.Errorf("%d fields, want a and world.rest", got)
	}
}

func TestMemoryNeverUnderestimates(t *testing.T) {
	filled := fields.Def{Name: "filled", Initial: fields.Fill(1)}
	for _, tt := range []struct {
		name   string
		config engine.Config
		factor float64 // how far above the truth the estimate may lie
	}{
		{"tiny", engine.Config{Space: space.Line{Length: 1}}, 1e9}, // a world takes some memory in any case
		{"square", engine.Config{Space: space.Square4{Rows: 1000, Cols: 1000}, Fields: []fields.Def{filled}, Propagators: []engine.Propagator{add("add", 0, 1)}}, 3},
		{"vector", engine.Config{Space: space.Hex{Cols: 200, Rows: 200}, Fields: []fields.Def{{Name: "v", Type: fields.Vector(7), Element: fields.Fixed}}}, 4},
		{"narrow", engine.Config{Space: space.Product{space.Ring{Length: 100_000}, space.Line{Length: 3}}, Fields: []fields.Def{filled}}, 6},
		{"workers", engine.Config{
			Space: space.Square8{Rows: 4000, Cols: 30}, Fields: []fields.Def{filled}, Workers: 4,
			Propagators: spec("p", func(s *engine.Spec) { s.Parallel, s.Scratch = true, 100_000 }),
		}, 4},
		{"one worker's", engine.Config{
			Space: space.Square8{Rows: 1000, Cols: 100}, Fields: []fields.Def{filled}, Workers: 8,
			Propagators: spec("p", func(s *engine.Spec) { s.Scratch = 3_000_000 }), // on 32 bits, too
		}, 2},
		{"entities", engine.Config{Space: space.Ring{Length: 1000}, Capacity: 20_000, Fields: []fields.Def{{Name: "e", Domain: fields.Entities}}, Systems: []engine.System{wander()}}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			estimate, err := tt.config.Memory()
			if err != nil {
				t.Fatalf("Memory = %v", err)
			}
			real := heapOf(t, tt.config)
			t.Logf("estimate %d bytes, real %d", estimate, real)
			if float64(estimate) < float64(real) || float64(estimate) > tt.factor*float64(real) {
				t.Errorf("estimate %d bytes, real %d, want 1 to %v times that", estimate, real, tt.factor)
			}
		})
	}
}

// TestMemoryCountsOccupancy holds that a limit of entities on a cell is said to take the
// counter of each cell that it makes, a cell of each entity, and nothing else.
func TestMemoryCountsOccupancy(t *testing.T) {
	const cells, capacity, counter = 5000, 3, 4
	c := engine.Config{Space: space.Ring{Length: cells}, Capacity: capacity}
	without, err := c.Memory()
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 7} {
		c.Occupancy = limit
		if with, err := c.Memory(); err != nil || with-without != (cells+capacity)*counter {
			t.Errorf("with Occupancy %d the world is said to take %d bytes and without %d, %v; want %d more", limit, with, without, err, (cells+capacity)*counter)
		}
	}
}

// TestMemoryRefusesTheWholeWorld holds that a world that is too large only by what no single
// part of it takes is refused without naming a part.
func TestMemoryRefusesTheWholeWorld(t *testing.T) {
	c := engine.Config{Space: space.Ring{Length: 1 << 18}, Fields: []fields.Def{{Name: "e", Domain: fields.Entities, Type: fields.Vector(4096), Element: fields.Fixed}}}
	c.Capacity = sort.Search(engine.MaxEntities, func(n int) bool {
		c.Capacity = n
		_, err := c.Memory()
		return err != nil
	}) - 1
	c.Occupancy = 1
	_, err := c.Memory()
	if e, ok := errors.AsType[*engine.ConfigError](err); !ok || e.Part != "" || e.Index != -1 {
		t.Errorf("Memory = %v with Capacity %d, want an error of the whole world", err, c.Capacity)
	}
}

// heapOf measures what a world keeps on the heap after some ticks, with as many
// entities as it may have.
func heapOf(t *testing.T, c engine.Config) uint64 {
	t.Helper()
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w, err := engine.New(c)
	if err != nil {
		t.Fatalf("New = %v", err)
	}
	for {
		for i := range min(1000, c.Capacity-w.Population()) {
			submit(t, w, commands.Spawn(w.Lattice().Coord(i%w.Lattice().Cells())))
		}
		step(t, w)
		if w.Tick() > 2 && w.Population() == c.Capacity {
			break
		}
	}
	after := heap()
	runtime.KeepAlive(w)
	return after - min(before, after)
}
