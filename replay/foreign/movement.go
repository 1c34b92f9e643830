package foreign

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// movement moves agents as version 0.1.9 of the original Murk engine did, in
// the field of presence, which has one component and is written in place.
//
// A cell holds 0, or the id of an agent plus 1. On tick 1 the agents are placed and
// actions that wait are dropped. From then on a tick takes all actions that wait,
// sorted by agent, those of one agent in the order in which they came. An agent is at
// the cell of the highest rank whose value v is above 0.5 and
// whose v-1+0.5, cut to 16 bits, is its id. It does not move to a cell where another stands.
// On a square4 it never leaves the grid, whatever the edge; on other lattices it goes to
// the first neighbour whose coordinates differ from its own by the step on the first
// two axes, without folding at wrapped edges, and stays if there is none.
//
// The waiting actions are not stored in a column. A world with this propagator can be
// replayed, but neither saved nor rewound; the rules allow that.
type movement struct {
	name    string
	initial []position // in this order: of two at one cell the later stands there; one outside the lattice is ignored
	actions *actionQueue
}

// A Heading is the direction of an agent's next step.
type Heading uint8

// The headings, and the steps that they are on the first two axes.
const (
	stay  Heading = iota
	north         // -1, 0
	south         // +1, 0
	east          // 0, +1
	west          // 0, -1
)

var headingNames = [...]string{"stay", "north", "south", "east", "west"}

// parseHeading reads the name of a heading, in lower case.
func parseHeading(s string) (Heading, error) {
	if i := slices.Index(headingNames[:], s); i >= 0 {
		return Heading(i), nil
	}
	return 0, fmt.Errorf("heading %q is unknown; use stay, north, south, east or west", s)
}

// String returns the name that a world file gives it.
func (h Heading) String() string {
	if int(h) < len(headingNames) {
		return headingNames[h]
	}
	return fmt.Sprintf("Heading(%d)", uint8(h))
}

func (h Heading) step() (axis0, axis1 int) {
	switch h {
	case north:
		return -1, 0
	case south:
		return 1, 0
	case east:
		return 0, 1
	case west:
		return 0, -1
	}
	return 0, 0
}

// An actionQueue holds the actions that wait for the next tick of a movement. Nothing may be pushed while a tick is computed. The zero queue is empty.
type actionQueue struct {
	waiting []action
}

type action struct {
	agent   uint16
	heading Heading
}

// push lets an agent act in the next tick.
func (q *actionQueue) push(agent uint16, h Heading) {
	q.waiting = append(q.waiting, action{agent, h})
}

// take empties the queue and returns its actions, sorted by agent, valid until the next push.
func (q *actionQueue) take() []action {
	if q == nil {
		return nil
	}
	all := q.waiting
	q.waiting = all[:0]
	slices.SortStableFunc(all, func(a, b action) int { return cmp.Compare(a.agent, b.agent) })
	return all
}

const agentIDs = 1 << 16

// Spec implements [engine.Propagator].
func (m *movement) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: m.name, Incremental: engine.Fields(presenceField), Scratch: agentIDs}
}

// Check implements [engine.Checker].
func (m *movement) Check(_ *space.Lattice, defs []fields.Def) error {
	return sized(defs, []int{presenceField: 1})
}

// Step implements [engine.Propagator].
func (m *movement) Step(c *engine.Context) error {
	v, actions := c.Next(presenceField), m.actions.take()
	if c.Tick() == 1 {
		for _, p := range m.initial {
			if p.cell >= 0 && p.cell < len(v) {
				v[p.cell] = float32(p.agent) + 1
			}
		}
		return nil
	}
	if len(actions) == 0 {
		return nil
	}
	places := c.Scratch() // by agent: bits of its rank plus 1
	for cell, x := range v {
		if x > 0.5 {
			places[idOf(x)] = fromRank(cell + 1)
		}
	}
	for _, a := range actions {
		from := toRank(places[a.agent]) - 1
		if from < 0 {
			continue
		}
		if to := a.heading.from(c.Lattice(), from); to >= 0 && v[to] == 0 {
			v[to], v[from] = v[from], 0
			places[a.agent] = fromRank(to + 1)
		}
	}
	return nil
}

// idOf returns the id of the agent that a value above 0.5 stands for.
func idOf(v float32) uint16 {
	id := v - 1 + 0.5
	switch {
	case id >= agentIDs-1:
		return agentIDs - 1
	case id > 0:
		return uint16(id)
	}
	return 0
}

// from returns the cell where the heading leads from a cell, -1 if there is none.
func (h Heading) from(l *space.Lattice, cell int) int {
	d0, d1 := h.step()
	if h == stay {
		return -1
	}
	at := l.Coord(cell)
	if _, cross := l.Compass(); cross {
		if to, ok := l.Rank(space.At(at.At(0)+int32(d0), at.At(1)+int32(d1))); ok {
			return to
		}
		return -1
	}
	var near [64]int32
	for _, n := range l.AppendNeighbours(near[:0], cell) {
		to := l.Coord(int(n))
		if int(to.At(0)-at.At(0)) == d0 && (at.Dim() == 1 && d1 == 0 || at.Dim() > 1 && int(to.At(1)-at.At(1)) == d1) {
			return int(n)
		}
	}
	return -1
}

// fromRank and toRank keep ranks, which have 31 bits, in scratch memory.

func fromRank(rank int) float32 { return math.Float32frombits(uint32(rank)) }

func toRank(v float32) int { return int(math.Float32bits(v)) }
