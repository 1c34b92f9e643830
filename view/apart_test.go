package view_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/view"
)

// TestApart checks that distances between two recordings follow from the bits they hold.
func TestApart(t *testing.T) {
	a := open(t, ordered(t, 20, nil), nil)
	b := open(t, ordered(t, 30, map[uint64][]commands.Command{4: {commands.SetField(space.At(3, 4), 0, 20.5)}}), nil)
	s := view.NewSession(a, b)
	value := func(source, tick, cell int) float32 {
		a := ask(t, s, `{"op":"state","source":%d,"tick":%d,"fields":[0]}`, source, tick)
		return float32(a.numbers(t, "field 0")[cell])
	}
	differ := 0
	for _, tick := range []int{3, 5, 20, 30, 4} {
		for _, cell := range []int{3*128 + 4, 3*128 + 5, 4*128 + 5, 0, 127*128 + 127} {
			x, y := value(0, min(tick, 20), cell), value(1, tick, cell)
			want := fmt.Sprintf(`{"tick":%d,"values":[]}`, tick)
			if x != y {
				ulps := math.Abs(float64(math.Float32bits(y)) - float64(math.Float32bits(x)))
				want = fmt.Sprintf(`{"tick":%d,"values":[{"field":0,"deltas":["%+.6g"],"ulps":[%.0f]}]}`, tick, float64(y)-float64(x), ulps)
				differ++
			}
			if got := string(ask(t, s, `{"op":"apart","with":1,"tick":%d,"cell":%d}`, tick, cell).Answer); got != want {
				t.Errorf("cell %d at tick %d holds %v and %v: %s, want %s", cell, tick, x, y, got, want)
			}
		}
	}
	if differ < 5 {
		t.Errorf("%d cells differ", differ)
	}
	for _, tt := range []struct {
		s    *view.Session
		want string
	}{
		{view.NewSession(a), "there is no source 1; there are 1"},
		{view.NewSession(a, open(t, first(record(t, "waves", 5, false)), nil)), "test.murk has the space square4 128×128, test.murk has square8 128×128; they cannot be compared"},
	} {
		if got := ask(t, tt.s, `{"op":"apart","with":1,"cell":1}`).Error; got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func first[A, B, C any](a A, _ B, _ C) A { return a }

// TestApartEntities compares an entity, and categories, which have no distance.
func TestApartEntities(t *testing.T) {
	recording, _, _ := record(t, "colony", 60, false)
	r := open(t, recording, nil)
	s := view.NewSession(r, open(t, recording, nil))
	state := ask(t, s, `{"op":"state","tick":60,"entities":true}`)
	for i := range 3 {
		id := uint64(state.numbers(t, "ids")[i])
		if got := string(ask(t, s, `{"op":"apart","with":1,"tick":60,"entity":"%d"}`, id).Answer); got != `{"tick":60,"values":[]}` {
			t.Errorf("entity %d of two equal recordings: %s", id, got)
		}
	}
	if got := ask(t, s, `{"op":"apart","with":1,"tick":60,"entity":"5"}`).Error; got != "there is no entity 5 at tick 60" {
		t.Error(got)
	}
	var l struct {
		Values []struct {
			Field        int
			Deltas, Ulps []any
		}
	}
	x, _, _ := record(t, "life", 1, false)
	y, _, _ := record(t, "life", 3, false) // at tick 3 it is compared with tick 1
	s = view.NewSession(open(t, x, nil), open(t, y, nil))
	for cell := range 4096 {
		a := ask(t, s, `{"op":"apart","with":1,"tick":3,"cell":%d}`, cell)
		if err := json.Unmarshal(a.Answer, &l); err != nil {
			t.Fatal(err, a.Error)
		}
		if len(l.Values) > 0 {
			if v := l.Values[0]; v.Deltas != nil || v.Ulps != nil {
				t.Errorf("categories are %v apart", v)
			}
			return
		}
	}
	t.Error("no cell of life has changed in two ticks")
}

// TestTickTimes checks that each point but the first says how long a tick took.
func TestTickTimes(t *testing.T) {
	recording, _, _ := record(t, "heat", 50, false)
	r := open(t, recording, nil)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a := ask(t, view.NewSession(r), `{"op":"charts","since":0}`)
	micros := a.numbers(t, "micros")
	if len(micros) != 51 || len(a.numbers(t, "ticks")) != 51 || !math.IsNaN(micros[0]) {
		t.Fatalf("ticks took %v", micros)
	}
	for i, m := range micros[1:] {
		if !(m > 0 && m < 60e6) {
			t.Errorf("tick %d took %v µs", i+1, m)
		}
	}
}
