package propagators

import (
	"math"

	"github.com/murksim/murksim/space"
)

// Faces are where the cells of a lattice touch, if each cell is the region nearer to
// its point than to any other: the edges of squares and hexagons, the rhombic faces of
// the twelve-sided cells of an fcc12. The diagonal neighbours of a square8 touch in a
// corner, where nothing passes: it has the faces of a square4. A product has the
// faces of its parts. See [space.Direction].
//
// Vectors have a component for each axis, those of the first part of a product first:
//
//	line, ring   toward the next cell
//	squares      eastward, southward
//	hex          eastward, southward: the neighbour in the southeast lies at (1/2, √3/2)
//	fcc12        x, y, z
//
// Of two opposite faces, the owner is the one whose normal has a first nonzero component
// above 0. Pairs are counted part by part; in a part, first those whose owner leads
// along the first component, then in the order of directions.
type faces struct {
	dirs  [maxDirections]face // by direction of the lattice
	n     int                 // directions in use
	pairs int                 // of opposite faces that a cell has
}

const maxDirections = 40 // in the ten dimensions that a space may have

// A face is seen from the cell that it belongs to.
type face struct {
	corner  bool       // not a face
	normal  [3]float32 // outward, of length one
	leading int        // the first axis along which normal is not 0, from 0
	last    int        // and the last one
	first   int        // the vector's component along the first axis of normal
	spacing float64    // from a cell's point to its neighbour's
	ratio   float64    // area of the face to the volume of a cell
	pair    int        // the number of its pair
	owner   bool       // whether the cell owns it, and not the neighbour
	offset  int        // of the neighbour's rank; set by at
}

// set finds the faces of a lattice.
func (f *faces) set(l *space.Lattice) {
	dirs := l.Directions()
	*f = faces{n: len(dirs)}
	for i := range dirs {
		d, to := &dirs[i], &f.dirs[i]
		*to = face{corner: d.Face == 0, first: d.Axis, spacing: d.Length, ratio: d.Face, owner: d.Way[leading(d)] > 0}
		for k, x := range d.Way {
			if to.normal[k] = float32(x / d.Length); to.normal[k] != 0 {
				to.last = k
			}
		}
		to.leading = leading(d)
	}
	for from := 0; from < len(dirs); {
		to := from
		for to < len(dirs) && dirs[to].Part == dirs[from].Part {
			to++
		}
		f.pair(dirs, from, to)
		from = to
	}
}

// pair counts the pairs of one part.
func (f *faces) pair(dirs []space.Direction, from, to int) {
	for axis := range 3 {
		for i := from; i < to; i++ {
			if d := &dirs[i]; d.Face != 0 && f.dirs[i].owner && leading(d) == axis {
				f.dirs[i].pair, f.dirs[d.Opposite].pair = f.pairs, f.pairs
				f.pairs++
			}
		}
	}
}

// leading returns the first component in which a direction leads.
func leading(d *space.Direction) int {
	for k, x := range d.Way {
		if x != 0 {
			return k
		}
	}
	return 0
}

// sum adds up a number of each face over all faces of a cell.
func (f *faces) sum(of func(*face) float64) (total float64) {
	for i := range f.dirs[:f.n] {
		if d := &f.dirs[i]; !d.corner {
			total += of(d)
		}
	}
	return total
}

// outflow returns the share of a cell that leaves it in a current of speed 1, in the worst
// direction: the length of the longest sum of normals that takes one side of each pair.
// In a product the squares of its parts add up.
func outflow(l *space.Lattice) float64 {
	squares := 0.0
	dirs := l.Directions()
	for from := 0; from < len(dirs); {
		var owners []*space.Direction // one of each pair
		to := from
		for ; to < len(dirs) && dirs[to].Part == dirs[from].Part; to++ {
			if d := &dirs[to]; d.Face != 0 && d.Opposite > to {
				owners = append(owners, d)
			}
		}
		most := 0.0
		for sides := range 1 << len(owners) {
			var sum [3]float64
			for i, d := range owners {
				for k, x := range d.Way {
					if sides>>i&1 != 0 {
						x = -x
					}
					sum[k] += x
				}
			}
			length := math.Sqrt(float64(sum[0]*sum[0]) + float64(sum[1]*sum[1]) + float64(sum[2]*sum[2]))
			most = max(most, length*(owners[0].Face/owners[0].Length))
		}
		squares += float64(most * most)
		from = to
	}
	return math.Sqrt(squares)
}

// at returns the faces of a cell of a pattern, in the order of its neighbours. There is none
// where the edge leads back to the cell itself: at a wall, or where as much comes in as goes
// out.
func (f *faces) at(p *space.Pattern, buffer *[maxDirections]face) []face {
	n := 0
	for k, offset := range p.Offsets {
		if d := &f.dirs[p.Dirs[k]]; !d.corner && offset != 0 {
			buffer[n] = *d
			buffer[n].offset = offset
			n++
		}
	}
	return buffer[:n]
}
