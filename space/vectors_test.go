package space_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/space"
)

// A spaceJSON is the description of a space in the conformance vectors.
type spaceJSON struct {
	Type                     string
	Len, Rows, Cols, W, H, D int64
	Edge                     string
	Components               []spaceJSON
}

// space returns what j describes, or false when a size does not fit an int.
func (j spaceJSON) space(t *testing.T) (space.Space, bool) {
	t.Helper()
	for _, v := range []int64{j.Len, j.Rows, j.Cols, j.W, j.H, j.D} {
		if int64(int(v)) != v {
			return nil, false
		}
	}
	edge := space.Absorb
	if j.Edge != "" {
		var err error
		if edge, err = space.ParseEdge(j.Edge); err != nil {
			t.Fatal(err)
		}
	}
	switch j.Type {
	case "line1d":
		return space.Line{Length: int(j.Len), Edge: edge}, true
	case "ring1d":
		return space.Ring{Length: int(j.Len)}, true
	case "square4":
		return space.Square4{Rows: int(j.Rows), Cols: int(j.Cols), Edge: edge}, true
	case "square8":
		return space.Square8{Rows: int(j.Rows), Cols: int(j.Cols), Edge: edge}, true
	case "hex2d":
		return space.Hex{Rows: int(j.Rows), Cols: int(j.Cols)}, true
	case "fcc12":
		return space.FCC12{W: int(j.W), H: int(j.H), D: int(j.D), Edge: edge}, true
	case "product":
		parts := space.Product{}
		for _, c := range j.Components {
			p, ok := c.space(t)
			if !ok {
				return nil, false
			}
			parts = append(parts, p)
		}
		return parts, true
	}
	t.Fatalf("unknown space type %q", j.Type)
	return nil, false
}

type regionJSON struct {
	Spec struct {
		Type             string
		Center, Min, Max []int32
		Radius, Depth    int
		Coords           [][]int32
	}
	Ranks         []int32
	TensorIndices []int32 `json:"tensor_indices"`
	ValidMask     string  `json:"valid_mask"`
	BoundingShape []int   `json:"bounding_shape"`
	Error         string
}

func (j regionJSON) region(t *testing.T) space.Region {
	t.Helper()
	s := j.Spec
	switch s.Type {
	case "all":
		return space.All{}
	case "disk":
		return space.Disk{Center: space.At(s.Center...), Radius: s.Radius}
	case "neighbours":
		return space.Neighbours{Center: space.At(s.Center...), Depth: s.Depth}
	case "rect":
		return space.Rect{Min: space.At(s.Min...), Max: space.At(s.Max...)}
	case "coords":
		cells := space.Cells{}
		for _, c := range s.Coords {
			cells = append(cells, space.At(c...))
		}
		return cells
	}
	t.Fatalf("unknown region type %q", s.Type)
	return nil
}

type vectorsJSON struct {
	Schema string
	Spaces []struct {
		ID         string
		Space      spaceJSON
		Ndim       int
		CellCount  int `json:"cell_count"`
		MaxDegree  int `json:"max_neighbour_degree"`
		Coords     [][]int32
		Neighbours [][]int32            `json:"neighbour_ranks"`
		Probes     [][2]json.RawMessage `json:"rank_probes"`
		Distances  [][3]float64
		Regions    []regionJSON
	}
	ConstructorErrors []struct {
		Space spaceJSON
		Error string
	} `json:"constructor_errors"`
}

func TestVectorsSpaces(t *testing.T) {
	folder := vectors.Path("murk/spaces")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	spaces, regions, probes, distances, refusals := 0, 0, 0, 0, 0
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var v vectorsJSON
		if err := json.Unmarshal(b, &v); err != nil || v.Schema != "murk-space-vectors-1" || len(v.Spaces) == 0 {
			t.Fatalf("%s: not a file of space vectors (schema %q, error %v)", f.Name(), v.Schema, err)
		}
		for _, s := range v.Spaces {
			desc, ok := s.Space.space(t)
			if !ok {
				t.Fatalf("%s: sizes do not fit an int", s.ID)
			}
			l, err := desc.Build()
			if err != nil {
				t.Errorf("%s: Build: %v", s.ID, err)
				continue
			}
			if l.Dim() != s.Ndim || l.Cells() != s.CellCount || l.MaxDegree() != s.MaxDegree {
				t.Errorf("%s: dimensions, cells, degree = %d, %d, %d, want %d, %d, %d",
					s.ID, l.Dim(), l.Cells(), l.MaxDegree(), s.Ndim, s.CellCount, s.MaxDegree)
			}
			if len(s.Coords) != s.CellCount || len(s.Neighbours) != s.CellCount {
				t.Fatalf("%s: %d coordinates and %d neighbour lists for %d cells", s.ID, len(s.Coords), len(s.Neighbours), s.CellCount)
			}
			for rank, c := range s.Coords {
				checkCell(t, s.ID, l, rank, space.At(c...), s.Neighbours[rank])
			}
			for _, p := range s.Probes {
				checkProbe(t, s.ID, l, p)
			}
			for _, d := range s.Distances {
				if got := l.Distance(int(d[0]), int(d[1])); got != d[2] {
					t.Errorf("%s: Distance(%v, %v) = %v, want %v", s.ID, d[0], d[1], got, d[2])
				}
			}
			for _, r := range s.Regions {
				checkRegion(t, s.ID, l, r)
			}
			spaces, regions, probes, distances = spaces+1, regions+len(s.Regions), probes+len(s.Probes), distances+len(s.Distances)
		}
		for _, c := range v.ConstructorErrors {
			checkRefusal(t, c.Space, c.Error)
			refusals++
		}
	}
	if len(files) == 0 {
		t.Errorf("no files in %s", folder)
	}
	t.Logf("murk/spaces: %d files, %d spaces, %d regions, %d rank probes, %d distances, %d constructor errors",
		len(files), spaces, regions, probes, distances, refusals)
}

func checkCell(t *testing.T, id string, l *space.Lattice, rank int, c space.Coord, neighbours []int32) {
	t.Helper()
	if got := l.Coord(rank); got != c {
		t.Errorf("%s: Coord(%d) = %v, want %v", id, rank, got, c)
	}
	if got, ok := l.Rank(c); got != rank || !ok {
		t.Errorf("%s: Rank(%v) = %d, %v, want %d", id, c, got, ok, rank)
	}
	if got := l.AppendNeighbours(nil, rank); !slices.Equal(got, neighbours) {
		t.Errorf("%s: neighbours of %d = %v, want %v", id, rank, got, neighbours)
	}
}

func checkProbe(t *testing.T, id string, l *space.Lattice, probe [2]json.RawMessage) {
	t.Helper()
	var c []int32
	var want *int
	if err := errors.Join(json.Unmarshal(probe[0], &c), json.Unmarshal(probe[1], &want)); err != nil {
		t.Fatalf("%s: rank probe: %v", id, err)
	}
	got, ok := l.Rank(space.At(c...))
	if ok != (want != nil) || ok && got != *want {
		t.Errorf("%s: Rank(%v) = %d, %v, want %s", id, c, got, ok, probe[1])
	}
}

// faultOf translates the reference's error texts.
func faultOf(t *testing.T, text string) space.Fault {
	t.Helper()
	for _, k := range []struct {
		text  string
		fault space.Fault
	}{
		{"must have at least one cell", space.ErrSize},
		{"exceeds maximum cell count", space.ErrCells},
		{"exceeds maximum (", space.ErrSize},
		{"requires even dimensions", space.ErrParity},
		{"requires at least one component", space.ErrEmpty},
		{"overflow", space.ErrCells},
		{"bounds: expected ", space.ErrDimension},
		{"parity constraint", space.ErrParity},
		{"Rect min", space.ErrOrder},
		{"out of bounds", space.ErrBounds},
	} {
		if strings.Contains(text, k.text) {
			return k.fault
		}
	}
	t.Fatalf("unknown error text %q", text)
	return ""
}

func checkRegion(t *testing.T, id string, l *space.Lattice, r regionJSON) {
	t.Helper()
	plan, err := l.Compile(r.region(t))
	name := fmt.Sprintf("%s: %+v", id, r.Spec)
	if r.Error != "" {
		if want := faultOf(t, r.Error); !errors.Is(err, want) {
			t.Errorf("%s: error = %v, want a fault %q (reference: %s)", name, err, want, r.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	mask := make([]byte, len(plan.ValidMask))
	for i, ok := range plan.ValidMask {
		mask[i] = '0'
		if ok {
			mask[i] = '1'
		}
	}
	if !slices.Equal(plan.Ranks, r.Ranks) || !slices.Equal(plan.TensorIndices, r.TensorIndices) ||
		string(mask) != r.ValidMask || !slices.Equal(plan.BoundingShape, r.BoundingShape) {
		t.Errorf("%s: got %v %v %s %v, want %v %v %s %v", name, plan.Ranks, plan.TensorIndices, mask, plan.BoundingShape,
			r.Ranks, r.TensorIndices, r.ValidMask, r.BoundingShape)
	}
}

func checkRefusal(t *testing.T, j spaceJSON, text string) {
	t.Helper()
	s, ok := j.space(t)
	if !ok {
		return // a size beyond int cannot even be asked for here
	}
	l, err := s.Build()
	if want := faultOf(t, text); !errors.Is(err, want) {
		t.Errorf("%v: Build = %v, %v, want a fault %q (reference: %s)", s, l, err, want, text)
	}
}
