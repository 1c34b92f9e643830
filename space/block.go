package space

// A zone is a range of positions on an axis that have the same edges next to them.
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

// nest adds an inner loop, unless its count is one.
func (b *block) nest(count, stride int) {
	if count > 1 {
		b.loops[b.n] = loop{count, stride}
		b.n++
	}
}

// blocks returns the part's cells in blocks, as if the part were the whole lattice.
func (p *part) blocks() []block {
	if p.kind.cells != nil {
		return p.kind.cells.blocks(p)
	}
	all := []block{{}}
	for _, axis := range p.kind.order() {
		var finer []block
		for _, outer := range all {
			for _, z := range zones(p.ext[axis]) {
				b := outer
				b.first += int(z.lo) * p.stride[axis]
				b.nest(int(z.hi-z.lo+1), p.stride[axis])
				finer = append(finer, b)
			}
		}
		all = finer
	}
	return all
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
	longRun    = 16    // an innermost loop this long is always the run
	runRanks   = 16384 // a strided run covers about this many ranks, so that its neighbours stay in the cache,
	minStrided = 64    // but has at least this many cells
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

// spans returns the number of spans into which the block is divided.
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
