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
	Dirs    []uint8 // the direction that leads there, an index into [Lattice.Directions]
	Deltas  []Coord // the actual step: the direction's, but zero along an axis where the
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
	if missing(s) {
		return 0, 0, &Error{Fault: ErrEmpty, Where: "estimate", Arg: "the space", Detail: "must not be nil"}
	}
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

// A compiler makes the spans and patterns of one lattice. Patterns are interned by
// their content, which key encodes.
type compiler struct {
	l     *Lattice
	known map[string]*Pattern
	key   []byte
	draft Pattern
}

func (l *Lattice) compile() {
	total := 0
	l.blocks(func(b *block) { total += b.spans() })
	l.spans = make([]Span, 0, total)
	c := compiler{l: l, known: map[string]*Pattern{}}
	l.blocks(func(b *block) { l.spans = b.appendSpans(l.spans, c.pattern(b.first)) })
	//detcheck:allow sort spans are disjoint, so no two have the same first cell
	slices.SortFunc(l.spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	for _, s := range l.spans {
		l.reach = max(l.reach, (s.Count-1)*s.Stride)
	}
}

// pattern returns the pattern of one cell.
func (c *compiler) pattern(rank int) *Pattern {
	d := &c.draft
	d.Offsets, d.Dirs, d.Deltas, d.Jumps = d.Offsets[:0], d.Dirs[:0], d.Deltas[:0], d.Jumps[:0]
	c.key = c.key[:0]
	for i := range c.l.parts {
		c.addPart(&c.l.parts[i], rank)
	}
	if p := c.known[string(c.key)]; p != nil {
		return p
	}
	p := &Pattern{
		ID: len(c.l.patterns), Offsets: slices.Clone(d.Offsets), Dirs: slices.Clone(d.Dirs),
		Deltas: slices.Clone(d.Deltas), Jumps: slices.Clone(d.Jumps),
	}
	c.known[string(c.key)] = p
	c.l.patterns = append(c.l.patterns, p)
	return p
}

// addPart adds the neighbours that lie in one part's directions to the draft.
func (c *compiler) addPart(p *part, rank int) {
	own := rank / p.inner % p.cells
	at := p.coord(own)
	for k := range p.kind.steps {
		to, taken, ok := p.step(at, p.kind.steps[k].by)
		if !ok {
			continue
		}
		jump := [3]int32{to[0] - at[0], to[1] - at[1], to[2] - at[2]}
		offset := (p.rank(to) - own) * p.inner
		c.draft.Offsets = append(c.draft.Offsets, offset)
		c.draft.Dirs = append(c.draft.Dirs, uint8(p.dir+k))
		c.draft.Deltas = append(c.draft.Deltas, c.l.widen(p, taken))
		c.draft.Jumps = append(c.draft.Jumps, c.l.widen(p, jump))
		c.key = append(c.key, uint8(p.dir+k))
		c.key = binary.AppendVarint(c.key, int64(offset))
		for a := range p.dim() {
			c.key = binary.AppendVarint(c.key, int64(taken[a]))
			c.key = binary.AppendVarint(c.key, int64(jump[a]))
		}
	}
}
