package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Statement is a formula about the world as a whole, such as count(state == ill) < 100: it is true or false after a tick, or a number. Its terms sum, mean, least, most,
// count, any, all and distinct go over all cells, in the order of their ranks, or over the living entities of a kind that they name, by ascending id; cell(x, 3, 4) is x at
// a cell, entity(17).A an attribute of one entity. What is in them is computed as in a rule; their results are float64, and so is what stands outside of them, but for vectors. It changes no
// state, and draws nothing.
//
// A Statement is not for several goroutines at once.
type Statement struct {
	scope  *Scope
	term   *Term
	totals []*total
	values []known
	named  bool      // it calls an entity by its name
	naive  bool      // it is computed by walking its terms, in a test
	e      evaluator // which walks them
	outer  *machine  // of what stands outside of the terms
}

// Named reports whether the statement calls an entity by its name.
func (s *Statement) Named() bool { return s.named }

// A total is a term of a statement over all cells or entities, or of one.
type total struct {
	op      Op // At: of one
	over    over
	node    *Node
	els     *Term
	cell    int
	kind    int    // of the entities; everyone: all
	id      uint64 // of the entity
	rule    *Rule  // what it is over: its condition, and one formula
	machine *machine
	alone   bool // once there is a machine: it looks at each cell by itself, and not at where it lies
	tally   tally
	past    past  // of a term about a tick
	at      place // where it is computed one by one
}

// An over is what a term of a statement looks at.
type over uint8

// What terms look at.
const (
	overCells over = iota
	atCell
	overEntities
	ofEntity
	ofLife // whether an entity lives
	ofTick // what happened in it
)

// CheckStatement finds out what a formula about the whole world means, which is true or false, and writes canonical names into it. The scope has neither parameters of a
// rule nor lets. The error is an [*Error].
func CheckStatement(s *Scope, n *Node) (*Statement, error) { return newChecker(s).statement(n, false) }

// CheckStatistic does the same for a formula that is a number, or true or false, which counts as 1 or 0.
func CheckStatistic(s *Scope, n *Node) (*Statement, error) { return newChecker(s).statement(n, true) }

func (c *checker) statement(n *Node, number bool) (*Statement, error) {
	s := c.Scope
	c.whole, c.stated = &Statement{scope: s}, true
	c.cellLists = len(lists(slices.DeleteFunc(slices.Clone(s.Fields), func(f Field) bool { return f.Attribute })))
	t, err := c.term(n)
	switch {
	case err != nil:
	case number && t.Type != (Type{}) && t.Type.Base != Boolean:
		err = c.wrong(n, "%s is %s where a number belongs, or true or false%s", n, c.describe(t.Type), c.asNumber(t))
	case !number:
		err = c.boolean(t)
	}
	if err == nil && len(c.whole.totals) == 0 {
		err = c.wrong(n, "%s looks at nothing in the world; write count(…), sum(…) and others over all cells or entities, or cell(…)", n)
	}
	if err == nil {
		err = c.short(n)
	}
	if err != nil {
		return nil, err
	}
	for _, x := range c.whole.totals {
		if x.rule.Set[0].Type.N > 0 {
			return nil, c.wrong(x.node, "%s is a vector, and this is of numbers; write a component, as in %[1]s[0]", x.node)
		}
	}
	c.whole.term, c.whole.values = t, make([]known, len(c.whole.totals))
	return c.whole, nil
}

// total is a term over all cells.
func (c *checker) total(t *Term, op Op) error {
	n := t.Node
	switch {
	case op == One || op == At || op == AtCell:
		return c.wrong(n, "%s looks at a cell, and this is about the whole world; write cell(x, …)", n.Text)
	case len(n.Args) != 1:
		return c.wrong(n, "%s takes one term, which is computed at each cell", n.Text)
	}
	t.Op = op
	var err error
	if c.group, err = c.groupOf(n); err != nil {
		return err
	}
	g := c.group
	err = c.inside(t, n.Args[0], n.Where)
	if c.group = nil; err != nil {
		return err
	}
	if err := c.result(t); err != nil {
		return err
	}
	if t.Type.N > 0 {
		return c.wrong(n, "%s is of numbers here; write a component, as in %s[0]", n.Text, n.Args[0])
	}
	if n.Else != nil {
		if t.Else, err = c.term(n.Else); err != nil {
			return err
		}
	}
	if err := c.emptyTotal(t, g); err != nil {
		return err
	}
	x := &total{op: op, node: n, els: t.Else}
	if g != nil {
		x.over, x.kind = overEntities, g.kind
	}
	return c.addTotal(t, x)
}

// emptyTotal checks what a term over all cells is if its condition holds in none. Whether entities of a kind live, only the run shows.
func (c *checker) emptyTotal(t *Term, g *group) error {
	n := t.Node
	needs := t.Op == Mean || t.Op == Least || t.Op == Most
	switch {
	case !needs && n.Else != nil:
		return c.wrong(n.Else, "%s of nothing is known; leave out else", n.Text)
	case needs && n.Where != nil && n.Else == nil && g == nil:
		with := *n
		with.Else = &Node{Kind: Number}
		return c.wrong(n, "there may be no such cell; say what then: %s", &with)
	case n.Else != nil && t.Else.Type != (Type{}):
		return c.wrong(n.Else, "%s is %s, %s is a number", n.Else, c.describe(t.Else.Type), n)
	}
	return nil
}

// inside checks what is computed at cells, or for entities: a formula, and a condition.
func (c *checker) inside(t *Term, of, where *Node) error {
	s := c.whole
	c.whole = nil
	defer func() { c.whole = s }()
	x, err := c.everyOne(t, of)
	if err == nil && where != nil {
		if t.Where, err = c.term(where); err == nil {
			err = c.boolean(t.Where)
		}
	}
	if err != nil {
		return err
	}
	t.Args = []*Term{x}
	t.Walk(func(x *Term) {
		switch {
		case err != nil || x == t:
		case x.draws():
			err = c.wrong(x.Node, "%s draws, and what is only looked at draws nothing", x.Node)
		case x.Op == Now:
			err = c.wrong(x.Node, "%s is of a tick that is being computed; write %s", x.Node, x.Node.Args[0])
		}
	})
	return err
}

// addTotal notes a term of the statement, whose place in the formula has its value then.
func (c *checker) addTotal(t *Term, x *total) error {
	x.rule = &Rule{Where: t.Where, Set: t.Args, crowd: x.over == overEntities}
	if x.rule.Cost = c.cost(x.rule); x.rule.Cost > MaxCost {
		return c.wrong(t.Node, "%s takes more than %d steps for a cell or an entity", t.Node.Text, MaxCost)
	}
	if t.Type.Base == Fixed {
		t.Type.Base = Float
	}
	*t = Term{Op: Total, Type: t.Type, Uniform: true, Index: len(c.whole.totals), Node: t.Node}
	c.whole.totals = append(c.whole.totals, x)
	return nil
}

// oneCell is cell(x, 3, 4): x at a cell.
func (c *checker) oneCell(t *Term) error {
	n := t.Node
	dim := c.Lattice.Dim()
	if len(n.Args) != 1+dim || n.Where != nil || n.Else != nil {
		return c.wrong(n, "cell takes a term and the %d numbers of a coordinate", dim)
	}
	if err := c.inside(t, n.Args[0], nil); err != nil {
		return err
	}
	var at []int32
	for _, a := range n.Args[1:] {
		v, ok := a.whole(math.MaxInt32)
		if !ok {
			return c.wrong(a, "a coordinate has whole numbers")
		}
		at = append(at, v)
	}
	rank, ok := c.Lattice.Rank(space.At(at...))
	if !ok {
		return c.wrong(n, "there is no cell %v in %v", space.At(at...), c.Lattice.Space())
	}
	if t.Type = t.Args[0].Type; t.Type.N > 0 {
		return c.wrong(n, "cell is of numbers here; write a component, as in %s[0]", n.Args[0])
	}
	return c.addTotal(t, &total{op: At, over: atCell, node: n, cell: rank})
}

// Holds reports whether the statement is true of a state, of which it reads Prev, Fixed, World, Dt and Tick, and what was given to See. An error is that of fixed numbers,
// of a mean or an extreme of no entities, or of an entity that does not live.
func (s *Statement) Holds(state *State) (bool, error) {
	v, err := s.Value(state)
	return v == 1, err
}

// Value is what the statement comes to: a number, or 1 for true. An error is as in Holds.
func (s *Statement) Value(state *State) (float64, error) {
	s.e = evaluator{Scope: s.scope, State: state, totals: s.values}
	for i, x := range s.totals {
		s.values[i].value, s.values[i].err = x.compute(&s.e, s.naive)
	}
	if s.naive || !s.term.Uniform { // there is a vector
		return s.walked()
	}
	if s.outer == nil { // it is not made before the scenario runs
		s.outer = newMachine(Compile(s.scope, &Rule{Set: []*Term{s.term}}, nil))
	}
	m := s.outer
	m.world, m.dt, m.tick, m.totals = state.World, state.Dt, state.Tick, s.values
	m.prepare()
	c := m.constants[m.targets[0].slot]
	if c.fails {
		return s.walked()
	}
	return c.f, nil
}

// walked is what the statement comes to when its terms are known: the readable twin of what Value does with them.
func (s *Statement) walked() (float64, error) {
	v, err := s.e.eval(s.term, &place{})
	return v.f, err
}

// Again returns the same statement, for another goroutine.
func (s *Statement) Again() *Statement {
	c := &Statement{scope: s.scope, term: s.term, values: make([]known, len(s.values))}
	for _, x := range s.totals {
		c.totals = append(c.totals, &total{op: x.op, over: x.over, node: x.node, els: x.els, cell: x.cell, kind: x.kind, id: x.id, rule: x.rule})
	}
	return c
}

// Cost is about how many steps the statement takes for each cell or entity, in all its terms.
func (s *Statement) Cost() (n int) {
	for _, x := range s.totals {
		n += x.rule.Cost
	}
	return n
}

// Found says what the terms over all cells came to when it was looked at last, and where: "most(heat) is 251.5 at [3, 4]". The state must be as it was then.
func (s *Statement) Found() string {
	var parts []string
	for i, x := range s.totals {
		if s.values[i].err == nil {
			v := s.values[i].value
			parts = append(parts, fmt.Sprintf("%s is %s%s", x.node, x.text(s.scope, v), x.spot(&s.e, v.f)))
		}
	}
	return strings.Join(parts, ", ")
}

// Columns is about how many numbers for each cell the statement keeps, once it was looked at.
func (s *Statement) Columns() (n int) {
	for _, x := range s.totals {
		n += x.rule.Columns()
	}
	return n
}

// text is a result for people: a category by its name.
func (x *total) text(s *Scope, v value) string {
	t := x.rule.Set[0].Type
	switch {
	case x.op == Any, x.op == All, x.over == ofLife, x.op == At && t.Base == Boolean:
		return strconv.FormatBool(v.f == 1)
	case x.op == At && t.Base == Category:
		if names := lists(s.Fields)[t.List]; v.f >= 0 && v.f < float64(len(names)) {
			return names[int(v.f)]
		}
	}
	bits := 64
	if one := x.op == Least || x.op == Most || x.op == At; one && t.Base == Float && float64(float32(v.f)) == v.f {
		bits = 32 // it is that of a cell or an entity
	}
	return strconv.FormatFloat(v.f, 'g', -1, bits)
}

// compute is what the term comes to in a state.
func (x *total) compute(e *evaluator, naive bool) (v value, err error) {
	s, state := e.Scope, e.State
	n := s.Lattice.Cells()
	state.room(max(n, len(state.living.ids)))
	switch {
	case x.op >= Born:
		return x.happened(e, naive)
	case x.over == ofLife:
		return truth(state.living.slot(x.id) >= 0), nil
	case x.over == ofEntity:
		return x.entity(e)
	case x.over == atCell:
		err = x.lookNaively(e, x.cell, x.cell+1)
		return value{f: state.values[x.cell]}, err
	case x.over == overEntities:
		n = state.living.choose(x.kind, naive)
	}
	x.tally.begin(x, s)
	if naive {
		if err = x.lookNaively(e, 0, n); err == nil {
			x.tally.each(state.values[:n], state.held)
		}
	} else {
		err = x.look(e, n)
	}
	if err != nil {
		return v, err
	}
	return x.result(e)
}

// room has place for what terms come to in so many cells, or for so many entities.
func (s *State) room(n int) {
	if len(s.held) < n {
		s.held, s.values = make([]bool, n), make([]float64, n)
	}
}

// compiled makes what computes the term, which it needs for each cell: so it is not made before the scenario runs.
func (x *total) compiled(s *Scope) {
	if x.machine == nil {
		x.machine = newMachine(Compile(s, x.rule, nil))
		x.machine.use(make([]float32, x.machine.scratch()))
		x.alone = looksAlone(x.rule)
	}
}

// look computes a term in each of n cells, or for each of n entities.
func (x *total) look(e *evaluator, n int) error {
	state := e.State
	x.compiled(e.Scope)
	if x.over == overCells && !x.alone { // blocks with one pattern of neighbours, whose cells are not in their order
		err := x.keep(e, n)
		if err == nil {
			x.tally.each(state.values[:n], state.held)
		}
		return err
	}
	m, bad := x.machine, fault{cell: noFault}
	x.prepare(state)
	take := func(b *block) {
		t := m.tell(b, &bad)
		x.tally.block(b.n, &t)
	}
	if x.over == overEntities {
		m.blocksOfAgents(&state.living, n, take)
	} else {
		m.blocksInOrder(n, take)
	}
	if bad.cell < noFault {
		return x.lookNaively(e, bad.cell, bad.cell+1)
	}
	return nil
}

// prepare lets the machine look at a state.
func (x *total) prepare(state *State) {
	m := x.machine
	m.prev = m.prev[:0]
	for f := range state.Prev {
		m.prev = append(m.prev, fields.Column{Float32: state.Prev[f], Fixed: state.Fixed[0][f]})
	}
	m.world, m.dt, m.tick = state.World, state.Dt, state.Tick
	m.prepare()
}

// looksAlone reports whether what a rule computes in a cell hangs on nothing but what this cell holds.
func looksAlone(r *Rule) bool {
	alone := true
	see := func(t *Term) { alone = alone && t.Op != Degree && (t.Op < Sum || t.Op > AtCell) }
	r.Set[0].Walk(see)
	r.Where.Walk(see)
	return alone
}

// blocksInOrder calls f with all cells, block by block, in the order of their ranks. What is computed in them looks at no neighbours.
func (m *machine) blocksInOrder(n int, f func(*block)) {
	for first := 0; first < n; first += blockSize {
		m.here = block{first: first, stride: 1, n: min(blockSize, n-first), step: -1, id: m.number()}
		f(&m.here)
	}
}

// tell computes a term in the cells, or for the entities, of a block. It is valid until the next one.
func (m *machine) tell(b *block, bad *fault) told {
	where, none, _ := m.condition(b, 0, bad)
	if none {
		where = m.register(0, b.n)
		fill(where, 0)
	}
	m.reach.mask = where
	m.collect(len(m.failed) - 1)
	of := m.eval(m.targets[0], b, 1)
	t := told{where: where, truth: m.targets[0].truth}
	if of.v != nil && of.at == 0 {
		t.number = of.v[:b.n]
	} else {
		m.keep(of, b.n, 1)
		t.number = m.register(1, b.n)
	}
	if of.at > 0 {
		t.units = m.amounts(1, b.n)
	}
	if m.reach.mask = nil; m.firstFault(b.n) >= 0 {
		bad.note(b.index(m.firstFault(b.n)), 0)
	}
	return t
}

// lookNaively does so one by one, for those of a range. It is the readable twin of look.
func (x *total) lookNaively(e *evaluator, lo, hi int) error {
	state := e.State
	for cell := lo; cell < hi; cell++ {
		at := &x.at
		if *at = (place{cell: cell, own: cell}); x.over == overEntities {
			*at = state.living.place(cell)
		}
		state.held[cell] = true
		if x.rule.Where != nil {
			c, err := e.eval(x.rule.Where, at)
			if err != nil {
				return err
			}
			state.held[cell] = c.f == 1
		}
		v, err := e.eval(x.rule.Set[0], at)
		if err != nil {
			if state.held[cell] {
				return err
			}
			continue
		}
		state.values[cell] = float64(v.number())
		if x.rule.Set[0].Type.Base == Fixed {
			state.values[cell] = v.x.Float64()
		}
	}
	return nil
}

// result is what they come to together.
func (x *total) result(e *evaluator) (value, error) {
	t := &x.tally
	switch {
	case x.op == Count:
		return value{f: float64(t.count)}, nil
	case x.op == Any:
		return truth(t.count > 0), nil
	case x.op == All:
		return truth(t.count == t.n), nil
	case x.op == Distinct:
		for _, is := range t.seen {
			t.r += float64(numberOf(is))
		}
		return value{f: t.r}, nil
	case t.n == 0 && x.op != Sum && x.els == nil:
		return value{}, x.nobody()
	case t.n == 0 && x.op != Sum:
		return e.eval(x.els, &place{})
	case x.op == Mean:
		t.r /= float64(t.n)
	}
	return value{f: t.r}, nil
}
