package diff_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/space"
)

// heat is a world with a float32 for each of n cells, and its state with these values.
func heat(t testing.TB, values ...float32) (*engine.World, []byte) {
	t.Helper()
	w, err := engine.New(engine.Config{Space: space.Line{Length: len(values)}, Fields: []fields.Def{{Name: "heat"}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := engine.ReadState(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values { // the state's columns are those of b
		binary.LittleEndian.PutUint32(s.Columns[0].Bytes[4*i:], math.Float32bits(v))
	}
	return w, b
}

// TestUlps holds how far apart floats are, also those that no world reaches.
func TestUlps(t *testing.T) {
	const tiny, biggest = math.SmallestNonzeroFloat32, math.MaxFloat32
	inf, minus, nan := float32(math.Inf(1)), float32(math.Copysign(0, -1)), float32(math.NaN())
	for _, tt := range []struct {
		a, b  float32
		want  uint32
		delta string
	}{
		{1, math.Nextafter32(1, 2), 1, "+1.19209e-07"},
		{1, math.Nextafter32(1, 0), 1, "-5.96046e-08"},
		{1, 2, 1 << 23, "+1"},
		{-1, -2, 1 << 23, "-1"},
		{0, minus, 0, "-0"},
		{0, tiny, 1, "+1.4013e-45"},
		{minus, tiny, 1, "+1.4013e-45"},
		{-tiny, tiny, 2, "+2.8026e-45"},
		{-1, 1, 2 * 127 << 23, "+2"},
		{biggest, inf, 1, "+Inf"},
		{-inf, inf, 2 * 255 << 23, "+Inf"},
		{1, nan, math.MaxUint32, "+NaN"},
		{nan, -nan, math.MaxUint32, "+NaN"},
	} {
		for _, swap := range []bool{false, true} {
			if swap {
				tt.a, tt.b = tt.b, tt.a
			}
			w, a := heat(t, tt.a)
			_, b := heat(t, tt.b)
			r, err := diff.States(w, a, b)
			if math.Float32bits(tt.a) == math.Float32bits(tt.b) {
				continue
			}
			if err != nil || len(r.Differences) != 1 || r.Differences[0].Ulps != tt.want || !swap && r.Differences[0].Delta != tt.delta {
				t.Errorf("%v and %v: %+v, %v; want %d units in the last place, %s", tt.a, tt.b, r.Differences, err, tt.want, tt.delta)
			}
		}
	}
}

// TestColumns holds that the columns of two states compare as the states do, whether those
// that are equal are given or not.
func TestColumns(t *testing.T) {
	w := world(t, nothing, 0)
	for _, f := range []fault{
		nothing,
		func(c *engine.SystemContext) error { c.Next(0)[3]++; return nil },
		func(c *engine.SystemContext) error { c.NextColumn(height).Fixed[1]++; c.Next(0)[2]--; return nil },
		func(c *engine.SystemContext) error {
			_, err := c.Schedule(c.Tick(), commands.Despawn(c.Entities().ID[0]))
			return err
		},
	} {
		a, b := state(t, nothing, 0), state(t, f, 0)
		want, err := diff.States(w, a, b)
		if err != nil {
			t.Fatal(err)
		}
		want.Sections = slices.DeleteFunc(want.Sections, func(s string) bool { return s != "fields" })
		columns := func(state []byte) (list []fields.Column) {
			s, err := engine.ReadState(state)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Columns {
				list = append(list, s.Columns[i].Column())
			}
			return list
		}
		x, y := columns(a), columns(b)
		if got := diff.Columns(w, 1, x, y); fmt.Sprint(*got) != fmt.Sprint(*want) {
			t.Errorf("Columns = %+v, want %+v", got, want)
		}
		if len(want.Fields) == 1 && want.Fields[0].Domain == "cells" {
			x, y = []fields.Column{x[0], {}, {}, {}, {}, {}}, []fields.Column{y[0], {}, {}, {}, {}, {}}
			if got := diff.Columns(w, 1, x, y); fmt.Sprint(*got) != fmt.Sprint(*want) {
				t.Errorf("Columns of cells alone = %+v, want %+v", got, want)
			}
		}
	}
}

// TestFields holds what a report sums up of each field.
func TestFields(t *testing.T) {
	r := compare(t, state(t, nothing, 0), state(t, func(c *engine.SystemContext) error {
		cells := c.Next(0)
		cells[2*5], cells[2*5+1], cells[2*1+1], cells[2*3] = -3, 1, 3, 0.5
		c.NextColumn(height).Fixed[1] = 5 << 16
		c.NextColumn(height).Fixed[2] = 9 << 16 // of a free slot
		return nil
	}, 0))
	want := []string{
		"heat: 3 of 6 cells, most /cells/0,1/heat/1: 0 → 3 (+3) [0 1]",
		"height: 1 of 2 entities, most /slots/2/height: 0 → 9 (+9) []",
	}
	var got []string
	for _, f := range r.Fields {
		got = append(got, fmt.Sprintf("%s: %d of %d %s, most %v %v", f.Name, f.Differ, f.Of, f.Domain, &f.Most, f.Most.Cell))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Count != 6 || (r.Entities != diff.Entities{Changed: 1}) {
		t.Errorf("%d differences, entities %+v; want 6, 1 changed", r.Count, r.Entities)
	}
}

// TestOrder holds that cells are listed in their order, not in that of their digits.
func TestOrder(t *testing.T) {
	zeros, ones := make([]float32, 40), make([]float32, 40)
	for i := range ones {
		ones[i] = 1
	}
	w, a := heat(t, zeros...)
	_, b := heat(t, ones...)
	r, err := diff.States(w, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range r.Differences {
		if want := fmt.Sprintf("/cells/%d/heat", i); d.Path != want {
			t.Errorf("difference %d is of %s, want %s", i, d.Path, want)
		}
	}
}

// TestCapacity holds that worlds with room for other numbers of entities are compared.
func TestCapacity(t *testing.T) {
	build := func(capacity int) (*engine.World, []byte) {
		w, err := engine.New(engine.Config{
			Space: space.Line{Length: 2}, Capacity: capacity,
			Fields: []fields.Def{{Name: "speed", Type: fields.Vector(2), Domain: fields.Entities}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return w, saved(t, w)
	}
	w, a := build(3)
	_, b := build(5)
	for _, states := range [][2][]byte{{a, b}, {b, a}} {
		r, err := diff.States(w, states[0], states[1])
		if err != nil || r.Count != 0 || !slices.Equal(r.Sections, []string{"fields"}) {
			t.Errorf("%+v, %v; want no difference but that of the section", r, err)
		}
	}
}

// BenchmarkStates compares two states of a million cells: equal ones, ones that differ in one
// cell, and ones that differ in all.
func BenchmarkStates(b *testing.B) {
	const cells = 1 << 20
	values := make([]float32, cells)
	for i := range values {
		values[i] = float32(i)
	}
	w, first := heat(b, values...)
	one, all := slices.Clone(values), slices.Clone(values)
	one[cells/2]++
	for i := range all {
		all[i] += 0.5
	}
	for _, tt := range []struct {
		name   string
		values []float32
		want   int
	}{{"equal", values, 0}, {"one", one, 1}, {"all", all, cells}} {
		_, second := heat(b, tt.values...)
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				r, err := diff.States(w, first, second)
				if err != nil || r.Count != tt.want {
					b.Fatalf("%d differences, %v; want %d", r.Count, err, tt.want)
				}
			}
			b.ReportMetric(cells*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
		})
	}
}

// TestManyFloats holds the quick way through many floats against one that looks at each.
func TestManyFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 13))
	odd := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for round := range 60 {
		values := make([]float32, 2000)
		for i := range values {
			values[i] = float32(random.NormFloat64())
		}
		others := slices.Clone(values)
		differ, most, at := 0, -1.0, 0
		for i := range others {
			switch {
			case random.IntN(3) > 0:
				others[i] += float32(random.NormFloat64())
			case round%3 == 0 && random.IntN(100) == 0:
				others[i] = odd[random.IntN(len(odd))]
			}
			if math.Float32bits(others[i]) == math.Float32bits(values[i]) {
				continue
			}
			differ++
			far := math.Abs(float64(others[i]) - float64(values[i]))
			if math.IsNaN(far) {
				far = math.Inf(1)
			}
			if far > most {
				most, at = far, i
			}
		}
		w, a := heat(t, values...)
		_, b := heat(t, others...)
		r, err := diff.States(w, a, b)
		if err != nil || len(r.Fields) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		if f := r.Fields[0]; f.Differ != differ || r.Count != differ || f.Most.Cell[0] != int32(at) || !r.Observable {
			t.Errorf("%d of %d differ, most at %d; want %d, at %d", f.Differ, r.Count, f.Most.Cell, differ, at)
		}
	}
}

// TestManyVectors holds that a cell whose components all differ counts once, beyond those that are listed, too.
func TestManyVectors(t *testing.T) {
	const cells = 3000
	w, err := engine.New(engine.Config{Space: space.Line{Length: cells}, Fields: []fields.Def{{Name: "flow", Type: fields.Vector(2)}}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Clone(a)
	s, err := engine.ReadState(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * cells { // the state's columns are those of b
		binary.LittleEndian.PutUint32(s.Columns[0].Bytes[4*i:], math.Float32bits(float32(1+i)))
	}
	r, err := diff.States(w, a, b)
	if err != nil || r.Count != 2*cells || len(r.Fields) != 1 || r.Fields[0].Differ != cells || r.Fields[0].Most.Cell[0] != cells-1 {
		t.Errorf("States = %+v, %v", r, err)
	}
}

// TestParameters holds what is told of parameters, of which a world may have others, and how
// many of them are listed.
func TestParameters(t *testing.T) {
	build := func(list ...engine.Parameter) (*engine.World, []byte) {
		w, err := engine.New(engine.Config{Space: space.Line{Length: 2}, Fields: []fields.Def{{Name: "x"}}, Parameters: list})
		if err != nil {
			t.Fatal(err)
		}
		return w, saved(t, w)
	}
	w, a := build(engine.Parameter{Key: 3, Value: 0.5}, engine.Parameter{Key: 5, Value: 1.25}, engine.Parameter{Key: 20, Value: 1})
	_, b := build(engine.Parameter{Key: 3, Value: -0.5}, engine.Parameter{Key: 4, Value: 2e-7}, engine.Parameter{Key: 20, Value: 1})
	r, err := diff.States(w, a, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range r.Differences {
		got = append(got, d.String())
	}
	want := []string{"/parameters/3: 0.5 → -0.5 (-1)", "/parameters/4 added (2e-07)", "/parameters/5 removed (1.25)"}
	if !slices.Equal(got, want) || r.Count != 3 || !r.Observable || !r.Differences[0].Observable || r.Differences[0].Ulps != 0 {
		t.Errorf("%q, want %q", got, want)
	}

	var zeros, ones []engine.Parameter
	for key := range uint32(diff.MaxDifferences + 9) {
		zeros, ones = append(zeros, engine.Parameter{Key: key}), append(ones, engine.Parameter{Key: key, Value: 1})
	}
	w, a = build(zeros...)
	_, b = build(ones...)
	if r, err = diff.States(w, a, b); err != nil || len(r.Differences) != diff.MaxDifferences || r.Count != len(ones) {
		t.Errorf("%d of %d listed, %v; want %d of %d", len(r.Differences), r.Count, err, diff.MaxDifferences, len(ones))
	}
}
