package propagators

import (
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
	return engine.Spec{
		Name: named(d.Name, "distance"), Prev: append(optional(d.Blocks), d.Source), Full: engine.Fields(d.Distance),
		Scratch: 2 * min(l.Cells(), maxRanks),
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
	l := c.Lattice()
	s := search{next: c.Next(d.Distance), patterns: l.Patterns()}
	s.near, s.queue = c.Scratch()[:l.Cells()], c.Scratch()[l.Cells():]
	for _, span := range c.Spans() {
		id := float32(span.Pattern.ID)
		for i, cell := 0, span.First; i < span.Count; i, cell = i+1, cell+span.Stride {
			s.near[cell] = id
		}
	}
	for i := range s.next {
		s.next[i] = unseen
	}
	if d.Blocks != nil {
		for i, b := range c.Prev(*d.Blocks) {
			if b != 0 {
				s.next[i] = blocked
			}
		}
	}
	for i, v := range c.Prev(d.Source) {
		if v != 0 && s.next[i] == unseen {
			s.reach(i, 0)
		}
	}
	s.spread(d.Limit)
	far := float32(d.Far)
	if far == 0 {
		far = -1
	}
	for i, v := range s.next {
		if v < 0 {
			s.next[i] = far
		}
	}
	return nil
}

// A search is under way. Ranks and patterns are whole numbers that float32 can hold.
type search struct {
	next     []float32 // distances, unseen or blocked
	near     []float32 // by cell: the id of its pattern
	queue    []float32 // cells in the order of their distances
	reached  int       // how many are in the queue
	patterns []*space.Pattern
}

const (
	unseen  = -1
	blocked = -2
)

// reach sets the distance of a cell.
func (s *search) reach(cell int, distance float32) {
	s.next[cell] = distance
	s.queue[s.reached] = float32(cell)
	s.reached++
}

// spread goes on from the cells of the queue until none is left within the limit.
func (s *search) spread(limit int) {
	for at := 0; at < s.reached; at++ {
		cell := int(s.queue[at])
		distance := s.next[cell] + 1
		if limit > 0 && distance > float32(min(limit, maxRanks)) {
			return
		}
		for _, o := range s.patterns[int(s.near[cell])].Offsets {
			if s.next[cell+o] == unseen {
				s.reach(cell+o, distance)
			}
		}
	}
}
