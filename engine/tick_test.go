package engine_test

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func TestPrevSeesCommandsOfThisTick(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{copies("copy", 0, 1, false)}})
	applied(t, w, commands.SetField(space.At(2), 0, 7))
	wantValues(t, w, 1, 0, 0, 7, 0)
}

func TestNowSeesEarlierPartsAndPrevDoesNot(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(3), Propagators: []engine.Propagator{
		copies("early", 0, 1, true), add("add", 0, 1), copies("late", 0, 2, true),
	}})
	applied(t, w, commands.SetField(space.At(0), 0, 5))
	wantValues(t, w, 0, 6, 1, 1, 1)
	wantValues(t, w, 1, 5, 0, 0, 0)
	wantValues(t, w, 2, 6, 1, 1, 1)

	w = build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{
		add("add", 0, 1), copies("late", 0, 1, false),
	}})
	step(t, w)
	wantValues(t, w, 1, 0, 0, 0, 0)
	step(t, w)
	wantValues(t, w, 1, 1, 1, 1, 1)
}

func TestIncrementalChain(t *testing.T) {
	w := build(t, engine.Config{Fields: cells(2), Propagators: []engine.Propagator{
		copies("full", 1, 0, false), add("one", 0, 1), add("two", 0, 2),
	}})
	applied(t, w, commands.SetField(space.At(1), 1, 10), commands.SetField(space.At(1), 0, 99))
	wantValues(t, w, 0, 3, 13, 3, 3)
}

func TestUnwrittenFieldsKeepTheirValues(t *testing.T) {
	defs := []fields.Def{
		{Name: "tick", Initial: fields.Fill(3)},
		{Name: "sparse", Mutability: fields.Sparse, Initial: fields.Values([]float64{1, 2, 3, 4})},
		{Name: "static", Mutability: fields.Static, Element: fields.Fixed, Initial: fields.Fill(-0.5)},
	}
	w := build(t, engine.Config{Fields: defs})
	applied(t, w, commands.SetField(space.At(0), 0, 8), commands.SetField(space.At(3), 1, 9))
	for range 5 {
		step(t, w)
	}
	wantValues(t, w, 0, 8, 3, 3, 3)
	wantValues(t, w, 1, 1, 2, 3, 9)
	wantValues(t, w, 2, -0.5, -0.5, -0.5, -0.5)
}

func TestParametersAreThoseOfThisTick(t *testing.T) {
	const rate = 17
	w := build(t, engine.Config{
		Fields:     cells(1),
		Parameters: []engine.Parameter{{Key: 40, Name: "other", Value: 1}, {Key: rate, Name: "rate", Value: 2}},
		Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Full: engine.Fields(0)},
			func(c *engine.Context) error {
				for i := range c.Next(0) {
					c.Next(0)[i] = float32(c.Parameter(rate))
				}
				return nil
			},
		}},
	})
	step(t, w)
	wantValues(t, w, 0, 2, 2, 2, 2)
	applied(t, w, commands.SetParameter(rate, 2.5))
	wantValues(t, w, 0, 2.5, 2.5, 2.5, 2.5)
	if v, ok := w.Parameter(rate); v != 2.5 || !ok {
		t.Errorf("Parameter(%d) = %v, %v, want 2.5, true", rate, v, ok)
	}
	if v, ok := w.Parameter(18); ok {
		t.Errorf("Parameter(18) = %v, true, want false", v)
	}
}

func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		mode fields.BoundMode
		want []float64 // after each of four ticks that add 3 to 5 within [0, 10]
	}{
		{fields.ClampBound, []float64{8, 10, 10, 10}},
		{fields.ReflectBound, []float64{8, 9, 8, 9}},
		{fields.AbsorbBound, []float64{8, 10, 10, 10}},
		{fields.WrapBound, []float64{8, 1, 4, 7}},
	} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			w := build(t, engine.Config{
				Space:       space.Line{Length: 1},
				Fields:      []fields.Def{{Name: "a", Initial: fields.Fill(5), Bounds: &fields.Bounds{Min: 0, Max: 10, Mode: tt.mode}}},
				Propagators: []engine.Propagator{add("add", 0, 3)},
			})
			for _, want := range tt.want {
				step(t, w)
				wantValues(t, w, 0, want)
			}
		})
	}
}

func TestAbsorbedUntilACommand(t *testing.T) {
	w := build(t, engine.Config{
		Space:       space.Line{Length: 1},
		Fields:      []fields.Def{{Name: "a", Initial: fields.Fill(1), Bounds: &fields.Bounds{Min: 0, Max: 10, Mode: fields.AbsorbBound}}},
		Propagators: []engine.Propagator{add("up", 0, 12), add("down", 0, -13)},
	})
	for _, want := range []float64{0, 0} {
		step(t, w)
		wantValues(t, w, 0, want)
	}
	applied(t, w, commands.SetField(space.At(0), 0, 5))
	wantValues(t, w, 0, 4)
}

func TestCommandsAreBounded(t *testing.T) {
	w := build(t, engine.Config{Fields: []fields.Def{{Name: "a", Bounds: &fields.Bounds{Min: -1, Max: 1}}}})
	applied(t, w, commands.SetField(space.At(1), 0, 50))
	wantValues(t, w, 0, 0, 1, 0, 0)
}

func TestSystemsRunAfterPropagators(t *testing.T) {
	spec := engine.Spec{Name: "s", Now: engine.Fields(0), Full: engine.Fields(1)}
	w := build(t, engine.Config{
		Fields:      cells(2),
		Propagators: []engine.Propagator{add("add", 0, 4)},
		Systems: []engine.System{system{spec, func(c *engine.SystemContext) error {
			copy(c.Next(1), c.Now(0))
			return nil
		}}},
	})
	step(t, w)
	wantValues(t, w, 1, 4, 4, 4, 4)
}

func TestContextSaysWhereItIs(t *testing.T) {
	seen := 0
	w := unchecked(t, engine.Config{
		TickRate: 50,
		Space:    space.Square4{Rows: 3, Cols: 5},
		Fields:   []fields.Def{{Name: "v", Type: fields.Vector(2)}},
		Propagators: []engine.Propagator{propagator{
			engine.Spec{Name: "p", Incremental: engine.Fields(0), Scratch: 6},
			func(c *engine.Context) error {
				seen++
				lo, hi := c.Range()
				if c.Tick() != uint64(seen) || c.Dt() != 0.02 || lo != 0 || hi != 15 || c.Components(0) != 2 || len(c.Next(0)) != 30 {
					t.Errorf("tick %d, dt %v, range %d to %d, %d components, %d elements; want %d, 0.02, 0 to 15, 2, 30",
						c.Tick(), c.Dt(), lo, hi, c.Components(0), len(c.Next(0)), seen)
				}
				if want := make([]float32, 6); !slices.Equal(c.Scratch(), want) {
					t.Errorf("scratch at the start of a Step = %v, want %v", c.Scratch(), want)
				}
				c.Scratch()[5] = 1
				n := 0
				for _, s := range c.Spans() {
					n += s.Count
				}
				if n != 15 {
					t.Errorf("spans cover %d cells, want 15", n)
				}
				return nil
			},
		}},
	})
	for range 3 {
		step(t, w)
	}
	if seen != 3 || w.Tick() != 3 || w.Dt() != 0.02 {
		t.Errorf("%d steps, tick %d, dt %v, want 3, 3, 0.02", seen, w.Tick(), w.Dt())
	}
}

// Every element type carries values through commands and incremental writers.
func TestElements(t *testing.T) {
	var defs []fields.Def
	var ids []fields.ID
	for _, e := range []fields.Element{fields.Float32, fields.Fixed, fields.Int32, fields.Uint64} {
		ids = append(ids, fields.ID(len(defs)))
		defs = append(defs, fields.Def{Name: e.String(), Element: e})
	}
	w := build(t, engine.Config{Fields: defs, Propagators: []engine.Propagator{propagator{
		engine.Spec{Name: "double", Incremental: ids},
		func(c *engine.Context) error {
			for _, id := range ids {
				col := c.NextColumn(id)
				for i := range col.Len() {
					d := defs[id]
					bits, _ := d.Bits(2 * d.Value(col.Bits(i)))
					col.SetBits(i, bits)
				}
			}
			return nil
		},
	}}})
	var list []commands.Command
	for _, id := range ids {
		list = append(list, commands.SetField(space.At(1), uint32(id), 21))
	}
	applied(t, w, list...)
	for _, id := range ids {
		wantValues(t, w, id, 0, 42, 0, 0)
	}
}
