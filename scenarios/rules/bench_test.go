package rules

import (
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// benchRule makes the propagator of a rule that sets the first field, which is the only one; lets are pairs of name and formula, of which where may be one.
func benchRule(b *testing.B, s space.Space, f Field, own []string, formula string, lets ...string) *Propagator {
	var where *Node
	l, err := s.Build()
	if err != nil {
		b.Fatal(err)
	}
	scope := &Scope{Lattice: l, Fields: []Field{f}, Own: own}
	for i := 0; i < len(lets); i += 2 {
		n, err := Parse(lets[i+1])
		if err != nil {
			b.Fatal(err)
		}
		if lets[i] == "where" {
			where = n
			continue
		}
		scope.Lets = append(scope.Lets, Let{lets[i], n})
	}
	n, err := Parse(formula)
	if err != nil {
		b.Fatal(err)
	}
	set := []Assignment{{0, -1, n}}
	r, err := Check(scope, where, set)
	if err != nil {
		b.Fatal(err)
	}
	return New(Binding{Name: "r", Fields: []fields.ID{0}, Own: []uint32{0, 1}[:len(own)]}, scope, r, set)
}

// BenchmarkRules is a tick of a world of one rule, beside that of the propagator that does the same.
func BenchmarkRules(b *testing.B) {
	const side = 1024
	square4, square8 := space.Square4{Rows: side, Cols: side, Edge: space.Wrap}, space.Square8{Rows: side, Cols: side, Edge: space.Wrap}
	heat, cell := Field{Name: "heat"}, Field{Name: "cell", Values: []string{"dead", "alive"}}
	state := Field{Name: "state", Values: []string{"susceptible", "infected", "recovered"}}
	random := func(n int) []float64 {
		draws, v := rand.New(rand.NewPCG(1, 1)), make([]float64, side*side)
		for i := range v {
			v[i] = float64(draws.IntN(n))
		}
		return v
	}
	spread := "if state == susceptible and chance(1 - pow(1 - beta, sick)) then infected else if state == infected and chance(gamma) then recovered else " +
		"if state == recovered and chance(gamma) then susceptible else state"
	one := make([]float64, side*side)
	one[side/2*(side+1)] = 1
	for _, row := range []struct {
		name string
		s    space.Space
		f    fields.Def
		p    engine.Propagator
		own  []float64
	}{
		{"life", square8, fields.Def{Type: fields.Categorical(2), Initial: fields.Values(random(2))},
			benchRule(b, square8, cell, nil, "if n == 3 or n == 2 and cell == alive then alive else dead", "n", "count(cell == alive)"), nil},
		{"life built in", square8, fields.Def{Type: fields.Categorical(2), Initial: fields.Values(random(2))},
			propagators.Automaton{Field: 0, Rule: propagators.Rule{Born: 1 << 3, Survive: 1<<2 | 1<<3}}, nil},
		{"diffusion", square4, fields.Def{Initial: fields.Values(random(100))},
			benchRule(b, square4, heat, []string{"rate"}, "heat + rate * dt * (sum(heat) - degree * heat)"), []float64{1}},
		{"diffusion built in", square4, fields.Def{Initial: fields.Values(random(100))}, propagators.Diffusion{Field: 0, Rate: 1}, nil},
		{"epidemic", square8, fields.Def{Type: fields.Categorical(3), Initial: fields.Values(random(3))},
			benchRule(b, square8, state, []string{"beta", "gamma"}, spread, "sick", "count(state == infected)"), []float64{0.3, 0.1}},
		{"outbreak", square8, fields.Def{Type: fields.Categorical(3), Initial: fields.Values(one)}, // nearly all cells are far from it
			benchRule(b, square8, state, []string{"beta", "gamma"}, spread, "sick", "count(state == infected)"), []float64{0.3, 0.1}},
		{"noise", square8, fields.Def{Initial: fields.Values(random(100))},
			benchRule(b, square8, heat, []string{"p"}, "if chance(heat / 100) then 100 - heat else if chance(p) then heat else 100 * p"), []float64{0.5}},
		{"ising", square4, fields.Def{Initial: fields.Values(random(2))},
			benchRule(b, square4, heat, []string{"temp"}, "if chance(1 / (1 + exp(-2 * sum(heat) / temp))) then 1 else -1", "where", "mod(row + col, 2) == 0"), []float64{2}},
		{"money", square4, fields.Def{Element: fields.Fixed, Initial: fields.Values(random(100))},
			benchRule(b, square4, Field{Name: "money", Fixed: true}, []string{"rate"}, "if money > 10 then money - money * rate * dt + mean(money) * rate * dt else money"), []float64{0.5}},
		{"money with faults that nothing needs", square4, fields.Def{Element: fields.Fixed, Initial: fields.Values(random(100))},
			benchRule(b, square4, Field{Name: "money", Fixed: true}, nil, "if money == 0 then 3 else 100 / money"), nil},
	} {
		b.Run(row.name, func(b *testing.B) {
			c := engine.Config{Space: row.s, Timestep: 0.1, Fields: []fields.Def{row.f}, Propagators: []engine.Propagator{row.p}}
			c.Fields[0].Name = "f"
			for i, v := range row.own {
				c.Parameters = append(c.Parameters, engine.Parameter{Key: uint32(i), Name: string(rune('a' + i)), Value: v})
			}
			w, err := engine.New(c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*side*side/b.Elapsed().Seconds()/1e6, "Mcells/s")
		})
	}
}
