package observe

import "github.com/murksim/murksim/space"

// A run is n cells with consecutive ranks from src on. The first belongs to element dst of a
// part, each other one a step further. Around an agent, src counts from its cell.
type run struct{ src, dst, n int32 }

// appendRuns appends where the cells of the region are for an agent at a place, in the order of the
// region's rows. It allocates only to extend dst.
func (a *around) appendRuns(dst []run, g *grid, from *place, cell int32) []run {
	last := len(g.axes) - 1
	inner := &g.axes[last]
	wraps := inner.wraps && a.wraps
	outer := a.outer
	for i := range a.rows {
		r := &a.rows[i]
		var at place
		ok := a.beyond(g, from, outer[:last], &at)
		outer = outer[last:]
		if !ok {
			continue
		}
		begin := len(dst)
		p, n, to := from[last]+r.start, r.n, r.dst
		if !wraps { // cut what is outside
			if p < 0 {
				skip := (a.wide - 1 - p) / a.wide
				p, n, to = p+int32(skip*a.wide), n-skip, to+int32(skip*a.step)
			}
			if p < inner.extent {
				n = min(n, (inner.extent-p-1)/a.wide+1)
			} else {
				n = 0
			}
		} else if p %= inner.extent; p < 0 {
			p += inner.extent
		}
		for n > 0 {
			m := min(n, (inner.extent-p-1)/a.wide+1)
			at[last] = p
			if rank, ok := g.rank(&at); ok {
				dst = appendRun(dst, begin, run{rank - cell, to, m}, a.step)
			}
			n, to = n-m, to+int32(m*a.step)
			p += int32(m*a.wide) - inner.extent // at the other end, if there is more
		}
	}
	return dst
}

// beyond goes from a place by the offsets along all axes but the last; false if that leads out
// of the lattice.
func (a *around) beyond(g *grid, from *place, offsets []int32, to *place) bool {
	for i, by := range offsets {
		axis := &g.axes[i]
		v := from[i] + by
		if v < 0 || v >= axis.extent {
			if !axis.wraps || !a.wraps {
				return false
			}
			if v %= axis.extent; v < 0 {
				v += axis.extent
			}
		}
		to[i] = v
	}
	return true
}

// appendRun appends a run, or extends the last one of those from begin on that it continues.
func appendRun(dst []run, begin int, r run, step int32) []run {
	if len(dst) > begin {
		if l := &dst[len(dst)-1]; l.src+l.n == r.src && l.dst+int32(l.n*step) == r.dst {
			l.n += r.n
			return dst
		}
	}
	return append(dst, r)
}

// A table is where the cells of a region are, from one place.
type table struct {
	runs []run
	mask []uint8 // by element; nil: as the runs say
	full bool    // all elements are valid
}

// fixedTable returns the table of a region of the lattice. Its runs have ranks.
func fixedTable(p *space.Plan) *table {
	t := &table{mask: make([]uint8, len(p.ValidMask)), full: len(p.Ranks) == len(p.ValidMask)}
	for i, rank := range p.Ranks {
		t.mask[p.TensorIndices[i]] = 1
		t.runs = appendRun(t.runs, 0, run{rank, p.TensorIndices[i], 1}, 1)
	}
	return t
}

// The limits of the tables of a region; larger ones are made anew for each agent.
const (
	maxClasses  = 1 << 16
	maxRuns     = 1 << 19
	maxMaskSize = 1 << 21
)

// Classes are the tables of a region from all places of a grid. Two places are of the same class if
// along each axis both edges are equally far, or farther than the region reaches, so that
// cells lie in the same way around them. Where not every place of an axis is a cell, they
// must also be both even or both odd.
type classes struct {
	axes   []classAxis
	tables []table
}

type classAxis struct {
	low, high int32 // positions up to low, and from high on, have a class of their own each
	parity    int32 // 1: even and odd positions have another one; else 0
	count     int32
	stride    int32 // of classes
}

// newClasses makes the tables, or returns nil if they are too large.
func newClasses(g *grid, a *around) *classes {
	c := &classes{axes: make([]classAxis, len(g.axes))}
	n := int64(1)
	for i := len(g.axes) - 1; i >= 0; i-- {
		extent, reach := g.axes[i].extent, a.half[i]
		x := classAxis{low: extent, high: extent, count: extent, stride: int32(n), parity: g.axes[i].wide - 1}
		if int64(extent) > 2*int64(reach)+1 {
			x.low, x.high, x.count = reach, extent-1-reach, 2*reach+1
		}
		x.count <<= x.parity
		c.axes[i] = x
		if n *= int64(x.count); n*int64(max(len(a.rows), 1)) > maxRuns || n > maxClasses {
			return nil
		}
	}
	c.make(g, a, n)
	return c
}

// make makes the tables of n classes.
func (c *classes) make(g *grid, a *around, n int64) {
	c.tables = make([]table, n)
	runs, ends := []run(nil), make([]int, n)
	masked := n*int64(a.places) <= maxMaskSize
	for i := range c.tables {
		ends[i] = len(runs)
		var at place
		if !c.example(int32(i), g, &at) {
			continue // of no place
		}
		cell, ok := g.rank(&at)
		if !ok {
			continue
		}
		runs = a.appendRuns(runs, g, &at, cell)
		t, valid := &c.tables[i], 0
		for _, r := range runs[ends[i]:] {
			valid += int(r.n)
		}
		t.full = valid == a.places
		if masked {
			t.mask = make([]uint8, a.places)
			mark(t.mask, runs[ends[i]:], a.step)
		}
		ends[i] = len(runs)
	}
	begin := 0
	for i, end := range ends {
		c.tables[i].runs, begin = runs[begin:end], end
	}
}

// class returns the class of a place.
func (c *classes) class(at *place) int32 {
	class := int32(0)
	for i := range c.axes {
		x := &c.axes[i]
		v := min(at[i], x.low) + max(at[i]-x.high, 0)
		class += int32((v<<x.parity | at[i]&x.parity) * x.stride)
	}
	return class
}

// example finds a place of a class; false if there is none.
func (c *classes) example(class int32, g *grid, at *place) bool {
	for i := range c.axes {
		x := &c.axes[i]
		n := class / x.stride % x.count
		v := n >> x.parity
		if v > x.low {
			v += x.high - x.low
		}
		if want := n & x.parity; v&x.parity != want {
			if v++; v > x.high || v >= g.axes[i].extent || min(v, x.low)+max(v-x.high, 0) != n>>x.parity {
				return false
			}
		}
		at[i] = v
	}
	return true
}

// mark sets the elements of a mask that belong to runs.
func mark(mask []uint8, runs []run, step int32) {
	for _, r := range runs {
		for range r.n {
			mask[r.dst] = 1
			r.dst += step
		}
	}
}
