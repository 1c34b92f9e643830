package rules

import "slices"

// The limits of a rule of entities, beside those of all rules.
const (
	MaxItems   = 64
	MaxActs    = 65536 // the cost of all that an entity does
	mostLooked = 256   // entities, by with, here and near
	mostTries  = 16    // cells, by anywhere
)

// limitAgents refuses a rule that takes too much.
func (c *checker) limitAgents(a *Agents) error {
	text, set, draws := 0, 0, 0
	for _, n := range a.formulas(c.Scope) {
		text += len(n.String())
	}
	for i := range a.items {
		set += len(a.items[i].set) + len(a.items[i].birthSet)
	}
	for _, s := range a.streams(c.Scope) {
		if s.place != orderPlace {
			draws++
		}
	}
	a.Cost = c.costOfAgents(a)
	for _, l := range []struct {
		is, most int
		what     string
	}{
		{len(c.Lets), MaxLets, "lets"}, {len(a.items), MaxItems, "items"}, {set, MaxSet, "values that it sets"}, {text, MaxText, "bytes of formulas"},
		{draws, MaxDraws, "draws"}, {a.Cost, MaxActs, "steps for an entity"},
	} {
		if l.is > l.most {
			return c.wrong(&Node{}, "the rule has more than %d %s", l.most, l.what)
		}
	}
	return nil
}

// formulas are all of the rule, as they are written.
func (a *Agents) formulas(s *Scope) (all []*Node) {
	add := func(list ...*Node) {
		for _, n := range list {
			if n != nil {
				all = append(all, n)
			}
		}
	}
	for i := range s.Lets {
		add(s.Lets[i].Formula)
	}
	for i := range a.items {
		x := &a.items[i]
		if x.With != nil {
			add(x.With.Where)
		}
		add(x.When, x.Chance, x.Move, x.Onto)
		for k := range x.Set {
			add(x.Set[k].Formula)
		}
		if x.Take != nil {
			add(x.Take.Amount)
		}
		if x.Birth != nil {
			add(x.Birth.Onto)
			for k := range x.Birth.Set {
				add(x.Birth.Set[k].Formula)
			}
		}
	}
	return all
}

// costOfAgents counts about how many steps an entity takes, with all items.
func (c *checker) costOfAgents(a *Agents) (steps int) {
	of := func(list ...*Term) (n int) {
		for _, t := range list {
			if t != nil {
				n = min(n+c.costOf(t, nil, nil, false), 2*MaxActs)
			}
		}
		return n
	}
	degree := max(1, c.Lattice.MaxDegree())
	for i := range a.items {
		x := &a.items[i]
		steps += 1 + of(x.when, x.chance, x.amount) + of(x.set...) + of(x.birthSet...)
		if x.With != nil {
			steps += mostLooked * (1 + of(x.where))
		}
		switch x.way {
		case Stay:
		case ToAnywhere:
			steps += mostTries * (1 + of(x.onto))
		case ToOffset, ToOther, Along:
			steps += degree*(1+of(x.onto)) + of(x.args...)
		default:
			steps += degree * (1 + of(x.onto) + of(x.args...))
		}
		if b := x.Birth; b != nil && b.At == Anywhere {
			steps += mostTries * (1 + of(x.birthOnto))
		} else if b != nil {
			steps += degree * (1 + of(x.birthOnto))
		}
		steps = min(steps, 2*MaxActs)
	}
	return steps
}

// costOfUse is the cost of a let where it is used.
func (c *checker) costOfUse(t *Term) int {
	u := &c.uses[t.Index][t.Sight]
	if u.cost == 0 {
		u.cost = max(1, c.costOf(u.Term, nil, nil, false))
	}
	return u.cost
}

// orderPlace is the place of the words by which entities act in random order.
const orderPlace = "order"

// streams are all draws of the rule, by place and number.
func (a *Agents) streams(s *Scope) (all []stream) {
	if a.Order == Shuffled {
		all = append(all, stream{orderPlace, 0})
	}
	list := func(place string, t *Term) {
		t.Walk(func(x *Term) {
			if x.draws() {
				all = append(all, stream{place, x.Number})
			}
		})
	}
	for i := range a.uses {
		for k := range a.uses[i] {
			if u := &a.uses[i][k]; u.Term != nil { // each has the same draws
				list("let."+s.Lets[i].Name, u.Term)
				break
			}
		}
	}
	for i := range a.items {
		x := &a.items[i]
		if x.With != nil && !x.With.First {
			all = append(all, stream{x.Name + ".with", 0})
		}
		list(x.Name+".when", x.when)
		list(x.Name+".chance", x.chance)
		if x.way.draws() {
			all = append(all, stream{x.Name + ".move", 0})
		}
		for k, t := range x.set {
			list(x.Name+".set."+s.target(&x.Set[k]), t)
		}
		list(x.Name+".take", x.amount)
		if b := x.Birth; b != nil && b.At >= Beside {
			all = append(all, stream{x.Name + ".birth", 0})
		}
		for k, t := range x.birthSet {
			list(x.Name+".birth."+s.target(&x.Birth.Set[k]), t)
		}
	}
	return all
}

// draws reports whether the way draws a word.
func (w Way) draws() bool { return w >= ToAny && w <= Along || w == ToAnywhere }

// Draws is how many random numbers the rule draws for an entity.
func (a *Agents) Draws(s *Scope) int { return len(a.streams(s)) }

// Touches lists what the rule reads, such as energy, here.grass, near.grass and other.energy, and what it writes, each in the order of their names.
func (a *Agents) Touches(s *Scope) (reads, writes []string) {
	whose := [...]string{Self: "", Here: "here.", Near: "near.", Other: "other."}
	for _, t := range a.terms() {
		t.Walk(func(x *Term) {
			switch x.Op {
			case Now:
				reads = append(reads, whose[x.Who]+s.Fields[x.Index].Name)
			case Get:
				reads = append(reads, "prev("+whose[x.Who]+s.Fields[x.Index].Name+")")
			}
		})
	}
	for i := range a.items {
		x := &a.items[i]
		for k := range x.Set {
			writes = append(writes, s.target(&x.Set[k]))
		}
		if x.Take != nil {
			writes = append(writes, s.target(&x.Take.From), s.target(&x.Take.To))
		}
	}
	for _, list := range []*[]string{&reads, &writes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return reads, writes
}
