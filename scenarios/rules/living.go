package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// What formulas about the whole world say of entities: docs/spec/rules.md, About the whole world.

// A group is the entities that a term of a statement is over.
type group struct {
	kind int   // of the scope; everyone: all
	name *Node // as it is written
}

// everyone is no kind.
const everyone = -1

// each names one of them.
func (g *group) each() string {
	if g.kind == everyone {
		return "each of them"
	}
	return "each " + g.name.String()
}

// groupOf finds the entities that a term is over, by the kind that it names; nil: it is over cells.
func (c *checker) groupOf(n *Node) (g *group, err error) {
	if kind, is := c.kindCalled(n.Args[0]); is && n.Text == "count" {
		return c.called(kind, n.Args[0]), nil
	}
	for _, part := range []*Node{n.Args[0], n.Where} {
		part.Walk(func(x *Node) {
			if err != nil {
				return
			}
			kind, is, wrong := c.ofKind(x)
			switch {
			case wrong != nil:
				err = wrong
			case !is:
			case g == nil:
				g = c.called(kind, x.Args[0])
			case g.kind != kind:
				err = c.otherKind(x, g)
			}
		})
	}
	return g, err
}

// otherKind is the error of an attribute of another kind than a term is over.
func (c *checker) otherKind(n *Node, g *group) error {
	return c.wrong(n, "a term is over one kind; %s is of another one than %s. Write a term for each", n, g.name)
}

// called is the group of a kind, whose name it writes as a recording has it.
func (c *checker) called(kind int, name *Node) *group {
	name.Quoted = kind != everyone && (name.Text == "anyone" || name.Text == "here" || c.quoted(name.Text))
	return &group{kind, name}
}

// kindCalled is the kind that a node names by itself.
func (c *checker) kindCalled(n *Node) (kind int, is bool) {
	switch {
	case n.Kind != Name || len(c.KindNames) == 0 || n.Text == "here" && !n.Quoted:
		return 0, false
	case n.Text == "anyone" && !n.Quoted:
		return everyone, true
	}
	kind = slices.Index(c.KindNames, n.Text)
	return kind, kind >= 0
}

// ofKind is the kind whose attribute a node is: sheep.energy.
func (c *checker) ofKind(n *Node) (kind int, is bool, err error) {
	if n.Kind != Member {
		return 0, false, nil
	}
	of := n.Args[0]
	if kind, is = c.kindCalled(of); !is {
		return 0, false, nil
	}
	attribute := c.fieldCalled(n.Text, true) >= 0
	i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == of.Text })
	if i < 0 {
		return kind, true, nil
	}
	f := &c.Fields[i]
	switch ofField := slices.Contains(f.Values, n.Text) || f.N > 0 && len(n.Text) == 1 && strings.Contains("xyz", n.Text); {
	case ofField && attribute:
		return 0, false, c.wrong(n, "%s is a kind and a field, and %s could be of both; give the kind another name", of.Text, n)
	case ofField:
		return 0, false, nil
	}
	return kind, attribute || c.placed(n), nil
}

// placed reports whether a member is one that the cell of an entity has.
func (c *checker) placed(n *Node) bool { return !n.Quoted && c.place(&Term{Node: n, Who: Living}) }

// living is K.A, here.F, or entity(N).A: what entities have, in a formula about the whole world. It reports whether the term is one.
func (c *checker) living(t *Term) (is bool, err error) {
	n := t.Node
	of := n.Args[0]
	switch {
	case !c.stated:
		return false, nil
	case of.Kind == Call && of.Text == "entity":
		return true, c.attributeOfOne(t)
	case c.group != nil && of.Kind == Name && of.Text == "here" && !of.Quoted:
		return true, c.onItsCell(t)
	case of.Kind == Name && of.Text == "here" && !of.Quoted && slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == "here" }) < 0 && len(c.KindNames) > 0:
		return true, c.wrong(n, "here is the cell of an entity; say of whose, as in count(%s where %s …)", c.KindNames[0], n)
	}
	kind, is, err := c.ofKind(n)
	switch {
	case err != nil:
		return true, err
	case !is:
		return false, nil
	case c.group != nil && c.group.kind != kind:
		return true, c.otherKind(n, c.group)
	}
	c.called(kind, of)
	if err := c.attribute(t); err != nil || c.group != nil {
		return true, err
	}
	instead := "mean(%[1]s), sum(%[1]s), count(%[1]s > 0) and the like"
	if t.Type.Base == Category {
		instead = "count(%[1]s == " + c.lists[t.Type.List][0] + ")"
	}
	return true, c.wrong(n, "%s is of each entity by itself; write "+instead+", or entity(…) for one", n)
}

// attribute is what follows K. or entity(N). : an attribute, or a coordinate or the degree of the cell on which one stands.
func (c *checker) attribute(t *Term) error {
	n := t.Node
	if t.Who = Living; c.placed(n) {
		c.place(t)
		return nil
	}
	n.Quoted = c.quoted(n.Text)
	switch {
	case c.fieldCalled(n.Text, false) >= 0:
		return c.wrong(n, "%s is a field of cells, which an entity does not have; write here.%[1]s, the value on its cell, within a term over entities", n.Text)
	case !n.Quoted && n.Text == "here":
		return c.wrong(n, "the cell of an entity is here, as in here.FIELD, and nothing stands before it")
	}
	if i := c.fieldCalled(n.Text, true); i >= 0 {
		return c.field(t, Get, i)
	}
	return c.wrong(n, "no attribute is called %s%s", n.Text, document.Suggestion(n.Text, c.fieldNames(true)))
}

// onItsCell is here.F: a field on the cell of an entity.
func (c *checker) onItsCell(t *Term) error {
	n := t.Node
	n.Quoted = c.quoted(n.Text)
	if c.fieldCalled(n.Text, true) >= 0 {
		return c.wrong(n, "%s is an attribute of entities, which a cell does not have; write %s.%[1]s", n.Text, c.group.name)
	}
	if i := c.fieldCalled(n.Text, false); i >= 0 {
		return c.field(t, Get, i)
	}
	return c.wrong(n, "no field of cells is called %s%s", n.Text, document.Suggestion(n.Text, c.fieldNames(false)))
}

// fieldCalled is the attribute, or the field of cells, of a name; -1: there is none.
func (c *checker) fieldCalled(name string, attribute bool) int {
	return slices.IndexFunc(c.Fields, func(f Field) bool { return f.Attribute == attribute && f.Name == name })
}

// fieldNames are the names of attributes, or of fields of cells.
func (c *checker) fieldNames(attributes bool) (names []string) {
	for i := range c.Fields {
		if f := &c.Fields[i]; f.Attribute == attributes {
			names = append(names, f.Name)
		}
	}
	return names
}

// notAlone is the error of a name of entities that stands by itself; nil: it is none.
func (c *checker) notAlone(n *Node) error {
	who := "sheep"
	if len(c.KindNames) > 0 {
		who = c.KindNames[0]
	}
	if c.group != nil {
		who = c.group.name.Text
	}
	if kind, is := c.kindCalled(n); is {
		c.called(kind, n)
		return c.wrong(n, "%s stands for entities; write count(%[1]s), or %[1]s.%s within a term", n, c.anAttribute())
	}
	if c.fieldCalled(n.Text, true) >= 0 {
		return c.wrong(n, "%s is an attribute of entities; write whose, as in mean(%s.%[1]s)", n, who)
	}
	return nil
}

// anAttribute is one of entities, for an example.
func (c *checker) anAttribute() string {
	if i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Attribute }); i >= 0 {
		return c.Fields[i].Name
	}
	return "row"
}

// everyOne is what a term is over: a formula, or in count(K) all of a kind.
func (c *checker) everyOne(t *Term, of *Node) (*Term, error) {
	if c.group != nil && t.Op == Count && c.group.name == of {
		return &Term{Op: Const, Type: Type{Base: Boolean}, Value: 1, Uniform: true, Node: of}, nil
	}
	return c.term(of)
}

// oneEntity is alive(N), whether an entity lives; entity(N) stands before an attribute.
func (c *checker) oneEntity(t *Term) error {
	n := t.Node
	if n.Text == "entity" {
		return c.wrong(n, "%s is an entity; write an attribute of it, as in %[1]s.%s", n, c.anAttribute())
	}
	id, err := c.idOf(n)
	if err != nil {
		return err
	}
	t.Type = Type{Base: Boolean}
	t.Args = []*Term{{Op: Const, Type: t.Type, Value: 1, Uniform: true, Node: n}}
	return c.addTotal(t, &total{op: At, over: ofLife, node: n, id: id})
}

// attributeOfOne is entity(N).A.
func (c *checker) attributeOfOne(t *Term) error {
	n := t.Node
	id, err := c.idOf(n.Args[0])
	if err != nil {
		return err
	}
	x := &Term{Node: n}
	if err := c.attribute(x); err != nil {
		return err
	}
	t.Type, t.Args = x.Type, []*Term{x}
	return c.addTotal(t, &total{op: At, over: ofEntity, node: n, id: id})
}

// part is a component of entity(N).A.
func (c *checker) part(t, of *Term) *Term {
	x := c.whole.totals[of.Index]
	v := x.rule.Set[0]
	x.rule.Set[0] = &Term{Op: Component, Args: []*Term{v}, Index: t.Index, Type: Type{Base: v.Type.Base}, Node: t.Node}
	x.node = t.Node
	return &Term{Op: Total, Uniform: true, Index: of.Index, Node: t.Node}
}

// idOf is the id of the N of entity(N) or alive(N): a name or a number.
func (c *checker) idOf(n *Node) (id uint64, err error) {
	const most = 1 << 53 // that a number of the language holds exactly
	switch {
	case c.whole == nil:
		return 0, c.wrong(n, "%s is of the whole world, and stands within a term that is computed for each cell or entity", n)
	case len(c.KindNames) == 0:
		return 0, c.wrong(n, "the scenario has no \"entities\"")
	case len(n.Args) != 1 || n.Where != nil || n.Else != nil:
		return 0, c.wrong(n, "%s takes the name of an entity, or its id", n.Text)
	}
	switch x := n.Args[0]; {
	case x.Kind == Number && x.Value >= 1 && x.Value < most && x.Value == float64(uint64(x.Value)):
		return uint64(x.Value), nil
	case x.Kind != Name:
		return 0, c.wrong(x, "%s takes the name of an entity, or its id, a whole number below 2^53", n.Text)
	default:
		i := slices.IndexFunc(c.Named, func(e Named) bool { return e.Name == x.Text })
		if i < 0 {
			var names []string
			for _, e := range c.Named {
				names = append(names, e.Name)
			}
			return 0, c.wrong(x, "there is no entity %s%s", x.Text, document.Suggestion(x.Text, names))
		}
		x.Quoted, c.whole.named = c.quoted(x.Text), true
		return c.Named[i].ID, nil
	}
}

// nobody is the error of a term over no entities that needs one.
func (x *total) nobody() error {
	with := *x.node
	with.Else = &Node{Kind: Number}
	return fmt.Errorf("%s: no such entity lives; say what counts then: %s", x.node, &with)
}

// entity is an attribute of one entity.
func (x *total) entity(e *evaluator) (v value, err error) {
	state := e.State
	slot := state.living.slot(x.id)
	if slot < 0 {
		return v, fmt.Errorf("%s: there is no such entity now; ask alive(…) first", x.node)
	}
	x.at = place{cell: int(state.living.cells[slot]), slot: slot}
	x.at.own = x.at.cell
	if v, err = e.eval(x.rule.Set[0], &x.at); x.rule.Set[0].Type.Base == Fixed {
		v = value{f: v.x.Float64()}
	}
	return v, err
}

// The living are the entities of a state.
type living struct {
	ids    []uint64 // by slot: 0 for none
	kinds  []int32
	cells  []int32
	order  []resident // by ascending id
	known  bool       // who they are in this state
	slots  []int32
	places []int32 // of those that were chosen: their slots, and the cells on which they stand
	kind   int     // which were chosen
	chosen bool    // in this state
}

// A resident is an entity that lives.
type resident struct {
	id   uint64
	slot int32
}

// See gives a state the entities of the world, slot by slot, where an id of 0 stands for none. They stay those of the world.
func (s *State) See(ids []uint64, kinds, cells []int32) {
	w := &s.living
	w.ids, w.kinds, w.cells, w.known, w.chosen = ids, kinds, cells, false, false
}

// all are those who live, by ascending id. Most of them were there when it was last asked, and who was not has a greater id than all that were: if so, none of the others
// is sorted.
func (w *living) all() []resident {
	if w.known {
		return w.order
	}
	w.known = true
	w.order = slices.DeleteFunc(w.order, func(t resident) bool { return int(t.slot) >= len(w.ids) || w.ids[t.slot] != t.id })
	last, before := uint64(0), len(w.order)
	if before > 0 {
		last = w.order[before-1].id
	}
	living := 0
	for slot, id := range w.ids {
		if id != 0 {
			living++
		}
		if id > last {
			w.order = append(w.order, resident{id: id, slot: int32(slot)})
		}
	}
	if len(w.order) != living { // it is no later state of the same world
		w.order, before = w.sorted(w.order[:0]), 0
	}
	byID(w.order[before:])
	return w.order
}

// sorted appends all who live, by ascending id: the readable twin of all.
func (w *living) sorted(list []resident) []resident {
	for slot, id := range w.ids {
		if id != 0 {
			list = append(list, resident{id: id, slot: int32(slot)})
		}
	}
	byID(list)
	return list
}

func byID(list []resident) {
	//detcheck:allow sort ids are unique
	slices.SortFunc(list, func(a, b resident) int { return cmp.Compare(a.id, b.id) })
}

// choose takes those of a kind, and returns how many they are.
func (w *living) choose(kind int, naive bool) int {
	if w.chosen && w.kind == kind && !naive {
		return len(w.slots)
	}
	all := w.all()
	if naive {
		all = w.sorted(nil)
	}
	w.kind, w.chosen = kind, !naive
	w.slots, w.places = w.slots[:0], w.places[:0]
	for _, t := range all {
		if kind == everyone || int(w.kinds[t.slot]) == kind {
			w.slots, w.places = append(w.slots, t.slot), append(w.places, w.cells[t.slot])
		}
	}
	return len(w.slots)
}

// place is where the term is computed for one of those that were chosen.
func (w *living) place(i int) place {
	cell := int(w.places[i])
	return place{cell: cell, own: cell, slot: int(w.slots[i])}
}

// slot is that of an entity; -1: it does not live.
func (w *living) slot(id uint64) int {
	all := w.all()
	i, there := slices.BinarySearchFunc(all, id, func(t resident, id uint64) int { return cmp.Compare(t.id, id) })
	if !there {
		return -1
	}
	return int(all[i].slot)
}

// blocksOfAgents calls f with the first n of those that were chosen, block by block.
func (m *machine) blocksOfAgents(w *living, n int, f func(*block)) {
	for first := 0; first < n; first += blockSize {
		k := min(blockSize, n-first)
		m.agents = block{cells: w.slots[first:][:k], n: k}
		m.here = block{first: first, n: k, cells: w.places[first:][:k], agents: &m.agents, step: -1, id: m.number()}
		f(&m.here)
	}
}
