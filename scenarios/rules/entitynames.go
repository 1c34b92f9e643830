package rules

import (
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// A population is what the formulas of a rule of entities can name beside fields. The fields of the scope include attributes, and the kind as the last one.
type population struct {
	kinds []string
	other bool // other may be named
	look  bool // a term about candidates, in which no draw may be made
}

// Words that only rules of entities have.
var entityWords = []string{"here", "near", "other", "kind", "kin", "anyone", "prev"}

// kindField is the index of the kind among the fields.
func (c *checker) kindField() int { return len(c.Fields) - 1 }

// qualified is here.F, near.F or other.A: what another cell or entity has. It reports whether the term is one.
func (c *checker) qualified(t *Term) (is bool, err error) {
	n := t.Node
	of := n.Args[0]
	if c.of == nil || of.Kind != Name || of.Quoted {
		return false, nil
	}
	switch of.Text {
	case "here":
		t.Who = Here
	case "near":
		t.Who = Near
	case "other":
		t.Who = Other
	default:
		return false, nil
	}
	if err := c.reaches(n, t.Who); err != nil {
		return true, err
	}
	if !n.Quoted && t.Who != Here && c.place(t) {
		return true, nil
	}
	n.Quoted = c.quoted(n.Text)
	i := c.fieldCalled(n.Text, t.Who == Other)
	if i < 0 {
		return true, c.noneThere(n, t.Who)
	}
	return true, c.field(t, Now, i)
}

// place is a coordinate or the degree of a cell, or the kind of the other entity.
func (c *checker) place(t *Term) bool {
	switch text := t.Node.Text; {
	case text == "degree":
		t.Op = Degree
	case text == "kind" && t.Who == Other:
		t.Op, t.Index, t.Type = Now, c.kindField(), c.typeOf(&c.Fields[c.kindField()])
	case len(c.Lattice.Parts()) == 1 && slices.ContainsFunc(c.Lattice.Axes(), func(a space.Axis) bool { return a.Name == text }):
		t.Op = Coordinate
		t.Index = slices.IndexFunc(c.Lattice.Axes(), func(a space.Axis) bool { return a.Name == text })
	default:
		return false
	}
	return true
}

// reaches refuses what is not at hand.
func (c *checker) reaches(n *Node, who Who) error {
	switch {
	case who == Near && !c.near:
		return c.wrong(n, "near is a cell beside this one; it stands within a term over neighbours, as in sum(near.grass), in onto, and in most and least of a move")
	case who == Other && !c.of.other:
		return c.wrong(n, "there is no other here; with finds one, and the where of with, here(…) and near(…) looks at each")
	}
	return nil
}

// noneThere is the error of a name that a cell or the other entity does not have.
func (c *checker) noneThere(n *Node, who Who) error {
	var names []string
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Name == n.Text && f.Attribute {
			return c.wrong(n, "%s is an attribute of entities, which a cell does not have; write %[1]s of the entity itself, or other.%[1]s", n.Text)
		}
		if f.Name == n.Text {
			return c.wrong(n, "%s is a field of cells, which an entity does not have; write here.%[1]s or near.%[1]s", n.Text)
		}
		if f.Attribute == (who == Other) {
			names = append(names, f.Name)
		}
	}
	if who == Here && slices.Contains(c.words, n.Text) {
		return c.wrong(n, "the entity is on that cell; write %s", n.Text)
	}
	if who == Other {
		return c.wrong(n, "no attribute is called %s%s", n.Text, document.Suggestion(n.Text, names))
	}
	return c.wrong(n, "no field of cells is called %s%s", n.Text, document.Suggestion(n.Text, names))
}

// entityWord is a word that only rules of entities have, where it stands alone.
func (c *checker) entityWord(t *Term) error {
	n := t.Node
	switch n.Text {
	case "kind":
		return c.ofEntity(t, c.kindField())
	case "here", "near":
		return c.wrong(n, "%s is a cell; write %[1]s.FIELD for what is there, or %[1]s(KIND) for who stands there", n)
	case "other":
		return c.wrong(n, "other is an entity; write other.ATTRIBUTE")
	case "prev":
		return c.wrong(n, "prev is of an attribute or a field, as in prev(here.grass)")
	}
	return c.wrong(n, "%s stands for kinds, as in here(%[1]s); the kind of the entity itself is kind", n)
}

// ofEntity is a bare name in a rule of entities: an attribute of its own, or its kind. It reports whether the name is one.
func (c *checker) ofEntity(t *Term, i int) error {
	f := &c.Fields[i]
	switch {
	case !f.Attribute && c.near:
		return c.wrong(t.Node, "%s is a field of cells; write near.%[1]s, the value there, or here.%[1]s, that on the entity's cell", t.Node)
	case !f.Attribute:
		return c.wrong(t.Node, "%s is a field of cells; write here.%[1]s, the value on the entity's cell", t.Node)
	}
	return c.field(t, Now, i)
}

// population is here(K), near(K), prev(A), or a function that rules of entities do not have. It reports whether the term is one of these.
func (c *checker) population(t *Term) (is bool, err error) {
	n := t.Node
	switch n.Text {
	case "here":
		t.Op, t.Who = CountOn, Here
		return true, c.countOn(t)
	case "near":
		t.Op, t.Who = CountOn, Near
		return true, c.countOn(t)
	case "prev":
		return true, c.prev(t)
	case "now":
		return true, c.wrong(n, "values are as they stand; write %s. As they were when the tick began they are prev(…)", n.Args[0])
	case "own":
		return true, c.wrong(n, "names without near. are the entity's own; write them as they are")
	}
	return false, nil
}

// countOn counts entities on a cell: here(K where c), near(K where c).
func (c *checker) countOn(t *Term) error {
	n := t.Node
	if len(n.Args) != 1 || n.Else != nil {
		return c.wrong(n, "%s takes a kind, as in %[1]s(%s), and perhaps where", n.Text, c.of.kinds[0])
	}
	if err := c.reaches(n, t.Who); err != nil {
		return err
	}
	var err error
	if t.Kinds, err = c.kindsOf(n.Args[0]); err != nil || n.Where == nil {
		return err
	}
	t.Where, err = c.about(n.Where)
	return err
}

// about checks a condition about another entity, one after the other of which is looked at.
func (c *checker) about(n *Node) (*Term, error) {
	before, noDraws := *c.of, c.noDraws
	c.of.other, c.noDraws, c.of.look = true, true, true
	t, err := c.term(n)
	*c.of, c.noDraws = before, noDraws
	if err == nil {
		err = c.boolean(t)
	}
	if err == nil {
		err = c.short(n)
	}
	if err == nil && !c.tells(t, Other) {
		err = c.wrong(n, "%s is the same for every one that is looked at; did you mean other.%s?", n, c.attributeIn(n))
	}
	return t, err
}

// attributeIn is an attribute that a formula names, for an example.
func (c *checker) attributeIn(n *Node) string {
	name := "kind"
	n.Walk(func(x *Node) {
		if x.Kind == Name && name == "kind" && slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Attribute && f.Name == x.Text }) {
			name = x.Text
		}
	})
	return name
}

// tells reports whether a term says something of a cell or entity that is looked at, by a let too.
func (c *checker) tells(t *Term, who Who) (does bool) {
	t.Walk(func(x *Term) {
		does = does || x.Who == who
		if x.Op == UseLet {
			does = does || c.uses[x.Index][x.Sight].tells[who]
		}
	})
	return does
}

// kindsOf reads a kind, kin, anyone, or a list of kinds.
func (c *checker) kindsOf(n *Node) (k Kinds, err error) {
	names := []*Node{n}
	if n.Kind == Vector {
		names = n.Args
	}
	for _, x := range names {
		switch {
		case x.Kind != Name:
			return k, c.wrong(x, "%s stands where a kind of entities belongs: %s, kin or anyone", x, strings.Join(c.of.kinds, ", "))
		case x.Text == "kin" && !x.Quoted:
			k.Kin = true
		case x.Text == "anyone" && !x.Quoted:
			k.Anyone = true
		default:
			i := slices.Index(c.of.kinds, x.Text)
			if i < 0 {
				return k, c.wrong(x, "there is no kind %s%s", x.Text, document.Suggestion(x.Text, append([]string{"kin", "anyone"}, c.of.kinds...)))
			}
			x.Quoted = c.quoted(x.Text)
			k.List = append(k.List, i)
		}
	}
	if n.Kind == Vector && (k.Kin || k.Anyone) {
		return k, c.wrong(n, "kin and anyone stand alone, not in a list of kinds")
	}
	return k, nil
}

// prev is prev(A) or prev(here.F): a value as it was when the tick began, commands applied.
func (c *checker) prev(t *Term) error {
	n := t.Node
	if len(n.Args) != 1 || n.Where != nil || n.Else != nil {
		return c.wrong(n, "prev takes an attribute, or a field such as here.grass")
	}
	x, err := c.term(n.Args[0])
	if err != nil {
		return err
	}
	if x.Op != Now || x.Who == Other || x.Who == Near {
		return c.wrong(n.Args[0], "prev takes an attribute of the entity, or a field on its cell such as here.grass")
	}
	t.Op, t.Who, t.Index, t.Type = Get, x.Who, x.Index, x.Type
	return nil
}
