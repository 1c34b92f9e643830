package space

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A Span is a run of cells that share one pattern: the cells First, First+Stride, …,
// Count of them. The stride keeps runs long where an inner dimension is narrow.
type Span struct {
	First, Count, Stride int
	Pattern              *Pattern
}

// A Pattern lists the neighbours of every cell of a span. All slices but Offsets are
// parallel to Offsets; none may be changed.
type Pattern struct {
	ID      int     // index into [Lattice.Patterns]
	Offsets []int   // rank of each neighbour minus the cell's own, in contract order
	Dirs    []uint8 // which of [Lattice.Directions] leads there
	Deltas  []Coord // step really taken: the direction's, but zero along an axis where the
	// edge clamps or the extent is one, so the short way across a wrapped edge
	Jumps []Coord // coordinate of the neighbour minus the cell's own: the long way across a wrapped edge
}

// Patterns returns all patterns of the lattice, by ID. The slice must not be changed.
func (l *Lattice) Patterns() []*Pattern {
	l.once.Do(l.compile)
	return l.patterns
}

// Spans returns spans that cover every cell exactly once, by ascending First. The first
// call makes them, in time proportional to their number. The slice must not be changed.
func (l *Lattice) Spans() []Span {
	l.once.Do(l.compile)
	return l.spans
}

// SpansIn appends to dst the parts of the spans that lie in the ranks [lo, hi), by
// ascending First of the whole spans. Calls for the pieces of a split of [0, Cells())
// together cover every cell exactly once. It allocates only to extend dst.
func (l *Lattice) SpansIn(dst []Span, lo, hi int) []Span {
	l.once.Do(l.compile)
	from, _ := slices.BinarySearchFunc(l.spans, lo-l.reach, func(s Span, first int) int { return cmp.Compare(s.First, first) })
	for _, s := range l.spans[from:] {
		if s.First >= hi {
			break
		}
		skip := 0
		if s.First < lo {
			skip = (lo-s.First-1)/s.Stride + 1
		}
		end := min(s.Count, (hi-s.First-1)/s.Stride+1)
		if skip < end {
			s.First += skip * s.Stride
			s.Count = end - skip
			dst = append(dst, s)
		}
	}
	return dst
}

// Estimate checks a space as Build does and returns the number of its cells and an upper bound
// of the bytes that its lattice takes once it has its spans, without making them.
func Estimate(s Space) (cells, bytes uint64, err error) {
	l, err := s.Build()
	if err != nil {
		return 0, 0, err
	}
	bytes = latticeBytes
	l.blocks(func(b *block) {
		bytes += patternBytes + neighbourBytes*uint64(l.Degree(b.first)) + spanBytes*uint64(b.spans())
	})
	return uint64(l.cells), bytes, nil
}

// What Estimate counts, with the index that compile drops when it is done.
const (
	latticeBytes   = 4096
	patternBytes   = 384
	neighbourBytes = 192
	spanBytes      = 32
)

// A zone is a range of positions on an axis that see the same edges.
type zone struct{ lo, hi int32 }

// zones divides an axis into its first cell, its inner cells, and its last cell.
func zones(extent int32) []zone {
	switch extent {
	case 1:
		return []zone{{0, 0}}
	case 2:
		return []zone{{0, 0}, {1, 1}}
	default:
		return []zone{{0, 0}, {1, extent - 2}, {extent - 1, extent - 1}}
	}
}

// A block is a box of cells with one pattern: every sum of first and one multiple
// (below count) of each loop's stride. Loops run from the outermost inwards.
type block struct {
	first int
	n     int
	loops [maxDimensions]loop
}

type loop struct{ count, stride int }

// nest adds an inner loop. A loop of one turn is none, and one that fits the loop around it
// without a gap extends it.
func (b *block) nest(count, stride int) {
	if count == 1 {
		return
	}
	if b.n > 0 && b.loops[b.n-1].stride == count*stride {
		b.loops[b.n-1] = loop{b.loops[b.n-1].count * count, stride}
		return
	}
	b.loops[b.n] = loop{count, stride}
	b.n++
}

// blocks returns the part's cells in blocks, as if the part were the whole lattice.
func (p *part) blocks() []block {
	var all []block
	switch {
	case p.fcc():
		return p.fccBlocks()
	case p.dim() == 1:
		for _, z := range zones(p.ext[0]) {
			b := block{first: int(z.lo)}
			b.nest(int(z.hi-z.lo+1), 1)
			all = append(all, b)
		}
	default:
		rows, cols := p.ext[0], p.ext[1]
		if p.kind.firstFast {
			rows, cols = cols, rows
		}
		for _, y := range zones(rows) {
			for _, x := range zones(cols) {
				b := block{first: int(y.lo)*int(cols) + int(x.lo)}
				b.nest(int(y.hi-y.lo+1), int(cols))
				b.nest(int(x.hi-x.lo+1), 1)
				all = append(all, b)
			}
		}
	}
	return all
}

// fccBlocks divides by the parity of y and z, too, on which offsets depend. Two layers
// together hold w·h cells and two rows of a layer w, whatever the parities.
func (p *part) fccBlocks() []block {
	var all []block
	w, h := int(p.ext[0]), int(p.ext[1])
	for _, z := range parities(zones(p.ext[2])) {
		for _, y := range parities(zones(p.ext[1])) {
			odd := (y.lo + z.lo) & 1
			for _, x := range zones(p.ext[0]) {
				x.lo += (x.lo ^ odd) & 1
				if x.lo > x.hi {
					continue
				}
				b := block{first: p.rank([3]int32{x.lo, y.lo, z.lo})}
				b.nest(int(z.hi-z.lo)/2+1, w*h)
				b.nest(int(y.hi-y.lo)/2+1, w)
				b.nest(int(x.hi-x.lo)/2+1, 1)
				all = append(all, b)
			}
		}
	}
	return all
}

// parities splits each zone into its every other position, from the first and from the second.
func parities(zs []zone) []zone {
	var out []zone
	for _, z := range zs {
		out = append(out, z)
		if z.lo < z.hi {
			out = append(out, zone{z.lo + 1, z.hi})
		}
	}
	return out
}

// blocks calls f for every block of the lattice: all combinations of its parts' blocks. The
// block is only valid during the call.
func (l *Lattice) blocks(f func(*block)) {
	lists := make([][]block, len(l.parts))
	for i := range l.parts {
		lists[i] = l.parts[i].blocks()
	}
	l.combine(lists, 0, block{}, f)
}

func (l *Lattice) combine(lists [][]block, i int, outer block, f func(*block)) {
	if i == len(lists) {
		f(&outer)
		return
	}
	inner := l.parts[i].inner
	for k := range lists[i] {
		in := &lists[i][k]
		b := outer
		b.first += in.first * inner
		for _, lp := range in.loops[:in.n] {
			b.nest(lp.count, lp.stride*inner)
		}
		l.combine(lists, i+1, b, f)
	}
}

const (
	longRun    = 32   // an innermost loop this long is always the run
	runRanks   = 4096 // a strided run covers about this many ranks, so that its neighbours stay in the cache,
	minStrided = 64   // but has at least this many cells
)

// run picks the loop that becomes the run of each span, and how many cells a span has at most.
// Contiguous runs are best unless they are short; strided ones are cut to stay within reach
// of their neighbours in rank order.
func (b *block) run() (r, most int) {
	if b.n == 0 {
		return -1, 1
	}
	r = b.n - 1
	if b.loops[r].count < longRun {
		for i := r - 1; i >= 0; i-- {
			if b.loops[i].count > 2*b.loops[r].count {
				r = i
			}
		}
	}
	if b.loops[r].stride == 1 {
		return r, b.loops[r].count
	}
	return r, max(minStrided, runRanks/b.loops[r].stride)
}

// spans returns the number of spans that the block becomes.
func (b *block) spans() int {
	r, most := b.run()
	n := 1
	for i, lp := range b.loops[:b.n] {
		if i == r {
			n *= (lp.count-1)/most + 1
		} else {
			n *= lp.count
		}
	}
	return n
}

// appendSpans appends the block's spans.
func (b *block) appendSpans(dst []Span, p *Pattern) []Span {
	r, most := b.run()
	run := loop{1, 1}
	if r >= 0 {
		run = b.loops[r]
	}
	var turn [maxDimensions]int
	for first := b.first; ; {
		for at := 0; at < run.count; at += most {
			dst = append(dst, Span{first + at*run.stride, min(most, run.count-at), run.stride, p})
		}
		i := b.n - 1
		for ; i >= 0; i-- {
			if i == r {
				continue
			}
			if turn[i]++; turn[i] < b.loops[i].count {
				first += b.loops[i].stride
				break
			}
			first -= (turn[i] - 1) * b.loops[i].stride
			turn[i] = 0
		}
		if i < 0 {
			return dst
		}
	}
}

// compile makes the spans and the patterns.
func (l *Lattice) compile() {
	total := 0
	l.blocks(func(b *block) { total += b.spans() })
	l.spans = make([]Span, 0, total)
	known := map[string]*Pattern{}
	var key []byte
	l.blocks(func(b *block) {
		var p *Pattern
		p, key = l.patternAt(b.first, known, key[:0])
		l.spans = b.appendSpans(l.spans, p)
	})
	slices.SortFunc(l.spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	for _, s := range l.spans {
		l.reach = max(l.reach, (s.Count-1)*s.Stride)
	}
}

// patternAt returns the pattern of one cell, made unless known has it. The key is scratch memory.
func (l *Lattice) patternAt(rank int, known map[string]*Pattern, key []byte) (*Pattern, []byte) {
	p := &Pattern{ID: len(l.patterns)}
	for i := range l.parts {
		pt := &l.parts[i]
		own := rank / pt.inner % pt.cells
		c := pt.coord(own)
		for k, s := range pt.kind.steps {
			to, taken, ok := pt.step(c, s)
			if !ok {
				continue
			}
			jump := [3]int32{to[0] - c[0], to[1] - c[1], to[2] - c[2]}
			p.Offsets = append(p.Offsets, (pt.rank(to)-own)*pt.inner)
			p.Dirs = append(p.Dirs, uint8(pt.dir+k))
			p.Deltas = append(p.Deltas, l.widen(pt, taken))
			p.Jumps = append(p.Jumps, l.widen(pt, jump))
			key = append(key, uint8(pt.dir+k))
			for a := range pt.dim() {
				key = binary.AppendVarint(key, int64(taken[a]))
				key = binary.AppendVarint(key, int64(jump[a]))
			}
			key = binary.AppendVarint(key, int64(p.Offsets[len(p.Offsets)-1]))
		}
	}
	if old := known[string(key)]; old != nil {
		return old, key
	}
	known[string(key)] = p
	l.patterns = append(l.patterns, p)
	return p, key
}
