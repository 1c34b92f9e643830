package propagators_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestLargerNotation: a rule of a range has one spelling.
func TestLargerNotation(t *testing.T) {
	for rule, want := range map[string]string{
		"R5,C0,M1,S34..58,B34..45,NM":        "R5,C0,M1,S34..58,B34..45,NM",
		"5,34,45,34,58":                      "R5,C0,M1,S34..58,B34..45,NM",
		"r5,c2,m1,s34-58,b34-45,nm":          "R5,C0,M1,S34..58,B34..45,NM",
		"R5,C2,S33-57,B34-45":                "R5,C0,M0,S33..57,B34..45,NM",
		"R2,C2,S2-3,B3,NM":                   "R2,C0,M0,S2..3,B3..3,NM",
		"R2,C2,S6,2-3,4,B3,5,NN":             "R2,C0,S2-4,6,B3,5,NN",
		"R2,C4,M1,S0,2-3,5,B3,NN":            "R2,C4,S1-2,4,B3,NN",
		"R2,C4,M1,S0,2-3,B3,NC":              "R2,C4,M0,S1..2,B3..3,NC",
		"R1,C0,S,B2,NM":                      "R1,C0,S,B2,NM",
		"R1,C0,S,B,NM":                       "R1,C0,S,B,NM",
		"R500,C256,M0,S0..1002001,B7..7,NM":  "R500,C256,M0,S0..1002001,B7..7,NM",
		"R10,C0,M1,S123..212,B123..170,NM:T": "R10,C0,M1,S123..212,B123..170,NM",
	} {
		l := lattice(t, torus)
		n, err := propagators.ParseNotation(l, rule)
		if err != nil || n.String() != want {
			t.Errorf("%s is %s, %v, want %s", rule, n.String(), err, want)
		}
		if again, err := propagators.ParseNotation(l, want); err != nil || again.String() != want {
			t.Errorf("%s is %s, %v, want itself", want, again.String(), err)
		}
	}
}

// farCell returns the cell at an offset, each axis by itself, or false.
func farCell(s space.Space, row, col int) (at [2]int, ok bool) {
	var rows, cols int
	var edge space.Edge
	switch s := s.(type) {
	case space.Square4:
		rows, cols, edge = s.Rows, s.Cols, s.Edge
	case space.Square8:
		rows, cols, edge = s.Rows, s.Cols, s.Edge
	}
	axis := func(i, n int) int {
		for edge == space.Wrap && i < 0 {
			i += n
		}
		for edge == space.Wrap && i >= n {
			i -= n
		}
		if edge == space.Clamp {
			i = min(max(i, 0), n-1)
		}
		return i
	}
	at = [2]int{axis(row, rows), axis(col, cols)}
	return at, at[0] >= 0 && at[0] < rows && at[1] >= 0 && at[1] < cols
}

// naiveLarger counts offset by offset.
func naiveLarger(s space.Space, cols int, g *propagators.Larger, v []float32) []float32 {
	next := make([]float32, len(v))
	states := max(2, g.States)
	for cell := range v {
		state := 0
		for k := range states {
			if v[cell] == float32(k) {
				state = k
			}
		}
		count := 0
		for r := -g.Range; r <= g.Range; r++ {
			for c := -g.Range; c <= g.Range; c++ {
				in := true
				switch g.Shape {
				case 'N':
					in = max(r, -r)+max(c, -c) <= g.Range
				case 'C':
					in = 4*(r*r+c*c) < (2*g.Range+1)*(2*g.Range+1)
				}
				if in && r == 0 && c == 0 {
					in = g.Self
				}
				if at, ok := farCell(s, cell/cols+r, cell%cols+c); in && ok && v[at[0]*cols+at[1]] == 1 {
					count++
				}
			}
		}
		list := g.Born
		if state == 1 {
			list = g.Survive
		}
		alive := slices.ContainsFunc(list, func(i propagators.Interval) bool { return i.Lo <= count && count <= i.Hi })
		switch {
		case state <= 1 && alive:
			next[cell] = 1
		case state >= 1 && state+1 < states:
			next[cell] = float32(state + 1)
		}
	}
	return next
}

// randomIntervals are some counts up to a size.
func randomIntervals(r *rand.Rand, size int) (list []propagators.Interval) {
	for at := r.IntN(size/3 + 1); at <= size && r.IntN(4) > 0; {
		i := propagators.Interval{Lo: at, Hi: min(size, at+r.IntN(size/2+1))}
		list = append(list, i)
		at = i.Hi + 2 + r.IntN(size)
	}
	return list
}

// TestLarger compares rules with a count offset by offset: all shapes, edges and numbers of workers, spaces that are smaller than
// the range or wider than a block, and values that are no states.
func TestLarger(t *testing.T) {
	for seed := range uint64(160) {
		r := rand.New(rand.NewPCG(seed, 8))
		rows, cols, edge := 1+r.IntN(14), 1+r.IntN(30), space.Edge(seed%3)
		if seed%16 == 0 {
			rows, cols = 2+r.IntN(3), 1020+r.IntN(40)
		}
		var s space.Space = space.Square8{Rows: rows, Cols: cols, Edge: edge}
		if r.IntN(2) == 0 {
			s = space.Square4{Rows: rows, Cols: cols, Edge: edge}
		}
		g := &propagators.Larger{Range: 1 + r.IntN(6), States: r.IntN(5), Self: r.IntN(2) == 0, Shape: []propagators.Shape{'M', 'N', 'C'}[r.IntN(3)]}
		size := 2*g.Range*(g.Range+1) + 1
		g.Born, g.Survive = randomIntervals(r, size/2), randomIntervals(r, size/2)
		initial := smallValues(r, rows*cols, max(2, g.States))
		initial[r.IntN(len(initial))] = []float64{-1, 0.5, 1e9, 7}[r.IntN(4)]
		want := floats(initial)
		var worlds []*engine.World
		for _, workers := range []int{1, 2, 8} {
			worlds = append(worlds, stepped(t, s, initial, propagators.Automaton{Larger: g}, workers))
		}
		for range 3 {
			want = naiveLarger(s, cols, g, want)
			for _, w := range worlds {
				steps(t, w, 1)
				if !equalBits(t, "larger", w, 0, want) {
					t.Fatalf("seed %d, %v, %v", seed, s, g)
				}
			}
		}
		again, err := propagators.ParseNotation(lattice(t, s), g.String())
		if err != nil || again.String() != g.String() {
			t.Errorf("seed %d: %v is %v, %v", seed, g, again.String(), err)
		}
		w := stepped(t, s, initial, again.Automaton(lattice(t, s)), 1)
		for range 3 {
			steps(t, w, 1)
		}
		if !equalBits(t, "larger as it is written", w, 0, want) {
			t.Fatalf("seed %d, %v, %v", seed, s, g)
		}
	}
}

// TestLargerRefuses: what a rule of a range cannot be is said.
func TestLargerRefuses(t *testing.T) {
	for rule, want := range map[string]string{
		"R0,C0,M1,S34..58,B34..45,NM":        "the range must be 1 to 500, not 0",
		"R501,C0,M1,S34..58,B34..45,NM":      "the range must be 1 to 500, not 501",
		"R5,C257,M1,S34..58,B34..45,NM":      "states must be 0 to 256, not 257",
		"R5,C0,M2,S34..58,B34..45,NM":        `M must be 0 or 1, not "2"`,
		"R5,C0,M1,S58..34,B34..45,NM":        "58..34: the first number is the greater one",
		"R5,C0,M1,S34..122,B34..45,NM":       "counts must be 0 to 121 here, the smaller first, not 34 to 122",
		"R5,C0,M1,S34..58,B34..62,NN":        "counts must be 0 to 61 here",
		"R5,C0,M1,S34..58,B34..45,N+":        "N+ is a neighbourhood that murksim does not have",
		"R5,C0,M1,S34..58,B34..45,N":         "N is a neighbourhood that murksim does not have",
		"R5,M1,S34..58,B34..45,NM":           "must look like R5",
		"R5,C0,M1,B34..45,S34..58,NM":        "must look like R5",
		"R5,C0,M1,S34..58,NM":                "must look like R5",
		"R5,C0,M1,S34..58,B3,NM,3":           "must look like R5",
		"R5,C0,S3,,4,B3,NM":                  "must look like R5",
		"R5,C0,M1,S34..58,B99999999999..4":   `"99999999999" is not a number, or too large`,
		"5,34,45,34":                         "five numbers are needed",
		"5,45,34,34,58":                      "not 45 to 34",
		"5,34,45,34,x":                       `"x" is not a number`,
		"Rx,C0,M1,S34..58,B34..45,NM":        `"x" is not a number`,
		"R5,C0,M1,S34..58,B34..45,NM:T60,40": ":T60,40 is a torus",
	} {
		if _, err := propagators.ParseNotation(lattice(t, torus), rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rule, err, want)
		}
	}
	for _, s := range []space.Space{hexes, chain, ball} {
		if _, err := propagators.ParseNotation(lattice(t, s), "5,34,45,34,58"); err == nil || !strings.Contains(err.Error(), "needs a space of squares") {
			t.Errorf("%v: %v", s, err)
		}
	}
	refused(t, torus, propagators.Automaton{Field: 2, Larger: &propagators.Larger{Range: 1}}, "the shape must be M, N or C")
	refused(t, torus, propagators.Automaton{Field: 2, Larger: &propagators.Larger{Range: 1, Shape: 'M', States: 5}}, `rule R1,C5,S,B,NM: has 5 states; field "c" holds 4 values`)
	refused(t, torus, propagators.Automaton{Field: 2, Rule: propagators.Rule{Born: 1}, Larger: &propagators.Larger{Range: 1, Shape: 'M'}}, "must have one of them")
	refused(t, torus, propagators.Automaton{Field: 2, Larger: &propagators.Larger{Range: 1, Shape: 'M', Born: []propagators.Interval{{1, 2}, {3, 4}}}}, "the smaller first")
}

// BenchmarkLarger measures the cost of a cell.
func BenchmarkLarger(b *testing.B) {
	for _, rule := range []string{"R1,C0,M0,S2..3,B3..3,NM", "R5,C0,M1,S34..58,B34..45,NM", "R10,C0,M1,S123..212,B123..170,NM", "R100,C0,M1,S12300..21200,B12300..17000,NM", "R5,C0,M1,S20..35,B20..28,NN", "R10,C0,M1,S90..160,B90..130,NC"} {
		b.Run(rule, func(b *testing.B) {
			s := space.Square8{Rows: 1024, Cols: 1024, Edge: space.Wrap}
			n, err := propagators.ParseNotation(lattice(b, s), rule)
			if err != nil {
				b.Fatal(err)
			}
			w := newWorld(b, engine.Config{
				Space: s, Fields: []fields.Def{{Name: "v", Initial: fields.Values(smallValues(rand.New(rand.NewPCG(1, 1)), 1<<20, 2))}},
				Propagators: []engine.Propagator{n.Automaton(lattice(b, s))},
			})
			for b.Loop() {
				if _, err := w.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<20), "ns/cell")
		})
	}
}
