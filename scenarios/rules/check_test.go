package rules

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// meadow is a scope with fields of all types, on a lattice.
func meadow(t *testing.T, s space.Space, lets ...string) *Scope {
	t.Helper()
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	scope := &Scope{
		Lattice: l, Own: []string{"beta", "gamma"}, World: []string{"rate", "temp"},
		Fields: []Field{
			{Name: "state", Values: []string{"susceptible", "infected", "recovered"}}, {Name: "heat"}, {Name: "wind", N: 2}, {Name: "money", Fixed: true},
			{Name: "grass", Values: []string{"bare", "green"}}, {Name: "wind-speed"}, {Name: "sum"}, {Name: "count0", Other: true},
			{Name: "field", Values: []string{"bare", "full"}}, {Name: "was", Values: []string{"susceptible", "infected", "recovered"}}, {Name: "u", N: 3, Fixed: true},
		},
	}
	for _, l := range lets {
		name, text, _ := strings.Cut(l, ": ")
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		scope.Lets = append(scope.Lets, Let{name, n})
	}
	return scope
}

// checked checks a formula for a field.
func checked(t *testing.T, s *Scope, field, text string) (canonical string, err error) {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i := range s.Fields {
		if s.Fields[i].Name == field {
			_, err = Check(s, nil, []Assignment{{i, -1, n}})
			return n.String(), err
		}
	}
	t.Fatalf("there is no field %s", field)
	return "", nil
}

// TestChecks holds what is said to a formula whose names or types are wrong, and which part it is about.
func TestChecks(t *testing.T) {
	for _, tt := range []struct{ field, text, want string }{
		{"state", "infeted", `infeted: no field, parameter, let or value is called infeted; did you mean "infected"?`},
		{"heat", "if state == 1 then 1 else 0", "state == 1: state is a category (susceptible, infected, recovered), 1 is a number; name the value, or write number(state)"},
		{"heat", "if state == green then 1 else 0", "green: green is a value of grass, state has susceptible, infected, recovered"},
		{"heat", "if state == bare then 1 else 0", "bare: bare is a value of grass and of field; write grass.bare or field.bare"},
		{"heat", "heat + wind", "heat + wind: heat is a number, wind a vector of 2; take wind[0] or length(wind)"},
		{"heat", "min(heat)", "min(heat): min takes two or more values; over the neighbours write least(heat)"},
		{"heat", "mean(heat where heat > 0)", "mean(heat where heat > 0): there may be no such neighbour; say what then: mean(heat where heat > 0 else heat)"},
		{"heat", "at(heat, north)", "at(heat, north): there may be no such neighbour; say what then: at(heat, north else heat)"},
		{"heat", "sum(mean(heat))", "mean(heat): a term over neighbours stands in another; give mean(heat) a field of its own and read now() of it"},
		{"heat", "count(state == infected and chance(beta))", "chance(beta): chance within a term over neighbours would be drawn once for the neighbour, not for the pair; with n = count(…) write chance(1 - pow(1 - p, n))"},
		{"heat", "if chance(1.2) then 1 else 0", "1.2: a chance is 0 to 1"},
		{"heat", "if chance(-0.1) then 1 else 0", "-0.1: a chance is 0 to 1"},
		{"heat", "round(heat)", "round(heat): there is no round; write floor(x + 0.5)"},
		{"heat", "ceil(heat)", "ceil(heat): there is no ceil; write -floor(-x)"},
		{"heat", "living(heat)", `living(heat): there is no living; write count(…) of a kind of entities`},
		{"heat", "flor(heat)", `flor(heat): there is no function flor; did you mean "floor"?`},
		{"money", "u", "u: money is a fixed number, u is a vector of 3 fixed numbers"},
		{"wind", "at(wind, up else wind)", "up: square4 has no direction up; use north, south, west or east"},
		{"state", "heat", "heat: state is a category (susceptible, infected, recovered), heat is a number"},
		{"heat", "heat > 1", "heat > 1: heat > 1 is true or false, which no field holds; write number(…), or if heat > 1 then … else …"},
		{"state", "green", "green: green is a value of grass, state has susceptible, infected, recovered"},
		{"heat", "money", "money: heat is a number, money is a fixed number"},
		{"money", "money + heat", "heat: heat is a number and meets a fixed number; write fixed(heat)"},
		{"heat", "if heat then 1 else 0", "heat: heat is a number where true or false belongs; compare it, as in heat > 0"},
		{"heat", "state.infected", "state.infected: heat is a number, infected is a category (susceptible, infected, recovered)"},
		{"heat", "number(state.ill)", "state.ill: state has no value ill"},
		{"heat", "wind[2]", "wind[2]: wind has 2 components, counted from 0"},
		{"heat", "heat.x", "heat[0]: heat is a number, which has no components"},
		{"heat", "own(heat)", "own(heat): own stands within a term over neighbours; here write heat"},
		{"heat", "step[0]", "step[0]: step is the step to a neighbour; it stands within a term over neighbours"},
		{"heat", "at(heat, 1 else 0)", "at(heat, 1 else 0): an offset has 2 whole numbers here, one for each component of the coordinate"},
		{"heat", "at(heat, 1, 0.5 else 0)", "0.5: an offset is a whole number from -64 to 64"},
		{"heat", "sum(heat else 0)", "0: sum of no neighbour is known; leave out else"},
		{"heat", "count0", "count0: formulas cannot name count0, whose elements are of a kind that they do not know"},
		{"heat", "now(beta)", "beta: now takes the name of a field; beta is none"},
		{"heat", "if state < infected then 1 else 0", "state < infected: state and infected have no order; only == and != compare them"},
		{"heat", "exp(money)", "money: exp takes a number; money is a fixed number; write number(money)"},
		{"heat", "sum(state)", "state: sum adds numbers; state is a category (susceptible, infected, recovered). count(…) counts"},
		{"wind", "[heat, state]", "state: state is a category (susceptible, infected, recovered); a vector is of numbers"},
		{"wind", "[heat]", "[heat]: wind is a vector of 2, [heat] is a vector of 1"},
	} {
		n, err := Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		s := meadow(t, space.Square4{Rows: 4, Cols: 5})
		for i := range s.Fields {
			if s.Fields[i].Name == tt.field {
				_, err = Check(s, nil, []Assignment{{i, -1, n}})
			}
		}
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
			continue
		}
		got := tt.text[e.At:e.End] + ": " + e.Reason
		if got = strings.ReplaceAll(got, "heat.x: ", "heat[0]: "); got != tt.want && !strings.HasPrefix(got, tt.want) || e.Place != "set."+tt.field {
			t.Errorf("%s (%s): %s, want %s", tt.text, e.Place, got, tt.want)
		}
	}
}

// TestNames holds which spelling names get, and that a wrapped lattice needs no else.
func TestNames(t *testing.T) {
	wrapped := space.Square4{Rows: 4, Cols: 5, Edge: space.Wrap}
	for _, tt := range []struct{ field, text, want string }{
		{"state", "state.infected", "infected"},
		{"state", "was.infected", "infected"},
		{"grass", "grass.bare", "grass.bare"},
		{"grass", "green", "green"},
		{"wind", "[wind.x, wind.y]", "[wind[0], wind[1]]"},
		{"heat", "`heat` + `wind-speed` + `sum` + sum(`sum`)", "heat + `wind-speed` + sum + sum(sum)"},
		{"heat", "mean(heat) + at(heat, north) + at(heat, -1, 2)", "mean(heat) + at(heat, north) + at(heat, -1, 2)"},
		{"heat", "row + c[1] + dt * tick + degree + cells", "row + c[1] + dt * tick + degree + cells"},
		{"money", "money + 0.5 * beta", "money + 0.5 * beta"},
		{"u", "u * 2", "u * 2"},
		{"heat", "sum(heat * step[0] - own(heat))", "sum(heat * step[0] - own(heat))"},
		{"state", "if state == susceptible and chance(1 - pow(1 - beta, count(state == infected))) then infected else state",
			"if state == susceptible and chance(1 - pow(1 - beta, count(state == infected))) then infected else state"},
		{"state", "as(state, 1)", "as(state, 1)"},
		{"state", "one(state)", "one(state)"},
	} {
		got, err := checked(t, meadow(t, wrapped), tt.field, tt.text)
		if err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.text, got, err, tt.want)
		}
	}
}

// TestLets: lets use each other, without a circle; what is wrong in one is told with its name.
func TestLets(t *testing.T) {
	s := meadow(t, space.Square4{Rows: 4, Cols: 5}, "sick: count(state == infected)", "p: 1 - pow(1 - beta, sick)")
	if _, err := checked(t, s, "state", "if state == susceptible and chance(p) then infected else state"); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		lets        []string
		place, want string
	}{
		{[]string{"a: b", "b: a"}, "let.b", "a needs itself: a, b, a"},
		{[]string{"a: heet"}, "let.a", "no field, parameter, let or value is called heet"},
		{[]string{"a: sum(b)", "b: mean(heat)"}, "let.a", "b has a term over neighbours, and stands in another"},
	} {
		_, err := checked(t, meadow(t, space.Square4{Rows: 4, Cols: 5}, tt.lets...), "heat", "heat")
		if e, ok := err.(*Error); !ok || e.Place != tt.place || !strings.HasPrefix(e.Reason, tt.want) {
			t.Errorf("%q: %+v, want %s: %s", tt.lets, err, tt.place, tt.want)
		}
	}
}

// TestUniform holds which numbers are computed in float64: by their text alone.
func TestUniform(t *testing.T) {
	s := meadow(t, space.Square4{Rows: 4, Cols: 5, Edge: space.Wrap}, "p: 0.3", "d: degree")
	for text, want := range map[string]bool{
		"rate * dt": true, "mod(tick, 240)": true, "degree / cells": true, "p + beta": true, "if rate > 1 then 2 else 3": true, "-0.5": true, "d": true,
		"heat": false, "rate * heat": false, "row": false, "uniform(0, 1)": false, "sum(degree)": false, "sum(d)": false, "if heat > 0 then 1 else 2": false,
		"normal()": false, "min(1, heat)": false, "floor(rate)": true, "wind[0]": false, "now(heat)": false,
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(s, nil, []Assignment{{1, -1, n}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := r.Set[0].Uniform; got != want {
			t.Errorf("%s is uniform: %v, want %v", text, got, want)
		}
	}
}

// TestCost holds what a rule costs, and that one which costs too much is refused, however its lets use each other.
func TestCost(t *testing.T) {
	for text, want := range map[string]int{
		"heat": 1, "heat + 1": 3, "heat / 2": 6, "sqrt(heat)": 5, "exp(heat)": 21, "min(heat, 1, 2)": 5, "sum(heat)": 4 * (1 + 1), "at(heat, 1, 0 else 2)": 3,
		"count(heat > 1 where heat < 2)": 4 * (1 + 3 + 3), "uniform(0, 1)": 10, "length(wind)": 6, "heat + p": 3, "sum(p)": 4 * (1 + 1 + 3),
	} {
		s := meadow(t, space.Square4{Rows: 4, Cols: 5}, "p: heat * 2")
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(s, nil, []Assignment{{1, -1, n}})
		if err != nil || r.Cost-3 != want { // the let has three
			t.Errorf("%s costs %+v, %v; want %d", text, r, err, want)
		}
	}
	lets := []string{"a0: heat + heat"}
	for i := 1; i < 60; i++ {
		lets = append(lets, strings.ReplaceAll(strings.ReplaceAll("aN: aM + aM", "N", string(appendInt(nil, i))), "M", string(appendInt(nil, i-1))))
	}
	if _, err := checked(t, meadow(t, space.Square4{Rows: 4, Cols: 5}, lets...), "heat", "sum(a59)"); err == nil || !strings.Contains(err.Error(), "more than 4096 steps for a cell") {
		t.Errorf("lets that double each other: %v", err)
	}
}

// TestLetAndValue: a let that has the name of a value is no reason to think that another let needs itself.
func TestLetAndValue(t *testing.T) {
	l, err := space.Ring{Length: 5}.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := &Scope{Lattice: l, Fields: []Field{{Name: "h"}, {Name: "s", Values: []string{"a", "b"}}}}
	for _, let := range [][2]string{{"a1", "if s == s.b then 1 else 2"}, {"b", "a1 + 1"}} {
		n, err := Parse(let[1])
		if err != nil {
			t.Fatal(err)
		}
		s.Lets = append(s.Lets, Let{let[0], n})
	}
	n, err := Parse("a1 + b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check(s, nil, []Assignment{{0, -1, n}}); err != nil || s.Lets[0].Formula.String() != "if s == s.b then 1 else 2" {
		t.Errorf("%v, %s", err, s.Lets[0].Formula)
	}
}
