package rules

import "github.com/murksim/murksim/space"

// A plane is a lattice of rows and columns at right angles, cell after cell: the usual one, on which an offset leads to a cell in few steps. Its twin is the evaluator's beyond.
type plane struct {
	axes [2]space.Axis
	cols uint32
}

// planeOf is the plane that a lattice is; nil: it is none.
func planeOf(l *space.Lattice) *plane {
	parts := borders(l)
	if len(parts) != 1 || len(parts[0].axes) != 2 || parts[0].slants || parts[0].sparse {
		return nil
	}
	p := &plane{axes: [2]space.Axis(parts[0].axes), cols: uint32(parts[0].axes[1].Extent)}
	last := l.Cells() - 1
	if at := l.Coord(last); int(at.At(0)) != last/int(p.cols) || int(at.At(1)) != last%int(p.cols) || p.cols > 1 && l.Coord(1).At(1) != 1 {
		return nil
	}
	return p
}

// beyond is the cell at an offset from another one.
func (p *plane) beyond(cell int, offset []int32) (rank int, ok bool) {
	row, rowOK := onAxis(&p.axes[0], int64(uint32(cell)/p.cols)+int64(offset[0]))
	col, colOK := onAxis(&p.axes[1], int64(uint32(cell)%p.cols)+int64(offset[1]))
	return int(row)*int(p.cols) + int(col), rowOK && colOK
}

// onAxis is a component of a coordinate, by the edge of its axis.
func onAxis(a *space.Axis, c int64) (int64, bool) {
	extent := int64(a.Extent)
	switch {
	case c >= 0 && c < extent:
		return c, true
	case a.Edge == space.Absorb:
		return 0, false
	case a.Edge != space.Wrap:
		return max(0, min(c, extent-1)), true
	case c < 0 && c >= -extent:
		return c + extent, true
	case c >= extent && c < 2*extent:
		return c - extent, true
	}
	return ((c % extent) + extent) % extent, true
}
