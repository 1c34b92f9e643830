package rules

import (
	"slices"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// overNeighbours are the terms over the neighbours of a cell, in the order of their operations.
var overNeighbours = []string{"sum", "mean", "least", "most", "count", "any", "all", "distinct", "one", "at", "own"}

// neighbours is a term over the neighbours.
func (c *checker) neighbours(t *Term, op Op) error {
	n := t.Node
	t.Op = op
	switch {
	case op == AtCell:
		return c.ownCell(t)
	case c.inner:
		return c.wrong(n, "a term over neighbours stands in another; give %s a field of its own and read now() of it", n)
	case op == At && len(n.Args) < 2:
		return c.wrong(n, "at takes a term and a direction or an offset, as in at(heat, 1)")
	case op != At && len(n.Args) != 1:
		return c.wrong(n, "%s takes one term, which is computed at each neighbour", n.Text)
	case op == At && n.Where != nil:
		return c.wrong(n, "at looks at one cell, and has no where")
	}
	if t.draws() {
		if err := c.draw(t); err != nil {
			return err
		}
	}
	noDraws := c.noDraws
	c.near, c.inner, c.looks, c.noDraws = true, true, op == At, true
	x, err := c.term(n.Args[0])
	if err == nil && n.Where != nil {
		if t.Where, err = c.term(n.Where); err == nil {
			err = c.boolean(t.Where)
		}
	}
	c.near, c.inner, c.looks, c.noDraws = false, false, false, noDraws
	if err == nil && n.Else != nil {
		t.Else, err = c.term(n.Else)
	}
	if err != nil {
		return err
	}
	t.Args = []*Term{x}
	if c.of != nil && !c.tells(x, Near) && (t.Where == nil || !c.tells(t.Where, Near)) {
		return c.wrong(n.Args[0], "%s is the same for every neighbour; did you mean near.%s?", n.Args[0], c.fieldIn(n.Args[0]))
	}
	if op == At {
		if err := c.offset(t); err != nil {
			return err
		}
	}
	if err := c.result(t); err != nil {
		return err
	}
	return c.otherwise(t)
}

// result finds the type of a term over neighbours.
func (c *checker) result(t *Term) error {
	x := t.Args[0]
	t.Type = x.Type
	switch t.Op {
	case Sum, Mean:
		if !x.Type.numeric() {
			return c.wrong(x.Node, "%s adds numbers; %s is %s. count(…) counts", t.Node.Text, x.Node, c.describe(x.Type))
		}
	case Least, Most:
		if !x.Type.scalar() {
			return c.wrong(x.Node, "%s compares numbers; %s is %s", t.Node.Text, x.Node, c.describe(x.Type))
		}
	case Count, Any, All:
		t.Type = Type{Base: Boolean}
		if t.Op == Count {
			t.Type = Type{}
		}
		return c.boolean(x)
	case Distinct:
		t.Type = Type{}
		if x.Type.Base != Category {
			return c.wrong(x.Node, "distinct counts categories; %s is %s", x.Node, c.describe(x.Type))
		}
	}
	return nil
}

// otherwise checks what counts where there is no neighbour, or none that remains.
func (c *checker) otherwise(t *Term) error {
	n := t.Node
	needs := t.Op == Mean || t.Op == Least || t.Op == Most || t.Op == One || t.Op == At
	if !needs {
		if t.Else != nil {
			return c.wrong(n.Else, "%s of no neighbour is known; leave out else", n.Text)
		}
		return nil
	}
	if t.Else != nil {
		both := Term{Op: Choose, Args: []*Term{t.Args[0], t.Else}, Node: n}
		err := c.alike(&both)
		t.Type, t.Args[0], t.Else = both.Type, both.Args[0], both.Args[1]
		return err
	}
	if t.Where != nil || c.lacks(t) {
		with := *n
		with.Else = &Node{Kind: Name, Text: n.Args[0].first()}
		return c.wrong(n, "there may be no such neighbour; say what then: %s", &with)
	}
	return nil
}

// first is the first name in a formula, for an example.
func (n *Node) first() (name string) {
	n.Walk(func(x *Node) {
		if name == "" && x.Kind == Name {
			name = x.Text
		}
	})
	if name == "" {
		name = "0"
	}
	return name
}

// lacks reports whether some cell has no neighbour, or none at the offset.
func (c *checker) lacks(t *Term) bool {
	l := c.Lattice
	if t.Op != At {
		return slices.ContainsFunc(l.Spans(), func(s space.Span) bool { return len(s.Pattern.Offsets) == 0 })
	}
	offset := t.Offset
	if t.Direction >= 0 {
		step := l.Directions()[t.Direction].Step
		for k := range l.Dim() {
			offset = append(offset, step.At(k))
		}
	}
	for k, a := range l.Axes() {
		if a.Edge == space.Absorb && offset[k] != 0 {
			return true
		}
	}
	return false
}

// offset finds out to which cell at looks.
func (c *checker) offset(t *Term) error {
	n := t.Node
	t.Direction = -1
	if d := n.Args[1]; len(n.Args) == 2 && d.Kind == Name && !d.Quoted {
		var names []string
		for i, is := range c.Lattice.Directions() {
			if names = append(names, is.Name); is.Name == d.Text && len(c.Lattice.Parts()) == 1 {
				t.Direction = i
				return nil
			}
		}
		return c.wrong(d, "%s has no direction %s%s", c.Lattice.Kind(), d.Text, document.Suggestion(d.Text, names))
	}
	if len(n.Args)-1 != c.Lattice.Dim() {
		return c.wrong(n, "an offset has %d whole numbers here, one for each component of the coordinate", c.Lattice.Dim())
	}
	const most = 64
	for _, a := range n.Args[1:] {
		v, ok := a.whole(most)
		if !ok {
			return c.wrong(a, "an offset is a whole number from -%d to %[1]d", most)
		}
		t.Offset = append(t.Offset, v)
	}
	return nil
}

// whole is a whole number that is written out, with a sign or without, if it is one of up to a limit.
func (n *Node) whole(most int32) (v int32, ok bool) {
	sign := int32(1)
	if n.Kind == Unary && n.Text == "-" {
		n, sign = n.Args[0], -1
	}
	if n.Kind != Number || n.Value > float64(most) || n.Value != float64(int32(n.Value)) {
		return 0, false
	}
	return sign * int32(n.Value), true
}

// ownCell is own(x): x at the cell itself.
func (c *checker) ownCell(t *Term) error {
	n := t.Node
	if len(n.Args) != 1 || n.Where != nil || n.Else != nil {
		return c.wrong(n, "own takes one term, which is computed at the cell itself")
	}
	if !c.near {
		where := "own stands within a term over neighbours"
		if c.inner {
			where = "own stands in own already"
		}
		return c.wrong(n, "%s; here write %s", where, n.Args[0])
	}
	c.near = false // draws stay refused
	x, err := c.term(n.Args[0])
	c.near = true
	if err != nil {
		return err
	}
	t.Args, t.Type = []*Term{x}, x.Type
	return nil
}
