package rules

import (
	"fmt"
	"slices"

	"github.com/murksim/murksim/scenarios/document"
)

// A function is one of the language.
type function struct {
	name        string
	op          Op
	least, most int // arguments
	check       func(*checker, *Term) error
}

const maxArguments = 64

// functions are all functions, but for those over neighbours.
func functions() []function {
	return []function{
		{"min", Min, 2, maxArguments, (*checker).extreme}, {"max", Max, 2, maxArguments, (*checker).extreme}, {"clamp", Clamp, 3, 3, (*checker).extreme},
		{"abs", Abs, 1, 1, (*checker).extreme}, {"floor", Floor, 1, 1, (*checker).extreme}, {"sqrt", Sqrt, 1, 1, (*checker).extreme}, {"mod", Mod, 2, 2, (*checker).extreme},
		{"exp", Exp, 1, 1, (*checker).curve}, {"log", Log, 1, 1, (*checker).curve}, {"sin", Sin, 1, 1, (*checker).curve}, {"cos", Cos, 1, 1, (*checker).curve},
		{"tanh", Tanh, 1, 1, (*checker).curve}, {"pow", Pow, 2, 2, (*checker).curve},
		{"dot", Dot, 2, 2, (*checker).product}, {"length", Length, 1, 1, (*checker).product},
		{"number", ToFloat, 1, 1, (*checker).number1}, {"fixed", ToFixed, 1, 1, (*checker).fixed1},
		{"chance", Chance, 1, 1, (*checker).chance}, {"uniform", Uniform, 2, 2, (*checker).drawn}, {"normal", Normal, 0, 0, (*checker).drawn},
		{"pick", Pick, 2, maxArguments, (*checker).pick},
	}
}

// call is a function and its arguments.
func (c *checker) call(t *Term) error {
	n := t.Node
	if c.of != nil {
		if is, err := c.population(t); is {
			return err
		}
	}
	switch {
	case n.Text == "now" && c.whole == nil:
		return c.now(t)
	case n.Text == "as":
		return c.as(t)
	case n.Text == "cell" && c.whole != nil:
		return c.oneCell(t)
	case (n.Text == "alive" || n.Text == "entity") && c.stated:
		return c.oneEntity(t)
	}
	if op, is := happening(n.Text); is && c.stated {
		return c.happened(t, op)
	}
	if i := slices.Index(overNeighbours, n.Text); i >= 0 {
		if c.whole != nil {
			return c.total(t, Sum+Op(i))
		}
		if c.group != nil {
			return c.wrong(n, "%s is over neighbours of a cell, and this is about entities; a rule can keep it in an attribute", n)
		}
		return c.neighbours(t, Sum+Op(i))
	}
	all := functions()
	i := slices.IndexFunc(all, func(f function) bool { return f.name == n.Text })
	if i < 0 {
		return c.noFunction(n, all)
	}
	f := &all[i]
	switch {
	case n.Where != nil || n.Else != nil:
		return c.wrong(n, "%s has no where and no else, which terms over neighbours have", f.name)
	case len(n.Args) == 1 && (f.op == Min || f.op == Max):
		over := map[Op]string{Min: "least", Max: "most"}[f.op]
		return c.wrong(n, "%s takes two or more values; over the neighbours write %s(%s)", f.name, over, n.Args[0])
	case len(n.Args) < f.least || len(n.Args) > f.most:
		return c.wrong(n, "%s takes %s", f.name, f.takes())
	}
	if t.Op = f.op; t.draws() && c.whole != nil {
		return c.wrong(n, "%s draws, and what is only looked at draws nothing", n)
	}
	if t.draws() {
		if err := c.draw(t); err != nil {
			return err
		}
	}
	for _, a := range n.Args {
		x, err := c.term(a)
		if err != nil {
			return err
		}
		t.Args = append(t.Args, x)
	}
	t.uniform()
	return f.check(c, t)
}

// takes says how many arguments a function takes.
func (f *function) takes() string {
	switch {
	case f.most == 0:
		return "nothing"
	case f.least == 1 && f.most == 1:
		return "one value"
	case f.least == f.most:
		return fmt.Sprintf("%d values", f.least)
	}
	return fmt.Sprintf("%d to %d values", f.least, f.most)
}

// noFunction is the error of a name that no function has.
func (c *checker) noFunction(n *Node, all []function) error {
	switch n.Text {
	case "round":
		return c.wrong(n, "there is no round; write floor(x + 0.5)")
	case "ceil", "ceiling":
		return c.wrong(n, "there is no %s; write -floor(-x)", n.Text)
	case "neighbors", "neighbours", "neighbors4", "neighbors8":
		return c.wrong(n, "there is no %s; sum, mean, count, any and others go over the neighbours, as in count(state == ill)", n.Text)
	case "living", "population":
		return c.wrong(n, "there is no %s; write count(…) of a kind of entities", n.Text)
	case "sign", "sgn":
		return c.wrong(n, "there is no %s; write if x < 0 then -1 else if x > 0 then 1 else 0", n.Text)
	case "random", "rand", "rnd":
		return c.wrong(n, "there is no %s; write uniform(0, 1), or chance(p)", n.Text)
	}
	names := append([]string{"now", "as"}, overNeighbours...)
	for i := range all {
		names = append(names, all[i].name)
	}
	return c.wrong(n, "there is no function %s%s", n.Text, document.Suggestion(n.Text, names))
}

// extreme is a function of numbers of one kind that gives one of it.
func (c *checker) extreme(t *Term) error {
	for _, x := range t.Args {
		if !x.Type.scalar() {
			return c.wrong(x.Node, "%s takes numbers; %s is %s", t.Node.Text, x.Node, c.describe(x.Type))
		}
	}
	return c.numbers(t)
}

// curve is a function of float numbers.
func (c *checker) curve(t *Term) error {
	for _, x := range t.Args {
		if x.Type != (Type{}) {
			return c.wrong(x.Node, "%s takes a number; %s is %s%s", t.Node.Text, x.Node, c.describe(x.Type), c.asNumber(x))
		}
	}
	return nil
}

// asNumber says how a fixed number or category becomes a number.
func (c *checker) asNumber(x *Term) string {
	if x.Type.N > 0 {
		return ""
	}
	return fmt.Sprintf("; write number(%s)", x.Node)
}

// product is dot or length.
func (c *checker) product(t *Term) error {
	for _, x := range t.Args {
		if x.Type.N == 0 || x.Type != t.Args[0].Type {
			return c.wrong(x.Node, "%s takes vectors of one length; %s is %s", t.Node.Text, x.Node, c.describe(x.Type))
		}
	}
	t.Type = Type{Base: t.Args[0].Type.Base}
	return nil
}

// number1 is number(x).
func (c *checker) number1(t *Term) error {
	if x := t.Args[0]; x.Type.N > 0 || x.Type == (Type{}) {
		return c.wrong(x.Node, "number is of a category, a fixed number, or true or false; %s is %s", x.Node, c.describe(x.Type))
	}
	return nil
}

// fixed1 is fixed(x).
func (c *checker) fixed1(t *Term) error {
	if x := t.Args[0]; x.Type != (Type{}) {
		return c.wrong(x.Node, "fixed is of a number; %s is %s", x.Node, c.describe(x.Type))
	}
	t.Type.Base = Fixed
	return nil
}

// now is now(F): a field as the components before left it.
func (c *checker) now(t *Term) error {
	n := t.Node
	if len(n.Args) != 1 || n.Where != nil || n.Else != nil || n.Args[0].Kind != Name {
		return c.wrong(n, "now takes the name of a field")
	}
	f := &Term{Node: n.Args[0]}
	if err := c.name(f); err != nil {
		return err
	}
	if f.Op != Get {
		return c.wrong(n.Args[0], "now takes the name of a field; %s is none", n.Args[0])
	}
	t.Op, t.Index, t.Type = Now, f.Index, f.Type
	return nil
}

// as is as(F, x): the value of a field with a number.
func (c *checker) as(t *Term) error {
	n := t.Node
	if len(n.Args) != 2 || n.Where != nil || n.Else != nil || n.Args[0].Kind != Name {
		return c.wrong(n, "as takes a categorical field and a number")
	}
	f := &Term{Node: n.Args[0]}
	if c.of != nil || c.stated { // of a cell or of an entity
		i := slices.IndexFunc(c.Fields, func(x Field) bool { return x.Name == f.Node.Text && x.Values != nil })
		if i < 0 {
			return c.wrong(n.Args[0], "as takes a categorical field; %s is none", n.Args[0])
		}
		f.Node.Quoted = c.quoted(f.Node.Text) && f.Node.Text != "kind"
		f.Op, f.Type = Get, c.typeOf(&c.Fields[i])
	} else if err := c.name(f); err != nil {
		return err
	}
	if f.Op != Get || f.Type.Base != Category {
		return c.wrong(n.Args[0], "as takes a categorical field; %s is none", n.Args[0])
	}
	x, err := c.term(n.Args[1])
	if err == nil && x.Type != (Type{}) {
		err = c.wrong(x.Node, "as takes a number; %s is %s", x.Node, c.describe(x.Type))
	}
	t.Op, t.Type, t.Index = As, f.Type, len(c.lists[f.Type.List])
	if t.Args = []*Term{x}; err == nil {
		t.uniform()
	}
	return err
}

// draw numbers a draw, and refuses it where it would be made for the neighbour.
func (c *checker) draw(t *Term) error {
	if c.noDraws && c.of != nil && !c.near {
		return c.wrong(t.Node, "%s would be drawn once, and not for each that is looked at; give it a name in let, or draw in an item of its own", t.Node.Text)
	}
	if c.noDraws {
		instead := "give it a name in let, where all see one value"
		if t.Op == Chance {
			instead = "with n = count(…) write chance(1 - pow(1 - p, n))"
		}
		return c.wrong(t.Node, "%s within a term over neighbours would be drawn once for the neighbour, not for the pair; %s", t.Node.Text, instead)
	}
	t.Number = c.number
	c.number++
	return nil
}

// chance is chance(p).
func (c *checker) chance(t *Term) error {
	p := t.Args[0]
	if p.Op == Const && p.Type == (Type{}) && !(p.Value >= 0 && p.Value <= 1) || p.Op == Negate && p.Args[0].Op == Const {
		return c.wrong(p.Node, "a chance is 0 to 1")
	}
	err := c.curve(t)
	t.Type, t.Uniform = Type{Base: Boolean}, false
	return err
}

// drawn is a number that is drawn.
func (c *checker) drawn(t *Term) error {
	t.Uniform = false
	return c.curve(t)
}

// pick is one of its arguments.
func (c *checker) pick(t *Term) error {
	t.Uniform = false
	return c.alike(t)
}
