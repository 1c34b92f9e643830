package propagators

import (
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// Distance computes how many steps each cell is from the nearest source: the fewest
// from neighbour to neighbour that lead there around obstacles. It is exact within the
// tick, on every lattice, by breadth-first search: E. F. Moore, The shortest path
// through a maze (1959); C. Y. Lee, IRE Trans. EC-10 (1961).
//
// Sources and obstacles are read as at the start of the tick. A source inside an
// obstacle does not count. The search goes from ring to ring and runs on one worker: a ring
// has too few cells to share. Its time is proportional to the cells and their links. A
// lattice may have at most 16,777,216 cells, 2^24, which float32 can number.
type Distance struct {
	Name     string     // default "distance"
	Source   fields.ID  // of one component: a cell is a source where it is not 0
	Blocks   *fields.ID // of one component: no path leads through cells where it is not 0
	Distance fields.ID  // of one component; written in full: 0 at sources, 1 beside them, …
	Limit    int        // the greatest distance that is searched; 0: no limit
	Far      float64    // for obstacles, and cells that are unreachable or beyond the limit; 0 means -1
}

// maxRanks is the number of ranks that float32 represents exactly.
const maxRanks = 1 << 24

// Spec implements [engine.Propagator].
func (d Distance) Spec(l *space.Lattice) engine.Spec {
	cells := min(l.Cells(), maxRanks)
	return engine.Spec{
		Name: named(d.Name, "distance"), Prev: append(optional(d.Blocks), d.Source), Full: engine.Fields(d.Distance),
		Scratch: 2*cells + groupsOf(cells),
	}
}

// Check implements [engine.Checker].
func (d Distance) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("source", d.Source, 1)
	c.sized("distance", d.Distance, 1)
	c.distinct("source", d.Source, "distance", d.Distance)
	if d.Blocks != nil {
		c.sized("blocks", *d.Blocks, 1)
		c.distinct("blocks", *d.Blocks, "distance", d.Distance)
	}
	c.number("far", d.Far, -maxFloat32)
	if d.Limit < 0 {
		c.fail("limit", "limit must be at least 0, not %d", d.Limit)
	}
	if l.Cells() > maxRanks {
		c.fail("", "the space has %d cells; distances can be computed for at most %d", l.Cells(), maxRanks)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (d Distance) Step(c *engine.Context) error {
	l, all := c.Lattice(), c.Scratch()
	cells := l.Cells()
	s := search{
		next: c.Next(d.Distance), patterns: l.Patterns(),
		near: all[:cells], queue: all[cells : 2*cells], open: all[2*cells:],
	}
	far := float32(d.Far)
	if far == 0 {
		far = -1
	}
	for i := range s.next {
		s.next[i] = far
	}
	s.begin(c.Spans())
	if d.Blocks != nil {
		blocks := c.Prev(*d.Blocks)
		for i := nextSet(blocks, 0); i < len(blocks); i = nextSet(blocks, i+1) {
			s.take(uint(i))
		}
	}
	sources := c.Prev(d.Source)
	for i := nextSet(sources, 0); i < len(sources); i = nextSet(sources, i+1) {
		s.reach(uint(i), 0)
	}
	s.spread(d.Limit)
	return nil
}

// nextSet returns the index of the first element from i on that is not 0, or the length.
func nextSet(v []float32, i int) int {
	for ; i+8 <= len(v); i += 8 {
		w := (*[8]float32)(v[i:])
		either := math.Float32bits(w[0]) | math.Float32bits(w[1]) | math.Float32bits(w[2]) | math.Float32bits(w[3]) |
			math.Float32bits(w[4]) | math.Float32bits(w[5]) | math.Float32bits(w[6]) | math.Float32bits(w[7])
		if either<<1 != 0 { // but for the sign: -0 is 0
			break
		}
	}
	for ; i < len(v); i++ {
		if v[i] != 0 {
			break
		}
	}
	return i
}

// A search is under way. What it asks of most cells, whether they are open, takes two bits of
// memory for each, so that the processor has it at hand; distances are only written. Ranks and
// all else that is not a distance are whole numbers below 2^25, stored as the bits of a float32.
//
// Most cells have the common pattern of neighbours. A group with others is mixed, and entries
// of the queue are marked if their group is.
type search struct {
	next     []float32 // distances
	near     []float32 // by cell of a mixed group: the id of its pattern
	queue    []float32 // cells in the order of their distances
	reached  int       // how many are in the queue
	open     []float32 // by group: a bit for each cell that no obstacle is on and no path has led to, and one if it is mixed
	patterns []*space.Pattern
	common   []int // offsets of the common pattern
}

const (
	groupCells = 16       // cells of a group
	mixedMark  = maxRanks // the bit of an entry in the queue whose group is mixed; ranks are less
)

func groupsOf(cells int) int { return (cells + groupCells - 1) / groupCells }

// begin opens all cells, and finds the common pattern and mixed groups.
func (s *search) begin(spans []space.Span) {
	counts, common := s.queue[:len(s.patterns)], 0
	clear(counts)
	for _, span := range spans {
		counts[span.Pattern.ID] += float32(span.Count)
	}
	for id := range counts {
		if counts[id] > counts[common] {
			common = id
		}
	}
	s.common = s.patterns[common].Offsets
	pure, mixed := math.Float32frombits(1<<groupCells-1), math.Float32frombits(1<<(groupCells+1)-1)
	for k := range s.open {
		s.open[k] = pure
	}
	for _, span := range spans {
		if span.Pattern.ID == common {
			continue
		}
		for i, cell := 0, span.First; i < span.Count; i, cell = i+1, cell+span.Stride {
			if k := cell / groupCells; math.Float32bits(s.open[k]) == math.Float32bits(pure) {
				s.open[k] = mixed
				for j := k * groupCells; j < min((k+1)*groupCells, len(s.near)); j++ {
					s.near[j] = math.Float32frombits(uint32(common))
				}
			}
			s.near[cell] = math.Float32frombits(uint32(span.Pattern.ID))
		}
	}
}

// take closes a cell. It returns the group as it was, and reports whether the cell was open.
func (s *search) take(cell uint) (group uint32, open bool) {
	group = math.Float32bits(s.open[cell/groupCells])
	bit := uint32(1) << (cell % groupCells)
	s.open[cell/groupCells] = math.Float32frombits(group &^ bit)
	return group, group&bit != 0
}

// reach sets the distance of a cell, if it is open.
func (s *search) reach(cell uint, distance float32) {
	if group, open := s.take(cell); open {
		s.next[cell], s.queue[s.reached] = distance, math.Float32frombits(uint32(cell)|group>>groupCells*mixedMark)
		s.reached++
	}
}

// spread goes on from the cells of the queue, ring by ring, until none is left within the
// limit.
func (s *search) spread(limit int) {
	begin := 0
	for distance := 1; begin < s.reached && (limit <= 0 || distance <= limit); distance++ {
		end := s.reached
		if len(s.common) == 4 {
			s.goOn4(begin, end, float32(distance))
		} else {
			s.goOn(begin, end, float32(distance))
		}
		begin = end
	}
}

// goOn reaches the neighbours of a ring of cells, which is a part of the queue.
func (s *search) goOn(begin, end int, distance float32) {
	for _, q := range s.queue[begin:end] {
		if entry := math.Float32bits(q); entry < mixedMark {
			s.goOnFrom(uint(entry), s.common, distance)
		} else {
			s.goOnMixed(entry, distance)
		}
	}
}

// goOnMixed reaches the neighbours of a cell in a mixed group.
func (s *search) goOnMixed(entry uint32, distance float32) {
	cell := uint(entry - mixedMark)
	s.goOnFrom(cell, s.patterns[math.Float32bits(s.near[cell])].Offsets, distance)
}

// goOnFrom reaches the neighbours of a cell.
func (s *search) goOnFrom(cell uint, offsets []int, distance float32) {
	next, queue, open, reached := s.next, s.queue, s.open, s.reached
	for _, o := range offsets {
		n := cell + uint(o)
		if group := math.Float32bits(open[n/groupCells]); group>>(n%groupCells)&1 != 0 { // this is reach, by hand
			open[n/groupCells] = math.Float32frombits(group &^ (1 << (n % groupCells)))
			next[n], queue[reached] = distance, math.Float32frombits(uint32(n)|group>>groupCells*mixedMark)
			reached++
		}
	}
	s.reached = reached
}

// goOn4 is goOn for four neighbours, by hand.
func (s *search) goOn4(begin, end int, distance float32) {
	next, queue, open, reached := s.next, s.queue[:len(s.next)], s.open, s.reached
	a, b, c, d := uint(s.common[0]), uint(s.common[1]), uint(s.common[2]), uint(s.common[3])
	for ; begin < end; begin++ {
		entry := math.Float32bits(queue[begin])
		if entry >= mixedMark {
			s.reached = reached
			s.goOnMixed(entry, distance)
			reached = s.reached
			continue
		}
		cell := uint(entry)
		n := cell + a
		if group := math.Float32bits(open[n/groupCells]); group>>(n%groupCells)&1 != 0 {
			open[n/groupCells] = math.Float32frombits(group &^ (1 << (n % groupCells)))
			next[n], queue[reached] = distance, math.Float32frombits(uint32(n)|group>>groupCells*mixedMark)
			reached++
		}
		n = cell + b
		if group := math.Float32bits(open[n/groupCells]); group>>(n%groupCells)&1 != 0 {
			open[n/groupCells] = math.Float32frombits(group &^ (1 << (n % groupCells)))
			next[n], queue[reached] = distance, math.Float32frombits(uint32(n)|group>>groupCells*mixedMark)
			reached++
		}
		n = cell + c
		if group := math.Float32bits(open[n/groupCells]); group>>(n%groupCells)&1 != 0 {
			open[n/groupCells] = math.Float32frombits(group &^ (1 << (n % groupCells)))
			next[n], queue[reached] = distance, math.Float32frombits(uint32(n)|group>>groupCells*mixedMark)
			reached++
		}
		n = cell + d
		if group := math.Float32bits(open[n/groupCells]); group>>(n%groupCells)&1 != 0 {
			open[n/groupCells] = math.Float32frombits(group &^ (1 << (n % groupCells)))
			next[n], queue[reached] = distance, math.Float32frombits(uint32(n)|group>>groupCells*mixedMark)
			reached++
		}
	}
	s.reached = reached
}
