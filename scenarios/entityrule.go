package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/rules"
)

// An EntityRule is the parameters of the component rule among systems: what each entity of a kind does, as formulas. docs/spec/rules.md specifies them.
type EntityRule struct {
	Parameters ruleParameters `yaml:"parameters" doc:"Numbers of the rule: name to value. Commands know them as NAME.PARAMETER."`
	Let        lets           `yaml:"let" doc:"Names for formulas."`
	For        kindList       `yaml:"for,required" doc:"The kind of entities that act, or a list of kinds."`
	Order      string         `yaml:"order,required" enum:"random,id,together" doc:"Who acts when: random: in an order that is drawn in each tick; id: the oldest first; together: all at once."`
	Do         []ruleItem     `yaml:"do,required" doc:"What each does, in order."`

	scope  *rules.Scope
	fields []fields.ID // of the scope
	rule   *rules.Agents
}

// A ruleItem is done whole or not at all.
type ruleItem struct {
	Name   string      `yaml:"name" doc:"Of the item and of its draws; default: the first of move, take, kill, birth, die and set that it has."`
	With   *ruleWith   `yaml:"with" doc:"Another entity that it needs, which formulas call other."`
	When   formula     `yaml:"when" doc:"A condition."`
	Chance formula     `yaml:"chance" doc:"How likely it is done, 0 to 1."`
	Move   formula     `yaml:"move" doc:"Where the entity goes: any, anywhere, other, most(x), least(x), along(v), to(direction) or to(offset)."`
	Onto   formula     `yaml:"onto" doc:"What must hold of the cell to which it goes, such as near.grass > 0."`
	Set    assignments `yaml:"set" doc:"What becomes of attributes of its own, of fields on its cell (here.FIELD) and of attributes of the other (other.ATTRIBUTE)."`
	Take   *ruleTake   `yaml:"take" doc:"What one number loses to another."`
	Kill   string      `yaml:"kill" enum:"other" doc:"The other dies."`
	Die    bool        `yaml:"die" doc:"The entity dies."`
	Birth  *ruleBirth  `yaml:"birth" doc:"Another entity comes into the world."`
	Become Kind        `yaml:"become" doc:"The kind that it has from now on."`

	at *document.Node
}

// A ruleWith says which other entity an item needs.
type ruleWith struct {
	One    kindList `yaml:"one,required" doc:"Its kind, a list of kinds, kin (the own kind) or anyone."`
	At     string   `yaml:"at" enum:"here,around" default:"here" doc:"Where: on the own cell, or also on the cells beside it."`
	Choose string   `yaml:"choose" enum:"drawn,first" default:"drawn" doc:"Which one of several."`
	Where  formula  `yaml:"where" doc:"What must hold of it, such as other.energy > 2."`
}

// A ruleTake is what one number loses to another.
type ruleTake struct {
	From   string  `yaml:"from,required" doc:"What loses: an attribute, here.FIELD or other.ATTRIBUTE."`
	To     string  `yaml:"to,required" doc:"What is given just as much."`
	Amount formula `yaml:"amount,required" doc:"How much, at most what there is."`

	at *document.Node
}

func (t *ruleTake) check(_ *decoder, n *document.Node) error {
	t.at = n
	return nil
}

// A ruleBirth is another entity that comes into the world.
type ruleBirth struct {
	Kind string      `yaml:"kind,required" doc:"Its kind, or kin: that of the parent."`
	At   string      `yaml:"at" enum:"here,behind,any,anywhere" default:"here" doc:"Where: on the cell of the parent, on the one that it leaves, on one beside it, or anywhere."`
	Onto formula     `yaml:"onto" doc:"What must hold of that cell."`
	Set  assignments `yaml:"set" doc:"Its attributes; others have their initial values."`

	at *document.Node
}

func (b *ruleBirth) check(_ *decoder, n *document.Node) error {
	b.at = n
	return nil
}

// kindList is a kind, a list of kinds, or a word for kinds.
type kindList struct {
	names []string
	at    *document.Node
}

func (k *kindList) decode(_ *decoder, n *document.Node) error {
	k.at = n
	all := []*document.Node{n}
	if n.Kind == document.List {
		all = n.Kids
	}
	for _, x := range all {
		name, err := x.Text()
		if err != nil {
			return err
		}
		if slices.Contains(k.names, name) {
			return x.Errorf("%s stands here twice", name)
		}
		k.names = append(k.names, name)
	}
	if len(k.names) == 0 {
		return n.Errorf("no kind is listed")
	}
	return nil
}

func (k kindList) appendJSON(b []byte) []byte {
	if len(k.names) == 1 {
		return document.AppendText(b, k.names[0])
	}
	b = append(b, '[')
	for i, name := range k.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendText(b, name)
	}
	return append(b, ']')
}

// of finds the kinds with these names. Words that stand for kinds are allowed where the rule says so.
func (k *kindList) of(s *Scenario, words bool) (of rules.Kinds, err error) {
	for i, name := range k.names {
		at := k.at
		if at.Kind == document.List {
			at = at.Kids[i]
		}
		switch kind := slices.Index(s.Entities.Kinds, name); {
		case kind >= 0:
			of.List = append(of.List, kind)
		case words && len(k.names) == 1 && name == "kin":
			of.Kin = true
		case words && len(k.names) == 1 && name == "anyone":
			of.Anyone = true
		default:
			return of, at.Errorf("there is no kind %q%s", name, document.Suggestion(name, s.Entities.Kinds))
		}
	}
	return of, nil
}

func (x *ruleItem) check(_ *decoder, n *document.Node) error {
	x.at = n
	does := ""
	for _, key := range []string{"move", "take", "kill", "birth", "die", "set", "become"} {
		if x.does(key, n) {
			does = cmp.Or(does, key)
		}
	}
	switch {
	case does == "":
		return n.Errorf("the item does nothing; give it move, set, take, kill, die, birth or become")
	case x.Name != "":
		return checkName(n.At("name"), "item", x.Name, nil)
	}
	x.Name = does
	return nil
}

// does reports whether the item has a key that does something: not what is the same as if it were left out, for a recording leaves that out.
func (x *ruleItem) does(key string, n *document.Node) bool {
	switch key {
	case "die":
		return x.Die
	case "set":
		return len(x.Set) > 0
	}
	return n.Get(key) != nil
}

// check finds out what the formulas mean.
func (r *EntityRule) check(d *decoder, n *document.Node) error {
	if d.s.Entities == nil {
		return n.Errorf("rule needs entities, but the scenario has no \"entities\"")
	}
	for _, kind := range d.s.Entities.Kinds {
		if kind == "kin" || kind == "anyone" {
			return n.Errorf("a kind is called %s, which is a word of rules of entities; give the kind another name", kind)
		}
	}
	if len(r.Do) == 0 {
		return n.At("do").Errorf("the rule does nothing")
	}
	r.makeScope(d.s)
	order := map[string]rules.Order{"id": rules.ByID, "random": rules.Shuffled, "together": rules.Together}[r.Order] // looked up only
	of, err := r.For.of(d.s, false)
	if err != nil {
		return err
	}
	made := &rules.EntityRule{For: of.List, Order: order}
	for i := range r.Do {
		x := &r.Do[i]
		item, err := r.item(d, x)
		if err != nil {
			return err
		}
		if other := slices.IndexFunc(made.Items, func(before rules.Item) bool { return before.Name == x.Name }); other >= 0 {
			return x.at.Errorf("an item before is called %s, too; give this one a name", x.Name)
		}
		made.Items = append(made.Items, item)
	}
	if r.rule, err = rules.CheckEntities(r.scope, made); err != nil {
		return located(r.formulaAt(err, n), err)
	}
	if name := r.rule.Unused(r.scope); name != "" {
		return n.At("parameters").At(name).Errorf("no formula of the rule has the parameter %q", name)
	}
	for _, f := range r.formulas() {
		if err := f.canonical(d); err != nil {
			return err
		}
	}
	return nil
}

// makeScope lists what the formulas can name: all fields and attributes, and the kind.
func (r *EntityRule) makeScope(s *Scenario) {
	r.scope = &rules.Scope{Lattice: s.lattice, World: s.Parameters.names()}
	for i := range s.Fields {
		f := scopeField(&s.Fields[i])
		f.Attribute = s.Fields[i].Domain != "cells"
		r.scope.Fields, r.fields = append(r.scope.Fields, f), append(r.fields, fields.ID(i))
	}
	_, kind, _ := engine.EntityColumns(len(s.Fields))
	r.scope.Fields, r.fields = append(r.scope.Fields, rules.Field{Name: "kind", Values: s.Entities.Kinds, Attribute: true}), append(r.fields, kind)
	for _, p := range r.Parameters {
		r.scope.Own = append(r.scope.Own, p.Name)
	}
	for i := range r.Let {
		r.scope.Lets = append(r.scope.Lets, rules.Let{Name: r.Let[i].name, Formula: r.Let[i].node})
	}
}

// item is an item as the language has it.
func (r *EntityRule) item(d *decoder, x *ruleItem) (item rules.Item, err error) {
	item = rules.Item{Name: x.Name, When: x.When.node, Chance: x.Chance.node, Move: x.Move.node, Onto: x.Onto.node, Kill: x.Kill != "", Die: x.Die, Become: d.s.kind(x.Become)}
	if x.Onto.node != nil && x.Move.node == nil {
		return item, x.at.At("onto").Errorf("onto is of the cell to which an entity moves; the item has no move")
	}
	if w := x.With; w != nil {
		item.With = &rules.With{Around: w.At == "around", First: w.Choose == "first", Where: w.Where.node}
		if item.With.One, err = w.One.of(d.s, true); err != nil {
			return item, err
		}
	}
	if item.Set, err = r.changes(d, x.Set, false); err != nil {
		return item, err
	}
	if t := x.Take; t != nil {
		item.Take = &rules.Take{Amount: t.Amount.node}
		for _, p := range []struct {
			key, name string
			to        *rules.Change
		}{{"from", t.From, &item.Take.From}, {"to", t.To, &item.Take.To}} {
			if *p.to, err = r.target(d, t.at.At(p.key), p.name, false); err != nil {
				return item, err
			}
		}
	}
	if b := x.Birth; b != nil {
		places := map[string]rules.BirthPlace{"here": rules.AtHere, "behind": rules.Behind, "any": rules.Beside, "anywhere": rules.Anywhere} // looked up only
		item.Birth = &rules.Birth{Kind: rules.Kin, At: places[b.At], Onto: b.Onto.node}
		if b.Kind != "kin" {
			if item.Birth.Kind = slices.Index(d.s.Entities.Kinds, b.Kind); item.Birth.Kind < 0 {
				return item, b.at.At("kind").Errorf("there is no kind %q%s", b.Kind, document.Suggestion(b.Kind, append([]string{"kin"}, d.s.Entities.Kinds...)))
			}
		}
		item.Birth.Set, err = r.changes(d, b.Set, true)
	}
	return item, err
}

// changes reads what is set.
func (r *EntityRule) changes(d *decoder, set assignments, child bool) (list []rules.Change, err error) {
	for i := range set {
		c, err := r.target(d, set[i].key, set[i].name, child)
		if err != nil {
			return nil, err
		}
		for _, other := range list {
			if other.Who == c.Who && other.Field == c.Field && (other.Component < 0 || c.Component < 0) {
				return nil, set[i].key.Errorf("%s is set twice: whole, and a component of it", r.scope.Fields[c.Field].Name)
			}
		}
		c.Formula = set[i].node
		list = append(list, c)
	}
	return list, nil
}

// target reads what is set: ATTRIBUTE, here.FIELD or other.ATTRIBUTE, each with [k] or without. Of a child it is an attribute.
func (r *EntityRule) target(d *decoder, at *document.Node, text string, child bool) (c rules.Change, err error) {
	name, index, part := strings.Cut(text, "[")
	index = strings.TrimSuffix(index, "]")
	c.Component = -1
	if whose, of, ok := strings.Cut(name, "."); ok {
		switch {
		case whose == "here" && !child:
			c.Who, name = rules.Here, of
		case whose == "other" && !child:
			c.Who, name = rules.Other, of
		default:
			return c, at.Errorf("%q is no attribute%s", text, map[bool]string{false: ", no here.FIELD and no other.ATTRIBUTE"}[child])
		}
	}
	own := c.Who != rules.Here
	last := len(r.scope.Fields) - 1
	c.Field = slices.IndexFunc(r.scope.Fields[:last], func(f rules.Field) bool { return f.Name == name && f.Attribute == own })
	if c.Field < 0 {
		return c, r.noTarget(at, name, own)
	}
	f := &r.scope.Fields[c.Field]
	switch {
	case d.s.field(name).def.Mutability == fields.Static:
		return c, at.Errorf("%s is static: it never changes", name)
	case f.Other:
		return c, at.Errorf("a rule cannot set %s, whose elements are of a kind that formulas do not know", name)
	case !part:
		return c, nil
	case child:
		return c, at.Errorf("a child gets whole vectors; write %s: [x, y]", name)
	case f.N == 0:
		return c, at.Errorf("%s has no components; write %[1]s", name)
	}
	k, err := strconv.Atoi(index)
	if err != nil || !strings.HasSuffix(text, fmt.Sprintf("%s[%d]", name, k)) || k < 0 || k >= f.N {
		return c, at.Errorf("%q is no component of %s; write %[2]s[0] to %[2]s[%d]", text, name, max(0, f.N-1))
	}
	c.Component = k
	return c, nil
}

// noTarget is the error of a name that cannot be set.
func (r *EntityRule) noTarget(at *document.Node, name string, own bool) error {
	var names []string
	for _, f := range r.scope.Fields {
		switch {
		case f.Name == name && name == "kind":
			return at.Errorf("the kind is changed by become: KIND")
		case f.Name == name && own:
			return at.Errorf("%s is a field of cells; write here.%[1]s", name)
		case f.Name == name:
			return at.Errorf("%s is an attribute of entities; write %[1]s or other.%[1]s", name)
		case f.Attribute == own && f.Name != "kind":
			names = append(names, f.Name)
		}
	}
	if own {
		return at.Errorf("there is no attribute %q of entities%s", name, document.Suggestion(name, names))
	}
	return at.Errorf("there is no field %q of cells%s", name, document.Suggestion(name, names))
}

// formulas are all of the rule, each with its place.
func (r *EntityRule) formulas() (all []placedFormula) {
	add := func(place string, f *formula) {
		if f.text != "" {
			all = append(all, placedFormula{place, f})
		}
	}
	for i := range r.Let {
		add("let."+r.Let[i].name, &r.Let[i].formula)
	}
	for i := range r.Do {
		x := &r.Do[i]
		if x.With != nil {
			add(x.Name+".with", &x.With.Where)
		}
		add(x.Name+".when", &x.When)
		add(x.Name+".chance", &x.Chance)
		add(x.Name+".move", &x.Move)
		add(x.Name+".onto", &x.Onto)
		for k := range x.Set {
			add(x.Name+".set."+x.Set[k].name, &x.Set[k].formula)
		}
		if x.Take != nil {
			add(x.Name+".take", &x.Take.Amount)
		}
		if x.Birth != nil {
			add(x.Name+".birth.onto", &x.Birth.Onto)
			for k := range x.Birth.Set {
				add(x.Name+".birth."+x.Birth.Set[k].name, &x.Birth.Set[k].formula)
			}
		}
	}
	return all
}

// A placedFormula is a formula and its place in a rule of entities.
type placedFormula struct {
	place string
	*formula
}

// formulaAt is the node of the formula that an error is about, or of its item.
func (r *EntityRule) formulaAt(err error, otherwise *document.Node) *document.Node {
	e, ok := err.(*rules.Error)
	if !ok {
		return otherwise
	}
	for _, f := range r.formulas() {
		if f.place == e.Place {
			return f.at
		}
	}
	first, rest, _ := strings.Cut(e.Place, ".")
	if first == "parameters" {
		return otherwise.At("parameters").At(rest)
	}
	for i := range r.Do {
		if r.Do[i].Name == first {
			return r.Do[i].at
		}
	}
	return otherwise
}

// System implements [SystemMaker].
func (r *EntityRule) System(b *Builder, name string) (engine.System, error) {
	bind := rules.Binding{Name: name, Fields: r.fields}
	for _, p := range r.Parameters {
		bind.Own = append(bind.Own, p.Key)
	}
	for _, p := range b.s.Parameters {
		bind.World = append(bind.World, p.Key)
	}
	return rules.NewSystem(bind, b.Occupancy(), r.scope, r.rule), nil
}

// Memory implements [MemoryUser].
func (r *EntityRule) Memory(b *Builder) (kept, making uint64) {
	const cellBytes, countBytes, entityBytes = 21, 4, 40
	kept = entityBytes * uint64(b.Capacity())
	each := uint64(cellBytes)
	if r.rule.Counts() {
		each += countBytes * uint64(len(b.s.Entities.Kinds)+1)
	}
	return kept + each*uint64(b.Lattice().Cells()), 0
}
