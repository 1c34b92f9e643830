package observe

import "github.com/murksim/murksim/space"

// maxDim is the most coordinates that a cell can have.
const maxDim = space.MaxDim

// A grid is how a lattice's cells are numbered. Its axes are those of the coordinate, in the order in
// which ranks count: the last one varies fastest.
type grid struct {
	lattice *space.Lattice
	cells   int32
	axes    []gridAxis
	linear  bool // ranks are sums of strides
	plane   bool // two axes, and not a product
	shift   int  // half cells between the rows of a plane
}

type gridAxis struct {
	component int32 // of the coordinate
	part      int   // of a product
	extent    int32
	stride    int32 // of ranks, if they are linear
	wide      int32 // 2: only every other place along the axis is a cell
	wraps     bool
}

// A place is a cell's coordinates in the order of a grid's axes.
type place [maxDim]int32

func newGrid(l *space.Lattice) grid {
	g := grid{lattice: l, cells: int32(l.Cells()), linear: true}
	all, first := l.Axes(), int32(0)
	for i, part := range l.Parts() {
		y, _ := part.Layout()
		var probe []int32 // the components' numbers, from 1
		for k := range part.Dim() {
			probe = append(probe, int32(k+1))
		}
		slice, row, col := y.Place(space.At(probe...))
		for _, n := range [3]int{slice, row, col} {
			if n == 0 {
				continue // no such axis
			}
			a := all[int(first)+n-1]
			g.axes = append(g.axes, gridAxis{
				component: first + int32(n-1), part: i, extent: int32(a.Extent), wide: int32(y.Wide), wraps: a.Edge == space.Wrap,
			})
		}
		g.linear = g.linear && y.Wide == 1
		g.shift = y.Shift
		first += int32(part.Dim())
	}
	_, single := l.Layout()
	g.plane = single && len(g.axes) == 2
	if g.linear {
		stride := int32(1)
		for i := len(g.axes) - 1; i >= 0; i-- {
			g.axes[i].stride = stride
			stride *= g.axes[i].extent
		}
	}
	return g
}

// place returns where a cell is.
func (g *grid) place(cell int32, at *place) {
	if g.linear {
		rest := uint32(cell)
		last := len(g.axes) - 1
		for i := range g.axes[:last] {
			s := uint32(g.axes[i].stride)
			n := rest / s
			rest -= n * s
			at[i] = int32(n)
		}
		at[last] = int32(rest)
		return
	}
	c := g.lattice.Coord(int(cell))
	for i := range g.axes {
		at[i] = c.At(int(g.axes[i].component))
	}
}

// rank returns the cell at a place within the extents; false if none is there.
func (g *grid) rank(at *place) (int32, bool) {
	if g.linear {
		rank := int32(0)
		for i := range g.axes {
			rank += int32(at[i] * g.axes[i].stride)
		}
		return rank, true
	}
	var components [maxDim]int32
	for i := range g.axes {
		components[g.axes[i].component] = at[i]
	}
	c, err := space.MakeCoord(components[:len(g.axes)])
	if err != nil {
		return 0, false
	}
	rank, ok := g.lattice.RankOf(&c)
	return int32(rank), ok
}
