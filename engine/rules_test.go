package engine_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Fields of the worlds below.
const (
	perTick = iota
	sparse
	static
	output
)

// originalWorld has a field of each mutability, an output, and propagators.
func originalWorld(t testing.TB, p ...engine.Propagator) *engine.World {
	return build(t, engine.Config{
		Rules: engine.Murk019, Propagators: p,
		Fields: []fields.Def{
			perTick: {Name: "per tick"},
			sparse:  {Name: "sparse", Mutability: fields.Sparse},
			static:  {Name: "static", Mutability: fields.Static, Initial: fields.Fill(7)},
			output:  {Name: "output"},
		},
	})
}

// TestOriginalFields holds that fields start a tick as the original's do.
func TestOriginalFields(t *testing.T) {
	w := originalWorld(t)
	if n := len(w.Defs()); n != 4 {
		t.Errorf("%d fields, want the user's 4", n)
	}
	applied(t, w, set(space.At(1), perTick, 2), set(space.At(1), sparse, 3))
	wantValues(t, w, perTick, 0, 2, 0, 0)
	wantValues(t, w, sparse, 0, 3, 0, 0)
	step(t, w)
	wantValues(t, w, perTick, 0, 0, 0, 0)
	wantValues(t, w, sparse, 0, 3, 0, 0)
	wantValues(t, w, static, 7, 7, 7, 7)
}

// TestOriginalReads holds what Prev, Now, and both kinds of Next see of a command.
func TestOriginalReads(t *testing.T) {
	for _, c := range []struct {
		what string
		p    []engine.Propagator
		want []float64 // output after two ticks; 5 is written to cell 1 of sparse in each
	}{
		{"Prev", []engine.Propagator{copies("p", sparse, output, false)}, []float64{0, 5, 0, 0}},
		{"Now, nobody writes", []engine.Propagator{copies("p", sparse, output, true)}, []float64{0, 5, 0, 0}},
		{"Now, written in place", []engine.Propagator{add("a", sparse, 1), copies("p", sparse, output, true)}, []float64{2, 2, 2, 2}},
		{"Prev, written in place", []engine.Propagator{add("a", sparse, 1), copies("p", sparse, output, false)}, []float64{1, 1, 1, 1}},
	} {
		w := originalWorld(t, c.p...)
		applied(t, w, set(space.At(1), sparse, 5))
		if !strings.Contains(c.what, "written") {
			wantValues(t, w, output, 0, 0, 0, 0) // the command is not yet seen
		}
		applied(t, w, set(space.At(1), sparse, 5))
		t.Log(c.what)
		wantValues(t, w, output, c.want...)
	}
	partial := propagator{engine.Spec{Name: "partial", Full: engine.Fields(output)}, func(c *engine.Context) error {
		c.Next(output)[3] = 1
		return nil
	}}
	w := originalWorld(t, partial)
	applied(t, w, set(space.At(0), output, 4))
	wantValues(t, w, output, 4, 0, 0, 1)
	step(t, w)
	wantValues(t, w, output, 0, 0, 0, 1)
}

// TestOriginalReceipts holds that expired commands are answered first, in the order
// of their coming, and that SetField alone does anything.
func TestOriginalReceipts(t *testing.T) {
	w := originalWorld(t)
	late := set(space.At(0), sparse, 1)
	late.Expires, late.Priority = 0, 9
	early := late
	early.Priority, early.ID = 0, 77
	urgent := set(space.At(2), sparse, 6)
	urgent.Priority = 0
	last := set(space.At(3), sparse, 4)
	last.Expires = 1 // in time
	list := []commands.Command{
		last, set(space.At(2), sparse, 5), late, commands.Spawn(space.At(1)), early, urgent,
		set(space.At(9), sparse, 1), set(space.At(1), static, 1), set(space.At(1), 4, 1),
	}
	want := []commands.Reason{commands.Expired, commands.Expired, commands.Applied, commands.Applied, commands.Applied,
		commands.Unsupported, commands.OutsideSpace, commands.StaticField, commands.UnknownField}
	receipts := step(t, w, list...)
	if len(receipts) != len(want) {
		t.Fatalf("%d receipts, want %d", len(receipts), len(want))
	}
	for i, r := range receipts {
		if r.Reason != want[i] {
			t.Errorf("receipt %d of %d: %v of %v", i, len(want), r.Reason, r.Kind)
		}
	}
	if receipts[0].Priority != 9 || receipts[1].Priority != 0 {
		t.Errorf("expired commands of priority %d, %d; want them in the order submitted, 9, 0", receipts[0].Priority, receipts[1].Priority)
	}
	wantValues(t, w, sparse, 0, 0, 5, 4)
}

// TestOriginalValues holds that every float is a value, bit by bit.
func TestOriginalValues(t *testing.T) {
	w := originalWorld(t, copies("p", sparse, output, false))
	c := set(space.At(1), sparse, 0)
	c.Bits = 0x7fc12345
	inf := set(space.At(0), sparse, float32(math.Inf(1)))
	applied(t, w, c, inf)
	step(t, w)
	for _, id := range []fields.ID{sparse, output} {
		s := w.Snapshot()
		column := s.Column(id)
		s.Release()
		if got := math.Float32bits(column.Float32[1]); got != 0x7fc12345 {
			t.Errorf("field %d holds %08x, want 7fc12345", id, got)
		}
		if got := column.Float32[0]; !math.IsInf(float64(got), 1) {
			t.Errorf("field %d holds %v, want +Inf", id, got)
		}
	}
}

// TestOriginalVector holds that a command names an element of a vector by a cell's rank.
func TestOriginalVector(t *testing.T) {
	w := build(t, engine.Config{Rules: engine.Murk019, Fields: []fields.Def{{Name: "v", Type: fields.Vector(2), Mutability: fields.Sparse}}})
	applied(t, w, set(space.At(3), 0, 9))
	wantValues(t, w, 0, 0, 0, 0, 9, 0, 0, 0, 0)
}

// TestOriginalLeak holds that a failed tick leaves the state alone, and what it wrote
// to sparse fields to the tick after.
func TestOriginalLeak(t *testing.T) {
	fail := true
	w := originalWorld(t, propagator{engine.Spec{Name: "p", Incremental: engine.Fields(perTick)}, func(*engine.Context) error {
		if fail {
			return errors.New("planned")
		}
		return nil
	}})
	for i := range 2 {
		submit(t, w, set(space.At(int32(i)), sparse, 3), set(space.At(0), output, 1), commands.Despawn(1))
		receipts, err := w.Step()
		if err == nil {
			t.Fatal("the tick does not fail")
		}
		got := [3]commands.Reason{receipts[0].Reason, receipts[1].Reason, receipts[2].Reason}
		if want := [3]commands.Reason{commands.RolledBack, commands.RolledBack, commands.Unsupported}; got != want {
			t.Errorf("receipts %v, want %v", got, want)
		}
		wantValues(t, w, sparse, 0, 0, 0, 0)
	}
	fail = false
	step(t, w)
	wantValues(t, w, sparse, 3, 3, 0, 0)
	wantValues(t, w, output, 0, 0, 0, 0)
	fail = true
	submit(t, w, set(space.At(3), sparse, 8))
	if _, err := w.Step(); err == nil {
		t.Fatal("the tick does not fail")
	}
	w.Reset(1)
	fail = false
	step(t, w)
	wantValues(t, w, sparse, 0, 0, 0, 0)
}

// TestOriginalLeakForAnyWorkers holds that what a failed tick leaves in a sparse field
// does not tell how many workers there are.
func TestOriginalLeakForAnyWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		fail := true
		w := build(t, engine.Config{
			Rules: engine.Murk019, Space: space.Line{Length: 8}, Workers: workers,
			Fields: []fields.Def{{Name: "sparse", Mutability: fields.Sparse}},
			Propagators: []engine.Propagator{propagator{
				engine.Spec{Name: "p", Full: engine.Fields(0), Parallel: true},
				func(c *engine.Context) error {
					lo, hi := c.Range()
					for cell := lo; cell < hi && fail; cell++ {
						if cell == 3 {
							return c.Fail(cell, "planned")
						}
						c.Next(0)[cell] = 1
					}
					return nil
				},
			}},
		})
		if _, err := w.Step(); err == nil {
			t.Fatal("the tick does not fail")
		}
		fail = false
		step(t, w)
		wantValues(t, w, 0, 1, 1, 1, 0, 0, 0, 0, 0)
	}
}

// TestOriginalRefuses holds that a configuration has nothing that the original lacks.
func TestOriginalRefuses(t *testing.T) {
	for _, c := range []struct {
		config engine.Config
		want   string
	}{
		{engine.Config{Capacity: 1}, "engine: the rules murk-0.1.9 have no entities"},
		{engine.Config{Systems: []engine.System{system{}}}, "engine: the rules murk-0.1.9 have no systems"},
		{engine.Config{Handlers: []engine.Handler{handler{}}}, "engine: the rules murk-0.1.9 have no handlers of custom commands"},
		{engine.Config{Parameters: []engine.Parameter{{Key: 1}}}, "engine: the rules murk-0.1.9 have no parameters"},
		{engine.Config{Fields: []fields.Def{{Name: "a", Element: fields.Int32}}}, `engine: field "a": it holds int32; the rules murk-0.1.9 have float32 only`},
	} {
		c.config.Space, c.config.Rules = space.Line{Length: 2}, engine.Murk019
		if _, err := engine.New(c.config); err == nil || err.Error() != c.want {
			t.Errorf("New = %v, want %s", err, c.want)
		}
	}
	if _, err := engine.New(engine.Config{Space: space.Line{Length: 2}, Rules: 2}); err == nil || err.Error() != "engine: Rules(2) do not exist" {
		t.Errorf("New = %v, want a refusal of the rules", err)
	}
}

// TestOriginalLimits holds that a step may be longer than a propagator is stable for: the
// original had other limits, or none.
func TestOriginalLimits(t *testing.T) {
	c := engine.Config{
		Space: space.Line{Length: 2}, Fields: []fields.Def{{Name: "a"}},
		Propagators: []engine.Propagator{propagator{engine.Spec{Name: "p", Full: engine.Fields(0), MaxDt: 0.001}, func(*engine.Context) error { return nil }}},
	}
	if _, err := engine.New(c); err == nil {
		t.Error("a step beyond the limit is taken under the rules murksim")
	}
	c.Rules = engine.Murk019
	if _, err := engine.New(c); err != nil {
		t.Errorf("New = %v under the rules murk-0.1.9, want no limit", err)
	}
}

func TestParseRules(t *testing.T) {
	for _, r := range []engine.Rules{engine.Murksim, engine.Murk019} {
		if got, err := engine.ParseRules(r.String()); got != r || err != nil {
			t.Errorf("ParseRules(%q) = %v, %v", r, got, err)
		}
	}
	if _, err := engine.ParseRules("murk"); err == nil || err.Error() != `engine: there are no rules "murk"; use murksim or murk-0.1.9` {
		t.Errorf("ParseRules = %v, want an error that names the rules", err)
	}
}

// TestOriginalAllocations holds that a steady state allocates nothing.
func TestOriginalAllocations(t *testing.T) {
	w, err := engine.New(engine.Config{
		Space: space.Square4{Rows: 8, Cols: 8}, Rules: engine.Murk019,
		Fields:      []fields.Def{{Name: "a"}, {Name: "b", Mutability: fields.Sparse}},
		Propagators: []engine.Propagator{add("p", 0, 1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	tick := func() {
		for _, c := range []commands.Command{set(space.At(1, 1), 1, 2), {Kind: commands.KindDespawn}} {
			if _, err := w.Submit(c); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Error(err)
		}
	}
	for range 5 {
		tick()
	}
	if n := testing.AllocsPerRun(50, tick); n != 0 {
		t.Errorf("%v allocations a tick, want none", n)
	}
}
