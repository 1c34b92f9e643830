package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A Scope is what the formulas of a rule of fields can name.
type Scope struct {
	Lattice *space.Lattice
	Fields  []Field
	Own     []string // parameters of the rule
	World   []string // parameters of the world
	Lets    []Let

	KindNames []string // of entities, in a formula about the whole world, whose fields are those of cells and then attributes
	Named     []Named  // entities that it can call by a name
}

// A Named is an entity that has a name.
type Named struct {
	Name string
	ID   uint64
}

// A checker finds out what names mean, and whether types agree.
type checker struct {
	*Scope
	lists [][]string
	words []string // of the language, on this lattice
	lets  map[string]*checkedLet
	path  []string // of lets that are being checked

	near    bool // inside of a neighbour term
	looks   bool // which is at
	inner   bool // and so is the degree a float32, also in own
	noDraws bool // and so are draws refused
	number  int  // of the next draw of the formula

	of    *population      // what a rule of entities can name; nil: it is a rule of fields
	uses  [][sights]letUse // its lets, as they are seen
	whole *Statement       // what is checked is about the whole world; nil: it is at a cell

	stated     bool   // so is the formula in which it stands
	happens    bool   // which may say what happened in a tick
	happenings int    // how many terms do so
	group      *group // it is within a term over entities
	cellLists  int    // how many of the lists are those of fields of cells; a statement looks there first
}

// newChecker returns a checker for a scope.
func newChecker(s *Scope) *checker {
	c := &checker{Scope: s, lists: lists(s.Fields), lets: map[string]*checkedLet{}, words: []string{"dt", "tick", "cells", "degree"}}
	if len(s.Lattice.Parts()) == 1 {
		for _, a := range s.Lattice.Axes() {
			c.words = append(c.words, a.Name)
		}
	}
	return c
}

// wrong is an error about a part of a formula.
func (c *checker) wrong(n *Node, format string, args ...any) error {
	return &Error{At: n.At, End: n.End, Reason: fmt.Sprintf(format, args...)}
}

// formula checks the whole formula of a place, whose draws are counted from 0, and writes its canonical names into the tree.
func (c *checker) formula(place string, n *Node) (*Term, error) {
	number := c.number
	c.number = 0
	t, err := c.term(n)
	if err == nil {
		err = c.short(n)
	}
	c.number = number
	if e, ok := err.(*Error); ok && e.Place == "" {
		e.Place = place
	}
	return t, err
}

// term checks a part of a formula.
func (c *checker) term(n *Node) (*Term, error) {
	t := &Term{Node: n}
	switch n.Kind {
	case Number:
		t.Value, t.Uniform = n.Value, true
		return t, nil
	case Bool:
		t.Value, t.Uniform, t.Type = n.Value, true, Type{Base: Boolean}
		return t, nil
	case Name:
		return t, c.name(t)
	case Member:
		return c.member(t)
	case Index:
		return c.index(t)
	case Call:
		return t, c.call(t)
	}
	for _, a := range n.Args {
		x, err := c.term(a)
		if err != nil {
			return nil, err
		}
		t.Args = append(t.Args, x)
	}
	switch n.Kind {
	case Vector:
		return t, c.vector(t)
	case Unary:
		return t, c.unary(t)
	case Binary:
		return t, c.binary(t)
	}
	return t, c.choice(t)
}

// uniform notes whether a term is uniform: if all in it is.
func (t *Term) uniform() {
	t.Uniform = true
	for _, a := range t.Args {
		t.Uniform = t.Uniform && a.Uniform
	}
}

// name finds out what a bare name is: a word of the language, a let, a parameter of the rule, a field, a parameter of the world, or a value.
func (c *checker) name(t *Term) error {
	n := t.Node
	if c.of != nil && !n.Quoted && slices.Contains(entityWords, n.Text) {
		return c.entityWord(t)
	}
	if !n.Quoted && slices.Contains(c.words, n.Text) {
		return c.word(t)
	}
	n.Quoted = c.quoted(n.Text)
	if i := slices.IndexFunc(c.Lets, func(l Let) bool { return l.Name == n.Text }); i >= 0 {
		if c.of != nil {
			return c.entityLet(t, i)
		}
		return c.let(t, i)
	}
	if i := slices.Index(c.Own, n.Text); i >= 0 {
		t.Op, t.Index, t.Uniform = Own, i, true
		return nil
	}
	if i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == n.Text && !(c.stated && f.Attribute) }); i >= 0 {
		if c.of != nil {
			return c.ofEntity(t, i)
		}
		if c.group != nil {
			return c.wrong(n, "%s is a field of cells; write here.%[1]s, the value on the cell on which %s stands", n, c.group.each())
		}
		t.Op, t.Index, t.Type = Get, i, c.typeOf(&c.Fields[i])
		if c.whole != nil && t.Type.Base == Category {
			return c.wrong(n, "%s is that of a cell, and this is about the whole world; write count(%[1]s == %s), or cell(%[1]s, …)", n, c.lists[t.Type.List][0])
		}
		if c.whole != nil {
			return c.ofNoCell(n)
		}
		return c.field(t, Get, i)
	}
	if i := slices.Index(c.World, n.Text); i >= 0 {
		t.Op, t.Index, t.Uniform = World, i, true
		return nil
	}
	return c.bareValue(t)
}

// field makes a term one that reads a field, whichever its cell or entity is.
func (c *checker) field(t *Term, op Op, i int) error {
	f := &c.Fields[i]
	if f.Other {
		return c.wrong(t.Node, "formulas cannot name %s, whose elements are of a kind that they do not know", t.Node.Text)
	}
	t.Op, t.Index, t.Type = op, i, c.typeOf(f)
	return nil
}

// ofNoCell is the error of what only a cell has, in a formula about the whole world.
func (c *checker) ofNoCell(n *Node) error {
	return c.wrong(n, "%s is that of a cell, and this is about the whole world; write sum(%[1]s), least(%[1]s), … over all cells, or cell(%[1]s, …)", n)
}

// quoted reports whether a name of a scenario needs backquotes.
func (c *checker) quoted(name string) bool {
	plain := name != "" && !isWord(name) && !slices.Contains(c.words, name) && name != "c" && name != "step" // which have components
	plain = plain && !(c.group != nil && name == "here")
	for i := range len(name) {
		plain = plain && (letter(name[i]) || i > 0 && digit(name[i]))
	}
	return !plain
}

// word is a word of the language.
func (c *checker) word(t *Term) error {
	t.Uniform = true
	if i := slices.Index(c.words, t.Node.Text); i > 2 && c.whole != nil {
		return c.ofNoCell(t.Node)
	} else if i > 2 && c.group != nil {
		return c.wrong(t.Node, "%s is that of a cell; write %s.%[1]s, that of the cell on which it stands", t.Node, c.group.name)
	}
	switch t.Node.Text {
	case "dt":
		t.Op = Dt
	case "tick":
		t.Op = Tick
	case "cells":
		t.Op = Cells
	case "degree":
		t.Op, t.Uniform = Degree, !c.inner
	default:
		t.Op, t.Uniform = Coordinate, false
		t.Index = slices.IndexFunc(c.Lattice.Axes(), func(a space.Axis) bool { return a.Name == t.Node.Text })
	}
	return nil
}

// bareValue is a value of a categorical field that stands without its field.
func (c *checker) bareValue(t *Term) error {
	n, found := t.Node, -1
	for i, list := range c.lists {
		if !slices.Contains(list, n.Text) {
			continue
		}
		if found >= 0 && c.stated && i >= c.cellLists {
			break
		}
		if found >= 0 {
			one, other := c.fieldOf(found), c.fieldOf(i)
			return c.wrong(n, "%s is a value of %s and of %s; write %s.%[1]s or %[5]s.%[1]s", n.Text, one, other, one, other)
		}
		found = i
	}
	if n.Text == "pi" && found < 0 {
		return c.wrong(n, "there is no pi; write 3.141592653589793")
	}
	if found < 0 && c.stated {
		if err := c.notAlone(n); err != nil {
			return err
		}
	}
	if found < 0 {
		return c.wrong(n, "no field, parameter, let or value is called %s%s", n.Text, document.Suggestion(n.Text, c.known()))
	}
	c.value(t, found)
	return nil
}

// value makes a term the value of a list by the name of its node.
func (c *checker) value(t *Term, list int) {
	t.Op, t.Type, t.Uniform = Const, Type{Base: Category, List: list}, true
	t.Value = float64(slices.Index(c.lists[list], t.Node.Text))
}

// fieldOf is the first field with a list of values.
func (c *checker) fieldOf(list int) string {
	return c.Fields[slices.IndexFunc(c.Fields, func(f Field) bool { return f.Values != nil && slices.Equal(f.Values, c.lists[list]) })].Name
}

// known lists the names that a formula can have, for suggestions.
func (c *checker) known() (names []string) {
	names = append(append(append(slices.Clone(c.words), c.Own...), c.World...), c.KindNames...)
	for i := range c.Lets {
		names = append(names, c.Lets[i].Name)
	}
	for i := range c.Fields {
		names = append(append(names, c.Fields[i].Name), c.Fields[i].Values...)
	}
	return names
}

// A checkedLet is a let whose formula was checked.
type checkedLet struct {
	*Term
	near, degree bool // it has a term over neighbours, or the degree, also by other lets
}

// let uses a let, which is checked the first time.
func (c *checker) let(t *Term, i int) error {
	of, err := c.letOf(t.Node, i)
	if err != nil {
		return err
	}
	if c.inner && of.near {
		return c.wrong(t.Node, "%s has a term over neighbours, and stands in another; give it a field of its own and read now() of it", t.Node)
	}
	t.Op, t.Index, t.Type = UseLet, i, of.Type
	t.Uniform = of.Uniform && !(c.inner && of.degree)
	return nil
}

// letOf checks a let, unless it was checked before.
func (c *checker) letOf(use *Node, i int) (*checkedLet, error) {
	l := &c.Lets[i]
	if slices.Contains(c.path, l.Name) {
		return nil, c.itself(use, l.Name)
	}
	if of := c.lets[l.Name]; of != nil {
		return of, nil
	}
	near, inner, noDraws := c.near, c.inner, c.noDraws
	c.near, c.inner, c.noDraws, c.path = false, false, false, append(c.path, l.Name)
	t, err := c.formula("let."+l.Name, l.Formula)
	c.near, c.inner, c.noDraws, c.path = near, inner, noDraws, c.path[:len(c.path)-1]
	if err != nil {
		return nil, err
	}
	of := &checkedLet{Term: t}
	t.Walk(func(x *Term) {
		used := &checkedLet{}
		if x.Op == UseLet {
			used = c.lets[c.Lets[x.Index].Name]
		}
		of.near = of.near || used.near || x.Op >= Sum && x.Op <= At
		of.degree = of.degree || used.degree || x.Op == Degree
	})
	c.lets[l.Name] = of
	return of, nil
}

// itself is the error of a let that needs itself.
func (c *checker) itself(use *Node, name string) error {
	return c.wrong(use, "%s needs itself: %s", name, strings.Join(append(c.path[slices.Index(c.path, name):], name), ", "))
}

// innerLet is a let as it is within a term over neighbours, which was checked.
func (c *checker) innerLet(i int) (*Term, error) {
	c.inner = true
	t, err := c.formula("let."+c.Lets[i].Name, c.Lets[i].Formula)
	c.inner = false
	return t, err
}

// member is a value F.v, or a component v.x.
func (c *checker) member(t *Term) (*Term, error) {
	n := t.Node
	if is, err := c.qualified(t); is {
		return t, err
	}
	if is, err := c.living(t); is {
		return t, err
	}
	if f := n.Args[0]; f.Kind == Name {
		i := slices.IndexFunc(c.Fields, func(x Field) bool { return x.Name == f.Text && x.Values != nil })
		if i >= 0 {
			list := c.typeOf(&c.Fields[i]).List
			if !slices.Contains(c.lists[list], n.Text) {
				return nil, c.wrong(n, "%s has no value %s%s", f.Text, n.Text, document.Suggestion(n.Text, c.lists[list]))
			}
			c.value(t, list)
			c.spellValue(n, list)
			return t, nil
		}
	}
	k := strings.Index("xyz", n.Text)
	if len(n.Text) != 1 || k < 0 {
		return nil, c.wrong(n, "%s has no part %s; the components of a vector are x, y, z or [0], [1], …", n.Args[0], n.Text)
	}
	n.Kind, n.Text, n.Quoted, n.Value = Index, "", false, float64(k)
	return c.index(t)
}

// spellValue writes a value as a descriptor has it: without its field if no other name is spelt so.
func (c *checker) spellValue(n *Node, list int) {
	bare := &Term{Node: &Node{Kind: Name, Text: n.Text, Quoted: c.quoted(n.Text)}}
	if c.name(bare) == nil && bare.Op == Const && bare.Type == (Type{Base: Category, List: list}) {
		n.Kind, n.Args, n.Quoted = Name, nil, bare.Node.Quoted
		return
	}
	first := c.fieldOf(list)
	n.Args[0] = &Node{Kind: Name, Text: first, Quoted: c.quoted(first), At: n.At, End: n.End}
	n.Quoted = c.quoted(n.Text)
}

// index is a component of a vector, or of the cell's coordinate or the step to the neighbour.
func (c *checker) index(t *Term) (*Term, error) {
	n := t.Node
	of := n.Args[0]
	t.Index = int(min(n.Value, 1000)) // the language has three digits
	if of.Kind == Name && !of.Quoted && (of.Text == "c" || of.Text == "step") {
		if c.whole != nil {
			return nil, c.ofNoCell(n)
		}
		if c.group != nil {
			return nil, c.wrong(n, "%s is that of a cell, and this is about entities", n)
		}
		if t.Index >= c.Lattice.Dim() {
			return nil, c.wrong(n, "coordinates have %d components, counted from 0", c.Lattice.Dim())
		}
		if t.Op = Coordinate; of.Text == "step" {
			if t.Op = Step; !c.near || c.looks {
				return nil, c.wrong(n, "step is the step to a neighbour; it stands within a term over neighbours, but not in at")
			}
		}
		return t, nil
	}
	x, err := c.term(of)
	if err != nil {
		return nil, err
	}
	switch {
	case x.Type.N == 0:
		return nil, c.wrong(n, "%s is %s, which has no components", of, c.describe(x.Type))
	case t.Index >= x.Type.N:
		return nil, c.wrong(n, "%s has %d components, counted from 0", of, x.Type.N)
	}
	if x.Op == Total {
		return c.part(t, x), nil
	}
	t.Op, t.Args, t.Type, t.Uniform = Component, []*Term{x}, Type{Base: x.Type.Base}, x.Uniform
	return t, nil
}
