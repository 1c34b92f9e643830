package observe_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A second observer, written naively from the documentation.

// A shape is a part of a space as the naive observer knows it. Its extents and the distances are in
// the order of the coordinate.
type shape struct {
	extents  []int
	wraps    bool
	order    []int // its components from the one that varies slowest
	square   bool  // edges that wrap also do so in the original
	even     bool  // only places with an even sum are cells
	distance func(d []int) int
}

// A field of play is a lattice and its description.
type ground struct {
	lattice *space.Lattice
	parts   []shape
}

func abs(v int) int { return max(v, -v) }

func sum(d []int) (n int) {
	for _, v := range d {
		n += abs(v)
	}
	return n
}

func most(d []int) (n int) {
	for _, v := range d {
		n = max(n, abs(v))
	}
	return n
}

func hexes(d []int) int { return max(abs(d[0]), abs(d[1]), abs(d[0]+d[1])) }

func balls(d []int) int { return max(most(d), sum(d)/2) }

// randomPart returns a part of a space with about that many places along an axis.
func randomPart(r *rand.Rand, size int) (space.Space, shape) {
	n := func() int { return 1 + r.IntN(size) }
	edge := space.Edge(r.IntN(3))
	wraps := edge == space.Wrap
	switch r.IntN(6) {
	case 0:
		k := n()
		return space.Line{Length: k, Edge: edge}, shape{[]int{k}, wraps, []int{0}, false, false, sum}
	case 1:
		k := n()
		return space.Ring{Length: k}, shape{[]int{k}, true, []int{0}, false, false, sum}
	case 2:
		a, b := n(), n()
		return space.Square4{Rows: a, Cols: b, Edge: edge}, shape{[]int{a, b}, wraps, []int{0, 1}, true, false, sum}
	case 3:
		a, b := n(), n()
		return space.Square8{Rows: a, Cols: b, Edge: edge}, shape{[]int{a, b}, wraps, []int{0, 1}, true, false, most}
	case 4:
		a, b := n(), n()
		return space.Hex{Cols: a, Rows: b, Edge: edge}, shape{[]int{a, b}, wraps, []int{1, 0}, false, false, hexes}
	}
	a, b, c := n(), n(), n()
	if wraps {
		a, b, c = 2*((a+1)/2), 2*((b+1)/2), 2*((c+1)/2)
	}
	return space.FCC12{W: a, H: b, D: c, Edge: edge}, shape{[]int{a, b, c}, wraps, []int{2, 1, 0}, false, true, balls}
}

func randomGround(r *rand.Rand) ground {
	s, p := randomPart(r, 9)
	g := ground{parts: []shape{p}}
	if r.IntN(4) == 0 {
		g.parts = nil
		var product space.Product
		for range 1 + r.IntN(3) {
			s, p := randomPart(r, 4)
			product, g.parts = append(product, s), append(g.parts, p)
		}
		s = product
	}
	var err error
	if g.lattice, err = s.Build(); err != nil {
		panic(err)
	}
	return g
}

// dims returns how many coordinates a cell has.
func (g *ground) dims() int { return g.lattice.Dim() }

// A patch is a region: the cell at each place, or -1.
type patch struct {
	shape []int
	cells []int
}

func (g *ground) fixed(r space.Region) patch {
	plan, err := g.lattice.Compile(r)
	if err != nil {
		panic(err)
	}
	p := patch{plan.BoundingShape, slices.Repeat([]int{-1}, len(plan.ValidMask))}
	for i, rank := range plan.Ranks {
		p.cells[plan.TensorIndices[i]] = int(rank)
	}
	return p
}

// around returns a box around a cell: of all its places, or of those at most radius steps away.
func (g *ground) around(cell int, half []int, radius int, original bool) patch {
	plane := len(g.parts) == 1 && g.dims() == 2 && g.lattice.Kind() != "product"
	if original && !plane {
		radius = -1
	}
	var order []int
	first := 0
	for _, p := range g.parts {
		for _, a := range p.order {
			order = append(order, first+a)
		}
		first += len(p.extents)
	}
	if original {
		slices.Sort(order)
	}
	p := patch{cells: []int{}, shape: []int{}}
	for _, a := range order {
		p.shape = append(p.shape, 2*half[a]+1)
	}
	by := make([]int, g.dims())
	var fill func(i int)
	fill = func(i int) {
		if i == len(order) {
			p.cells = append(p.cells, g.step(cell, by, radius, original))
			return
		}
		for v := -half[order[i]]; v <= half[order[i]]; v++ {
			by[order[i]] = v
			fill(i + 1)
		}
	}
	fill(0)
	return p
}

// step returns the cell that lies by so much from another; -1 if there is none or it is
// more than radius steps away.
func (g *ground) step(cell int, by []int, radius int, original bool) int {
	at := g.lattice.Coord(cell).AppendTo(nil)
	first, far := 0, 0
	for _, p := range g.parts {
		d := by[first : first+len(p.extents)]
		odd := 0
		for i, v := range d {
			c, n := int(at[first+i])+v, p.extents[i]
			if p.wraps && (!original || p.square && len(g.parts) == 1 && g.lattice.Kind() != "product") {
				c = (c%n + n) % n
			}
			if c < 0 || c >= n {
				return -1
			}
			at[first+i] = int32(c)
			odd += v
		}
		if p.even && odd%2 != 0 {
			return -1
		}
		far += p.distance(d)
		first += len(p.extents)
	}
	if radius >= 0 && far > radius {
		return -1
	}
	rank, ok := g.lattice.Rank(space.At(at...))
	if !ok {
		return -1
	}
	return rank
}

// A region as the tests describe it: one of the three.
type region struct {
	fixed  space.Region
	half   []int
	radius int // -1: a rectangle
	self   bool
}

type transform struct {
	kind     string // "", normalize, clip, onehot
	min, max float64
	n        int
}

// A view is an entry as the naive observer knows it.
type view struct {
	source    observe.Source
	region    region
	pool      observe.Pool
	transform transform
}

func (v *view) entry() observe.Entry {
	e := observe.Entry{Source: v.source, Pool: v.pool}
	switch r := &v.region; {
	case r.self:
		e.Region = observe.Self()
	case r.fixed != nil:
		e.Region = observe.Fixed(r.fixed)
	case r.radius >= 0:
		e.Region = observe.AgentDisk(r.radius)
	default:
		e.Region = observe.AgentRect(r.half...)
	}
	switch t := &v.transform; t.kind {
	case "normalize":
		e.Transform = observe.Normalize(t.min, t.max)
	case "clip":
		e.Transform = observe.Clip(t.min, t.max)
	case "onehot":
		e.Transform = observe.OneHot(t.n)
	}
	return e
}

// A naive observer.
type naive struct {
	ground   ground
	defs     []fields.Def
	world    snapshot
	kind     []int32 // of slots
	cell     []int32
	element  observe.Element
	original bool
}

// value returns component k of what a view's source is at a cell.
func (o *naive) value(v *view, agent observe.Agent, cell, k int) float64 {
	s := &v.source
	if !s.Count && o.defs[s.Field].Domain == fields.Cells {
		d := &o.defs[s.Field]
		if o.original {
			return d.Value(o.world[s.Field].Bits(cell))
		}
		return d.Value(o.world[s.Field].Bits(cell*d.Type.Components() + k))
	}
	total := 0.0
	for slot, at := range o.cell {
		switch {
		case int(at) != cell, s.Others && slot == int(agent.Slot), s.Kinds != nil && !slices.Contains(s.Kinds, o.kind[slot]):
		case s.Count:
			total++
		default:
			d := &o.defs[s.Field]
			total += d.Value(o.world[s.Field].Bits(slot*d.Type.Components() + k))
		}
	}
	return total
}

// components returns how many numbers the source has, and whether it is a vector.
func (o *naive) components(v *view) (int, bool) {
	if v.source.Count || o.original {
		return 1, false
	}
	t := o.defs[v.source.Field].Type
	return t.Components(), t.Kind == fields.VectorKind
}

func (o *naive) patch(v *view, agent observe.Agent) patch {
	r := &v.region
	switch {
	case r.self:
		return patch{[]int{}, []int{int(agent.Cell)}}
	case r.fixed != nil:
		return o.ground.fixed(r.fixed)
	case r.radius >= 0:
		return o.ground.around(int(agent.Cell), slices.Repeat([]int{r.radius}, o.ground.dims()), r.radius, o.original)
	}
	return o.ground.around(int(agent.Cell), r.half, -1, o.original)
}

// part observes one view: its shape, its elements as numbers, and its mask.
func (o *naive) part(v *view, agent observe.Agent) (shape []int, out []float64, mask []uint8) {
	gone := agent.Cell < 0
	if gone {
		agent = observe.Agent{Cell: 0, Slot: -1}
	}
	components, vector := o.components(v)
	shape = []int{components}
	for k := range components {
		p := o.patch(v, agent)
		values, valid := make([]float64, len(p.cells)), make([]uint8, len(p.cells))
		for i, cell := range p.cells {
			if cell >= 0 {
				values[i], valid[i] = o.value(v, agent, cell, k), 1
			}
		}
		if own := v.region.self && !v.source.Count && o.defs[v.source.Field].Domain == fields.Entities; own {
			values[0], valid[0] = 0, 0
			if agent.Slot >= 0 && o.cell[agent.Slot] >= 0 {
				d := &o.defs[v.source.Field]
				values[0], valid[0] = d.Value(o.world[v.source.Field].Bits(int(agent.Slot)*components+k)), 1
			}
		}
		if v.pool != (observe.Pool{}) {
			p.shape, values, valid = o.pool(v.pool, p.shape, values, valid)
		}
		if k == 0 {
			shape = append(shape, p.shape...)
			mask = valid
		}
		if v.transform.kind == "onehot" {
			shape[0] = v.transform.n
			for c := range v.transform.n {
				for i := range values {
					x := 0.0
					if valid[i] == 1 && values[i] == float64(c) {
						x = 1
					}
					out = append(out, x)
				}
			}
			continue
		}
		for i, x := range values {
			if valid[i] == 0 && !(o.original && v.pool != (observe.Pool{})) {
				out = append(out, 0)
				continue
			}
			out = append(out, o.transformed(&v.transform, x))
		}
	}
	if !vector && v.transform.kind != "onehot" {
		shape = shape[1:]
	}
	if gone {
		clear(out)
		clear(mask)
	}
	return shape, out, mask
}

func (o *naive) pool(p observe.Pool, shape []int, values []float64, valid []uint8) ([]int, []float64, []uint8) {
	var out []float64
	var mask []uint8
	rows, cols := (shape[0]-p.Size)/p.Stride+1, (shape[1]-p.Size)/p.Stride+1
	for r := range rows {
		for c := range cols {
			var in []float64
			for i := range p.Size {
				for j := range p.Size {
					if at := (r*p.Stride+i)*shape[1] + c*p.Stride + j; valid[at] == 1 {
						in = append(in, values[at])
					}
				}
			}
			if len(in) == 0 {
				out, mask = append(out, 0), append(mask, 0)
				continue
			}
			out, mask = append(out, o.pooled(p.Kernel, in)), append(mask, 1)
		}
	}
	return []int{rows, cols}, out, mask
}

func (o *naive) pooled(k observe.Kernel, in []float64) float64 {
	low, high, sum, narrow := math.Inf(1), math.Inf(-1), 0.0, float32(0)
	for _, x := range in {
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
		sum += x
		narrow += float32(x)
	}
	switch {
	case k == observe.Max:
		return high
	case k == observe.Min:
		return low
	case k == observe.Mean && o.original:
		return float64(narrow / float32(len(in)))
	case k == observe.Mean:
		return sum / float64(len(in))
	case o.original:
		return float64(narrow)
	}
	return sum
}

// transformed is a number before it is rounded to an element.
func (o *naive) transformed(t *transform, x float64) float64 {
	switch t.kind {
	case "normalize":
		if t.min == t.max {
			return 0
		}
		if x = (x - t.min) / (t.max - t.min); x < 0 {
			x = 0
		} else if x > 1 {
			x = 1
		}
		if o.element == observe.Uint8 {
			return x * 255
		}
	case "clip":
		if x < t.min {
			return t.min
		} else if x > t.max {
			return t.max
		}
	}
	return x
}

// A buffer is what an observer fills, and bits of its elements.
type buffer struct {
	float32 []float32
	uint8   []uint8
	float16 []uint16
}

func (b *buffer) bits(i int) uint32 {
	switch {
	case b.float32 != nil:
		return math.Float32bits(b.float32[i])
	case b.uint8 != nil:
		return uint32(b.uint8[i])
	}
	return uint32(b.float16[i])
}

// elementBits returns the bits of the element nearest to a number.
func elementBits(e observe.Element, x float64) uint32 {
	switch e {
	case observe.Float32:
		return math.Float32bits(float32(x))
	case observe.Uint8:
		switch {
		case x <= 0:
			return 0
		case x >= 255:
			return 255
		}
		return uint32(math.RoundToEven(x))
	}
	return uint32(nearestHalf(x))
}

// halves are all finite halves that are not negative, ascending.
var halves = func() (list []float64) {
	for bits := range 0x7c00 {
		exponent, fraction := bits>>10, float64(bits&0x3ff)/1024
		if exponent == 0 {
			list = append(list, fraction*math.Pow(2, -14))
		} else {
			list = append(list, (1+fraction)*math.Pow(2, float64(exponent-15)))
		}
	}
	return list
}()

// nearestHalf searches for the half nearest to a number, by its definition.
func nearestHalf(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	if x >= 65520 { // as near to 65504 as to 65536, the next one if there were one
		return sign | 0x7c00
	}
	i := sort.SearchFloat64s(halves, x)
	switch {
	case i == len(halves):
		return sign | 0x7bff
	case halves[i] == x:
		return sign | uint16(i)
	}
	if below, above := x-halves[i-1], halves[i]-x; below < above || below == above && i%2 == 1 {
		i--
	}
	return sign | uint16(i)
}
