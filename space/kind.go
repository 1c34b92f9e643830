package space

// A Kind is what all spaces of one kind share: everything that tells hexes from
// squares. Away from edges, every cell of a kind has the same steps to its neighbours.
type Kind struct {
	Name  string // "hex"
	Sizes []Size // its parameters, in the order of the coordinate's components
	Edges bool   // whether there is an edge to choose, too

	make  func(sizes []int, edge Edge) Space
	steps []step // in the order in which neighbours are listed

	firstFast bool        // component 0 varies fastest in canonical order, not the last one
	cells     *sublattice // which points of the box are cells; nil: all
	clamp     clamping
	boxed     bool // the tensor of a disk is the box around its centre, not a flat list

	// The shortest way between cells: as long as each component by itself is the shorter
	// way round, unless axes are oblique; then all of them are weighed at once.
	distance func(x, y, z int64) int64 // how many steps it takes to come as far
	oblique  bool

	// A straight line from one cell to another is looked at in as many pieces as samples
	// says; nil: distance. Where it lies after i of n pieces, d·i/n, is rounded axis by
	// axis; round makes the nearest cell of that, v. Nil: it is the nearest.
	samples func(x, y, z int64) int64
	round   func(v, d point, i, n int) point

	// Cells are what lies nearer to their centre than to any other.
	spacing float64 // of the centres of two cells that share a face
	face    float64 // the area of a face, to the volume of a cell
	wide    int     // the width of a cell, in steps along a row of them
}

// A Size is a parameter of a kind: how many values a component of the coordinate has.
type Size struct {
	Name string     // "cols"
	Doc  string     // what it counts: "columns"
	axis string     // the component: "q"
	way  [3]float64 // where a step along the axis leads: to the right, down, away
}

// A point is a coordinate, or the difference of two, of a part; 0 beyond its components.
type point struct{ x, y, z int }

// A step leads to a neighbour, through a face unless they touch in a corner only.
type step struct {
	name   string
	by     [3]int32
	corner bool
}

// A clamping says what the edge [Clamp] does with a step that leads beyond it.
type clamping uint8

const (
	clampAxes  clamping = iota // the axis that it would leave on stands still; the others go on
	clampSteps                 // the step leads back to the cell itself
	noClamp                    // there is no neighbour
)

// A sublattice are the points of a box that are cells, where not all are.
type sublattice struct {
	check    func(size int, edge Edge) string // what is wrong with the extent of an axis; "" nothing
	count    func(points uint64) uint64       // of the cells in a box of so many points
	contains func(c [3]int32) bool
	needs    func(axis int) string // what a coordinate whose first component is axis must fulfil

	rank   func(p *part, c [3]int32) int
	coord  func(p *part, rank int) [3]int32
	blocks func(p *part) []block
}

// New returns the space with the given sizes, as many as Sizes, and edge, which counts
// only if the kind has one to choose.
func (k *Kind) New(sizes []int, edge Edge) Space { return k.make(sizes, edge) }

func (k *Kind) dim() int { return len(k.Sizes) }

// order lists the axes from that whose component varies slowest to the fastest. The
// slice must not be changed.
func (k *Kind) order() []int {
	if k.firstFast {
		return lastToFirst[3-k.dim():]
	}
	return firstToLast[:k.dim()]
}

var firstToLast, lastToFirst = [3]int{0, 1, 2}, [3]int{2, 1, 0}

// way is where a step leads: to the right, down, away.
func (k *Kind) way(s *step) (way [3]float64) {
	for a := range k.Sizes {
		for i, x := range k.Sizes[a].way {
			way[i] += float64(float64(s.by[a]) * x)
		}
	}
	return way
}

func abs[T int | int64](v T) T { return max(v, -v) }

func manhattan(x, y, z int64) int64 { return abs(x) + abs(y) + abs(z) }

func chebyshev(x, y, z int64) int64 { return max(abs(x), abs(y), abs(z)) }

var (
	right = [3]float64{1, 0, 0}
	down  = [3]float64{0, 1, 0}
	away  = [3]float64{0, 0, 1}
)
