package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// meadowWith is a scope with entities: sheep and wolves with energy, a heading, a purse and a mood, on cells with grass and heat.
func meadowWith(l *space.Lattice) *Scope {
	return &Scope{
		Lattice: l, World: []string{"rate"}, KindNames: []string{"sheep", "wolf", "here"}, Named: []Named{{"anna", 3}, {"bo-2", 1<<20 | 7}},
		Fields: []Field{
			{Name: "heat"}, {Name: "grass", Values: []string{"bare", "green", "ill"}}, {Name: "gold", Fixed: true}, {Name: "flow", N: 2},
			{Name: "energy", Attribute: true}, {Name: "mood", Attribute: true, Values: []string{"well", "ill"}}, {Name: "purse", Attribute: true, Fixed: true},
			{Name: "way", Attribute: true, N: 2}, {Name: "age", Attribute: true, Other: true}, {Name: "row", Attribute: true},
		},
	}
}

// crowded is a state of that scope, with so many slots.
func crowded(r *rand.Rand, l *space.Lattice, slots int) *State {
	numbers := func(n int, of func() float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(of())
		}
		return v
	}
	units := func(n int) []int64 {
		v := make([]int64, n)
		for i := range v {
			v[i] = []int64{1 << 16, 0, -5 << 15, 1 << 40, 3, math.MaxInt64 - 7, 123456, -1}[r.IntN(8)]
		}
		return v
	}
	upTo := func(n int) func() float64 { return func() float64 { return float64(r.IntN(n)) } }
	cells := l.Cells()
	s := &State{
		Prev: [][]float32{numbers(cells, r.NormFloat64), numbers(cells, upTo(3)), nil, numbers(2*cells, r.NormFloat64),
			numbers(slots, r.NormFloat64), numbers(slots, upTo(2)), nil, numbers(2*slots, r.NormFloat64), nil, numbers(slots, r.NormFloat64)},
		Fixed: [2][][]int64{{nil, nil, units(cells), nil, nil, nil, units(slots), nil, nil, nil}, nil}, World: []float64{1.7}, Dt: 0.05, Tick: 7,
	}
	s.Now = s.Prev
	s.See(make([]uint64, slots), make([]int32, slots), make([]int32, slots))
	return s
}

// come lets some entities die, and others live: with greater ids than all before.
func come(r *rand.Rand, s *State, next *uint64, cells int) {
	w := &s.living
	for slot := range w.ids {
		switch r.IntN(4) {
		case 0:
			w.ids[slot], w.cells[slot] = 0, -1
		case 1:
			*next += 1 + uint64(r.IntN(3))
			w.ids[slot], w.kinds[slot], w.cells[slot] = *next, int32(r.IntN(3)), int32(r.IntN(cells))
		}
	}
	r.Shuffle(len(w.ids), func(i, j int) {
		w.ids[i], w.ids[j], w.kinds[i], w.kinds[j], w.cells[i], w.cells[j] = w.ids[j], w.ids[i], w.kinds[j], w.kinds[i], w.cells[j], w.cells[i]
	})
	s.See(w.ids, w.kinds, w.cells)
}

// A teller writes random formulas about entities.
type teller struct {
	*writer
	who string
}

func (w *teller) number(depth int) string {
	if depth <= 0 {
		return w.of(w.who+".energy", w.who+".energy", w.who+".way[0]", w.who+".way.y", "here.heat", "here.flow[1]", w.who+".degree", w.who+".`row`", "rate", "2", "0.1", "tick", "number("+w.money(0)+")")
	}
	a, b := w.number(depth-1), w.number(depth-1)
	switch w.IntN(9) {
	case 0:
		return "(if " + w.truth(depth-1) + " then " + a + " else " + b + ")"
	case 1:
		return w.of("sqrt(", "exp(", "abs(", "floor(", "-(") + a + ")"
	case 2:
		return w.of("min(", "max(", "mod(", "pow(") + a + ", " + b + ")"
	case 3:
		return "dot(" + w.who + ".way, [" + a + ", " + b + "])"
	}
	return "(" + a + w.of(" + ", " - ", " * ", " / ") + b + ")"
}

func (w *teller) money(depth int) string {
	if depth <= 0 {
		return w.of(w.who+".purse", "here.gold", "fixed(0.5)")
	}
	return "(" + w.money(depth-1) + w.of(" + ", " - ", " * ", " / ") + w.money(depth-1) + ")"
}

func (w *teller) truth(depth int) string {
	if depth <= 0 {
		return w.of(w.who+".mood == mood.ill", "here.grass == green", w.who+".energy > 0", w.who+".purse > 1", "true")
	}
	switch w.IntN(4) {
	case 0:
		return "not " + w.truth(depth-1)
	case 1:
		return "(" + w.money(depth-1) + w.of(" < ", " == ") + w.money(depth-1) + ")"
	case 2:
		return "(" + w.truth(depth-1) + w.of(" and ", " or ") + w.truth(depth-1) + ")"
	}
	return "(" + w.number(depth-1) + w.of(" < ", " >= ") + w.number(depth-1) + ")"
}

// statement is a formula about the living.
func (w *teller) statement() string {
	w.who = w.of("sheep", "wolf", "anyone", "`here`")
	where, depth := "", w.IntN(4)
	if w.IntN(2) == 0 {
		where = " where " + w.truth(w.IntN(3))
	}
	switch w.IntN(6) {
	case 0:
		return "count(" + w.of(w.who, w.truth(depth)) + where + ")"
	case 1:
		return "number(" + w.of("any(", "all(") + w.truth(depth) + where + "))"
	case 2:
		return "distinct(" + w.who + ".mood" + where + ")"
	case 3:
		return "number(alive(" + w.of("anna", "5", "`bo-2`") + "))"
	case 4:
		return "entity(" + w.of("anna", "5", "9") + ")." + w.of("energy", "way.x", "`row`", "degree", "purse")
	}
	return w.of("sum(", "mean(", "least(", "most(") + w.of(w.number(depth), w.money(depth)) + where + w.of("", " else -1", " else rate * count("+w.who+")") + ")"
}

// TestRandomCrowds: terms over entities come to the bits of their naive form, tick after tick in which some die and others live, and fail as it does.
func TestRandomCrowds(t *testing.T) {
	looked, failures := 0, 0
	for n := 0; looked < 600 && n < 20000; n++ {
		w := &teller{writer: &writer{Rand: rand.New(rand.NewPCG(uint64(n), 12))}}
		l, err := lattices[w.IntN(len(lattices))].Build()
		if err != nil {
			t.Fatal(err)
		}
		s, text := meadowWith(l), "("+w.statement()+w.of("", " + rate / "+w.statement(), " + 1 + "+w.statement())+")"
		node, err := Parse(text + w.of(" > 2", ""))
		if err != nil {
			continue
		}
		x, err := CheckStatistic(s, node)
		if err != nil {
			if !strings.Contains(err.Error(), "leave out else") && !strings.Contains(err.Error(), "say of whose") && strings.Contains(text, w.who+".") {
				t.Fatalf("%s: %v", text, err)
			}
			continue
		}
		looked++
		state, next := crowded(w.Rand, l, []int{0, 9, 40, 3000}[w.IntN(4)]), uint64(0)
		for range 3 {
			come(w.Rand, state, &next, l.Cells())
			holds, failed := x.Value(state)
			if failed != nil {
				failures++
			}
			fast, value := x.Found(), x.values[0]
			x.naive = true
			slowly, err := x.Value(state)
			x.naive = false
			if fmt.Sprint(err) != fmt.Sprint(failed) || math.Float64bits(holds) != math.Float64bits(slowly) && holds == holds {
				t.Fatalf("%d on %v: %s\nby blocks: %v\nnaively:   %v", n, l.Space(), text, failed, err)
			}
			if slow := x.Found(); slow != fast || math.Float64bits(value.f) != math.Float64bits(x.values[0].f) && value.f == value.f {
				t.Fatalf("%d on %v: %s\nby blocks: %s\nnaively:   %s, %v", n, l.Space(), text, fast, slow, err)
			}
		}
	}
	if t.Logf("%d statements, %d failures", looked, failures); looked < 600 || failures < 100 {
		t.Errorf("only %d statements could be looked at, and %d times one failed", looked, failures)
	}
}

// TestCrowds: what terms over entities come to, and what is wrong with others.
func TestCrowds(t *testing.T) {
	l, _ := space.Square4{Rows: 2, Cols: 3}.Build()
	s := meadowWith(l)
	state := &State{
		Prev: [][]float32{{1, 2, 3, 4, 5, 6}, {0, 1, 1, 0, 2, 0}, nil, make([]float32, 12),
			{0.25, 16777216, 1, 4, 99}, {0, 1, 1, 1, 0}, nil, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9}, nil, make([]float32, 5)},
		Fixed: [2][][]int64{{nil, nil, make([]int64, 6), nil, nil, nil, {1 << 16, 2 << 16, 0, 1 << 15, 5}, nil, nil, nil}, nil}, World: []float64{0.5}, Dt: 0.25, Tick: 3,
	}
	state.See([]uint64{9, 3, 5, 4, 0}, []int32{0, 0, 0, 1, 0}, []int32{5, 0, 2, 2, -1})
	for text, want := range map[string]string{
		"count(sheep) == 3 and count(wolf) == 1 and count(anyone) == 4":         "",
		"sum(sheep.energy) == 16777217.25":                                      "", // in float64
		"mean(wolf.energy) == 4 and least(sheep.energy) == 0.25":                "",
		"count(sheep.mood == mood.ill) == 2":                                    "",
		"count(sheep.mood == ill) == 2":                                         "write mood.ill for that of sheep.mood", // fields of cells come first
		"count(sheep where here.grass == ill) == 1":                             "count(sheep where here.grass == ill) is 0",
		"sum(sheep.purse) == 3 and most(sheep.way.y) == 6":                      "",
		"most(sheep.energy) < 1 or least(anyone.row) > 0":                       "most(sheep.energy) is 1.6777216e+07 of anna, least(anyone.row) is 0 of anna",
		"any(wolf.energy > 1) and all(sheep.energy > 0.5)":                      "any(wolf.energy > 1) is true, first of entity 4, all(sheep.energy > 0.5) is false, first of entity 9",
		"sum(sheep.way) > 1":                                                    "write a component",
		"mean(`here`.energy) > 1":                                               "no such entity lives; say what counts then: mean(`here`.energy else 0)",
		"mean(`here`.energy else rate) == 0.5":                                  "",
		"if any(`here`.energy > 1) then mean(`here`.energy) > 1 else true":      "",
		"all(`here`.energy > 1) and sum(`here`.energy) == 0":                    "",
		"mean(sheep.energy where here.heat > 9) > 1":                            "no such entity lives",
		"entity(anna).energy == 16777216 and entity(anna).way[1] == 4":          "",
		"entity(anna).row == 0 and entity(9).col == 2 and entity(9).row == 1":   "",
		"entity(9).purse == 1 and entity(anna).mood == mood.ill":                "",
		"alive(anna) and not alive(`bo-2`) and not alive(1)":                    "",
		"entity(`bo-2`).energy > 1":                                             "there is no such entity now",
		"not alive(`bo-2`) or entity(`bo-2`).energy > 1":                        "",
		"count(sheep.degree == 2) == 3 and sum(sheep.col) == 4":                 "", // all stand on corners
		"sum(1 / sheep.purse where sheep.purse > 0) == 1.5":                     "",
		"sum(1 / sheep.purse) > 0":                                              "division by zero",
		"count(sheep.energy > wolf.energy) > 1":                                 "over one kind",
		"count(sheep where heat > 1) > 1":                                       "write here.heat",
		"count(sheep where row > 1) > 1":                                        "write sheep.row",
		"count(sheep where energy > 1) > 1":                                     "mean(sheep.energy)",
		"sum(energy) > 1":                                                       "mean(sheep.energy)",
		"sum(sheep) > 1":                                                        "write count(sheep)",
		"sheep.energy > 1":                                                      "of each entity by itself",
		"sheep.mood == well":                                                    "write count(sheep.mood == well)",
		"count(sheep.age) > 1":                                                  "do not know",
		"count(sheep.energi > 1) > 1":                                           "did you mean \"energy\"",
		"count(sheep.heat > 1) > 1":                                             "write here.heat",
		"count(sheep where here.energy > 1) > 1":                                "write sheep.energy",
		"count(here.heat > 1) > 1":                                              "say of whose",
		"count(sheep where count(heat > 1) > 1) > 1":                            "over neighbours",
		"count(sheep where chance(0.5)) > 1":                                    "draws",
		"count(heat > entity(anna).energy) > 1":                                 "of the whole world",
		"entity(hanna).energy > 1":                                              "did you mean \"anna\"",
		"entity(anna) > 1":                                                      "entity(anna).energy",
		"entity(anna).way == entity(9).way":                                     "vector",
		"entity(0.5).energy > 1":                                                "whole number",
		"count(wulf) > 1":                                                       "did you mean \"wolf\"",
		"count(sheep else 3) > 1":                                               "leave out else",
		"one(sheep.energy) > 1":                                                 "looks at a cell",
		"distinct(anyone.mood) == 2 and distinct(as(mood, wolf.energy)) == 0":   "", // 4 is no mood
		"count(sheep.mood == as(mood, 1)) == 2 and count(anyone.col == 2) == 3": "",
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
		switch holds, err := x.Holds(state); {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		case err == nil && (holds != (want == "") || !strings.Contains(x.Found(), want)):
			t.Errorf("%s: %v, %s; want %q", text, holds, x.Found(), want)
		}
	}
}

// BenchmarkCrowd looks at 100,000 entities, of which a hundred die and as many are born between looks.
func BenchmarkCrowd(b *testing.B) {
	l, err := space.Square4{Rows: 512, Cols: 512}.Build()
	if err != nil {
		b.Fatal(err)
	}
	for _, text := range []string{"count(sheep)", "mean(sheep.energy)", "sum(sheep.energy * here.heat where sheep.mood == mood.ill)"} {
		for _, how := range []string{"blocks", "naive"} {
			b.Run(text+"/"+how, func(b *testing.B) {
				n, err := Parse(text)
				if err != nil {
					b.Fatal(err)
				}
				x, err := CheckStatistic(meadowWith(l), n)
				if err != nil {
					b.Fatal(err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				state := crowded(r, l, 100_000)
				x.naive = how == "naive"
				w, next := &state.living, uint64(0)
				for slot := range w.ids {
					next++
					w.ids[slot], w.cells[slot] = next, int32(r.IntN(l.Cells()))
				}
				b.ReportAllocs()
				for b.Loop() {
					for range 100 {
						next++
						w.ids[r.IntN(len(w.ids))] = next
					}
					state.See(w.ids, w.kinds, w.cells)
					if _, err := x.Value(state); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(w.ids)), "ns/entity")
			})
		}
	}
}
