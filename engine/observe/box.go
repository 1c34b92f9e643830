package observe

import (
	"math"
	"slices"
)

// A boxSpec describes a region around an agent.
type boxSpec struct {
	half        []int // by component of the coordinate
	radius      int   // of a disk; -1: the whole box
	wraps       bool  // edges that wrap are passed
	byComponent bool  // the axes of the tensor are the components in their order, not the canonical one
}

// An around is a region around an agent: rows of places in a box, in which the region's cells
// are. A row lies along the last axis of the grid, along which ranks are consecutive.
type around struct {
	spec   []int // half extents by component of the coordinate
	radius int   // of a disk; -1: the whole box
	shape  []int
	places int
	wide   int32   // places from one cell of a row to the next
	step   int32   // elements of the tensor from one cell of a row to the next
	wraps  bool    // edges that wrap are passed
	half   []int32 // by axis of the grid
	rows   []row
	outer  []int32 // of each row, its offset along every axis but the last
	table  *classes
}

// A row is n cells, the first of them start places from the agent along the last axis and
// at an element of the tensor.
type row struct{ start, n, dst int32 }

// maxOffsets bounds the numbers that say where the rows of a box are.
const maxOffsets = 1 << 23

// newAround makes the region and, unless they are too large, the tables of where its cells
// are from each place of the grid. The box has at most maxPlaces.
func newAround(g *grid, b *boxSpec) (*around, error) {
	last := len(g.axes) - 1
	a := &around{spec: slices.Clone(b.half), radius: b.radius, wide: g.axes[last].wide, wraps: b.wraps, places: 1, half: make([]int32, len(g.axes))}
	strides := make([]int32, len(g.axes)) // of the tensor
	order := make([]int, len(g.axes))     // of the tensor's axes
	for i := range g.axes {
		a.half[i] = int32(b.half[g.axes[i].component])
		if b.byComponent {
			order[g.axes[i].component] = i
		} else {
			order[i] = i
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		strides[order[i]] = int32(a.places)
		a.places *= int(2*a.half[order[i]] + 1)
	}
	for _, i := range order {
		a.shape = append(a.shape, int(2*a.half[i]+1))
	}
	a.step = strides[last] * a.wide
	if int64(a.places)/int64(2*a.half[last]+1)*int64(len(g.axes)) > maxOffsets {
		return nil, errRows
	}
	a.addRows(g, newFar(g, a.half, b.radius), strides)
	a.table = newClasses(g, a)
	return a, nil
}

// addRows finds the rows of the region in its box.
func (a *around) addRows(g *grid, f *far, strides []int32) {
	last := len(g.axes) - 1
	at := make([]int32, len(g.axes)) // from 0 in the corner of the box
	for {
		base := f.before(at[:last])
		dst := int32(0)
		for i, v := range at[:last] {
			dst += int32(v * strides[i])
		}
		n := 2*a.half[last] + 1
		for j := int32(0); j < n; j++ {
			if !f.within(base, j) {
				continue
			}
			r := row{start: j - a.half[last], n: 1, dst: dst + int32(j*strides[last])}
			for j += a.wide; j < n && f.within(base, j); j += a.wide {
				r.n++
			}
			j -= a.wide // the last one taken
			a.rows = append(a.rows, r)
			for i, v := range at[:last] {
				a.outer = append(a.outer, v-a.half[i])
			}
		}
		i := last - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] <= 2*a.half[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// A far says which places of a box belong to a region. It knows for each part of the space how
// many steps its places are away from the middle.
type far struct {
	limit int64 // of steps
	parts []farPart
	axes  []farAxis
}

type farPart struct{ steps []int32 }

type farAxis struct {
	part   int
	weight int32 // of the axis in the part's box
}

// nowhere is the distance of a place that is no cell or cannot be reached.
const nowhere = math.MaxInt32

// newFar measures the box. A radius below 0 stands for all cells of the box.
func newFar(g *grid, half []int32, radius int) *far {
	f := &far{limit: max(int64(radius), 0), axes: make([]farAxis, len(g.axes))}
	for lo := 0; lo < len(g.axes); {
		hi := lo + 1
		for hi < len(g.axes) && g.axes[hi].part == g.axes[lo].part {
			hi++
		}
		weight := int32(1)
		for i := hi - 1; i >= lo; i-- {
			f.axes[i] = farAxis{len(f.parts), weight}
			weight *= 2*half[i] + 1
		}
		b := partBox{half: half[lo:hi], steps: make([]int32, weight)}
		b.directions(g, lo)
		if radius >= 0 {
			b.spread()
		} else {
			b.mark()
		}
		f.parts = append(f.parts, farPart{b.steps})
		lo = hi
	}
	return f
}

// A nearness is what the offsets along all axes but the last say: the steps in the parts
// before the last one, and where the row begins in the last part's box.
type nearness struct {
	steps int64
	first int32
}

func (f *far) before(at []int32) (n nearness) {
	last := f.axes[len(f.axes)-1].part
	for p := range f.parts {
		index := int32(0)
		for i, v := range at {
			if f.axes[i].part == p {
				index += int32(v * f.axes[i].weight)
			}
		}
		if p == last {
			n.first = index
		} else {
			n.steps += int64(f.parts[p].steps[index])
		}
	}
	return n
}

// within reports whether place j of a row belongs to the region.
func (f *far) within(n nearness, j int32) bool {
	last := f.axes[len(f.axes)-1].part
	return n.steps+int64(f.parts[last].steps[n.first+j]) <= f.limit
}

// A partBox is the box in one part of the space: by place, how many steps it is away.
type partBox struct {
	half  []int32
	steps []int32
	moves [][3]int32 // the steps to neighbours
	wide  bool       // not every place is a cell
}

func (b *partBox) directions(g *grid, lo int) {
	for _, d := range g.lattice.Directions() {
		if d.Part != g.axes[lo].part {
			continue
		}
		var m [3]int32
		for i := range b.half {
			m[i] = d.Step.At(int(g.axes[lo+i].component))
		}
		b.moves = append(b.moves, m)
	}
	b.wide = g.axes[lo].wide > 1
}

// index returns the place at an offset from the middle; false if that is outside of the box.
func (b *partBox) index(at [3]int32) (int32, bool) {
	index := int32(0)
	for i, h := range b.half {
		if at[i] < -h || at[i] > h {
			return 0, false
		}
		index = int32(index*(2*h+1)) + at[i] + h
	}
	return index, true
}

// offset is the inverse of index.
func (b *partBox) offset(index int32) (at [3]int32) {
	for i := len(b.half) - 1; i >= 0; i-- {
		n := 2*b.half[i] + 1
		at[i], index = index%n-b.half[i], index/n
	}
	return at
}

// spread counts the steps from the middle outward.
func (b *partBox) spread() {
	for i := range b.steps {
		b.steps[i] = nowhere
	}
	middle, _ := b.index([3]int32{})
	b.steps[middle] = 0
	queue := []int32{middle}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		at := b.offset(from)
		for _, m := range b.moves {
			if to, ok := b.index([3]int32{at[0] + m[0], at[1] + m[1], at[2] + m[2]}); ok && b.steps[to] == nowhere {
				b.steps[to] = b.steps[from] + 1
				queue = append(queue, to)
			}
		}
	}
}

// mark gives all cells of the box the distance 0. Where not every place is a cell, cells are
// those whose offsets are sums of steps; that depends on whether they are even or odd.
func (b *partBox) mark() {
	if !b.wide {
		return
	}
	reached := [8]bool{0: true}
	for range 3 {
		for _, m := range b.moves {
			for from, ok := range reached {
				if ok {
					reached[from^odd(m)] = true
				}
			}
		}
	}
	for i := range b.steps {
		if !reached[odd(b.offset(int32(i)))] {
			b.steps[i] = nowhere
		}
	}
}

// odd returns a bit for each odd component.
func odd(v [3]int32) int { return int(v[0]&1 | v[1]&1<<1 | v[2]&1<<2) }
