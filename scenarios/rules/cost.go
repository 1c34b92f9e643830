package rules

// The limits of a rule.
const (
	MaxCost  = 4096  // of all formulas, see Rule.Cost
	MaxText  = 65536 // bytes of all formulas, in canonical form
	MaxLets  = 64
	MaxSet   = 64 // assignments
	MaxDraws = 64
)

// limit refuses a rule that takes too much.
func (c *checker) limit(r *Rule, where *Node, set []Assignment) error {
	text := 0
	for _, n := range c.formulas(where, set) {
		text += len(n.String())
	}
	r.Cost = c.cost(r)
	for _, l := range []struct {
		is, most int
		what     string
	}{
		{len(c.Lets), MaxLets, "lets"}, {len(set), MaxSet, "fields that it sets"}, {text, MaxText, "bytes of formulas"}, {r.Draws(), MaxDraws, "draws"}, {r.Cost, MaxCost, "steps for a cell"},
	} {
		if l.is > l.most {
			return c.wrong(&Node{}, "the rule has more than %d %s", l.most, l.what)
		}
	}
	return nil
}

// short refuses a formula that was checked and is too long in canonical form, in which a descriptor holds it.
func (c *checker) short(n *Node) error {
	text := n.String()
	if len(text) > MaxBytes {
		return c.wrong(n, "the formula has %d bytes as a recording writes it, with a blank around each operator and all digits of a number; %d are allowed. Give a part of it a name in let", len(text), MaxBytes)
	}
	return nil
}

// formulas are all of a rule.
func (c *checker) formulas(where *Node, set []Assignment) (all []*Node) {
	for i := range c.Lets {
		all = append(all, c.Lets[i].Formula)
	}
	if where != nil {
		all = append(all, where)
	}
	for i := range set {
		all = append(all, set[i].Formula)
	}
	return all
}

// cost counts about how many steps a cell takes: each let once, and once more for each neighbour in a term over neighbours that uses it.
func (c *checker) cost(r *Rule) (steps int) {
	full := make([]int, len(r.Lets)) // of each let, with those that it uses; 0: not known yet
	for _, t := range r.terms() {
		steps = min(steps+c.costOf(t, r, full, false), 2*MaxCost)
	}
	return steps
}

// costOf is the cost of a term; within a term over neighbours, with the lets that it uses.
func (c *checker) costOf(t *Term, r *Rule, full []int, near bool) int {
	steps := 0
	for _, a := range append(append([]*Term(nil), t.Args...), t.Where) {
		if a != nil {
			steps += c.costOf(a, r, full, near || t.Op >= Sum && t.Op <= At)
		}
	}
	steps += t.own()
	switch {
	case c.of != nil && t.Op == Now: // a value as it stands
		steps -= max(1, t.Type.N)
	case c.of != nil && t.Op == Get: // prev(A)
		steps += max(1, t.Type.N)
	case t.Op == UseLet && c.of != nil:
		steps += c.costOfUse(t)
	case t.Op == CountOn && t.Where != nil:
		steps = t.own() + mostLooked*(1+steps-t.own())
	case t.Op == UseLet && near:
		if full[t.Index] == 0 {
			full[t.Index] = c.costOf(r.Lets[t.Index], r, full, true)
		}
		steps += full[t.Index]
	case t.Op == One:
		steps = t.own() + max(1, c.Lattice.MaxDegree())*(1+steps-t.own())
	case t.Op >= Sum && t.Op < At:
		steps *= max(1, c.Lattice.MaxDegree())
	}
	if t.Else != nil {
		steps += c.costOf(t.Else, r, full, near)
	}
	return min(steps, 2*MaxActs)
}

// own is what a term costs without what is in it; vectors count by component.
func (t *Term) own() int {
	n := max(1, t.Type.N)
	switch {
	case t.Op == Divide, t.Op == Sqrt, t.Op == Mod:
		return 4 * n
	case t.draws():
		return 8
	case t.Op >= Exp && t.Op <= Pow:
		return 20
	case t.Op == Min, t.Op == Max, t.Op == Clamp:
		return len(t.Args) - 1
	case t.Op == Now:
		return 2 * n
	case t.Op == Dot, t.Op == Length:
		return 2 * t.Args[0].Type.N
	}
	return n
}
