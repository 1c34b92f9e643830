package space

import "math"

// A Direction is one of the steps that lead to neighbours.
//
// A cell is the region nearer to its centre than to any other: a square, a hexagon, the
// twelve-sided cell of an fcc12, on a line a piece as long as a step. Neighbours share
// a face, or touch only in a corner. Lengths are in steps of the coordinates: on
// squares and hexes centres are 1 apart, on an fcc12 √2.
type Direction struct {
	Name     string // "north", "southwest", "+x-z", …
	Part     int    // the part of a product in which it moves, counted through nested products; else 0
	Axis     int    // the first component of the coordinate that belongs to that part
	Step     Coord  // the change of the whole coordinate, away from edges
	Opposite int    // the direction back, as an index

	// Way leads to the neighbour's centre in the part's own line, plane or space: to the
	// right (on a line, to the next cell), down, away.
	Way    [3]float64
	Length float64 // of Way
	Face   float64 // area of the shared face / volume of a cell; 0: they touch in a corner
}

// Directions returns all directions in contract order, for a product part after part.
// [Pattern.Dirs] holds indexes into it. The slice must not be changed.
func (l *Lattice) Directions() []Direction { return l.directions }

// addDirections adds the directions of one part.
func (l *Lattice) addDirections(i int) {
	p := &l.parts[i]
	for k := range p.kind.steps {
		s := &p.kind.steps[k]
		d := Direction{
			Name: s.name, Part: i, Axis: p.axis, Step: l.widen(p, s.by), Opposite: p.dir + p.kind.opposite(k),
			Way: p.kind.way(s), Length: p.kind.spacing, Face: p.kind.face,
		}
		if s.corner {
			w := &d.Way
			d.Length = math.Sqrt(float64(w[0]*w[0]) + float64(w[1]*w[1]) + float64(w[2]*w[2]))
			d.Face = 0
		}
		l.directions = append(l.directions, d)
	}
}

// opposite returns the index of the step back.
func (k *Kind) opposite(step int) int {
	for i := range k.steps {
		if a, b := k.steps[i].by, k.steps[step].by; a == [3]int32{-b[0], -b[1], -b[2]} {
			return i
		}
	}
	panic("space: " + k.Name + ": no step back from " + k.steps[step].name)
}

// Compass returns the directions north, south, west and east, to the row or column
// before and after, of a plane that has no others; ok reports whether the lattice
// is such a plane. A product never is.
func (l *Lattice) Compass() (dirs [4]int, ok bool) {
	y, ok := l.Layout()
	if !ok || l.dim != 2 || len(l.directions) != len(dirs) {
		return dirs, false
	}
	for i := range l.directions {
		_, row, col := y.Place(l.directions[i].Step)
		switch [2]int{row, col} {
		case [2]int{-1, 0}:
			dirs[0] = i
		case [2]int{1, 0}:
			dirs[1] = i
		case [2]int{0, -1}:
			dirs[2] = i
		case [2]int{0, 1}:
			dirs[3] = i
		default:
			return dirs, false
		}
	}
	return dirs, true
}
