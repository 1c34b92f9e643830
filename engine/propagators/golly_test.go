package propagators_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/space"
)

// gollyCells reads rows of states as testdata/README.md has them; those of hexes mirrored, as ours lie.
func gollyCells(text string, mirrored bool) (rows [][]float64) {
	for line := range strings.SplitSeq(text, "/") {
		var row []float64
		for _, c := range line {
			row = append(row, float64(max(c, '@')-'@'))
		}
		if mirrored {
			slices.Reverse(row)
		}
		rows = append(rows, row)
	}
	return rows
}

// liveBox cuts rows down to the box of the cells that are not dead.
func liveBox(rows [][]float64) (box [][]float64) {
	top, bottom, left, right := len(rows), -1, 1<<30, -1
	for i, row := range rows {
		for j, v := range row {
			if v != 0 {
				top, bottom, left, right = min(top, i), i, min(left, j), max(right, j)
			}
		}
	}
	for i := top; i <= bottom; i++ {
		box = append(box, rows[i][left:right+1])
	}
	return box
}

// TestGolly: rules of every family do to random cells what Golly does, and are written as it writes them.
func TestGolly(t *testing.T) {
	b, err := os.ReadFile("testdata/golly.tsv")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rule, kind, hex, number := f[0], f[2], f[2] == "hex", func(s string) int {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		rows, cols := number(f[3]), number(f[4])
		edge, err := space.ParseEdge(f[5])
		if err != nil {
			t.Fatal(err)
		}
		s := map[string]space.Space{
			"square8": space.Square8{Rows: rows, Cols: cols, Edge: edge}, "square4": space.Square4{Rows: rows, Cols: cols, Edge: edge},
			"hex": space.Hex{Rows: rows, Cols: cols, Edge: edge},
		}[kind]
		l := lattice(t, s)
		bounds := ":" + map[space.Edge]string{space.Wrap: "T", space.Absorb: "P"}[edge] + f[4] + "," + f[3]
		n, err := propagators.ParseNotation(l, rule+bounds)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if want := f[1] + bounds; n.Golly(l) != want {
			t.Errorf("%s is %s for Golly, want %s", rule, n.Golly(l), want)
		}
		w := stepped(t, s, slices.Concat(gollyCells(f[7], hex)...), n.Automaton(l), 2)
		steps(t, w, number(f[6]))
		var got [][]float64
		for row := range slices.Chunk(values(w, 0), cols) {
			got = append(got, row)
		}
		want := gollyCells(f[8], hex)
		if strings.HasPrefix(rule, "R") {
			got, want = liveBox(got), liveBox(want)
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
			t.Errorf("%s on %v: other cells after %s ticks than Golly has:\n%v\nwant\n%v", rule, s, f[6], got, want)
		}
		count++
	}
	if count < 80 {
		t.Errorf("%d rules were compared, want 80 at least", count)
	}
}
