package refworld_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/space"
)

// A spaceJSON describes a space in the conformance vectors.
type spaceJSON struct {
	Type                     string
	Len, Rows, Cols, W, H, D int
	Edge                     string
	Components               []spaceJSON
}

func (j *spaceJSON) space(t *testing.T) space.Space {
	t.Helper()
	edge := space.Absorb
	if j.Edge != "" {
		var err error
		if edge, err = space.ParseEdge(j.Edge); err != nil {
			t.Fatal(err)
		}
	}
	switch j.Type {
	case "line1d":
		return space.Line{Length: j.Len, Edge: edge}
	case "ring1d":
		return space.Ring{Length: j.Len}
	case "square4":
		return space.Square4{Rows: j.Rows, Cols: j.Cols, Edge: edge}
	case "square8":
		return space.Square8{Rows: j.Rows, Cols: j.Cols, Edge: edge}
	case "hex2d":
		return space.Hex{Rows: j.Rows, Cols: j.Cols}
	case "fcc12":
		return space.FCC12{W: j.W, H: j.H, D: j.D, Edge: edge}
	case "product":
		var parts space.Product
		for i := range j.Components {
			parts = append(parts, j.Components[i].space(t))
		}
		return parts
	}
	t.Fatalf("unknown space type %q", j.Type)
	return nil
}

// TestVectorsSpaces holds the reference's own cells and neighbours to the vectors,
// so that they do not rest on the lattices that they are to check.
func TestVectorsSpaces(t *testing.T) {
	folder := vectors.Path("murk/spaces")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Schema string
			Spaces []struct {
				ID         string
				Space      spaceJSON
				Coords     [][]int32
				Neighbours [][]int `json:"neighbour_ranks"`
			}
		}
		if err := json.Unmarshal(b, &v); err != nil || v.Schema != "murk-space-vectors-1" {
			t.Fatalf("%s: %v, schema %q: not a file of space vectors", file.Name(), err, v.Schema)
		}
		for _, s := range v.Spaces {
			cells, neighbours := refworld.Topology(s.Space.space(t))
			var coords [][]int32
			for _, c := range cells {
				coords = append(coords, c.AppendTo(nil))
			}
			if !slices.EqualFunc(coords, s.Coords, slices.Equal[[]int32]) {
				t.Errorf("%s: the cells are %v, want %v", s.ID, coords, s.Coords)
			}
			if !slices.EqualFunc(neighbours, s.Neighbours, slices.Equal[[]int]) {
				t.Errorf("%s: the neighbours are %v, want %v", s.ID, neighbours, s.Neighbours)
			}
		}
		t.Logf("%s: %d spaces", file.Name(), len(v.Spaces))
	}
	t.Logf("spaces: %d files", len(files))
}
