package propagators_test

import (
	"slices"
	"testing"

	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/internal/rle"
	"github.com/murksim/murksim/space"
)

// TestPatternsOfOthers: patterns that others found in rules with letters and in rules of a range look the same after so many ticks, so
// far away. VALIDATION.md names the sources.
func TestPatternsOfOthers(t *testing.T) {
	const side = 90
	for _, tt := range []struct {
		name, rule, cells    string
		ticks, rows, columns int // moved by, either way
	}{
		{"Bosco", "R5,C0,M1,S34..58,B34..45,NM", "6bo$4b5o$2b5ob2o$b5o3b2o$b4o5bo$4o5b3o$b4o3b3o$b5ob4o$2b8o$3b7o$4b5o!", 166, 0, 0},
		{"bug", "R5,C0,M1,S34..58,B34..45,NM", "4b3o$3b6o$2b9o$b2o3b6o$bo5b5o$2o6b4o$bo5b5o$b2o3b6o$2b9o$3b6o$4b3o!", 1, 0, 1},
		{"diagonal bug", "R5,C0,M1,S34..58,B34..45,NM", "4b3o$2b6o$2b7o$2b8o$b4o2b5o$b3o4b4o$3o6b4o$bo6b5o$b2o4b5o$2b2o2b6o$3b2ob5o$5b3o!", 10, 6, 6},
		{"butterfly", "R5,C0,M1,S34..52,B31..45,NM", "18b4o$16b4ob3o$14b5o3b3o$14b3o5b3o$13b3o6b3o$11b3o9b2o$b7o2b3o10b2o$3o" +
			"b7o12b2o$11o13bo$3o2b4o14b2o$3o4b2o2b3o8b2o$3o18b2o$o17bob2o$o16b4o$2o13bob3o$b2o13b2o$b3obo6bob3o$2b5o4b4o$3b4o5b2o$2b5o4b4o$b3obo6bob3o$b" +
			"2o13b2o$2o13bob3o$o16b4o$o17bob2o$3o18b2o$3o4b2o2b3o8b2o$3o2b4o14b2o$11o13bo$3ob7o12b2o$b7o2b3o10b2o$11b3o9b2o$13b3o6b3o$14b3o5b3o$14b5o3b" +
			"3o$16b4ob3o$18b4o!", 31, 0, 9},
		{"knightship", "B37/S2-i34q", "16bo$15b2o$15bo3bo$14bo2bob2o$13b2o5bo$13bo2bo2bo$7bo5b2o4bo$7bobo5b2o$7bobo6bo4$2o$obo$b2o$17b2o5b2ob3o$16bo3bo2b2ob2obo$16b2o5b2obob2o$17b" +
			"2o3bobo$17bo2bo$18bob2o4$6b3o$6bo19bo$7bo19bobo$29b2o$22b2o2bo4bo$22b2ob2ob2obo$22bo2bo2b3o$22b2o2b2o$23b5o!", 42, 4, 12},
		{"glider of Life, as Larger than Life", "R1,C0,M0,S2..3,B3..3,NM", "bo$2bo$3o!", 4, 1, 1},
		{"glider of Life, as bits", "MAP" + mapOfLife, "bo$2bo$3o!", 4, 1, 1},
	} {
		p, err := rle.Parse(tt.cells, nil)
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]float64, side*side)
		for r := range p.Cells() {
			for k := range r.Count {
				cells[(20+r.Row)*side+20+r.Col+k] = 1
			}
		}
		s := space.Square8{Rows: side, Cols: side, Edge: space.Wrap}
		n, err := propagators.ParseNotation(lattice(t, s), tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		w := stepped(t, s, cells, n.Automaton(lattice(t, s)), 2)
		steps(t, w, tt.ticks)
		got, there := values(w, 0), false
		for _, by := range [4][2]int{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			moved := make([]float64, len(cells))
			for i, v := range cells {
				moved[(i/side+by[0]*tt.rows+side)%side*side+(i%side+by[1]*tt.columns+side)%side] = v
			}
			there = there || slices.Equal(got, moved)
		}
		if !there {
			t.Errorf("%s: after %d ticks it is not itself, moved by %d rows and %d columns", tt.name, tt.ticks, tt.rows, tt.columns)
		}
	}
}
