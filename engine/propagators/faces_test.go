package propagators_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// naiveFaces are the faces of a space's cells, by direction, from where the cells' points lie.
type naiveFaces struct {
	dim    int
	points [][]float64 // by direction: from here to the neighbour; nil: they touch in a corner
	ratio  []float64   // by direction: area of the face to the volume of the cell
	pairs  []int       // the directions in which a flux is counted, in the order of its components
}

func facesOf(s space.Space) (f naiveFaces) {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	switch s := s.(type) {
	case space.Line, space.Ring:
		return naiveFaces{1, [][]float64{{-1}, {1}}, []float64{1, 1}, []int{1}}
	case space.Square4:
		return naiveFaces{2, [][]float64{{0, -1}, {0, 1}, {-1, 0}, {1, 0}}, []float64{1, 1, 1, 1}, []int{3, 1}}
	case space.Square8:
		f = facesOf(space.Square4{Rows: 1, Cols: 1})
		f.points = append(f.points, nil, nil, nil, nil)
		f.ratio = append(f.ratio, 0, 0, 0, 0)
		return f
	case space.Hex: // a hexagon one wide has edges of 1/√3 and an area of √3/2
		f = naiveFaces{dim: 2, pairs: []int{0, 1, 5}}
		for _, d := range l.Directions() {
			q, r := float64(d.Step.At(0)), float64(d.Step.At(1))
			f.points = append(f.points, []float64{q + r/2, r * math.Sqrt(3) / 2})
			f.ratio = append(f.ratio, 2.0/3)
		}
		return f
	case space.FCC12: // rhombic dodecahedra have a volume of 2 steps³ and twelve faces of √½ each
		f = naiveFaces{dim: 3, pairs: []int{0, 2, 4, 6, 8, 10}}
		for _, d := range l.Directions() {
			f.points = append(f.points, []float64{float64(d.Step.At(0)), float64(d.Step.At(1)), float64(d.Step.At(2))})
			f.ratio = append(f.ratio, math.Sqrt2/4)
		}
		return f
	case space.Product:
		for _, part := range s {
			p := facesOf(part)
			for _, d := range p.pairs {
				f.pairs = append(f.pairs, d+len(f.points))
			}
			for _, at := range p.points {
				if at != nil {
					at = append(make([]float64, f.dim), at...)
				}
				f.points = append(f.points, at)
			}
			f.ratio = append(f.ratio, p.ratio...)
			f.dim += p.dim
		}
		for i, at := range f.points {
			if at != nil {
				f.points[i] = append(slices.Clone(at), make([]float64, f.dim-len(at))...)
			}
		}
	default:
		panic(fmt.Sprintf("unknown kind of space %T", s))
	}
	return f
}

// normal is the unit vector of a direction.
func (f *naiveFaces) normal(dir int) []float64 {
	n := make([]float64, f.dim)
	for i, x := range f.points[dir] {
		n[i] = x / f.spacing(dir)
	}
	return n
}

// spacing is the distance of neighbours in a direction.
func (f *naiveFaces) spacing(dir int) float64 {
	sum := 0.0
	for _, x := range f.points[dir] {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// opposite is the direction back.
func (f *naiveFaces) opposite(dir int) int {
	return slices.IndexFunc(f.points, func(at []float64) bool {
		for i, x := range f.points[dir] {
			if at == nil || at[i] != -x {
				return false
			}
		}
		return true
	})
}

// A passage leads through a face to another cell.
type passage struct{ rank, dir int }

// passages finds the passages of every cell by coordinate, in the order of directions.
func passages(t testing.TB, l *space.Lattice, f naiveFaces) [][]passage {
	list := make([][]passage, l.Cells())
	for cell := range list {
		for dir := range l.Directions() {
			if rank, _, there := leads(t, l, cell, dir); there && f.points[dir] != nil && rank != cell {
				list[cell] = append(list[cell], passage{rank, dir})
			}
		}
	}
	return list
}

// place is where a cell's point lies, without regard to edges.
func (f *naiveFaces) place(l *space.Lattice, cell int) []float64 {
	at := make([]float64, f.dim)
	c := l.Coord(cell)
	switch l.Kind() {
	case "hex":
		at[0], at[1] = float64(c.At(0))+float64(c.At(1))/2, float64(c.At(1))*math.Sqrt(3)/2
	case "square4", "square8":
		at[0], at[1] = float64(c.At(1)), float64(c.At(0))
	default:
		for i := range at {
			at[i] = float64(c.At(i))
		}
	}
	return at
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// TestMostDirections: where a cell has as many neighbours as one can have, those that keep
// something for each direction have room.
func TestMostDirections(t *testing.T) {
	plane := space.Square8{Rows: 3, Cols: 3, Edge: space.Wrap}
	s := space.Product{plane, plane, plane, plane, plane}
	if got := lattice(t, s).MaxDegree(); got != 40 {
		t.Fatalf("up to %d neighbours, want 40", got)
	}
	table, err := propagators.NewTable(lattice(t, s), 2, []propagators.Transition{{From: 0, Become: 1, When: []propagators.Condition{{State: 1, Counts: propagators.Between(1, 40)}}}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, engine.Config{
		Space: s, Paranoid: true,
		Fields: []fields.Def{
			{Name: "a", Initial: fields.Fill(1)}, {Name: "b", Initial: fields.Fill(1)}, {Name: "c", Initial: someBits(s)}, {Name: "d", Initial: someBits(s)},
			{Name: "e", Initial: someBits(s)}, {Name: "f", Initial: someBits(s)}, {Name: "ten", Type: fields.Vector(10)},
			{Name: "wind", Type: fields.Vector(10), Mutability: fields.Static, Initial: fields.Fill(1)},
		},
		Propagators: []engine.Propagator{
			propagators.Advection{Field: 0, Velocity: 7, MaxSpeed: 3.2}, propagators.ShallowWater{Depth: 1, Flux: 6, Gravity: 1, MaxDepth: 2},
			propagators.Automaton{Field: 2, Table: table}, propagators.Automaton{Name: "rule", Field: 3, Rule: propagators.Rule{Born: 1}},
			propagators.Majority{Field: 4}, propagators.Percolation{Field: 5, Open: 1},
		},
	})
	steps(t, w, 1)
	for id, want := range []float64{0: 59049, 1: 59049, 2: 59049, 5: 59049} {
		if got := total(values(w, fields.ID(id))); want != 0 && math.Abs(got-want) > 1e-2 {
			t.Errorf("field %d adds up to %v, want %v", id, got, want)
		}
	}
}
