package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// statementState is a state of the fields that random formulas know.
func statementState(w *writer, l *space.Lattice) *State {
	column := func(n int, of func() float64) []float32 {
		v := make([]float32, n*l.Cells())
		for i := range v {
			v[i] = float32(of())
		}
		return v
	}
	units := func(n int, of func() float64) []int64 {
		v := make([]int64, n*l.Cells())
		for i := range v {
			v[i] = int64(of() * 65536)
		}
		return v
	}
	value := func() float64 { return float64(w.IntN(3)) }
	return &State{
		Prev:  [][]float32{column(1, w.NormFloat64), column(1, w.NormFloat64), column(2, w.NormFloat64), column(1, value), nil, nil, nil},
		Fixed: [2][][]int64{{nil, nil, nil, nil, units(1, w.amount()), units(2, w.amount()), units(1, value)}, nil},
		World: []float64{1.7}, Dt: 0.05, Tick: 7,
	}
}

// TestRandomStatements: terms over all cells come to the bits of their naive form, and fail as it does.
func TestRandomStatements(t *testing.T) {
	looked, failures := 0, 0
	for n := 0; looked < 400 && n < 20000; n++ {
		w := &writer{Rand: rand.New(rand.NewPCG(uint64(n), 11))}
		l, err := lattices[w.IntN(len(lattices))].Build()
		if err != nil {
			t.Fatal(err)
		}
		s := w.scopeOf(l)
		s.Own, s.Lets = nil, nil
		where := w.of("", " where "+w.truth(1)+" else 0", " where "+w.truth(1))
		text := w.of("sum(", "mean(", "least(", "most(") + w.of(w.number(2), w.money(2), w.money(1)+" / floor(purse[0])") + where + ") > 0"
		if w.IntN(3) == 0 {
			text = w.of("0 + count(", "number(any(", "number(all(") + w.truth(2) + ")) > 2"
			text = strings.Replace(text, "0 + count(", "(count(", 1)
		}
		node, err := Parse(text)
		if err != nil {
			continue
		}
		x, err := CheckStatement(s, node)
		if err != nil {
			continue
		}
		looked++
		state := statementState(w, l)
		state.Now = state.Prev
		_, failed := x.Holds(state)
		if failed != nil {
			failures++
		}
		fast := x.Found()
		value := x.values[0]
		x.naive = true
		_, err = x.Holds(state)
		if fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Fatalf("%d on %v: %s\nby blocks: %v\nnaively:   %v", n, l.Space(), text, failed, err)
		}
		if slow := x.Found(); slow != fast || math.Float64bits(value.f) != math.Float64bits(x.values[0].f) && value.f == value.f {
			t.Fatalf("%d on %v: %s\nby blocks: %s\nnaively:   %s, %v", n, l.Space(), text, fast, slow, err)
		}
	}
	if t.Logf("%d statements, %d failures", looked, failures); looked < 400 || failures < 20 {
		t.Errorf("only %d statements could be looked at, and %d of them fail", looked, failures)
	}
}

// TestStatements: what terms over all cells come to.
func TestStatements(t *testing.T) {
	l, _ := space.Square4{Rows: 2, Cols: 3}.Build()
	s := &Scope{Lattice: l, World: []string{"rate"}, Fields: []Field{{Name: "heat"}, {Name: "state", Values: []string{"well", "ill", "dead"}}, {Name: "money", Fixed: true}, {Name: "wind", N: 2}}}
	state := &State{
		Prev:  [][]float32{{1, 2, 3, 4, 5, 16777216}, {0, 1, 1, 0, 2, 0}, nil, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		Fixed: [2][][]int64{{nil, nil, {1 << 16, 2 << 16, 0, 0, 0, 1 << 15}, nil}}, World: []float64{0.5}, Dt: 0.25, Tick: 3,
	}
	for text, want := range map[string]string{
		"sum(heat) == 16777231":                                       "",                                                                                             // in float64
		"mean(heat where row == 0) == 2":                              "may be no such cell",                                                                          //
		"mean(heat where row == 0 else -1) == 2":                      "",                                                                                             //
		"mean(heat where row > 7 else -rate) == -0.5":                 "",                                                                                             //
		"count(state == ill) > 2":                                     "count(state == ill) is 2",                                                                     //
		"count(state == ill where heat > 2) == 1":                     "",                                                                                             //
		"all(heat > 0) and not any(heat > 1e9)":                       "",                                                                                             //
		"any(heat > 1e9)":                                             "any(heat > 1000000000) is false",                                                              //
		"most(heat) < 5 or any(heat == 3 where col > 0) and tick > 3": "most(heat) is 1.6777216e+07 at [1, 2], any(heat == 3 where col > 0) is true, first at [0, 2]", //
		"all(state == ill) or least(money where heat > 1 else 7) > 1 or most(wind[1] - 2 * col) < 3": "all(state == ill) is false, first at [0, 0], least(money where heat > 1 else 7) is 0 at [0, 2], most(wind[1] - 2 * col) is 8 at [1, 0]",
		"most(mean(heat)) < 3 or any(heat > 9 where tick > 9)":                                       "at [0, 2], any(heat > 9 where tick > 9) is false", // not where it is true of none
		"least(heat where tick > 9 else 1) > 1":                                                      "least(heat where tick > 9 else 1) is 1",           // of none
		"distinct(state) == 3 and distinct(state where heat < 2) == 1":                               "",                                                 //
		"sum(money) == 3.5 and least(money) == 0":                                                    "",                                                 //
		"sum(money * money) == 5":                                                                    "sum(money * money) is 5.25",                       //
		"sum(1 / money where money > 0) == 3.5":                                                      "",                                                 // no fault
		"cell(1 / money, 0, 1) == 0.5":                                                               "",                                                 // nor here
		"cell(state, 1, 1) == dead and cell(heat, 0, 2) == 3":                                        "",                                                 //
		"cell(state, 1, 1) == ill":                                                                   "cell(state, 1, 1) is dead",                        //
		"most(length(wind)) < 17 and sum(wind[1]) == 42":                                             "",                                                 //
		"sum(wind) == 3":                                "write a component, as in wind[0]",   //
		"count(count(state == ill) == 1) == 4":          "count(count(state == ill) == 1) is", // neighbours within
		"tick == 3 and dt == 0.25 and cells == 6":       "looks at nothing in the world",      //
		"least(heat where tick > 9 else 1) == rate * 2": "",                                   //
		"state == ill":                                  "write count(state == well)",         //
		"sum(heat + chance(0.5)) > 1":                   "true or false",                      //
		"sum(uniform(0, 1)) > 1":                        "draws",                              //
		"sum(now(heat)) > 1":                            "write heat",                         //
		"cell(heat, 2, 0) > 1":                          "there is no cell [2, 0]",            //
		"at(heat, north) > 1":                           "looks at a cell",                    //
		"own(heat) > 1":                                 "looks at a cell",                    //
		"heat[0] > 1":                                   "whole world",                        //
		"sum(step[0]) > 1":                              "stands within a term over neighbours",
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		x, err := CheckStatement(s, n)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
			continue
		}
		if holds, err := x.Holds(state); err != nil || holds != (want == "") || !strings.Contains(x.Found()+".", want+map[bool]string{true: ".", false: ""}[strings.HasSuffix(want, "]")]) {
			t.Errorf("%s: %v, %s, %v; want %q", text, holds, x.Found(), err, want)
		}
		found, naive := x.Found(), x.Again()
		naive.naive = true
		if _, err := naive.Holds(state); err != nil || naive.Found() != found {
			t.Errorf("%s: walked it is %s, %v; want %s", text, naive.Found(), err, found)
		}
	}
	n, err := Parse("sum(1 / (money * (money - 1)) where heat > 1) > 0") // money is 1 in the first cell, where heat is 1, and 0 in the third
	if err != nil {
		t.Fatal(err)
	}
	x, err := CheckStatement(s, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = x.Holds(state); err == nil || err.Error() != "1 / (money * (money - 1)): fixed: div(1, 0): division by zero" {
		t.Errorf("%v", err)
	}
}
