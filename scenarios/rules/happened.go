package rules

import (
	"fmt"
	"slices"
)

// What a formula about the whole world says of what happened in a tick: docs/spec/rules.md, What happened in a tick.

// The terms of it.
const (
	Born    Op = Total + 1 + iota // which live now, and did not a tick ago
	Died                          // which lived a tick ago, and do not now
	Entered                       // which lived a tick ago, and were not among those that are meant
	Refused                       // commands from outside that the tick refused
)

// mostHappenings is how many such terms a condition has at most; each keeps who lived in the state before.
const mostHappenings = 8

var happenings = []string{"born", "died", "entered", "refused"}

// happening is the term of a name.
func happening(name string) (op Op, is bool) {
	i := slices.Index(happenings, name)
	return Born + Op(i), i >= 0
}

// CheckCondition is [CheckStatement] for a formula that is looked at tick after tick, so that it can also say what happened in a tick.
func CheckCondition(s *Scope, n *Node) (*Statement, error) {
	c := newChecker(s)
	c.happens = true
	return c.statement(n, false)
}

// Happens reports whether the statement says what happened in a tick. Then [Statement.Start] must be called before it is looked at tick after tick.
func (s *Statement) Happens() bool {
	return slices.ContainsFunc(s.totals, func(x *total) bool { return x.op >= Born })
}

// happened is born(K where c), died(K where c), entered(K where c), or refused().
func (c *checker) happened(t *Term, op Op) error {
	n := t.Node
	switch {
	case c.whole == nil:
		return c.wrong(n, "%s is of the whole world, and stands within a term that is computed for each cell or entity", n)
	case !c.happens:
		return c.wrong(n, "%s is about what happens in a tick, and this looks at states; find, shrink and the viewer look for it", n)
	case c.happenings == mostHappenings:
		return c.wrong(n, "a condition asks at most %d times what happened in a tick", mostHappenings)
	case n.Else != nil:
		return c.wrong(n.Else, "%s of nothing is 0; leave out else", n.Text)
	}
	c.happenings++
	node := &Node{Kind: Number, Value: 1, At: n.At, End: n.End}
	t.Args = []*Term{{Op: Const, Type: Type{Base: Boolean}, Value: 1, Uniform: true, Node: node}}
	if op == Refused {
		if len(n.Args) > 0 || n.Where != nil {
			return c.wrong(n, "refused() takes nothing; it is how many commands a tick refused")
		}
		return c.addTotal(t, &total{op: op, over: ofTick, node: n})
	}
	kind, is := -1, false
	if len(n.Args) == 1 {
		kind, is = c.kindCalled(n.Args[0])
	}
	if !is {
		return c.wrong(n, "%s takes a kind of entities%s", n.Text, c.kindsKnown())
	}
	t.Op, c.group = Count, c.called(kind, n.Args[0])
	err := c.inside(t, n.Args[0], n.Where)
	if c.group = nil; err != nil {
		return err
	}
	return c.addTotal(t, &total{op: op, over: overEntities, kind: kind, node: n})
}

// kindsKnown lists some kinds, for an error.
func (c *checker) kindsKnown() string {
	if len(c.KindNames) == 0 {
		return "; the scenario has no \"entities\""
	}
	return fmt.Sprintf(", such as %s", c.KindNames[0])
}

// A past is what a term about a tick keeps of the state before it.
type past struct {
	tick  uint64
	known bool
	all   []uint64 // who lived, by ascending id
	meant []uint64 // of whom the condition held
	first uint64   // after a tick: the first to whom it happened
	spare [2][]uint64
}

// Start says that the statement is looked at next in this state, and then after each tick from there on. Before tick 0 nothing has happened; of the tick before any other
// state nothing is known.
func (s *Statement) Start(state *State) {
	s.e = evaluator{Scope: s.scope, State: state, totals: s.values}
	for _, x := range s.totals {
		if x.op < Born {
			continue
		}
		_ = x.remember(&s.e, s.naive) // the error comes where the term is needed
	}
}

// remember keeps who lives in a state, and of whom the condition of the term holds.
func (x *total) remember(e *evaluator, naive bool) error {
	p, state := &x.past, e.State
	p.known = false
	if x.over == overEntities {
		p.all = p.all[:0]
		for _, t := range state.living.all() {
			p.all = append(p.all, t.id)
		}
		n := state.living.choose(x.kind, naive)
		state.room(len(state.living.ids))
		if !naive {
			x.compiled(e.Scope)
		}
		if err := x.keep(e, n); err != nil {
			return err
		}
		p.meant = p.meant[:0]
		for i, slot := range state.living.slots {
			if state.held[i] {
				p.meant = append(p.meant, state.living.ids[slot])
			}
		}
	}
	p.tick, p.known = state.Tick, true
	return nil
}

// happened is how many times it happened in the tick that led to a state.
func (x *total) happened(e *evaluator, naive bool) (v value, err error) {
	p := &x.past
	before := *p
	switch tick := e.State.Tick; {
	case before.known && before.tick == tick && tick == 0: // [Statement.Start] looked at it
		return v, nil
	case !before.known || before.tick+1 != tick:
		if err = x.remember(e, naive); err == nil {
			err = fmt.Errorf("%s: nothing is known of the state before this one", x.node)
		}
		return v, err
	case x.op == Refused:
		p.tick = tick
		return value{f: float64(e.State.Refused)}, nil
	}
	p.all, p.meant, p.spare = p.spare[0], p.spare[1], [2][]uint64{before.all, before.meant}
	if err = x.remember(e, naive); err != nil {
		return v, err
	}
	p.first = 0
	n := 0
	happens := func(id uint64) {
		if n++; n == 1 {
			p.first = id
		}
	}
	with := contains
	if naive {
		with = slices.Contains[[]uint64]
	}
	switch x.op {
	case Born:
		for _, id := range p.meant {
			if !with(before.all, id) {
				happens(id)
			}
		}
	case Died:
		for _, id := range before.meant {
			if !with(p.all, id) {
				happens(id)
			}
		}
	case Entered:
		for _, id := range p.meant {
			if with(before.all, id) && !with(before.meant, id) {
				happens(id)
			}
		}
	}
	return value{f: float64(n)}, nil
}

// contains reports whether a list in ascending order has an id.
func contains(list []uint64, id uint64) bool {
	_, is := slices.BinarySearch(list, id)
	return is
}
