package rules

import (
	"slices"
)

// Agents is a rule of entities whose formulas were checked.
type Agents struct {
	EntityRule
	uses  [][sights]letUse // by let: as it is where it is used
	items []agentItem
	Cost  int // about how many steps it takes for an entity, with all its items
}

// sights is in how many ways a let can be seen: with near, with other, within a term over neighbours.
const sights = 8

// A letUse is a let as it is in some places.
type letUse struct {
	*Term
	tells  [Living]bool // whether it says something of what is looked at
	around bool         // it has a term over neighbours
	draws  bool
	cost   int // 0: not known yet
}

// An agentItem is an item whose formulas were checked; nil where the item has none.
type agentItem struct {
	*Item
	where, when, chance *Term
	way                 Way
	args                []*Term // of the move
	direction           int     // of to(d); -1: it has an offset
	onto                *Term
	set                 []*Term
	amount              *Term
	birthOnto           *Term
	birthSet            []*Term
}

// A Way is how an item moves.
type Way uint8

// The ways to move.
const (
	Stay Way = iota
	ToAny
	ToMost
	ToLeast
	Along
	ToOffset
	ToOther
	ToAnywhere
)

// CheckEntities finds out what the formulas of a rule of entities mean. The scope's fields are those of cells and entities, and at the end the kind, with its names. It
// writes canonical names into the trees. The error is an [*Error] with the place of the formula.
func CheckEntities(s *Scope, r *EntityRule) (*Agents, error) {
	c := newChecker(s)
	c.of = &population{kinds: s.Fields[len(s.Fields)-1].Values}
	c.words = append(c.words, entityWords...)
	c.uses = make([][sights]letUse, len(s.Lets))
	a := &Agents{EntityRule: *r, uses: c.uses}
	if err := c.names(); err != nil {
		return nil, err
	}
	for i := range r.Items {
		x, err := c.item(&r.Items[i], r.Order)
		if err != nil {
			return nil, placed(r.Items[i].Name, err)
		}
		a.items = append(a.items, x)
	}
	for i := range s.Lets {
		if c.uses[i] == [sights]letUse{} { // no item has it; it is checked as one would
			c.of.other = true
			if err := c.entityLet(&Term{Node: &Node{Kind: Name, Text: s.Lets[i].Name}}, i); err != nil {
				return nil, err
			}
			c.of.other = false
		}
	}
	return a, c.limitAgents(a)
}

// sight says in which of the ways a let is seen here.
func (c *checker) sight() (n uint8) {
	if c.near {
		n |= 1
	}
	if c.of.other {
		n |= 2
	}
	if c.inner {
		n |= 4
	}
	return n
}

// entityLet uses a let in a rule of entities, which is checked where it stands.
func (c *checker) entityLet(t *Term, i int) error {
	l := &c.Lets[i]
	if slices.Contains(c.path, l.Name) {
		return c.itself(t.Node, l.Name)
	}
	t.Op, t.Index, t.Sight = UseLet, i, c.sight()
	u := &c.uses[i][t.Sight]
	if u.Term == nil {
		noDraws := c.noDraws
		c.noDraws, c.path = false, append(c.path, l.Name)
		of, err := c.formula("let."+l.Name, l.Formula)
		c.noDraws, c.path = noDraws, c.path[:len(c.path)-1]
		if err != nil {
			return err
		}
		u.Term = of
		of.Walk(func(x *Term) {
			u.tells[x.Who] = true
			u.around, u.draws = u.around || x.Op >= Sum && x.Op <= At, u.draws || x.draws()
			if x.Op == UseLet {
				inner := &c.uses[x.Index][x.Sight]
				u.around, u.draws = u.around || inner.around, u.draws || inner.draws
				for k, does := range inner.tells {
					u.tells[k] = u.tells[k] || does
				}
			}
		})
	}
	switch {
	case c.inner && u.around:
		return c.wrong(t.Node, "%s has a term over neighbours, and stands in another", t.Node)
	case c.of.look && u.draws:
		return c.wrong(t.Node, "%s draws, and candidates are compared without a draw", t.Node)
	}
	t.Type, t.Uniform = u.Type, u.Uniform
	return nil
}

// item checks an item.
func (c *checker) item(it *Item, order Order) (x agentItem, err error) {
	x = agentItem{Item: it, direction: -1}
	*c.of = population{kinds: c.of.kinds}
	if it.With != nil {
		if it.With.Where != nil {
			if x.where, err = c.about(it.With.Where); err != nil {
				return x, placed(it.Name+".with", err)
			}
		}
		c.of.other = true
	}
	if it.When != nil {
		if x.when, err = c.formula(it.Name+".when", it.When); err == nil {
			err = placed(it.Name+".when", c.boolean(x.when))
		}
		if err != nil {
			return x, err
		}
	}
	if it.Chance != nil {
		if x.chance, err = c.itemChance(it.Name+".chance", it.Chance); err != nil {
			return x, err
		}
	}
	if it.Move != nil {
		if err = c.move(&x); err == nil {
			err = c.short(it.Move)
		}
		if err != nil {
			return x, placed(it.Name+".move", err)
		}
	}
	if it.Onto != nil {
		if x.onto, err = c.candidate(it.Onto); err == nil {
			err = c.boolean(x.onto)
		}
		if err != nil {
			return x, placed(it.Name+".onto", err)
		}
	}
	return x, c.effects(&x, order)
}

// itemChance is the chance of an item: chance(p), whose own draw has the number 0.
func (c *checker) itemChance(place string, p *Node) (*Term, error) {
	call := &Node{Kind: Call, Text: "chance", Args: []*Node{p}, At: p.At, End: p.End}
	t, err := c.formula(place, call)
	return t, err
}

// candidate checks a formula about a cell to which an entity may go.
func (c *checker) candidate(n *Node) (*Term, error) {
	before, noDraws := *c.of, c.noDraws
	*c.of = population{kinds: before.kinds, look: true}
	c.near, c.inner, c.looks, c.noDraws = true, true, true, true
	t, err := c.term(n)
	c.near, c.inner, c.looks, c.noDraws = false, false, false, noDraws
	*c.of = before
	if err == nil {
		err = c.short(n)
	}
	if err == nil && !c.tells(t, Near) {
		err = c.wrong(n, "%s is the same for every cell; did you mean near.%s?", n, c.fieldIn(n))
	}
	return t, err
}

// fieldIn is a field of cells that a formula names, or some, for an example.
func (c *checker) fieldIn(n *Node) string {
	name := ""
	is := func(text string) bool {
		return slices.ContainsFunc(c.Fields, func(f Field) bool { return !f.Attribute && f.Name == text })
	}
	n.Walk(func(x *Node) {
		if (x.Kind == Name || x.Kind == Member) && name == "" && is(x.Text) {
			name = x.Text
		}
	})
	if name == "" {
		name = "row"
		for i := range c.Fields {
			if !c.Fields[i].Attribute {
				return c.Fields[i].Name
			}
		}
	}
	return name
}

// effects checks what an item does.
func (c *checker) effects(x *agentItem, order Order) (err error) {
	it := x.Item
	if order == Together {
		if err := c.together(x); err != nil {
			return err
		}
	}
	if it.Kill && it.With == nil {
		return c.wrong(&Node{}, "kill needs another entity, which with finds")
	}
	for i := range it.Set {
		t, err := c.change(it.Name+".set.", &it.Set[i])
		if err != nil {
			return err
		}
		x.set = append(x.set, t)
	}
	if k := it.Take; k != nil {
		if err := c.take(x, k); err != nil {
			return err
		}
	}
	if b := it.Birth; b != nil {
		if b.Onto != nil {
			if x.birthOnto, err = c.candidate(b.Onto); err == nil {
				err = c.boolean(x.birthOnto)
			}
			if err != nil {
				return placed(it.Name+".birth.onto", err)
			}
		}
		for i := range b.Set {
			t, err := c.change(it.Name+".birth.", &b.Set[i])
			if err != nil {
				return err
			}
			x.birthSet = append(x.birthSet, t)
		}
	}
	return nil
}

// together refuses what entities cannot do that act all at once.
func (c *checker) together(x *agentItem) error {
	it := x.Item
	switch {
	case it.Move != nil:
		return c.wrong(&Node{}, "entities that act together cannot move; use order: id or random")
	case it.With != nil, it.Kill, it.Take != nil, it.Become != Unchanged:
		return c.wrong(&Node{}, "entities that act together have items with when, chance, set, birth and die alone; use order: id or random")
	case slices.ContainsFunc(it.Set, func(s Change) bool { return s.Who != Self }):
		return c.wrong(&Node{}, "entities that act together set attributes of their own alone; use order: id or random")
	}
	return nil
}

// take checks what one number loses to another one.
func (c *checker) take(x *agentItem, k *Take) (err error) {
	place := x.Name + ".take"
	from, to := c.typeOfChange(&k.From), c.typeOfChange(&k.To)
	switch {
	case (k.From.Who == Other || k.To.Who == Other) && x.With == nil:
		return placed(place, c.wrong(&Node{}, "there is no other here; with finds one"))
	case !from.scalar():
		return placed(place, c.wrong(&Node{}, "%s is %s; numbers are taken", c.target(&k.From), c.describe(from)))
	case from != to:
		return placed(place, c.wrong(&Node{}, "%s is %s, %s is %s", c.target(&k.From), c.describe(from), c.target(&k.To), c.describe(to)))
	case k.From.Who == k.To.Who && k.From.Field == k.To.Field && k.From.Component == k.To.Component:
		return placed(place, c.wrong(&Node{}, "%s is taken from itself", c.target(&k.From)))
	}
	t, err := c.formula(place, k.Amount)
	if err == nil {
		t, err = c.held(t, from, c.target(&k.From))
	}
	x.amount = t
	return placed(place, err)
}

// change checks what becomes of an attribute or a field.
func (c *checker) change(place string, s *Change) (*Term, error) {
	place += c.target(s)
	if s.Who == Other && !c.of.other {
		return nil, placed(place, c.wrong(s.Formula, "there is no other here; with finds one"))
	}
	t, err := c.formula(place, s.Formula)
	if err == nil {
		t, err = c.held(t, c.typeOfChange(s), c.target(s))
	}
	return t, placed(place, err)
}

// typeOfChange is the type of what is changed.
func (c *checker) typeOfChange(s *Change) Type {
	t := c.typeOf(&c.Fields[s.Field])
	if s.Component >= 0 {
		t.N = 0
	}
	return t
}

// target is what a change is called: energy, here.grass, other.wind[1].
func (s *Scope) target(x *Change) string {
	text := s.Fields[x.Field].Name
	switch x.Who {
	case Here:
		text = "here." + text
	case Other:
		text = "other." + text
	}
	if x.Component >= 0 {
		text += "[" + string(appendInt(nil, x.Component)) + "]"
	}
	return text
}

// move checks where an item moves to.
func (c *checker) move(x *agentItem) (err error) {
	n := x.Move
	if n.Kind == Name && !n.Quoted {
		switch n.Text {
		case "any":
			x.way = ToAny
			return nil
		case "anywhere":
			x.way = ToAnywhere
			return nil
		case "other":
			if x.way = ToOther; x.With == nil {
				return c.wrong(n, "there is no other here; with finds one")
			}
			return nil
		}
	}
	ways := map[string]Way{"most": ToMost, "least": ToLeast, "along": Along, "to": ToOffset} // looked up only
	if x.way = ways[n.Text]; n.Kind != Call || x.way == Stay || n.Where != nil || n.Else != nil {
		return c.wrong(n, "a move is any, anywhere, other, most(x), least(x), along(v), or to a direction or an offset, such as to(north) or to(0, 1)")
	}
	if x.way == ToOffset {
		return c.toOffset(x)
	}
	if len(n.Args) != 1 {
		return c.wrong(n, "%s takes one value", n.Text)
	}
	var t *Term
	if x.way == Along {
		if len(c.Lattice.Parts()) > 1 {
			return c.wrong(n, "a product of spaces has no ways that a vector could point along; use to(…)")
		}
		noDraws := c.noDraws
		c.noDraws = true
		t, err = c.term(n.Args[0])
		if c.noDraws = noDraws; err == nil && (t.Type.N == 0 || t.Type.Base != Float) {
			err = c.wrong(n.Args[0], "along takes a vector; %s is %s", n.Args[0], c.describe(t.Type))
		}
	} else if t, err = c.candidate(n.Args[0]); err == nil && !t.Type.scalar() {
		err = c.wrong(n.Args[0], "%s compares numbers; %s is %s", n.Text, n.Args[0], c.describe(t.Type))
	}
	x.args = []*Term{t}
	return err
}

// toOffset is to(d) or to(o0, o1, …): numbers that may be computed.
func (c *checker) toOffset(x *agentItem) error {
	n := x.Move
	if len(n.Args) == 1 && n.Args[0].Kind == Name && len(c.Lattice.Parts()) == 1 {
		for i, d := range c.Lattice.Directions() {
			switch {
			case d.Name != n.Args[0].Text:
			case n.Args[0].Quoted: // as a recording writes it, it would be the direction
				return c.wrong(n.Args[0], "%s is a direction, too; write to(0 + %s)", d.Name, n.Args[0])
			default:
				x.direction = i
				return nil
			}
		}
	}
	if len(n.Args) != c.Lattice.Dim() {
		return c.wrong(n, "to takes a direction, or %d numbers, one for each component of the coordinate", c.Lattice.Dim())
	}
	noDraws := c.noDraws
	c.noDraws = true
	defer func() { c.noDraws = noDraws }()
	for _, a := range n.Args {
		t, err := c.term(a)
		if err != nil {
			return err
		}
		if t.Type != (Type{}) {
			return c.wrong(a, "to takes numbers; %s is %s", a, c.describe(t.Type))
		}
		x.args = append(x.args, t)
	}
	return nil
}
