package rules

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// FuzzCheck: whatever a formula means, its canonical form means the same; and what was checked can be computed, without a panic.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"heat + rate * temp * (sum(heat) - degree * heat)", "if state == infected and chance(gamma) then recovered else state", "wind.x + wind[1]", "[heat, now(heat)]",
		"mean(heat where state == was.infected else 0)", "at(wind, north else [0, 1])", "at(heat, -1, 2 else own0)", "sum(own(heat) * step[0])", "one(state)",
		"pick(1, heat, 3)", "money * 0.5 + fixed(heat)", "u / 3", "length(u)", "dot(wind, wind)", "clamp(heat, 0, 1)", "as(state, heat)", "number(state == infected)",
		"grass.bare", "distinct(state)", "uniform(0, normal())", "mod(tick, 24)", "floor(-heat) + abs(`wind-speed`) + exp(heat) - pow(heat, 2)", "least(money)",
		"if any(state == infected) then u else u * 2", "half + sick", "count(heat > half)", "`sum` + sum(`sum`)", "field.full",
		"if money > 0 then 10 / money else -money", "any(1 / money > 2) or all(sqrt(money) > 1)", "count(10 / money > 1 where money != 0)", "mean(money * money where abs(money) < 9 else 0)",
		"number(one(sqrt(money) where money > 0 else 1))", "at(u[0] * money, 1, 1 else 100000000 * money)", "(money * u)[1]", "pick(money, 1 / money)", "[number(money / 0), heat][1]",
		"least(floor(u[2])) + most(mod(money, 3))", "clamp(money, 0, 5)", "min(money, u[0], fixed(heat))", "fixed(pow(10, heat * 5))", "distinct(as(state, number(sqrt(money))) where money > 0)",
	} {
		for field := range uint8(11) {
			f.Add(text, field, field%3)
		}
	}
	spaces := []space.Space{space.Square4{Rows: 3, Cols: 4}, space.Hex{Rows: 3, Cols: 3, Edge: space.Clamp}, space.Ring{Length: 5}}
	f.Fuzz(func(t *testing.T, text string, field, lattice uint8) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		s := meadow(t, spaces[int(lattice)%len(spaces)], "half: 0.5", "sick: count(state == infected)", "luck: uniform(0, 1)")
		set := []Assignment{{int(field) % len(s.Fields), -1, n}}
		r, err := Check(s, nil, set)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.At < 0 || e.At > e.End || e.End > len(text) || e.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		written := n.String()
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%q is written %q: %v", text, written, err)
		}
		other, err := Check(s, nil, []Assignment{{set[0].Field, -1, again}})
		if err != nil || again.String() != written || !alike(r.Set[0], other.Set[0]) {
			t.Fatalf("%q is written %q, and then %q, which means something else: %v", text, written, again, err)
		}
		state := stateOf(s)
		sameAsBlocks(t, s, r, set, state)
		for cell := range s.Lattice.Cells() {
			a, x, _, err1 := NewNaive(s, r, set).Cell(state, 0, cell)
			b, y, _, err2 := NewNaive(s, other, set).Cell(state, 0, cell)
			if (err1 == nil) != (err2 == nil) || len(a) != len(b) || !slices.Equal(x, y) {
				t.Fatalf("%q: %v, %v; %q: %v, %v", text, a, err1, written, b, err2)
			}
		}
	})
}

// FuzzStatement: a formula about the whole world means what its canonical form means, and comes to the same by blocks as cell by cell.
func FuzzStatement(f *testing.F) {
	for _, text := range []string{
		"count(state == infected) < 3", "abs(mean(heat) - 5) < rate * tick", "least(heat where heat > 1 else 9) > 0", "cell(state, 1, 1) == infected or cell(heat, 2) > 1", "distinct(state) == 2",
		"all(count(state == infected) < 4)", "sum(money * 2) == 0.5", "most(wind[1]) + sum(length(wind)) > cells", "any(at(heat, 1, 1 else 0) > 2)", "sum(at(heat, 1)) > 1", "pow(sum(row), 0.5) > number(any(heat > 1))",
		"count(sheep) > 2", "mean(sheep.energy where here.heat > 1 else 0) > count(anyone)", "sum(anyone.purse) > 3 and entity(anna).way.y > entity(3).degree", "not alive(anna) or alive(4)",
		"sum(heat) / (count(sheep) - 3)", "-mean(sheep.energy) * [1, rate][1]", "if alive(anna) then entity(anna).purse else fixed(rate) * 3", "number(cell(state, 1, 1))",
		"count(field.mood == field.full) > 1", "most(`here`.row) > least(here.u[2])", "distinct(as(mood, sheep.energy)) > 1", "if count(sheep.mood == ill) > 2 then mean(field.energy) > 1 else false",
	} {
		for lattice := range uint8(3) {
			f.Add(text, lattice)
		}
	}
	spaces := []space.Space{space.Square4{Rows: 3, Cols: 4}, space.Hex{Rows: 3, Cols: 3, Edge: space.Clamp}, space.Ring{Length: 5}}
	f.Fuzz(func(t *testing.T, text string, lattice uint8) {
		formula, err := Parse(text)
		if err != nil {
			return
		}
		s := meadow(t, spaces[int(lattice)%len(spaces)])
		s.Own, s.KindNames, s.Named = nil, []string{"sheep", "field", "here"}, []Named{{"anna", 2}}
		s.Fields = append(s.Fields, Field{Name: "energy", Attribute: true}, Field{Name: "mood", Attribute: true, Values: []string{"well", "ill", "bare"}},
			Field{Name: "purse", Attribute: true, Fixed: true}, Field{Name: "way", Attribute: true, N: 2}, Field{Name: "full", Attribute: true})
		x, err := CheckStatistic(s, formula)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.At < 0 || e.At > e.End || e.End > len(text) || e.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		again, err := Parse(formula.String())
		if err != nil {
			t.Fatalf("%q is written %q: %v", text, formula, err)
		}
		other, err := CheckStatistic(s, again)
		if err != nil || again.String() != formula.String() || !alike(x.term, other.term) {
			t.Fatalf("%q is written %q, and then %q: %v", text, formula, again, err)
		}
		state := stateOf(s)
		n := s.Lattice.Cells() // of slots, too
		ids, kinds, places := make([]uint64, n), make([]int32, n), make([]int32, n)
		for slot := range n {
			ids[slot], kinds[slot], places[slot] = uint64((slot*5+1)%n), int32(slot%3), int32(slot*7%n)
		}
		state.See(ids, kinds, places)
		if _, err := CheckStatement(s, again); (err == nil) != (x.term.Type.Base == Boolean) {
			t.Fatalf("%q as a condition: %v", text, err)
		}
		value, failed := x.Value(state)
		other.naive = true
		naively, wrong := other.Value(state)
		if math.Float64bits(naively) != math.Float64bits(value) && value == value || (failed == nil) != (wrong == nil) || failed == nil && other.Found() != x.Found() {
			t.Fatalf("%q: %v, %s, %v; naively %v, %s, %v", text, value, x.Found(), failed, naively, other.Found(), wrong)
		}
	})
}

// sameAsBlocks compares the program of a rule with its naive form, in every cell.
func sameAsBlocks(t *testing.T, s *Scope, r *Rule, set []Assignment, state *State) {
	program := Compile(s, r, set)
	streams := r.streams(s, set)
	m := newMachine(program)
	m.own, m.world, m.dt, m.tick = state.Own, state.World, state.Dt, state.Tick
	for i := range s.Fields {
		m.prev = append(m.prev, fields.Column{Float32: state.Prev[i], Fixed: state.Fixed[0][i]})
		m.next = append(m.next, fields.Column{Float32: slices.Clone(state.Prev[i]), Fixed: slices.Clone(state.Fixed[0][i])})
	}
	m.now = m.prev
	m.use(make([]float32, program.scratch()))
	for i := range streams {
		m.bulks = append(m.bulks, rng.StreamSeed{byte(i)}.Bulk())
	}
	state.Word = func(place string, number, cell int) uint32 {
		return m.bulks[slices.Index(streams, stream{place, number})].Block(uint64(cell/4), 0)[cell%4]
	}
	m.prepare()
	bad := fault{cell: noFault}
	for _, span := range s.Lattice.Spans() {
		m.span(set, span, &bad)
	}
	naive, next, first := NewNaive(s, r, set), m.next[set[0].Field], fault{cell: noFault}
	n := max(1, s.Fields[set[0].Field].N)
	for cell := range s.Lattice.Cells() {
		want, money, _, err := naive.Cell(state, 0, cell)
		if err != nil || slices.ContainsFunc(want, func(x float32) bool { return invalid([]float32{x}, nil, &s.Fields[set[0].Field]) >= 0 }) {
			first.note(cell, 0)
		}
		for k, w := range want {
			if got := next.Float32[cell*n+k]; bad.cell == noFault && math.Float32bits(got) != math.Float32bits(w) {
				t.Fatalf("%s: cell %d: %v (%08x), naively %v (%08x)", set[0].Formula, cell, got, math.Float32bits(got), w, math.Float32bits(w))
			}
		}
		for k, w := range money {
			if got := next.Fixed[cell*n+k]; bad.cell == noFault && got != int64(w) {
				t.Fatalf("%s: cell %d: %d units, naively %d", set[0].Formula, cell, got, int64(w))
			}
		}
	}
	if bad != first {
		t.Fatalf("%s fails in cell %d, naively in %d; %d is that none does", set[0].Formula, bad.cell, first.cell, noFault)
	}
}

// alike reports whether two terms are the same, wherever they stood.
func alike(a, b *Term) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := a.Op == b.Op && a.Type == b.Type && a.Uniform == b.Uniform && a.Value == b.Value && a.Index == b.Index && a.Direction == b.Direction &&
		a.Number == b.Number && len(a.Args) == len(b.Args) && alike(a.Where, b.Where) && alike(a.Else, b.Else)
	for i := 0; same && i < len(a.Args); i++ {
		same = alike(a.Args[i], b.Args[i])
	}
	return same
}

// stateOf is a state of a scope.
func stateOf(s *Scope) *State {
	state := &State{
		Own: []float64{0.3, 0.2}, World: []float64{1.5, -2}, Dt: 0.05, Tick: 3, Word: func(_ string, number, cell int) uint32 { return uint32(cell+1)*0x9e3779b9 + uint32(number) },
	}
	for _, f := range s.Fields {
		n := max(1, f.N) * s.Lattice.Cells()
		if column := make([]float32, n); !f.Fixed {
			for i := range column {
				column[i] = float32(i % max(5, len(f.Values)))
				if f.Values != nil {
					column[i] = float32(i % len(f.Values))
				}
			}
			state.Prev, state.Fixed[0] = append(state.Prev, column), append(state.Fixed[0], nil)
			continue
		}
		units := make([]int64, n)
		for i := range units {
			units[i] = []int64{1 << 16, 0, -5 << 15, 1 << 40, 3, math.MaxInt64 - 7, 123456, math.MinInt64, -1}[i%9]
		}
		state.Prev, state.Fixed[0] = append(state.Prev, nil), append(state.Fixed[0], units)
	}
	state.Now, state.Fixed[1] = state.Prev, state.Fixed[0]
	return state
}
