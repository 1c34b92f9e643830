package space

// A Kind holds what all spaces of one kind share: everything that distinguishes hexes from
// squares. Away from edges, every cell of a kind has the same steps to its neighbours.
type Kind struct {
	Name  string // "hex"
	Sizes []Size // its parameters, in the order of the coordinate's components
	Edges bool   // whether an edge can be chosen

	make  func(sizes []int, edge Edge) Space
	steps []step // in the order in which neighbours are listed

	firstFast bool        // component 0 varies fastest in canonical order, not the last one
	cells     *sublattice // which points of the box are cells; nil: all
	clamp     clamping
	boxed     bool // the tensor of a disk is the box around its centre, not a flat list

	// distance returns the number of steps from a cell to one that is x, y, z away. Around
	// wrapped edges, the shorter way along each axis by itself gives the shortest one, unless
	// the axes are oblique.
	distance func(x, y, z int64) int64
	oblique  bool

	// samples returns the number of pieces into which Rays cut a straight line; nil means
	// distance. After i of n pieces the line is at d·i/n. Rounded axis by axis, that is v;
	// round returns the nearest cell, nil means that v is the nearest.
	samples func(x, y, z int64) int64
	round   func(v, d point, i, n int) point

	// A cell is the region nearer to its centre than to any other.
	spacing float64 // between the centres of two cells that share a face
	face    float64 // area of a face / volume of a cell
	wide    int     // width of a cell in a picture, in steps along its row
}

// A Size is a parameter of a kind: the number of values of a component of the coordinate.
type Size struct {
	Name string     // "cols"
	Doc  string     // what it counts: "columns"
	axis string     // the component: "q"
	way  [3]float64 // where a step along the axis leads: to the right, down, away
}

// A point is a coordinate, or the difference of two, of a part; 0 beyond its components.
type point struct{ x, y, z int }

// A step leads to a neighbour, through a face unless the cells touch only in a corner.
type step struct {
	name   string
	by     [3]int32
	corner bool
}

// A clamping says where a step beyond the edge [Clamp] leads.
type clamping uint8

const (
	clampAxes  clamping = iota // it does not move along the axes that it would leave, but along the others
	clampSteps                 // it leads back to the cell itself
	noClamp                    // it leads nowhere
)

// A sublattice says which points of a box are cells, and numbers them.
type sublattice struct {
	check    func(size int, edge Edge) string // says what is wrong with the extent of an axis; "": nothing
	count    func(points uint64) uint64       // returns the number of cells in a box with that many points
	contains func(c [3]int32) bool
	needs    func(axis int) string // says what makes a coordinate a cell, if axis is its first component

	rank   func(p *part, c [3]int32) int
	coord  func(p *part, rank int) [3]int32
	blocks func(p *part) []block
}

// New returns the space with the given sizes, as many as Sizes, and edge, which is ignored
// unless Edges.
func (k *Kind) New(sizes []int, edge Edge) Space { return k.make(sizes, edge) }

func (k *Kind) dim() int { return len(k.Sizes) }

// order lists the axes, the one that varies slowest first. The slice must not be changed.
func (k *Kind) order() []int {
	if k.firstFast {
		return lastToFirst[3-k.dim():]
	}
	return firstToLast[:k.dim()]
}

var firstToLast, lastToFirst = [3]int{0, 1, 2}, [3]int{2, 1, 0}

// way returns where a step leads: to the right, down, away.
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
