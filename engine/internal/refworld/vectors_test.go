package refworld_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine/internal/refworld"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/foreign"
)

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
				Space      foreign.Space
				Coords     [][]int32
				Neighbours [][]int `json:"neighbour_ranks"`
			}
		}
		if err := json.Unmarshal(b, &v); err != nil || v.Schema != "murk-space-vectors-1" {
			t.Fatalf("%s: %v, schema %q: not a file of space vectors", file.Name(), err, v.Schema)
		}
		for _, s := range v.Spaces {
			described, err := s.Space.Build()
			if err != nil {
				t.Fatal(err)
			}
			cells, neighbours := refworld.Topology(described)
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
