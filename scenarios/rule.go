package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/rules"
)

// A Rule is the parameters of the component rule: formulas over fields and neighbours, which the descriptor holds. docs/spec/rules.md specifies them.
type Rule struct {
	Parameters ruleParameters `yaml:"parameters" doc:"Numbers of the rule: name to value. Commands know them as NAME.PARAMETER."`
	Let        lets           `yaml:"let" doc:"Names for formulas."`
	Where      formula        `yaml:"where" doc:"A condition; where it does not hold the rule writes nothing."`
	Set        assignments    `yaml:"set,required" doc:"What becomes of fields, or of components of them: name to formula."`

	scope  *rules.Scope
	fields []fields.ID // of the scope
	rule   *rules.Rule
	list   []rules.Assignment
}

// A formula is one of a rule.
type formula struct {
	text string // as it is written; "" for none
	node *rules.Node
	at   *document.Node
}

// A named formula is one with a name.
type namedFormula struct {
	name string
	formula
	key *document.Node
}

type (
	lets        []namedFormula
	assignments []namedFormula
)

// ruleParameters are those of a rule. Those without a key get the next ones after all before them.
type ruleParameters []Parameter

func (f *formula) decode(d *decoder, n *document.Node) error {
	text, err := formulaText(n)
	if err != nil {
		return err
	}
	f.text, f.at = text, n
	f.node, err = rules.Parse(text)
	return located(n, err)
}

// formulaText is the text of a formula: of a word, a number, or a list, which is a vector.
func formulaText(n *document.Node) (string, error) {
	switch {
	case n.Kind == document.Mapping:
		return "", n.Errorf("%s stands where a formula belongs", n.What())
	case n.Kind == document.Scalar:
		return n.Raw, nil
	}
	var parts []string
	for _, k := range n.Kids {
		if k.Kind != document.Scalar {
			return "", k.Errorf("%s stands where a number of a vector belongs", k.What())
		}
		parts = append(parts, k.Raw)
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
}

// located puts an error of a formula to where it stands in the document.
func located(n *document.Node, err error) error {
	e, ok := err.(*rules.Error)
	if !ok {
		return err
	}
	if n.Kind != document.Scalar {
		return n.Errorf("%s", e.Reason).Because(err)
	}
	said := n.ErrorIn(e.At, e.End, "%s", e.Reason).Because(err)
	if !n.Quoted && e.End >= len(n.Raw) && strings.Contains(e.Reason, "ends here") && n.Followed(',') {
		said.Hint = "within { } and [ ] a comma ends the value: put the formula in quotes"
	}
	return said
}

// pairs calls f with each name and what it stands for: of a mapping, or in a descriptor of a list of pairs.
func pairs(d *decoder, n *document.Node, what string, f func(key, value *document.Node) error) error {
	if !d.descriptor {
		if n.Kind != document.Mapping {
			return n.Errorf("%s stands where %s belong", n.What(), what)
		}
		for i := 0; i < len(n.Kids); i += 2 {
			if err := f(n.Kids[i], n.Kids[i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if n.Kind != document.List {
		return n.Errorf("%s stands where a list of pairs belongs", n.What())
	}
	for _, p := range n.Kids {
		if p.Kind != document.List || len(p.Kids) != 2 || p.Kids[0].Kind != document.Scalar {
			return p.Errorf("%s stands where a name and what it stands for belong", p.What())
		}
		if err := f(p.Kids[0], p.Kids[1]); err != nil {
			return err
		}
	}
	return nil
}

// decodeNamed reads named formulas, and puts them into the order of their names.
func decodeNamed(d *decoder, n *document.Node, what string) (list []namedFormula, err error) {
	err = pairs(d, n, what, func(key, value *document.Node) error {
		x := namedFormula{name: key.Raw, key: key}
		if len(list) > 0 && d.descriptor && list[len(list)-1].name >= x.name {
			return key.Errorf("%q stands after %q; names stand in order, each once", x.name, list[len(list)-1].name)
		}
		if value.IsNull() {
			return value.Errorf("%s has no formula", x.name)
		}
		if err := x.decode(d, value); err != nil {
			return err
		}
		list = append(list, x)
		return nil
	})
	//detcheck:allow sort no two have one name
	slices.SortFunc(list, func(a, b namedFormula) int { return strings.Compare(a.name, b.name) })
	return list, err
}

func (l *lets) decode(d *decoder, n *document.Node) (err error) {
	*l, err = decodeNamed(d, n, "names and formulas, such as {sick: count(state == ill)},")
	for i := range *l {
		if err == nil {
			err = checkName((*l)[i].key, "let", (*l)[i].name, nil)
		}
	}
	return err
}

func (s *assignments) decode(d *decoder, n *document.Node) (err error) {
	*s, err = decodeNamed(d, n, "fields and formulas, such as {heat: heat / 2},")
	return err
}

func (p *ruleParameters) decode(d *decoder, n *document.Node) error {
	return pairs(d, n, "parameters, such as {beta: 0.3},", func(name, value *document.Node) error {
		if err := checkName(name, "parameter", name.Raw, nil); err != nil {
			return err
		}
		v, err := d.parameter(name, value, d.s.freeKey())
		if err != nil {
			return err
		}
		for _, other := range *p {
			if other.Name == name.Raw {
				return name.Errorf("the parameter %q stands here twice", name.Raw)
			}
		}
		if d.s.takenKeys[v.Key] {
			return value.Errorf("another parameter has the key %d already", v.Key)
		}
		d.s.takeKey(v.Key)
		*p = append(*p, v)
		return nil
	})
}

// freeKey is the key of the next parameter of a rule: after all before it.
func (s *Scenario) freeKey() uint32 {
	if s.takenKeys == nil {
		s.takenKeys = map[uint32]bool{}
		for _, p := range s.Parameters {
			s.takeKey(p.Key)
		}
	}
	return s.nextKey
}

// takeKey notes the key of a parameter.
func (s *Scenario) takeKey(key uint32) {
	s.takenKeys[key] = true
	if key >= s.nextKey && key+1 > key {
		s.nextKey = key + 1
	}
}

func (f formula) appendJSON(b []byte) []byte { return document.AppendText(b, f.node.String()) }

func appendNamed(b []byte, list []namedFormula) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendText(append(b, '['), list[i].name), ',')
		b = append(list[i].appendJSON(b), ']')
	}
	return append(b, ']')
}

func (l lets) appendJSON(b []byte) []byte        { return appendNamed(b, l) }
func (s assignments) appendJSON(b []byte) []byte { return appendNamed(b, s) }

func (p ruleParameters) appendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(append(document.AppendText(append(b, '['), v.Name), ','), `{"key":%d,"value":`, v.Key)
		b = append(document.AppendFloat(b, v.Value), "}]"...)
	}
	return append(b, ']')
}

// check finds out what the formulas mean.
func (r *Rule) check(d *decoder, n *document.Node) error {
	if len(r.Set) == 0 {
		return n.At("set").Errorf("the rule sets nothing")
	}
	if err := r.makeScope(d); err != nil {
		return err
	}
	var where *rules.Node
	if r.Where.text != "" {
		where = r.Where.node
	}
	var err error
	if r.rule, err = rules.Check(r.scope, where, r.list); err != nil {
		return located(r.formulaAt(err, n), err)
	}
	if name := r.rule.Unused(r.scope); name != "" {
		var others []string
		for _, p := range r.scope.Own {
			if p != name {
				others = append(others, p)
			}
		}
		hint := ""
		if near := document.Nearest(name, others); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return n.At("parameters").At(name).Errorf("no formula of the rule has the parameter %q%s", name, hint)
	}
	for _, f := range r.formulas() {
		if err := f.canonical(d); err != nil {
			return err
		}
	}
	return nil
}

// canonical refuses a formula of a descriptor that is not in its form, once it was checked.
func (f *formula) canonical(d *decoder) error {
	if written := f.node.String(); d.descriptor && written != f.text {
		return f.at.Errorf("the formula %q is not in the form of a descriptor, which is %q", f.text, written)
	}
	return nil
}

// named checks the name that the scenario gives the rule: one that draws must have one.
func (r *Rule) named(name string, at *document.Node) error {
	if name == "" && r.rule.Draws() > 0 {
		return at.Errorf("this rule draws; give it a name, so that its draws stay the same when rules are added above it")
	}
	return nil
}

// formulas are all of the rule, with their places.
func (r *Rule) formulas() (all []*formula) {
	for i := range r.Let {
		all = append(all, &r.Let[i].formula)
	}
	if r.Where.text != "" {
		all = append(all, &r.Where)
	}
	for i := range r.Set {
		all = append(all, &r.Set[i].formula)
	}
	return all
}

// formulaAt is the node of the formula that an error is about.
func (r *Rule) formulaAt(err error, otherwise *document.Node) *document.Node {
	e, ok := err.(*rules.Error)
	if !ok {
		return otherwise
	}
	kind, name, _ := strings.Cut(e.Place, ".")
	switch kind {
	case "where":
		return r.Where.at
	case "parameters":
		return otherwise.At("parameters").At(name)
	case "let", "set":
		list := []namedFormula(r.Let)
		if kind == "set" {
			list = r.Set
		}
		for i := range list {
			if list[i].name == name {
				return list[i].at
			}
		}
	}
	return otherwise
}

// makeScope lists what the formulas can name.
func (r *Rule) makeScope(d *decoder) error {
	r.scope, r.fields = d.s.scope()
	for _, p := range r.Parameters {
		r.scope.Own = append(r.scope.Own, p.Name)
	}
	for i := range r.Let {
		r.scope.Lets = append(r.scope.Lets, rules.Let{Name: r.Let[i].name, Formula: r.Let[i].node})
	}
	for i := range r.Set {
		x := &r.Set[i]
		a, err := r.target(d, x.key)
		if err != nil {
			return err
		}
		a.Formula = x.node
		r.list = append(r.list, a)
	}
	return nil
}

// scope is what formulas can name: the fields of cells, whose ids it returns, and the parameters of the scenario.
func (s *Scenario) scope() (scope *rules.Scope, ids []fields.ID) {
	scope = &rules.Scope{Lattice: s.lattice, World: s.Parameters.names()}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Domain == "cells" {
			scope.Fields, ids = append(scope.Fields, scopeField(f)), append(ids, fields.ID(i))
		}
	}
	return scope, ids
}

// scopeField is a field of cells as formulas see it.
func scopeField(f *Field) rules.Field {
	x := rules.Field{Name: f.Name, Unit: f.Unit, Fixed: f.def.Element == fields.Fixed, Other: f.def.Element != fields.Fixed && f.def.Element != fields.Float32}
	switch f.def.Type.Kind {
	case fields.VectorKind:
		x.N = f.def.Type.Components()
	case fields.CategoricalKind:
		x.Values = f.Values
	}
	return x
}

// target reads what a rule sets: FIELD, or FIELD[k].
func (r *Rule) target(d *decoder, key *document.Node) (a rules.Assignment, err error) {
	name, index, part := strings.Cut(key.Raw, "[")
	index = strings.TrimSuffix(index, "]")
	a.Component = -1
	a.Field = slices.IndexFunc(r.scope.Fields, func(f rules.Field) bool { return f.Name == name })
	if a.Field < 0 {
		var names []string
		for i := range r.scope.Fields {
			names = append(names, r.scope.Fields[i].Name)
		}
		return a, key.Errorf("there is no field %q of cells%s", name, document.Suggestion(name, names))
	}
	f := &r.scope.Fields[a.Field]
	switch {
	case d.s.field(name).def.Mutability == fields.Static:
		return a, key.Errorf("%s is static: it never changes", name)
	case f.Other:
		return a, key.Errorf("a rule cannot set %s, whose elements are of a kind that formulas do not know", name)
	case !part:
		for i := range r.list {
			if r.list[i].Field == a.Field {
				return a, key.Errorf("%s is set twice: whole, and a component of it", name)
			}
		}
		return a, nil
	}
	if f.N == 0 {
		return a, key.Errorf("%s has no components; write %[1]s", name)
	}
	k, err := strconv.Atoi(index)
	if err != nil || key.Raw != fmt.Sprintf("%s[%d]", name, k) || k < 0 || k >= f.N {
		return a, key.Errorf("%q is no component of %s; write %[2]s[0] to %[2]s[%d]", key.Raw, name, max(0, f.N-1))
	}
	for i := range r.list {
		if r.list[i].Field == a.Field && r.list[i].Component < 0 {
			return a, key.Errorf("%s is set twice: whole, and a component of it", name)
		}
	}
	a.Component = k
	return a, nil
}

// Propagator implements [PropagatorMaker].
func (r *Rule) Propagator(b *Builder, name string) (engine.Propagator, error) {
	bind := rules.Binding{Name: name, Fields: r.fields}
	for _, p := range r.Parameters {
		bind.Own = append(bind.Own, p.Key)
	}
	for _, p := range b.s.Parameters {
		bind.World = append(bind.World, p.Key)
	}
	return rules.New(bind, r.scope, r.rule, r.list), nil
}

const (
	numberBytes = 4  // of a column that formulas need
	columnSteps = 40 // to make it, for a cell
)

// Memory implements [MemoryUser].
func (r *Rule) Memory(b *Builder) (kept, making uint64) {
	return uint64(r.rule.Columns()) * numberBytes * uint64(b.Lattice().Cells()), 0
}

// Work implements [WorkUser].
func (r *Rule) Work(b *Builder) (steps uint64) {
	if r.rule == nil { // it is read yet
		return 0
	}
	return uint64(r.rule.Columns()) * columnSteps * uint64(b.Lattice().Cells())
}
