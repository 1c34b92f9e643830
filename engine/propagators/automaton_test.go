package propagators_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/cputime"
	"github.com/murksim/murksim/space"
)

// drawing makes states of characters: the place of each in letters.
func drawing(letters string, rows ...string) (v []float64) {
	for _, c := range strings.Join(rows, "") {
		v = append(v, float64(strings.IndexRune(letters, c)))
	}
	return v
}

// written is the inverse of drawing.
func written(letters string, v []float64) string {
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = letters[int(x)]
	}
	return string(b)
}

// stepped is a world of one field and one propagator.
func stepped(t testing.TB, s space.Space, initial []float64, p engine.Propagator, workers int) *engine.World {
	return newWorld(t, engine.Config{
		Space: s, Seed: 11, Workers: workers, Paranoid: true,
		Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}}, Propagators: []engine.Propagator{p},
	})
}

func table(t testing.TB, l *space.Lattice, states int, all ...propagators.Transition) *propagators.Table {
	t.Helper()
	tab, err := propagators.NewTable(l, states, all)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func elementary(t testing.TB, l *space.Lattice, code uint8) *propagators.Table {
	t.Helper()
	tab, err := propagators.NewElementary(l, code)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// naiveTable follows transitions word by word.
func naiveTable(t testing.TB, l *space.Lattice, states int, all []propagators.Transition, v []float32) []float32 {
	stateOf := func(x float32) int {
		for s := range states {
			if x == float32(s) {
				return s
			}
		}
		return 0
	}
	holds := func(cell int, c propagators.Condition) bool {
		count := 0
		for d, way := range l.Directions() {
			to, _, ok := leads(t, l, cell, d)
			name := way.Name
			if l.Kind() == "product" && strings.Contains(c.At, ".") {
				name = fmt.Sprintf("%d.%s", way.Part, way.Name)
			}
			if name == c.At {
				return ok && stateOf(v[to]) == c.State || !ok && c.State == 0
			}
			if ok && stateOf(v[to]) == c.State {
				count++
			}
		}
		return c.Counts>>count&1 != 0
	}
	next := make([]float32, len(v))
	for cell := range next {
		here := stateOf(v[cell])
		next[cell] = float32(here)
		for _, tr := range all {
			if (tr.From == here || tr.From == propagators.Any) && !slices.ContainsFunc(tr.When, func(c propagators.Condition) bool { return !holds(cell, c) }) {
				next[cell] = float32(tr.Become)
				break
			}
		}
	}
	return next
}

// randomTransitions are some for a lattice; ok is false if they are too many together.
func randomTransitions(r *rand.Rand, l *space.Lattice, states int) (all []propagators.Transition) {
	names := map[string]int{}
	for _, d := range l.Directions() {
		names[d.Name]++
	}
	for range 1 + r.IntN(6) {
		tr := propagators.Transition{From: r.IntN(states+1) - 1, Become: r.IntN(states)}
		for range r.IntN(3) {
			c := propagators.Condition{State: r.IntN(states)}
			if r.IntN(2) == 0 {
				d := l.Directions()[r.IntN(len(l.Directions()))]
				if c.At = d.Name; names[d.Name] > 1 {
					c.At = fmt.Sprintf("%d.%s", d.Part, d.Name)
				}
			} else {
				lo := r.IntN(3)
				c.Counts = propagators.Between(lo, lo+r.IntN(3)) | 1
			}
			tr.When = append(tr.When, c)
		}
		all = append(all, tr)
	}
	return all
}

// TestTable compares tables with their transitions followed word by word, on random
// spaces and with values that are no states among them.
func TestTable(t *testing.T) {
	compared := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomSpace(r, 0)
		if seed < uint64(len(longSpaces)) {
			s = longSpaces[seed]
		}
		l := lattice(t, s)
		if l.Cells() > 9000 || l.Dim() > 9 {
			continue
		}
		states := 2 + r.IntN(5)
		all := randomTransitions(r, l, states)
		tab, err := propagators.NewTable(l, states, all)
		if err != nil {
			continue
		}
		compared++
		initial := smallValues(r, l.Cells(), states)
		initial[r.IntN(len(initial))] = []float64{-1, 0.5, 1e9, float64(states), 256, -0.25, 8388609}[r.IntN(7)]
		want := floats(initial)
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			worlds = append(worlds, stepped(t, s, initial, propagators.Automaton{Table: tab}, workers))
		}
		for range 4 {
			want = naiveTable(t, l, states, all, want)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "table", w, 0, want) {
					t.Fatalf("seed %d, %v, %d states, %+v", seed, s, states, all)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d tables were compared, want 100 at least", compared)
	}
}

// TestElementary compares all 256 rules with their definition, on a ring and on a line
// with zeros beyond its ends.
func TestElementary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	initial := smallValues(r, 37, 2)
	for _, s := range []space.Space{space.Ring{Length: 37}, space.Line{Length: 37}} {
		_, around := s.(space.Ring)
		l := lattice(t, s)
		for code := range 256 {
			w := stepped(t, s, initial, propagators.Automaton{Table: elementary(t, l, uint8(code))}, 1)
			v := slices.Clone(initial)
			for range 5 {
				at := func(i int) int {
					if !around && (i < 0 || i >= len(v)) {
						return 0
					}
					return int(v[(i+len(v))%len(v)])
				}
				next := make([]float64, len(v))
				for i := range v {
					next[i] = float64(code >> (4*at(i-1) + 2*at(i) + at(i+1)) & 1)
				}
				v = next
				steps(t, w, 1)
				if got := values(w, 0); !slices.Equal(got, v) {
					t.Fatalf("rule %d on %v, tick %d: %v, want %v", code, s, w.Tick(), got, v)
				}
			}
		}
	}
}

// TestWolfram: from a single 1, rule 90 draws Pascal's triangle modulo 2, and the
// column below the 1 of rule 30 is Wolfram's sequence (OEIS A051023).
func TestWolfram(t *testing.T) {
	const n, middle, ticks = 256, 128, 64
	seed := make([]float64, n)
	seed[middle] = 1
	l := lattice(t, space.Ring{Length: n})
	world := func(code uint8) *engine.World {
		return stepped(t, space.Ring{Length: n}, seed, propagators.Automaton{Table: elementary(t, l, code)}, 1)
	}
	w := world(90)
	for tick := 1; tick <= ticks; tick++ {
		steps(t, w, 1)
		for i, got := range values(w, 0) {
			want := 0.0
			// C(tick, k) is odd if k's bits are among those of tick (Lucas).
			if k := i - middle + tick; k >= 0 && k <= 2*tick && k%2 == 0 && k/2&^tick == 0 {
				want = 1
			}
			if got != want {
				t.Fatalf("rule 90, tick %d: cell %d = %v, want %v", tick, i, got, want)
			}
		}
	}
	w = world(30)
	column := "1"
	for range 63 {
		steps(t, w, 1)
		column += fmt.Sprint(w.Value(0, middle))
	}
	if want := "110111001100010110010011101011100111010"; !strings.HasPrefix(column, want) {
		t.Errorf("rule 30: the column is %s, want %s…", column, want)
	}
}

// TestGun: Gosper's gun looks the same every 30 ticks, and each time has fired a
// glider, of five cells.
func TestGun(t *testing.T) {
	gun := []string{
		"........................#...........", "......................#.#...........", "............##......##............##",
		"...........#...#....##............##", "##........#.....#...##..............", "##........#...#.##....#.#...........",
		"..........#.....#.......#...........", "...........#...#....................", "............##......................",
	}
	const side, period = 120, 30
	cells := make([]float64, side*side)
	for i, v := range drawing(".#", gun...) {
		cells[(i/36)*side+i%36] = v
	}
	w := stepped(t, space.Square8{Rows: side, Cols: side}, cells, propagators.Automaton{Rule: life}, 2)
	box := func() (v []float64) {
		all := values(w, 0)
		for row := range len(gun) {
			v = append(v, all[row*side:row*side+36]...)
		}
		return v
	}
	steps(t, w, 2*period)
	first, alive := box(), total(values(w, 0))
	for shot := 1; shot <= 4; shot++ {
		steps(t, w, period)
		if got := box(); !slices.Equal(got, first) {
			t.Errorf("tick %d: the gun differs from that at tick %d", w.Tick(), 2*period)
		}
		if got, want := total(values(w, 0)), alive+5*float64(shot); got != want {
			t.Errorf("tick %d: %v cells are alive, want %v", w.Tick(), got, want)
		}
	}
}

// wireWorld is Silverman's automaton of wires: states empty, head, tail, wire.
var wireWorld = []propagators.Transition{
	{From: 1, Become: 2},
	{From: 2, Become: 3},
	{From: 3, When: []propagators.Condition{{State: 1, Counts: propagators.Between(1, 2)}}, Become: 1},
}

// TestWireWorld: a loop is a clock of its own length, and a gate says which of two
// electrons came alone.
func TestWireWorld(t *testing.T) {
	const letters = ".Ht#"
	world := func(rows ...string) *engine.World {
		s := space.Square8{Rows: len(rows), Cols: len(rows[0])}
		return stepped(t, s, drawing(letters, rows...), propagators.Automaton{Table: table(t, lattice(t, s), 4, wireWorld...)}, 1)
	}
	clock := []string{".tH###.", "#.....#", ".#####."}
	w := world(clock...)
	for tick := 1; tick <= 48; tick++ {
		steps(t, w, 1)
		if got, want := written(letters, values(w, 0)) == strings.Join(clock, ""), tick%12 == 0; got != want {
			t.Errorf("tick %d: the clock is at its start: %v, want %v", tick, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"##", "##", 0}, {"tH", "##", 1}, {"##", "tH", 1}, {"tH", "tH", 0}} {
		w := world(tt.a+"###.......", ".....#......", "....####....", "....#..#####", "....####....", ".....#......", tt.b+"###.......")
		heads := 0
		for range 20 {
			steps(t, w, 1)
			if w.Value(0, 4*12-1) == 1 {
				heads++
			}
		}
		if heads != tt.want {
			t.Errorf("%s xor %s: %d electrons, want %d", tt.a, tt.b, heads, tt.want)
		}
	}
}

// TestTableErrors: what is wrong with transitions is said with the place.
func TestTableErrors(t *testing.T) {
	square, ring := lattice(t, space.Square8{Rows: 3, Cols: 3}), lattice(t, space.Ring{Length: 3})
	twice := lattice(t, space.Product{space.Ring{Length: 3}, space.Line{Length: 3}})
	many := propagators.Transition{}
	for s := range 6 {
		many.When = append(many.When, propagators.Condition{State: s, Counts: 1})
	}
	for _, tt := range []struct {
		l      *space.Lattice
		states int
		all    []propagators.Transition
		want   string
	}{
		{square, 1, nil, "table: states must be 2 to 256, not 1"},
		{square, 2, []propagators.Transition{{From: 2}}, "transition 1: state must be 0 to 1, not 2"},
		{square, 2, []propagators.Transition{{}, {Become: propagators.Any}}, "transition 2: state must be 0 to 1, not -1"},
		{square, 2, []propagators.Transition{{When: []propagators.Condition{{State: 5}}}}, "transition 1: condition 1: state must be 0 to 1, not 5"},
		{square, 2, []propagators.Transition{{When: []propagators.Condition{{Counts: 1, At: "north"}}}}, "has counts and a direction"},
		{square, 2, []propagators.Transition{{When: []propagators.Condition{{At: "up"}}}}, `there is no direction "up"; use one of ["north"`},
		{twice, 2, []propagators.Transition{{When: []propagators.Condition{{At: "next"}}}}, `use one of ["0.previous" "0.next" "1.previous" "1.next"]`},
		{square, 2, []propagators.Transition{{When: []propagators.Condition{{Counts: 1 << 9}}}}, "never holds: cells have 0 to 8 neighbours here"},
		{square, 6, []propagators.Transition{many}, "transition 1: condition 6: the table would have to distinguish more than 65536 neighbourhoods"},
		{ring, 200, []propagators.Transition{{When: []propagators.Condition{{At: "next"}}}}, "200 states and 1 directions are too many together"},
	} {
		_, err := propagators.NewTable(tt.l, tt.states, tt.all)
		if _, ok := errors.AsType[*propagators.TableError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewTable = %v, want a TableError with %q", err, tt.want)
		}
	}
	if _, err := propagators.NewElementary(square, 30); err == nil {
		t.Error("NewElementary on a square8 succeeded, want an error")
	}
	for _, tt := range []struct {
		p    propagators.Automaton
		want string
	}{
		{propagators.Automaton{Field: 2, Table: elementary(t, ring, 30)}, `was made for a lattice with the directions ["previous" "next"]`},
		{propagators.Automaton{Field: 2, Table: &propagators.Table{}}, "was made for a lattice with the directions []"},
		{propagators.Automaton{Field: 2, Table: table(t, square, 5)}, `table: has 5 states; field "c" holds 4 values`},
		{propagators.Automaton{Field: 2, Table: table(t, square, 2), Rule: life}, "has rule B3/S23 and a table"},
	} {
		_, err := engine.New(zoo(space.Square8{Rows: 4, Cols: 4}, tt.p))
		if _, ok := errors.AsType[*engine.ConfigError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want a ConfigError with %q", tt.p, err, tt.want)
		}
	}
}

// TestTableLimits: a list may fill the table to the last place, but then no other state has
// one; and a direction that is named again costs nothing more.
func TestTableLimits(t *testing.T) {
	fcc := space.FCC12{W: 4, H: 4, D: 4}
	l := lattice(t, space.Product{fcc, fcc})
	full := propagators.Transition{From: 0, Become: 1}
	for _, d := range l.Directions()[:16] { // 2^16 neighbourhoods
		full.When = append(full.When, propagators.Condition{State: 1, At: fmt.Sprintf("%d.%s", d.Part, d.Name)})
	}
	_, err := propagators.NewTable(l, 2, []propagators.Transition{full})
	if want := "table: the table would have to distinguish more than 65536 neighbourhoods"; err == nil || err.Error() != want {
		t.Errorf("NewTable = %v, want %s", err, want)
	}
	var again []propagators.Transition
	for from := range 8 {
		again = append(again, propagators.Transition{From: from, When: []propagators.Condition{{State: 1, At: "next"}}})
	}
	if _, err := propagators.NewTable(lattice(t, space.Ring{Length: 3}), 128, again); err != nil {
		t.Errorf("NewTable = %v, want none: one direction is named", err)
	}
}

// The column below the seed of Wolfram's rule 30 looks like chance.
func ExampleAutomaton() {
	ring := space.Ring{Length: 21}
	lattice, err := ring.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	rule30, err := propagators.NewElementary(lattice, 30)
	if err != nil {
		fmt.Println(err)
		return
	}
	seed := make([]float64, ring.Length)
	seed[10] = 1
	world, err := engine.New(engine.Config{
		Space:       ring,
		Fields:      []fields.Def{{Name: "cells", Type: fields.Categorical(2), Initial: fields.Values(seed)}},
		Propagators: []engine.Propagator{propagators.Automaton{Field: 0, Table: rule30}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		if _, err := world.Step(); err != nil {
			fmt.Println(err)
			return
		}
		for cell := range ring.Length {
			fmt.Print(world.Value(0, cell))
		}
		fmt.Println()
	}
	// Output:
	// 000000000111000000000
	// 000000001100100000000
	// 000000011011110000000
	// 000000110010001000000
	// 000001101111011100000
}

// ruleSpace is what the rules from cell to cell are measured on.
var ruleSpace = space.Square8{Rows: 1024, Cols: 1024, Edge: space.Wrap}

func BenchmarkAutomaton(b *testing.B) {
	l := lattice(b, ruleSpace)
	for _, tt := range []struct {
		name   string
		states int
		p      propagators.Automaton
	}{
		{"life", 2, propagators.Automaton{Rule: life}},
		{"generations", 4, propagators.Automaton{Rule: propagators.Rule{Born: 1 << 2, Survive: 1<<3 | 1<<4, States: 4}}},
		{"wireworld", 4, propagators.Automaton{Table: table(b, l, 4, wireWorld...)}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			initial := smallValues(rand.New(rand.NewPCG(1, 1)), l.Cells(), tt.states)
			benchmarkStep(b, newWorld(b, engine.Config{
				Space: ruleSpace, Fields: []fields.Def{{Name: "v", Initial: fields.Values(initial)}}, Propagators: []engine.Propagator{tt.p},
			}))
		})
	}
}

// TestLongTableIsMadeAtOnce: the time of making a table is in the order of its transitions
// and neighbourhoods, not of their product, which would be minutes here.
func TestLongTableIsMadeAtOnce(t *testing.T) {
	fcc := space.FCC12{W: 2, H: 2, D: 2}
	l := lattice(t, space.Product{fcc, fcc, fcc})
	var names []string
	for _, d := range l.Directions() {
		names = append(names, fmt.Sprintf("%d.%s", d.Part, d.Name))
	}
	var all []propagators.Transition
	for i := range 100_000 {
		at := names[i%15] // 2^15 neighbourhoods of state 0, none of which has both
		all = append(all, propagators.Transition{From: 0, Become: 1, When: []propagators.Condition{{State: 0, At: at}, {State: 1, At: at}}})
	}
	const most = 20 * time.Second // of the processor
	took := cputime.Of(func() {
		if _, err := propagators.NewTable(l, 2, all); err != nil {
			t.Error(err)
		}
	})
	if took > most {
		t.Errorf("a table of %d transitions takes %v of processor time, want less than %v", len(all), took, most)
	}
}
