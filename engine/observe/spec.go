package observe

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Spec says what an observation consists of.
type Spec struct {
	Rules   engine.Rules // Murksim, or Murk019: as the original engine observes
	Entries []Entry      // at least one
}

// An Entry is one part of an observation. Only Source is required.
type Entry struct {
	Name      string // for people and errors
	Source    Source
	Region    Region    // zero: all cells
	Pool      Pool      // zero: none
	Transform Transform // zero: identity
	Element   Element   // the same for all entries of a spec
}

// A Source says what is read: a field of cells, or, of the entities on each cell, their number
// or the sum of an attribute. Sums are in float64, in the order of slots.
type Source struct {
	Field  fields.ID // of cells, or an attribute; ignored with Count
	Count  bool      // the number of entities; at most 2^24 are counted on a cell
	Kinds  []int32   // only entities of these kinds; nil: of all. Only with Count or an attribute
	Others bool      // without the agent itself. Only with Count or an attribute
}

// A Region says which cells are read. The zero Region is all of them.
type Region struct {
	kind  regionKind
	fixed space.Region
	half  []int // agentDisk: the radius
}

type regionKind uint8

const (
	allCells regionKind = iota
	fixedCells
	agentDisk
	agentRect
	self
)

// Fixed is a region that is the same for all agents. Its shape is that of
// [space.Lattice.Compile].
func Fixed(r space.Region) Region {
	if _, all := r.(space.All); all {
		return Region{}
	}
	return Region{kind: fixedCells, fixed: r}
}

// AgentDisk is the cells at most radius steps from the agent, in a box of 2·radius+1 places
// along each axis.
func AgentDisk(radius int) Region { return Region{kind: agentDisk, half: []int{radius}} }

// AgentRect is the cells in a box around the agent that reaches half[i] steps both ways along
// component i of the coordinate. The box has 2·half[i]+1 places there.
func AgentRect(half ...int) Region { return Region{kind: agentRect, half: slices.Clone(half)} }

// Self is the agent's own cell, or with an attribute the agent's own value. It has no axes.
func Self() Region { return Region{kind: self} }

// around reports whether the region depends on where an agent is.
func (r *Region) around() bool { return r.kind >= agentDisk }

// A Pool makes one element of each window of Size×Size places of a region with two axes.
// Windows begin at every Stride-th row and column and lie within the region. Only valid cells
// count, and a window without one is not valid. The transform comes after it.
type Pool struct {
	Kernel Kernel
	Size   int
	Stride int
}

// A Kernel says how the cells of a window become one number.
type Kernel uint8

// The kernels. Means and sums are computed in float64, row by row.
const (
	NoPool Kernel = iota
	Mean
	Max
	Min
	Sum
)

// A Transform says how a number of the world becomes one of an observation.
type Transform struct {
	kind     transformKind
	min, max float64
	n        int
}

type transformKind uint8

const (
	identity transformKind = iota
	normalize
	clip
	oneHot
)

// Identity leaves a number as it is.
func Identity() Transform { return Transform{} }

// Normalize is (v-min)/(max-min), put into 0 to 1; 0 if min = max. Uint8 elements are
// 255 times that. It is computed in float64 and rounded once.
func Normalize(min, max float64) Transform { return Transform{kind: normalize, min: min, max: max} }

// Clip is v put into min to max, of which either may be infinite.
func Clip(min, max float64) Transform { return Transform{kind: clip, min: min, max: max} }

// OneHot makes n channels of a number: 1 in channel v, 0 in the others. They are all 0 if
// v is not a whole number from 0 to n-1. The source must not be a vector.
func OneHot(n int) Transform { return Transform{kind: oneHot, n: n} }

// An Element is the type of an observation's numbers.
type Element uint8

// The elements. A number is rounded to the nearest one, ties to even. A NaN, which only worlds with the
// original's rules can hold, stays one, but as Uint8 is 0.
const (
	Float32 Element = iota
	Uint8           // 0 to 255; what is beyond takes the bound's value
	Float16         // IEEE 754 half precision, as its bits; what is too large is infinite
)
