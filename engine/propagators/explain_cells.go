package propagators

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/space"
)

// Explain implements [engine.Explainer].
func (a Automaton) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	x := &account{c: c}
	prev := c.Prev(id)
	x.tell("state here", number(prev[cell]))
	switch {
	case a.Table != nil:
		a.Table.explain(x, prev, cell)
	case a.Larger != nil:
		a.Larger.explain(x, prev, cell)
	default:
		alive := 0
		for _, o := range x.pattern(cell).Offsets {
			if prev[cell+o] == 1 {
				alive++
			}
		}
		counts := a.Rule.Born
		if prev[cell] == 1 {
			counts = a.Rule.Survive
		}
		x.become("rule "+a.Rule.String(), alive, counts>>alive&1 != 0, prev[cell:cell+1], a.Rule.States)
	}
	return x.terms
}

// become says what a cell becomes, of so many live neighbours.
func (x *account) become(rule string, alive int, lives bool, here []float32, states int) {
	x.tell("neighbours alive", strconv.Itoa(alive))
	next := []float32{0}
	if lives {
		next[0] = 1
	}
	if states > 2 {
		kernel.Age(next, here, states)
	}
	x.is(rule, next[0])
}

// explain tells the states around a cell, by direction.
func (t *Table) explain(x *account, prev []float32, cell int) {
	p := x.pattern(cell)
	state := int(stateOf(prev[cell], t.states))
	place := t.first[state]
	for k, o := range p.Offsets {
		s := int(stateOf(prev[cell+o], t.states))
		place += t.weights[(int(t.slots[p.Dirs[k]])*t.states+state)*t.states+s]
		x.tell(t.names[p.Dirs[k]]+" "+x.at(cell+o), strconv.Itoa(s))
	}
	what := "table"
	if t.rule != "" {
		what = "rule " + t.rule
	}
	x.is(what, float32(t.next[place]))
}

// explain counts the cells of the shape around a cell.
func (g *Larger) explain(x *account, prev []float32, cell int) {
	l, _ := plane(x.c.Lattice())
	var widths shapeWidths
	g.widths(&widths)
	alive := 0
	for by := -g.Range; by <= g.Range; by++ {
		row, ok := place(cell/l.Cols+by, l.Rows, l.Edge)
		for to, w := -int(widths[max(by, -by)]), int(widths[max(by, -by)]); ok && to <= w; to++ {
			if col, in := place(cell%l.Cols+to, l.Cols, l.Edge); in && prev[row*l.Cols+col] == 1 {
				alive++
			}
		}
	}
	list := g.Born
	if prev[cell] == 1 {
		if list = g.Survive; !g.Self {
			alive--
		}
	}
	x.become("rule "+g.String(), alive, among(list, alive), prev[cell:cell+1], g.States)
}

// place returns where a number lies on an axis with an edge, and whether it does.
func place(i, n int, edge space.Edge) (int, bool) {
	switch {
	case i >= 0 && i < n:
		return i, true
	case edge == space.Absorb:
		return 0, false
	case edge == space.Clamp:
		return min(max(i, 0), n-1), true
	}
	return around(i, n), true
}

// Explain implements [engine.Explainer].
func (m Majority) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	prev, states := c.Prev(id), m.states()
	offsets := a.pattern(cell).Offsets
	here := stateOf(prev[cell], states)
	var votes, near [tableStates]int
	votes[here] = m.own()
	for _, o := range offsets {
		s := stateOf(prev[cell+o], states)
		near[s]++
		votes[s] += 2
	}
	best := 0
	for s, n := range near[:states] {
		if votes[s] > votes[best] {
			best = s
		}
		if n > 0 {
			a.tell("neighbours of state "+strconv.Itoa(s), strconv.Itoa(n))
		}
	}
	a.tell("state here", strconv.Itoa(int(here)))
	a.is("most votes", float32(best))
	if m.Noise == 0 || len(offsets) == 0 {
		return a.terms
	}
	words := c.Bulk(0).Words(uint64(cell))
	if float64(words.Float32()) < m.Noise {
		to := cell + offsets[words.Below(uint64(len(offsets)))]
		a.is("noise: follows "+a.at(to), float32(stateOf(prev[to], states)))
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (p Percolation) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	prev := c.Prev(id)
	a.is("here", prev[cell])
	touched := 0
	for _, o := range a.pattern(cell).Offsets {
		if prev[cell+o] == wet {
			touched++
		}
	}
	if prev[cell] != untouched || touched == 0 {
		return a.terms
	}
	a.tell("wet neighbours", strconv.Itoa(touched))
	var odds []float32
	if p.OpenIn != nil {
		odds = c.Prev(*p.OpenIn)
		a.tell("probability", number(odds[cell]))
	}
	bulk := c.Bulk(0)
	a.tell("drawn", number(bulk.Float32(uint64(cell))))
	next := p.decide(bulk, odds, cell)
	a.is(map[float32]string{wet: "open", closed: "closed"}[next], next)
	return a.terms
}

// Explain implements [engine.Explainer].
func (m Morphology) Explain(c *engine.Context, _ fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	prev, above := c.Prev(m.Field), m.Op == Dilate
	seen, patterns := map[int]bool{cell: true}, a.patterns()
	for ring, steps := []int{cell}, 0; len(ring) > 0 && steps <= m.Radius; steps++ {
		var next []int
		for _, at := range ring {
			if is := prev[at] > float32(m.Threshold); is == above {
				a.tell(fmt.Sprintf("%s, %d steps away", a.at(at), steps), number(prev[at]))
				a.is(map[bool]string{true: "is above the threshold", false: "is not above the threshold"}[is], one(is))
				return a.terms
			}
			for _, o := range patterns[at].Offsets {
				if !seen[at+o] {
					seen[at+o] = true
					next = append(next, at+o)
				}
			}
		}
		ring = next
	}
	a.is(map[bool]string{true: "none within the radius is above the threshold", false: "all within the radius are above the threshold"}[above], one(!above))
	return a.terms
}

// one returns 1 for true, else 0.
func one(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

// Explain implements [engine.Explainer].
func (d Distance) Explain(c *engine.Context, _ fields.ID, cell int) []engine.Term {
	a, far := &account{c: c}, float32(d.Far)
	if far == 0 {
		far = -1
	}
	var blocks []float32
	if d.Blocks != nil {
		blocks = c.Prev(*d.Blocks)
	}
	if blocks != nil && blocks[cell] != 0 {
		a.is("blocks", far)
		return a.terms
	}
	from := make([]int, c.Lattice().Cells()) // the cell before on the way from a source, +1; a source itself
	steps := 0
	var ring []int
	for at, v := range c.Prev(d.Source) {
		if v != 0 && (blocks == nil || blocks[at] == 0) {
			from[at], ring = at+1, append(ring, at)
		}
	}
	for patterns := a.patterns(); len(ring) > 0 && from[cell] == 0 && (d.Limit <= 0 || steps < d.Limit); steps++ {
		var next []int
		for _, at := range ring {
			for _, o := range patterns[at].Offsets {
				if to := at + o; from[to] == 0 && (blocks == nil || blocks[to] == 0) {
					from[to], next = at+1, append(next, to)
				}
			}
		}
		ring = next
	}
	switch before := from[cell] - 1; before {
	case -1:
		a.is("no source in reach", far)
	case cell:
		a.is("a source", 0)
	default:
		a.is(a.at(before), float32(steps-1))
		a.plus("a step", 1)
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (s Sight) Explain(c *engine.Context, _ fields.ID, cell int) []engine.Term {
	const most = 24 // viewers that are named
	a := &account{c: c}
	var blocks []float32
	if s.Blocks != nil {
		blocks = c.Prev(*s.Blocks)
	}
	viewers, rays := c.Prev(s.Viewer), c.Lattice().Rays()
	more := 0
	begin, end := rays.Around(s.Radius, cell, cell+1)
	for viewer := begin; viewer < end; viewer++ {
		if viewers[viewer] == 0 {
			continue
		}
		for rays.From(viewer, s.Radius, cell, cell+1); rays.Next(); {
			switch {
			case !rays.Clear(blocks):
			case len(a.terms) < most:
				a.plus("seen from "+a.at(viewer), 1)
			default:
				more++
			}
		}
	}
	if more > 0 {
		a.plus("seen from others", float32(more))
	}
	if a.terms == nil {
		a.is("seen by nobody", 0)
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (m Movement) Explain(c *engine.Context, id fields.ID, cell int) []engine.Term {
	a := &account{c: c}
	agents := slices.Clone(c.Now(m.Agents))
	if id != m.Agents {
		a.is("taken", 0)
		return a.terms
	}
	a.is("here", agents[cell])
	actions := c.Now(m.Actions)
	movers, targets, _ := m.movers(c, agents, actions, make([]float32, 2*len(agents)))
	var walls []float32
	if m.BlockedBy != nil {
		walls = c.Now(*m.BlockedBy)
	}
	for _, v := range movers {
		from, to := toRank(v), toRank(targets[toRank(v)])
		free := agents[to] == 0 && (walls == nil || walls[to] == 0)
		switch {
		case !free && from == cell:
			a.tell("cannot go to", a.at(to))
		case !free:
		case from == cell:
			a.is("leaves to "+a.at(to), 0)
		case to == cell:
			a.is("comes from "+a.at(from), agents[from])
		}
		if free {
			agents[to], agents[from] = agents[from], 0
		}
	}
	return a.terms
}
