package propagators

import (
	"fmt"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// Ties says which state wins where several have the most votes.
type Ties uint8

// The ways to break a tie. KeepOwn also takes the lowest, if the cell's own state is not
// among those that tie.
const (
	KeepOwn    Ties = iota // the cell's own
	TakeLowest             // the one with the lowest number
)

var tieNames = [...]string{KeepOwn: "keep", TakeLowest: "lowest"}

// String returns the name as it stands in YAML.
func (t Ties) String() string {
	if int(t) < len(tieNames) {
		return tieNames[t]
	}
	return fmt.Sprintf("Ties(%d)", t)
}

// ParseTies is the inverse of [Ties.String].
func ParseTies(s string) (Ties, error) {
	for t, name := range tieNames {
		if s == name {
			return Ties(t), nil
		}
	}
	return 0, fmt.Errorf("ties %q is unknown; use keep or lowest", s)
}

// Majority gives every cell the state that most of its neighbours have, as at the
// start of the tick:
//
//	next = the state s with the most votes,  votes(s) = number of neighbours of state s (+ 1 for the cell's own, if Self)
//
// A value that is not a state counts as 0. A cell that is its own neighbour, at
// a clamped edge, votes as a neighbour. Without noise every world ends in a state that stays
// or returns after two ticks, because the votes are symmetric: E. Goles and J. Olivos,
// Discrete Math. 30, 187 (1980); S. Poljak and M. Sůra, Combinatorica 3, 119 (1983).
//
// With Noise a cell sometimes takes the state of one random neighbour instead, as in the
// voter model: P. Clifford and A. Sudbury, Biometrika 60, 581 (1973). The draws are bulk
// draws of stream 0 at the cell's rank: one word, and another where noise hits.
type Majority struct {
	Name   string    // default "majority"; also that of the random stream
	Field  fields.ID // of one component, categorical or scalar; written in full
	States int       // 2 to 256; 0 means 2
	Self   bool      // the cell has a vote too
	Ties   Ties
	Noise  float64 // probability, each tick, that a cell follows one neighbour; 0 to 1
}

func (m *Majority) states() int {
	if m.States == 0 {
		return 2
	}
	return m.States
}

// Spec implements [engine.Propagator].
func (m Majority) Spec(*space.Lattice) engine.Spec {
	cost := 400 * time.Nanosecond
	if m.states() > 2 {
		cost = 20 * time.Microsecond
	}
	return engine.Spec{
		Name: named(m.Name, "majority"), Prev: engine.Fields(m.Field), Full: engine.Fields(m.Field), Parallel: true, Cost: cost,
	}
}

// Check implements [engine.Checker].
func (m Majority) Check(_ *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("field", m.Field, 1)
	c.number("noise", m.Noise, 0)
	switch n := m.states(); {
	case n < 2 || n > tableStates:
		c.fail("states", "states must be 2 to %d, not %d", tableStates, n)
	case m.Ties > TakeLowest:
		c.fail("ties", "%v does not exist", m.Ties)
	case m.Noise > 1:
		c.fail("noise", "noise must be at most 1, not %v", m.Noise)
	default:
		c.holds("", m.Field, n)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (m Majority) Step(c *engine.Context) error {
	prev, next := c.Prev(m.Field), c.Next(m.Field)
	c.Valid(m.Field) // as it will be: states
	var bulk rng.Bulk
	if m.Noise > 0 {
		bulk = c.Bulk(0)
	}
	if m.states() == 2 {
		m.two(c, next, prev, bulk)
		return nil
	}
	var p patch
	for r := range runs(c, 1) {
		for i := 0; i < r.count; {
			n := p.fill(&r, prev, i, m.states())
			first := r.first + i*r.stride
			out := next[first : first+(n-1)*r.stride+1]
			m.elect(out, r.stride, &p)
			if m.Noise > 0 {
				m.follow(out, r.stride, first, r.degree(), n, bulk, func(k, cell int) float32 { return float32(p.near(k)[cell]) })
			}
			i += n
		}
	}
	return nil
}

// two computes all cells where there are two states.
func (m *Majority) two(c *engine.Context, next, prev []float32, bulk rng.Bulk) {
	var ones crowd
	for r := range runs(c, 1) {
		if ones.fill(&r, prev) {
			ones.Rule(m.rule(r.degree()))
		}
		ones.next(&r, next)
		if m.Noise > 0 {
			m.follow(r.of(next), r.stride, r.first, r.degree(), r.count, bulk, ones.near)
		}
	}
}

// own returns the weight of a cell's own state; that of a neighbour's is 2.
func (m *Majority) own() (weight int) {
	if m.Self {
		weight = 2
	}
	if m.Ties == KeepOwn {
		weight++
	}
	return weight
}

// rule says at which numbers of neighbours of state 1 a cell of state 0 becomes 1, and one of
// state 1 stays so.
func (m *Majority) rule(degree int) (born, survive uint64) {
	for n := range degree + 1 {
		ones, zeros := 2*n, 2*(degree-n)
		if ones > zeros+m.own() {
			born |= 1 << n
		}
		if ones+m.own() > zeros {
			survive |= 1 << n
		}
	}
	return born, survive
}

// elect writes the winner for each cell of a patch, for any number of states.
func (m *Majority) elect(dst []float32, stride int, p *patch) {
	var starts [maxNear]int
	voters := starts[:len(p.pattern.Offsets)]
	for k := range voters {
		voters[k] = p.start(k)
	}
	here, states, own := p.here(), m.states(), uint8(m.own())
	var votes [tableStates]uint8 // at most 2·63 + 3
	for i := range p.cells {
		clear(votes[:states])
		votes[here[i]] = own
		for _, v := range voters {
			votes[p.buf[v+i]] += 2
		}
		best := 0
		for s := 1; s < states; s++ {
			if votes[s] > votes[best] {
				best = s
			}
		}
		dst[i*stride] = float32(best)
	}
}

// follow lets cells take the state of a neighbour, where noise hits.
func (m *Majority) follow(dst []float32, stride, first, degree, cells int, bulk rng.Bulk, near func(k, cell int) float32) {
	if degree == 0 {
		return
	}
	for i := range cells {
		words := bulk.Words(uint64(first + i*stride))
		if float64(words.Float32()) < m.Noise {
			dst[i*stride] = near(int(words.Below(uint64(degree))), i)
		}
	}
}
