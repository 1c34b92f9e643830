package rules_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/rules"
	"github.com/murksim/murksim/space"
)

// parsed reads formulas that have no mistakes.
func parsed(t *testing.T, text string) *rules.Node {
	t.Helper()
	n, err := rules.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// naive checks a rule that sets one field.
func naive(t *testing.T, s *rules.Scope, field int, formula string) *rules.Naive {
	t.Helper()
	set := []rules.Assignment{{Field: field, Component: -1, Formula: parsed(t, formula)}}
	r, err := rules.Check(s, nil, set)
	if err != nil {
		t.Fatalf("%s: %v", formula, err)
	}
	return rules.NewNaive(s, r, set)
}

var spaces = []space.Space{
	space.Ring{Length: 7}, space.Line{Length: 6, Edge: space.Clamp}, space.Square4{Rows: 5, Cols: 4}, space.Square4{Rows: 4, Cols: 6, Edge: space.Wrap},
	space.Square8{Rows: 5, Cols: 5, Edge: space.Clamp}, space.Square8{Rows: 3, Cols: 7, Edge: space.Wrap}, space.Hex{Rows: 6, Cols: 5},
	space.Hex{Rows: 4, Cols: 4, Edge: space.Clamp}, space.Hex{Rows: 4, Cols: 6, Edge: space.Wrap}, space.FCC12{W: 4, H: 4, D: 4, Edge: space.Wrap},
}

// TestDiffusionAsRule: the formula of the page gives the bits of the propagator, on every lattice and at its edges.
func TestDiffusionAsRule(t *testing.T) {
	for _, s := range spaces {
		const rate, dt = 1.37, 0.05
		random := rand.New(rand.NewPCG(3, 4))
		lattice, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		heat := make([]float64, lattice.Cells())
		for i := range heat {
			heat[i] = float64(float32(random.NormFloat64() * 100))
		}
		w, err := engine.New(engine.Config{
			Space: s, Timestep: dt, Fields: []fields.Def{{Name: "heat", Initial: fields.Values(heat)}},
			Propagators: []engine.Propagator{propagators.Diffusion{Field: 0, Rate: rate}},
		})
		if err != nil {
			t.Fatal(err)
		}
		of := naive(t, &rules.Scope{Lattice: lattice, Fields: []rules.Field{{Name: "heat"}}, Own: []string{"rate"}}, 0,
			"heat + rate * dt * (sum(heat) - degree * heat)")
		for tick := range uint64(5) {
			before := append([]float32(nil), w.Column(0).Float32...)
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
			state := &rules.State{Prev: [][]float32{before}, Now: [][]float32{before}, Own: []float64{rate}, Dt: dt, Tick: tick + 1}
			for cell, want := range w.Column(0).Float32 {
				got, _, written, err := of.Cell(state, 0, cell)
				if err != nil || !written || math.Float32bits(got[0]) != math.Float32bits(want) {
					t.Fatalf("%v, tick %d, cell %d: %v, %v; the propagator gives %v", s, tick+1, cell, got, err, want)
				}
			}
		}
	}
}

// words are the random words of places of a component, as a world draws them.
func words(component string, seed, tick uint64, cells int) func(place string, number, cell int) uint32 {
	var set rng.Set
	set.Begin(rng.ChaCha8, rng.Seed(seed), tick)
	return func(place string, number, cell int) uint32 {
		return set.Bulk(component+"."+place, uint64(number), cells).Block(uint64(cell/4), 0)[cell%4]
	}
}

// TestExample computes the example of the page: its words, chances and next states.
func TestExample(t *testing.T) {
	lattice, err := space.Square4{Rows: 3, Cols: 3}.Build()
	if err != nil {
		t.Fatal(err)
	}
	scope := &rules.Scope{
		Lattice: lattice, Fields: []rules.Field{{Name: "state", Values: []string{"susceptible", "infected", "recovered"}}}, Own: []string{"beta", "gamma"},
		Lets: []rules.Let{{Name: "sick", Formula: parsed(t, "count(state == infected)")}},
	}
	of := naive(t, scope, 0, "if state == susceptible and chance(1 - pow(1 - beta, sick)) then infected "+
		"else if state == infected and chance(gamma) then recovered else state")
	word := words("epidemic", 42, 1, 9)
	before := []float32{0, 1, 0, 1, 0, 2, 0, 0, 1}
	for _, w := range []struct {
		cell int
		want [2]uint32
	}{{0, [2]uint32{0x812598c9, 0xa284519f}}, {1, [2]uint32{0x0fb3a505, 0x48bb147a}}, {4, [2]uint32{0x41c995fb, 0xe694cc57}}, {8, [2]uint32{0x6ab89d47, 0x208eda72}}} {
		for number, want := range w.want {
			if got := word("set.state", number, w.cell); got != want {
				t.Errorf("word %d of cell %d is %08x, want %08x", number, w.cell, got, want)
			}
		}
	}
	state := &rules.State{Prev: [][]float32{before}, Now: [][]float32{before}, Own: []float64{0.3, 0.25}, Dt: 1, Tick: 1, Word: word}
	for cell, want := range map[int]float32{0: 1, 1: 1, 2: 0, 4: 1, 5: 2, 8: 2} {
		if got, _, _, err := of.Cell(state, 0, cell); err != nil || got[0] != want {
			t.Errorf("cell %d: %v, %v; want %v", cell, got, err, want)
		}
	}
}

// TestEvaluation computes small formulas whose results the page gives, or IEEE 754 does.
func TestEvaluation(t *testing.T) {
	lattice, err := space.Square4{Rows: 3, Cols: 3}.Build()
	if err != nil {
		t.Fatal(err)
	}
	tenth, inf := float32(0.1), float32(math.Inf(1))
	scope := &rules.Scope{
		Lattice: lattice,
		Fields:  []rules.Field{{Name: "x"}, {Name: "zero"}, {Name: "v", N: 2}, {Name: "s", Values: []string{"a", "b", "c"}}},
		Own:     []string{"p"}, World: []string{"q"}, Lets: []rules.Let{{Name: "third", Formula: parsed(t, "1 / 3")}},
	}
	column := func(of func(cell int) float32) []float32 {
		list := make([]float32, lattice.Cells())
		for i := range list {
			list[i] = of(i)
		}
		return list
	}
	v := make([]float32, 18)
	for i := range v {
		v[i] = float32(i)
	}
	prev := [][]float32{column(func(int) float32 { return tenth }), column(func(int) float32 { return 0 }), v, column(func(c int) float32 { return float32(c % 3) })}
	state := &rules.State{Prev: prev, Now: prev, Own: []float64{0.3}, World: []float64{7}, Dt: 0.1, Tick: 1 << 24, Word: func(string, int, int) uint32 { return 1 << 31 }}
	for formula, want := range map[string]float32{
		"0.1 * 3 - 0.3": math.Float32frombits(0x24800000), "x * 3 - 0.3": 0,
		"mod(-1, 3)": 2, "mod(tick + 1, 2)": 1, "mod(x, 0.3) - x": 0, "third - 1 / 3": float32(float64(float32(1.0/3)) - 1.0/3),
		"min(1, 2, 0.5)": 0.5, "max(1, 2, 0.5)": 2, "clamp(5, 0, 3)": 3, "clamp(-5, 0, 3)": 0, "abs(-x)": tenth, "floor(-0.5)": -1, "sqrt(9)": 3,
		"1 / zero": inf, "if zero == -zero then 1 else 0": 1, "if zero / zero != zero then 1 else 0": 1,
		"degree": 4, "cells": 9, "row * 10 + col": 11, "c[0]": 1, "sum(1)": 4, "mean(x where row == 0 else 5)": tenth, "mean(x where row == 7 else 5)": 5,
		"most(v[0])": 14, "least(v[1])": 3, "count(s == b)": 2, "distinct(s)": 3, "if any(s == c) then 1 else 0": 1, "if all(s == b) then 1 else 0": 0,
		"at(v[0], north else -1)": 2, "at(v[0], 1, 1 else -1)": 16, "at(v[0], 2, 0 else -1)": -1, "sum(step[0] + 10 * step[1])": 0,
		"sum(own(v[0]))": 32, "dot(v, v)": 8*8 + 9*9, "length([3, 4])": 5, "(v * 2)[1]": 18, "number(s)": 1, "number(s == b)": 1,
		"uniform(2, 4)": 3, "if chance(0.5) then 1 else 0": 0, "if chance(0.5000001) then 1 else 0": 1, "pick(1, 2, 3, 4)": 3, "one(v[0])": 6,
		"number(fixed(0.3))": 19661.0 / 65536, "number(fixed(x * 0 + 2.5 / 65536))": 2.0 / 65536, "number(fixed(1e14) + 0.25)": 1e14,
		"exp(0) + log(1) + sin(0) + cos(0)": 2, "pow(2, 10)": 1024, "tanh(100) + tanh(-100)": 0, "tanh(1)": float32(math.Tanh(1)), "p + q": float32(0.3 + 7), "now(x) + dt": float32(tenth + 0.1), "sum(x where row == 7)": float32(math.Copysign(0, -1)),
	} {
		got, _, _, err := naive(t, scope, 0, formula).Cell(state, 0, 4)
		if err != nil || math.Float32bits(got[0]) != math.Float32bits(want) {
			t.Errorf("%s is %v (%08x), %v; want %v (%08x)", formula, got, math.Float32bits(got[0]), err, want, math.Float32bits(want))
		}
	}
}
