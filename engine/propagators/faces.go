package propagators

import (
	"math"

	"github.com/murksim/murksim/space"
)

// Faces are where the cells of a lattice touch, if each cell is what lies nearer to
// its point than to any other: the edges of squares and hexagons, the rhombic faces of
// the twelve-sided cells of an fcc12. The diagonal neighbours of a square8 touch in a
// corner, where nothing passes: it has the faces of a square4. A product has the
// faces of its parts.
//
// Lengths are in steps: neighbours are 1 apart, on an fcc12 √2. Vectors have a
// component for each axis, those of the first part of a product first:
//
//	line, ring   the way to the next cell
//	squares      eastward, southward
//	hex          eastward, southward: the neighbour in the southeast lies at (1/2, √3/2)
//	fcc12        x, y, z
type faces struct {
	dirs       [maxDirections]face // by direction of the lattice
	n          int                 // of them in use
	components int                 // of a vector
	pairs      int                 // of opposite faces that a cell has
	squares    float64             // of the parts' outflows, added up
}

const maxDirections = 40 // in the ten dimensions that a space may have

// A face is seen from the cell that it belongs to.
type face struct {
	kind   *faceKind   // nil: a corner
	normal *[3]float32 // outward, one long
	first  int         // the vector's component along the first axis of normal
	pair   int         // which pair it is of
	owner  bool        // of a pair the cell has one, and the other is its neighbour's
	offset int         // of the neighbour's rank; set by at
}

// A faceKind is what the faces of a kind of space have in common.
type faceKind struct {
	components int
	spacing    float64 // from a cell's point to its neighbour's
	ratio      float64 // area of a face to the volume of a cell
	outflow    float64 // what leaves of a cell in a current of speed 1, of any direction, at most
}

var (
	lineFace   = faceKind{1, 1, 1, 1}
	squareFace = faceKind{2, 1, 1, math.Sqrt2}
	hexFace    = faceKind{2, 1, 2.0 / 3, 4.0 / 3}
	fccFace    = faceKind{3, math.Sqrt2, math.Sqrt2 / 4, rootFive / 2}
)

// A heading is the face in one direction of a kind of space: its normal, its pair, and
// whether it is the pair's first.
type heading struct {
	normal [3]float32
	pair   int
	owner  bool
}

const (
	rootHalf  = math.Sqrt2 / 2
	halfRoot3 = 1.7320508075688772 / 2
	rootFive  = 2.23606797749979
)

var (
	lineHeadings   = []heading{{[3]float32{-1}, 0, false}, {[3]float32{1}, 0, true}}
	squareHeadings = []heading{
		{[3]float32{0, -1}, 1, false}, {[3]float32{0, 1}, 1, true}, {[3]float32{-1, 0}, 0, false}, {[3]float32{1, 0}, 0, true},
	}
	hexHeadings = []heading{
		{[3]float32{1, 0}, 0, true}, {[3]float32{0.5, -halfRoot3}, 1, true}, {[3]float32{-0.5, -halfRoot3}, 2, false},
		{[3]float32{-1, 0}, 0, false}, {[3]float32{-0.5, halfRoot3}, 1, false}, {[3]float32{0.5, halfRoot3}, 2, true},
	}
	fccHeadings = []heading{
		{[3]float32{rootHalf, rootHalf, 0}, 0, true}, {[3]float32{-rootHalf, rootHalf, 0}, 1, false},
		{[3]float32{rootHalf, -rootHalf, 0}, 1, true}, {[3]float32{-rootHalf, -rootHalf, 0}, 0, false},
		{[3]float32{rootHalf, 0, rootHalf}, 2, true}, {[3]float32{-rootHalf, 0, rootHalf}, 3, false},
		{[3]float32{rootHalf, 0, -rootHalf}, 3, true}, {[3]float32{-rootHalf, 0, -rootHalf}, 2, false},
		{[3]float32{0, rootHalf, rootHalf}, 4, true}, {[3]float32{0, -rootHalf, rootHalf}, 5, false},
		{[3]float32{0, rootHalf, -rootHalf}, 5, true}, {[3]float32{0, -rootHalf, -rootHalf}, 4, false},
	}
)

// add adds a space's faces.
func (f *faces) add(s space.Space) {
	switch s := s.(type) {
	case space.Line, space.Ring:
		f.addKind(&lineFace, lineHeadings, 1)
	case space.Square4:
		f.addKind(&squareFace, squareHeadings, 2)
	case space.Square8:
		f.addKind(&squareFace, squareHeadings, 2)
		f.n += 4 // corners
	case space.Hex:
		f.addKind(&hexFace, hexHeadings, 3)
	case space.FCC12:
		f.addKind(&fccFace, fccHeadings, 6)
	case space.Product:
		for _, part := range s {
			f.add(part)
		}
	}
}

func (f *faces) addKind(k *faceKind, headings []heading, pairs int) {
	for i := range headings {
		h := &headings[i]
		f.dirs[f.n] = face{kind: k, normal: &h.normal, first: f.components, pair: f.pairs + h.pair, owner: h.owner}
		f.n++
	}
	f.components += k.components
	f.pairs += pairs
	f.squares += float64(k.outflow * k.outflow)
}

// sum adds up a number of each kind of faces over all faces of a cell.
func (f *faces) sum(of func(*faceKind) float64) (total float64) {
	for i := range f.dirs[:f.n] {
		if k := f.dirs[i].kind; k != nil {
			total += of(k)
		}
	}
	return total
}

// at gives the faces of a cell of a pattern, in the order of its neighbours. Where the
// edge leads back to the cell itself there is none: a wall, or a cell that has as much
// coming in as going out.
func (f *faces) at(p *space.Pattern, buffer *[maxDirections]face) []face {
	n := 0
	for k, offset := range p.Offsets {
		if d := &f.dirs[p.Dirs[k]]; d.kind != nil && offset != 0 {
			buffer[n] = *d
			buffer[n].offset = offset
			n++
		}
	}
	return buffer[:n]
}
