package propagators

import (
	"cmp"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Movement moves agents from cell to cell. A cell holds 0, or the number of the
// agent that stands there. The action of an agent is the value of Actions at its
// cell: 0 means to stay, k a step in direction k-1 of [space.Lattice.Directions].
//
//	agents act one after another, by ascending number (of equal ones, by cell);
//	an agent whose target is occupied by then or is a wall stays, one whose target is free moves
//
// The edges are the lattice's: a step around a wrapped edge leads to the other side; at
// an edge that absorbs the agent stays; one that clamps keeps it on its axis, so that
// only a diagonal step leads on, along the edge, and on hexes none. An action that is not
// the number of a direction means to stay. A wall stops who would step onto it, not an agent
// that is on one and leaves. All fields are read as earlier propagators of the tick left them. Actions are taken once: after the moves they are all 0, unless
// Keep leaves them as they are, for arrows that are painted on the floor.
//
// No agent is ever lost, doubled or renumbered. It works on any lattice and any dt,
// and does not run in parallel, since the order of agents matters; a tick costs a look
// at every cell and a sort of the agents that want to move.
type Movement struct {
	Name      string     // default "movement"
	Agents    fields.ID  // of one component; written in place
	Actions   fields.ID  // of one component, scalar or categorical; written in place, or only read with Keep
	BlockedBy *fields.ID // of one component: a cell is a wall where it is not 0; nil: there are no walls
	Keep      bool
}

// Spec implements [engine.Propagator].
func (m Movement) Spec(l *space.Lattice) engine.Spec {
	s := engine.Spec{
		Name: named(m.Name, "movement"), Now: append(optional(m.BlockedBy), m.Agents, m.Actions), Incremental: engine.Fields(m.Agents),
		Scratch: 2 * l.Cells(),
	}
	if !m.Keep {
		s.Incremental = append(s.Incremental, m.Actions)
	}
	return s
}

// Check implements [engine.Checker].
func (m Movement) Check(l *space.Lattice, defs []fields.Def) error {
	c := checker{defs: defs}
	c.sized("agents", m.Agents, 1)
	c.sized("actions", m.Actions, 1)
	c.distinct("agents", m.Agents, "actions", m.Actions)
	if m.BlockedBy != nil {
		c.sized("blocked_by", *m.BlockedBy, 1)
		c.distinct("agents", m.Agents, "blocked_by", *m.BlockedBy)
		c.distinct("actions", m.Actions, "blocked_by", *m.BlockedBy)
	}
	if c.err != nil {
		return c.err
	}
	if d, ways := &defs[m.Actions], len(l.Directions()); d.Type.Kind == fields.CategoricalKind && d.Type.N > ways+1 {
		c.fail("actions", "actions: field %q holds %d values; the actions are %d directions here, and to stay", d.Name, d.Type.N, ways)
	}
	return c.err
}

// Step implements [engine.Propagator].
func (m Movement) Step(c *engine.Context) error {
	agents := c.Now(m.Agents)
	movers, targets, finite := m.movers(c, agents, c.Now(m.Actions), c.Uncleared())
	var walls []float32
	if m.BlockedBy != nil {
		walls = c.Now(*m.BlockedBy)
	}
	moved := false
	for _, v := range movers {
		cell := toRank(v)
		if to := toRank(targets[cell]); agents[to] == 0 && (walls == nil || walls[to] == 0) {
			if !moved { // else the field is not written at all
				agents, moved = c.Next(m.Agents), true
			}
			agents[to], agents[cell] = agents[cell], 0
		}
	}
	if finite { // agents were moved, not changed
		c.Finite(m.Agents)
	}
	if !m.Keep {
		clear(c.Next(m.Actions))
		c.Finite(m.Actions)
	}
	return nil
}

// movers returns, in scratch memory, the ranks of the agents that want to move, in the order in which they act, and by rank where they want to go. Both
// hold the bits of ranks. It reports whether all agents are finite.
func (m *Movement) movers(c *engine.Context, agents, actions, scratch []float32) (movers, targets []float32, finite bool) {
	targets, movers = scratch[:len(agents)], scratch[len(agents):][:0]
	movers, finite = wanting(movers, agents, actions)
	aim(c.Spans(), targets, movers, actions)
	movers = slices.DeleteFunc(movers, func(v float32) bool { return toRank(targets[toRank(v)]) == toRank(v) })
	//detcheck:allow sort the last thing compared is the cell, and each is listed once
	slices.SortFunc(movers, func(a, b float32) int {
		i, j := toRank(a), toRank(b)
		return cmp.Or(cmp.Compare(agents[i], agents[j]), cmp.Compare(i, j))
	})
	return movers, targets, finite
}

// wanting appends the ranks of agents with an action, and reports whether all agents are
// finite.
func wanting(list, agents, actions []float32) (_ []float32, finite bool) {
	finite = true
	for at := 0; at < len(agents); at += longest {
		part := agents[at:min(at+longest, len(agents))]
		if kernel.AllZero(part, 1) {
			continue
		}
		finite = kernel.AllFinite(part, 1) && finite
		for few := at; few < at+len(part); few += fewest {
			end := min(few+fewest, at+len(part))
			if kernel.AllZero(agents[few:end], 1) {
				continue
			}
			for cell := few; cell < end; cell++ {
				if agents[cell] != 0 && actions[cell] != 0 {
					list = append(list, fromRank(cell))
				}
			}
		}
	}
	return list, finite
}

const fewest = 64 // cells that are examined together where an agent is near

// aim sets the target of each of the listed cells: the cell itself where there is none.
func aim(spans []space.Span, targets, list, actions []float32) {
	if len(list) == 0 {
		return
	}
	for i := range spans {
		s := &spans[i]
		k, _ := slices.BinarySearchFunc(list, s.First, func(v float32, rank int) int { return cmp.Compare(toRank(v), rank) })
		for last := s.First + (s.Count-1)*s.Stride; k < len(list) && toRank(list[k]) <= last; k++ {
			if cell := toRank(list[k]); s.Stride == 1 || (cell-s.First)%s.Stride == 0 {
				targets[cell] = fromRank(cell + offsetOf(s.Pattern, actions[cell]))
			}
		}
	}
}

// offsetOf returns by how much the rank changes in the direction that an action names; 0 if
// it names none or no cell lies there.
func offsetOf(p *space.Pattern, action float32) int {
	for k, d := range p.Dirs {
		if float32(d)+1 == action {
			return p.Offsets[k]
		}
	}
	return 0
}

// fromRank and toRank keep ranks, which have 31 bits, in scratch memory.

func fromRank(rank int) float32 { return math.Float32frombits(uint32(rank)) }

func toRank(v float32) int { return int(math.Float32bits(v)) }
