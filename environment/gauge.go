package environment

import (
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
)

// The sorts of quantities.
const (
	ofConstant = iota
	ofAgentCell
	ofAgent
	ofCell
	ofTotal
	ofParam
	ofCount
	ofNear
	ofBlocked
	ofDied
)

// A gauge is a quantity that a reward or the end of an episode depends on.
type gauge struct {
	sort    int
	field   fields.ID
	cell    int // ofCell
	key     uint32
	kind    int32 // ofCount, ofNear
	radius  float64
	change  bool
	weight  float64
	bounds  scenarios.Bounds
	event   bool // the weight where the bounds hold, else 0
	ofWorld bool
}

func (m *model) gauge(b *scenarios.Builder, q *scenarios.Quantity) (g gauge) {
	g.ofWorld = q.OfWorld()
	switch {
	case q.Cell != nil:
		g.sort, g.field = ofCell, b.Field(q.Field)
		g.cell, _ = m.lattice.Rank(q.Cell.Coord)
	case q.Field != "":
		g.sort, g.field = ofAgentCell, b.Field(q.Field)
		if b.Defs()[g.field].Domain == fields.Entities {
			g.sort = ofAgent
		}
	case q.Total != "":
		g.sort, g.field = ofTotal, b.Field(q.Total)
	case q.Param != "":
		g.sort = ofParam
		g.key, _ = b.Parameter(q.Param)
	case q.Count != "":
		g.sort, g.kind = ofCount, b.Kind(q.Count)
	case q.Near != nil:
		g.sort, g.kind, g.radius = ofNear, b.Kind(q.Near.Kind), float64(q.Near.Radius)
	case q.Happened == "blocked":
		g.sort = ofBlocked
	case q.Happened == "died":
		g.sort = ofDied
	}
	return g
}

func (m *model) term(b *scenarios.Builder, t *scenarios.Term) gauge {
	g := m.gauge(b, &t.Quantity)
	g.change, g.weight, g.bounds, g.event = t.Change, t.Weight, t.Bounds, t.Given()
	if t.Constant != nil {
		g.weight = *t.Constant
	}
	return g
}

func (m *model) condition(b *scenarios.Builder, c *scenarios.Condition) gauge {
	g := m.gauge(b, &c.Quantity)
	g.change, g.bounds = c.Change, c.Bounds
	return g
}

// survey measures what is the same for all agents, once for all of them.
func (l *lane) survey() {
	for i := range l.m.gauges {
		if g := &l.m.gauges[i]; g.ofWorld {
			l.shared[i] = l.measureWorld(g)
		}
	}
}

// measureWorld returns a quantity of the world as it is now.
func (l *lane) measureWorld(g *gauge) float64 {
	switch g.sort {
	case ofCell:
		return l.w.Value(g.field, g.cell)
	case ofTotal:
		return l.total(g.field)
	case ofParam:
		v, _ := l.w.Parameter(g.key)
		return v
	case ofCount:
		return l.count(g.kind)
	}
	return 1 // a constant
}

// measure returns the quantity of gauge i for an agent as it was at the last survey, or, of the agent alone, as it is now: 0 for one
// that is gone.
func (l *lane) measure(i, agent int) float64 {
	g, a := &l.m.gauges[i], &l.agents[agent]
	switch {
	case g.ofWorld:
		return l.shared[i]
	case g.sort == ofDied:
		return float64(only(l.died[agent]))
	case a.Cell < 0:
		return 0
	}
	switch g.sort {
	case ofAgentCell:
		return l.w.Value(g.field, int(a.Cell))
	case ofAgent:
		return l.w.Value(g.field, int(a.Slot))
	case ofNear:
		return l.near(g, a.Cell, a.Slot)
	default: // ofBlocked
		return float64(only(l.wanted[agent] && a.Cell == l.before[agent]))
	}
}

// total returns the sum of a field over all cells, in their order.
func (l *lane) total(id fields.ID) (sum float64) {
	c := l.w.Borrow(id)
	for _, v := range c.Float32 {
		sum += float64(v)
	}
	if c.Float32 == nil {
		for i := range c.Len() {
			sum += l.w.Value(id, i)
		}
	}
	return sum
}

// count returns how many entities of a kind live.
func (l *lane) count(kind int32) (n float64) {
	ids, kinds := l.w.Borrow(l.m.id).Uint64, l.w.Borrow(l.m.kind).Int32
	for slot, id := range ids {
		if id != 0 && kinds[slot] == kind {
			n++
		}
	}
	return n
}

// near returns how many entities of the gauge's kind are near a cell, without the one in a slot.
func (l *lane) near(g *gauge, cell, but int32) (n float64) {
	ids, kinds, cells := l.w.Borrow(l.m.id).Uint64, l.w.Borrow(l.m.kind).Int32, l.w.Borrow(l.m.cell).Int32
	for slot, id := range ids {
		if id == 0 || kinds[slot] != g.kind || int32(slot) == but {
			continue
		}
		if cells[slot] == cell || g.radius > 0 && l.m.lattice.Distance(int(cells[slot]), int(cell)) <= g.radius {
			n++
		}
	}
	return n
}

// gain returns what gauge i says after a step: its quantity, or how much that has grown.
func (l *lane) gain(i, agent int) float64 {
	g, v := &l.m.gauges[i], l.measure(i, agent)
	if !g.change {
		return v
	}
	known := &l.known[i*len(l.agents)+agent]
	grown := v - *known
	*known = v
	if !g.ofWorld && l.agents[agent].Cell < 0 && g.sort != ofDied {
		return 0
	}
	return grown
}

// rewardOf returns what an agent gets for the step.
func (l *lane) rewardOf(agent int) (sum float64) {
	for i := range l.m.terms {
		g, v := &l.m.gauges[i], l.gain(i, agent)
		if g.event {
			v = float64(only(g.bounds.Hold(v)))
		}
		sum += float64(g.weight * v)
	}
	return sum
}

// endsFor reports whether the episode ends for an agent.
func (l *lane) endsFor(agent int) (ends bool) {
	for i := l.m.terms; i < len(l.m.gauges); i++ {
		ends = l.m.gauges[i].bounds.Hold(l.gain(i, agent)) || ends
	}
	return ends
}

// learn notes the quantities whose changes count.
func (l *lane) learn() {
	l.survey()
	for i := range l.m.gauges {
		if !l.m.gauges[i].change {
			continue
		}
		for agent := range l.agents {
			l.known[i*len(l.agents)+agent] = l.measure(i, agent)
		}
	}
}
