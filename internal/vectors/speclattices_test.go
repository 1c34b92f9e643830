package vectors_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/murksim/murksim/space"
)

// latticeCases are spaces as descriptors have them.
var latticeCases = []string{
	`{"kind":"line","length":4}`,
	`{"kind":"line","length":1,"edge":"clamp"}`,
	`{"kind":"line","length":4,"edge":"clamp"}`,
	`{"kind":"line","length":3,"edge":"wrap"}`,
	`{"kind":"ring","length":2}`,
	`{"kind":"ring","length":1}`,
	`{"kind":"square4","rows":3,"cols":4}`,
	`{"kind":"square4","rows":3,"cols":4,"edge":"clamp"}`,
	`{"kind":"square4","rows":3,"cols":4,"edge":"wrap"}`,
	`{"kind":"square8","rows":3,"cols":4}`,
	`{"kind":"square8","rows":3,"cols":4,"edge":"clamp"}`,
	`{"kind":"square8","rows":1,"cols":4,"edge":"wrap"}`,
	`{"kind":"hex","rows":3,"cols":4}`,
	`{"kind":"hex","rows":3,"cols":4,"edge":"clamp"}`,
	`{"kind":"hex","rows":4,"cols":5,"edge":"wrap"}`,
	`{"kind":"fcc12","w":3,"h":3,"d":3}`,
	`{"kind":"fcc12","w":3,"h":2,"d":2,"edge":"clamp"}`,
	`{"kind":"fcc12","w":4,"h":2,"d":2,"edge":"wrap"}`,
	`{"kind":"fcc12","w":5,"h":5,"d":1}`,
	`{"kind":"product","parts":[{"kind":"ring","length":3},{"kind":"hex","rows":2,"cols":2}]}`,
	`{"kind":"product","parts":[{"kind":"product","parts":[{"kind":"line","length":2},{"kind":"fcc12","w":2,"h":2,"d":2}]},{"kind":"line","length":3,"edge":"clamp"}]}`,
}

type latticeCase struct {
	Space      json.RawMessage `json:"space"`
	MaxDegree  int             `json:"max_degree"`
	Coords     [][]int32       `json:"coords"`     // by rank
	Neighbours [][]int32       `json:"neighbours"` // by rank: ranks
	Directions [][]int         `json:"directions"` // likewise: which direction leads there
	Taken      [][][]int32     `json:"taken"`      // likewise: the step taken
	Distances  [][]int         `json:"distances"`  // by rank and rank
	Disks      [][]int32       `json:"disks"`      // radius 2 around each rank
	Sees       [][]int32       `json:"sees"`       // lines of radius 3 from each rank that every third cell, from rank 1 on, does not block
}

func latticeKit(t *testing.T) kit {
	var cases []any
	for _, text := range latticeCases {
		cases = append(cases, latticeOf(t, text, described(t, `"space":`+text+`,"fields":[{"name":"a"}]`).Lattice()))
	}
	return kit{
		files: map[string][]byte{"lattices.json": lines(t, []string{"lattices"}, cases)},
		examples: map[string]string{
			"lattices": latticeExample(t, latticeCases[6], 0, 5) + latticeExample(t, latticeCases[10], 0, 3) +
				latticeExample(t, latticeCases[13], 0, 5) + latticeExample(t, latticeCases[14], 0, 9) + latticeExample(t, latticeCases[15], 0, 6) +
				latticeExample(t, latticeCases[19], 0, 7),
		},
	}
}

func latticeOf(t *testing.T, text string, l *space.Lattice) latticeCase {
	c := latticeCase{Space: json.RawMessage(text), MaxDegree: l.MaxDegree()}
	n := l.Cells()
	patterns := make([]*space.Pattern, n)
	for _, s := range l.Spans() {
		for i := range s.Count {
			patterns[s.First+i*s.Stride] = s.Pattern
		}
	}
	walls := make([]float32, n)
	for at := 1; at < n; at += 3 {
		walls[at] = 1
	}
	rays := l.Rays()
	for at := range n {
		c.Coords = append(c.Coords, l.Coord(at).AppendTo(nil))
		c.Neighbours = append(c.Neighbours, l.AppendNeighbours([]int32{}, at))
		directions, taken := []int{}, [][]int32{}
		for k, d := range patterns[at].Dirs {
			directions, taken = append(directions, int(d)), append(taken, patterns[at].Deltas[k].AppendTo(nil))
		}
		c.Directions, c.Taken = append(c.Directions, directions), append(c.Taken, taken)
		var distances []int
		for to := range n {
			distances = append(distances, int(l.Distance(at, to)))
		}
		c.Distances = append(c.Distances, distances)
		disk, err := l.Compile(space.Disk{Center: l.Coord(at), Radius: 2})
		if err != nil {
			t.Fatal(err)
		}
		c.Disks = append(c.Disks, disk.Ranks)
		seen := make([]bool, n)
		for rays.From(at, 3, 0, n); rays.Next(); {
			seen[rays.To] = rays.Clear(walls)
		}
		sees := []int32{}
		for to, sight := range seen {
			if sight {
				sees = append(sees, int32(to))
			}
		}
		c.Sees = append(c.Sees, sees)
	}
	return c
}

func latticeExample(t *testing.T, text string, cells ...int) string {
	l := described(t, `"space":`+text+`,"fields":[{"name":"a"}]`).Lattice()
	out := fmt.Sprintf("%v: %d cells\n", l.Space(), l.Cells())
	for _, at := range cells {
		out += fmt.Sprintf("  rank %d, coordinate %v: neighbours %v\n", at, l.Coord(at), l.AppendNeighbours(nil, at))
	}
	return out
}
