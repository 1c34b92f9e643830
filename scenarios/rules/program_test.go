package rules

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// A writer writes random formulas that mostly have no mistake.
type writer struct {
	*rand.Rand
	scope *Scope
	near  bool
	where string // instead of random formulas: of the rule, and
	set   string // of state
	plain bool   // without fixed numbers
}

func (w *writer) of(list ...string) string { return list[w.IntN(len(list))] }

// number is a formula that is a number.
func (w *writer) number(depth int) string {
	if depth <= 0 {
		return w.leaf()
	}
	a, b := w.number(depth-1), w.number(depth-1)
	switch w.IntN(27) {
	case 0, 1, 2:
		return "(" + a + " + " + b + ")"
	case 3, 4:
		return "(" + a + " - " + b + ")"
	case 5, 6, 7:
		return "(" + a + " * " + b + ")"
	case 8:
		return "(" + a + " / " + b + ")"
	case 9:
		return w.of("min", "max") + "(" + a + ", " + b + w.of("", ", "+w.number(depth-1)) + ")"
	case 10:
		return "clamp(" + a + ", " + b + ", " + w.number(depth-1) + ")"
	case 11:
		return w.of("abs", "floor", "sqrt", "exp", "log", "sin", "cos", "tanh") + "(" + a + ")"
	case 12:
		return w.of("mod", "pow") + "(" + a + ", " + b + ")"
	case 13, 14:
		return "(if " + w.truth(depth-1) + " then " + a + " else " + b + ")"
	case 15:
		return "number(" + w.of(w.truth(depth-1), w.category(depth-1)) + ")"
	case 16:
		return w.of("-", "-", "-1 * ") + a
	case 17:
		return w.vector(depth-1) + w.of("[0]", "[1]")
	case 18:
		return w.of("length(", "dot("+w.vector(depth-1)+", ") + w.vector(depth-1) + ")"
	case 19:
		if !w.plain {
			return "number(" + w.money(depth-1) + ")"
		}
	}
	if w.IntN(8) == 0 && !w.near {
		return w.relaxation()
	}
	return w.around(depth, w.number, "sum", "mean", "least", "most", "one", "at", "count", "distinct")
}

// relaxation is what one kernel computes, or nearly that.
func (w *writer) relaxation() string {
	turn := func(a, op, b string) string { return w.of(a+op+b, b+op+a) }
	x := w.of("heat", "cold", "now(heat)", "wind[0]")
	y := w.of(x, x, x, "cold")
	return "(" + turn(x, " + ", turn(w.of("rate", "beta * dt", "0.125", "cold"), " * ", "("+w.of("sum", "sum", "mean")+"("+y+") - "+turn(w.of("degree", "degree", "4"), " * ", x)+")")) + ")"
}

// around is a term over neighbours, a draw, or something simpler.
func (w *writer) around(depth int, inner func(int) string, ops ...string) string {
	if w.near {
		return inner(depth - 1)
	}
	op := w.of(append(ops, "draw")...)
	if op == "draw" {
		switch ops[0] {
		case "sum":
			return w.of("uniform("+w.number(depth-2)+", "+w.number(depth-2)+")", "normal()", "pick("+w.number(depth-1)+", "+w.number(depth-2)+", 3)")
		case "any":
			return w.chance(depth)
		}
		return "pick(" + inner(depth-1) + ", " + inner(depth-2) + ")"
	}
	w.near = true
	x := inner(depth - 1)
	switch op {
	case "count", "any", "all":
		x = w.truth(depth - 1)
	case "distinct":
		x = w.category(depth - 1)
	}
	where := ""
	if w.IntN(2) == 0 && op != "at" {
		where = " where " + w.truth(depth-2)
	}
	w.near = false
	switch op {
	case "sum", "count", "any", "all", "distinct":
		return op + "(" + x + where + ")"
	case "at":
		offset := ""
		for range w.scope.Lattice.Dim() {
			offset += fmt.Sprintf(", %d", 2*w.IntN(3)-2)
		}
		if d := w.scope.Lattice.Directions(); len(w.scope.Lattice.Parts()) == 1 && w.IntN(2) == 0 {
			offset = ", " + d[w.IntN(len(d))].Name
		}
		return "at(" + x + offset + " else " + inner(depth-2) + ")"
	}
	return op + "(" + x + where + " else " + inner(depth-2) + ")"
}

func (w *writer) leaf() string {
	all := []string{"heat", "heat", "cold", "wind[0]", "wind[1]", "now(heat)", "now(wind)[1]", "beta", "rate", "dt", "tick", "cells", "degree", "half", "noise", "share", "0.5", "2", "0", "1e-3", "3"}
	if len(w.scope.Lattice.Parts()) == 1 {
		all = append(all, w.scope.Lattice.Axes()[0].Name)
	}
	if w.near {
		all = append(all, "step[0]", "own(heat)", "own(sick + heat)", "own(degree / 3)", "own(share)", "own(mixed)[0]")
	} else {
		all = append(all, "sick", "mixed[1]")
	}
	return w.of(append(all, fmt.Sprintf("c[%d]", w.IntN(w.scope.Lattice.Dim())))...)
}

// truth is a formula that is true or false.
func (w *writer) truth(depth int) string {
	if depth <= 0 {
		all := []string{"heat > cold", "state == a", "true", "beta < 0.5", "lucky", "degree == 4", "heat == heat", "false", "money > 1", "rich"}
		if w.plain {
			all = all[:8]
		}
		return w.of(all...)
	}
	switch w.IntN(9) {
	case 8:
		if !w.plain {
			return "(" + w.money(depth-1) + w.of(" < ", " <= ", " > ", " >= ", " == ", " != ") + w.of("1", w.money(depth-1)) + ")"
		}
	case 0:
		return "(" + w.truth(depth-1) + w.of(" and ", " or ", " == ", " != ") + w.truth(depth-1) + ")"
	case 1:
		return "(not " + w.truth(depth-1) + ")"
	case 2:
		return "(if " + w.truth(depth-1) + " then " + w.truth(depth-1) + " else " + w.truth(depth-1) + ")"
	case 3:
		return "(" + w.category(depth-1) + w.of(" == ", " != ") + w.category(depth-1) + ")"
	case 4, 5:
		return "(" + w.number(depth-1) + w.of(" < ", " <= ", " > ", " >= ", " == ", " != ") + w.number(depth-1) + ")"
	}
	return w.around(depth, w.truth, "any", "all", "at")
}

// category is a formula that is a value of state.
func (w *writer) category(depth int) string {
	if depth <= 0 {
		return w.of("state", "state", "a", "b", "now(state)", "wish", w.of("state", "mood"))
	}
	switch w.IntN(4) {
	case 0:
		return "(if " + w.truth(depth-1) + " then " + w.category(depth-1) + " else " + w.category(depth-1) + ")"
	case 1:
		return "as(state, mod(floor(abs(heat)), 3))"
	}
	return w.around(depth, w.category, "one", "at")
}

// chance is a chance, of which many are certain or none, as a rule asks for it: in a branch, or where something else holds.
func (w *writer) chance(depth int) string {
	p := w.of("0.3", "0", "1", "beta", "beta - 0.3", "number("+w.truth(depth-1)+")", "(if "+w.truth(depth-2)+" then "+w.of("beta", "1", "heat", "-heat")+" else "+w.of("0", "-0", "-1")+")", w.number(depth-1))
	is := "chance(" + p + ")"
	part := fmt.Sprintf("c[%d] < %s", w.scope.Lattice.Dim()-1, w.of("1", "3", "50", "400")) // in a long row, whole runs of cells draw or do not
	switch w.IntN(7) {
	case 2:
		return "(" + part + " and " + is + ")"
	case 3:
		return "chance(if " + part + " then " + w.of("0", "0.5") + " else " + w.of("0", "0.2", "beta") + ")"
	case 0:
		return "(" + w.truth(depth-1) + w.of(" and ", " and not ", " or ") + is + ")"
	case 1:
		return "(if " + w.truth(depth-1) + " then " + is + " else " + w.truth(depth-1) + ")"
	}
	return is
}

// spread is a chain of conditions with draws, as in an epidemic.
func (w *writer) spread(depth int) string {
	next := w.of("state", "state", "a", "wish")
	for range 1 + w.IntN(4) {
		when := "state == " + w.of("a", "b", "c")
		switch w.IntN(4) {
		case 0, 1:
			when += " and " + w.chance(depth)
		case 2:
			when = w.truth(depth) + " and " + w.of("lucky", w.chance(depth))
		}
		next = "if " + when + " then " + w.of("a", "b", "c", "pick(a, b)", "(if "+w.chance(depth)+" then b else state)") + " else " + next
	}
	return next
}

// automaton is what a cell becomes by its state and by how many neighbours have the second value: mostly the rule of an automaton.
func (w *writer) automaton(int) string {
	alive := w.of("count(state == b)", "count(b == state)", "count(state == b)", "count(state == c)")
	when := func() string {
		return w.of("not ", "") + "(" + w.of("", "sick > degree or ", alive+" * rate < 3.1 or ") + alive + w.of(" == ", " < ", " == number(state) + ") + w.of("1", "2", "3", "beta") + ")"
	}
	return "if state == a then (if " + when() + " then b else a) else if state == b and " + when() + " then b else if state == b then " + w.of("c", "c", "c", "a") + " else " + w.of("a", "a", "a", "lost", "state")
}

func (w *writer) vector(depth int) string {
	if depth <= 0 {
		return w.of("wind", "now(wind)", "[heat, 0.1]", "[beta, rate / 3]", "pair")
	}
	switch w.IntN(5) {
	case 0:
		return "(" + w.vector(depth-1) + w.of(" + ", " - ") + w.vector(depth-1) + ")"
	case 1:
		return "(" + w.number(depth-1) + " * " + w.vector(depth-1) + ")"
	case 2:
		return "[" + w.number(depth-1) + ", " + w.number(depth-1) + "]"
	}
	return w.around(depth, w.vector, "mean", "sum", "one", "at")
}

// randomWorld is a world of one rule of random formulas, and its naive form.
type randomWorld struct {
	*engine.World
	rule  *Propagator
	scope *Scope
	naive *Naive
	set   []Assignment
	text  string
	seed  uint64
}

func (w *writer) scopeOf(l *space.Lattice) *Scope {
	s := &Scope{
		Lattice: l, Own: []string{"beta"}, World: []string{"rate"},
		Fields: []Field{{Name: "heat"}, {Name: "cold"}, {Name: "wind", N: 2}, {Name: "state", Values: []string{"a", "b", "c"}},
			{Name: "money", Fixed: true}, {Name: "purse", N: 2, Fixed: true}, {Name: "mood", Values: []string{"a", "b", "c"}, Fixed: true}},
	}
	w.scope = s
	lets := [][2]string{
		{"half", "rate / 3"}, {"lucky", "chance(beta)"}, {"noise", "uniform(-1, heat)"}, {"pair", "[heat, uniform(0, 1)]"}, {"share", "1 / (degree + 0.1)"},
		{"sick", "count(state == b) + share"}, {"mixed", "[sum(heat), degree / 7]"}, {"wish", "if lucky then a else state"}, {"lost", "if state == c then a else if state == b then c else b"},
		{"tithe", "fixed(0.1)"}, {"coin", "money / purse[0]"}, {"rich", "100 / money > 1"}, {"due", "[money, sum(money)]"}, {"vast", "fixed(rate * 1e14)"},
	}
	if w.plain {
		lets = lets[:9]
	}
	for _, l := range lets {
		n, err := Parse(l[1])
		if err != nil {
			panic(err)
		}
		s.Lets = append(s.Lets, Let{l[0], n})
	}
	return s
}

// world makes a world of random formulas; nil if they have a mistake.
func (w *writer) world(s space.Space, workers int) *randomWorld {
	l, err := s.Build()
	if err != nil {
		panic(err)
	}
	w.plain = w.IntN(3) == 0
	x := &randomWorld{scope: w.scopeOf(l), seed: w.Uint64()}
	var where *Node
	parse := func(text string) *Node {
		x.text += text + "\n"
		n, err := Parse(text)
		if err != nil {
			return nil
		}
		return n
	}
	if w.set == "" && w.IntN(3) == 0 {
		if where = parse(w.truth(3)); where == nil {
			return nil
		}
	}
	type target struct {
		field, component int
		of               func(int) string
	}
	targets := []target{{0, -1, w.number}, {1, -1, w.number}, {2, -1, w.vector}, {2, 1, w.number}, {3, -1, w.category},
		{4, -1, w.money}, {4, -1, w.money}, {5, -1, w.purse}, {5, 1, w.money}, {6, -1, w.category}}
	if w.IntN(4) == 0 {
		targets[4].of = w.spread
	}
	if w.plain {
		targets = targets[:5]
	}
	w.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	if w.IntN(8) == 0 {
		where, targets = nil, []target{{3, -1, w.automaton}}
	}
	if w.set != "" {
		where, targets = nil, []target{{3, -1, func(int) string { return w.set }}}
		if w.where != "" {
			where = parse(w.where)
		}
	}
	for _, t := range targets[:min(1+w.IntN(3), len(targets))] {
		text := t.of(1 + w.IntN(4))
		if t.of(0); t.field < 3 && w.IntN(8) > 0 {
			text = "clamp(" + text + ", -9, 9)"
			if t.field == 2 && t.component < 0 {
				text = w.vector(2)
			}
		}
		n := parse(text)
		if n == nil {
			return nil
		}
		if slices.ContainsFunc(x.set, func(a Assignment) bool { return a.Field == t.field }) {
			continue
		}
		x.set = append(x.set, Assignment{t.field, t.component, n})
	}
	r, err := Check(x.scope, where, x.set)
	if err != nil {
		return nil
	}
	x.naive = NewNaive(x.scope, r, x.set)
	initial := func(n int, of func() float64) fields.Initial {
		v := make([]float64, n*l.Cells())
		for i := range v {
			v[i] = of()
		}
		return fields.Values(v)
	}
	number := func() float64 { return float64(float32(w.NormFloat64() * 3)) }
	value := func() float64 { return float64(w.IntN(3)) }
	x.rule = New(Binding{Name: "r", Fields: []fields.ID{0, 1, 2, 3, 4, 5, 6}, Own: []uint32{1}, World: []uint32{0}}, x.scope, r, x.set)
	x.World, err = engine.New(engine.Config{
		Space: s, Timestep: 0.05, Seed: x.seed, Workers: workers, MaxFailures: -1, Paranoid: x.seed%5 == 0,
		Fields: []fields.Def{
			{Name: "heat", Initial: initial(1, number)}, {Name: "cold", Initial: initial(1, number)}, {Name: "wind", Type: fields.Vector(2), Initial: initial(2, number)},
			{Name: "state", Type: fields.Categorical(3), Initial: initial(1, value)},
			{Name: "money", Element: fields.Fixed, Initial: initial(1, w.amount())}, {Name: "purse", Type: fields.Vector(2), Element: fields.Fixed, Initial: initial(2, w.amount())},
			{Name: "mood", Type: fields.Categorical(3), Element: fields.Fixed, Initial: initial(1, value)},
		},
		Parameters:  []engine.Parameter{{Key: 0, Name: "rate", Value: 1.7}, {Key: 1, Name: "r.beta", Value: 0.3}},
		Propagators: []engine.Propagator{x.rule},
	})
	if err != nil {
		panic(fmt.Sprintf("%s\n%v", x.text, err))
	}
	return x
}

// next is what the naive form gives for the next tick: columns by field, or the first failure.
func (x *randomWorld) next() (next []fields.Column, first fault, reason error) {
	var streams rng.Set
	tick := x.Tick() + 1
	streams.Begin(rng.ChaCha8, rng.Seed(x.seed), tick)
	state := &State{Own: []float64{0.3}, World: []float64{1.7}, Dt: 0.05, Tick: tick, Word: func(place string, number, cell int) uint32 {
		return streams.Bulk("r."+place, uint64(number), x.scope.Lattice.Cells()).Block(uint64(cell/4), 0)[cell%4]
	}}
	for f := range x.scope.Fields {
		c := x.Column(fields.ID(f))
		state.Prev, state.Fixed[0] = append(state.Prev, slices.Clone(c.Float32)), append(state.Fixed[0], slices.Clone(c.Fixed))
		next = append(next, fields.Column{Float32: slices.Clone(c.Float32), Fixed: slices.Clone(c.Fixed)})
	}
	state.Now, state.Fixed[1] = state.Prev, state.Fixed[0]
	first.cell = noFault
	for cell := range x.scope.Lattice.Cells() {
		for i, a := range x.set {
			numbers, money, written, err := x.naive.Cell(state, i, cell)
			f := &x.scope.Fields[a.Field]
			if err != nil || written && slices.ContainsFunc(numbers, func(v float32) bool {
				return v-v != 0 || f.Values != nil && !(v >= 0 && v < 3 && v == float32(math.Trunc(float64(v))))
			}) {
				return nil, fault{cell, i}, err
			}
			at := cell*max(1, f.N) + max(0, a.Component)
			for k, v := range numbers {
				if f.Fixed {
					next[a.Field].Fixed[at+k] = int64(v) << 16
				} else {
					next[a.Field].Float32[at+k] = v
				}
			}
			for k, v := range money {
				next[a.Field].Fixed[at+k] = int64(v)
			}
		}
	}
	return next, first, nil
}

// failsAs compares the error of a tick with the first failure of the naive form.
func (x *randomWorld) failsAs(t *testing.T, err error, first fault, reason error) {
	t.Helper()
	at, ok := errors.AsType[*engine.CellError](err)
	what := ": set " + strings.TrimPrefix(x.scope.Place(&x.set[first.assignment]), "set.") + ": "
	if reason != nil {
		what += reason.Error()
	}
	if !ok || at.Cell != first.cell || !strings.Contains(err.Error(), what) || reason != nil && !strings.HasSuffix(err.Error(), what) {
		t.Fatalf("%s%v; the naive form fails in cell %d%s", x.text, err, first.cell, what)
	}
}

// counts reports whether the rule is an automaton.
func (x *randomWorld) counts() bool {
	m := x.rule.machine().(*machine)
	m.own, m.world, m.dt, m.tick = []float64{0.3}, []float64{1.7}, 0.05, x.Tick()
	m.use(make([]float32, m.scratch()))
	m.prepare()
	_, is := m.automaton()
	return is
}

var lattices = []space.Space{
	space.Ring{Length: 7}, space.Line{Length: 6, Edge: space.Clamp}, space.Line{Length: 1}, space.Square4{Rows: 5, Cols: 4}, space.Square4{Rows: 4, Cols: 6, Edge: space.Wrap},
	space.Square8{Rows: 5, Cols: 5, Edge: space.Clamp}, space.Square8{Rows: 3, Cols: 7, Edge: space.Wrap}, space.Hex{Rows: 6, Cols: 5},
	space.Hex{Rows: 4, Cols: 4, Edge: space.Clamp}, space.Hex{Rows: 4, Cols: 6, Edge: space.Wrap}, space.FCC12{W: 4, H: 4, D: 4, Edge: space.Wrap},
	space.FCC12{W: 3, H: 4, D: 3}, space.Ring{Length: 1100}, space.Square4{Rows: 3, Cols: 530},
}

var (
	randomRules = flag.Int("rules", 1500, "how many random rules")
	firstRule   = flag.Int("from", 0, "the number of the first")
)

// TestDeepTable: a table of a deep formula takes more registers than the look-up that stands for it.
func TestDeepTable(t *testing.T) {
	text := "sick"
	for range 25 {
		text = "0.5 * sick - (" + text + ")"
	}
	sick, _ := Parse("count(state == b)")
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := space.Square4{Rows: 5, Cols: 5}.Build()
	s := &Scope{Lattice: l, Fields: []Field{{Name: "heat"}, {Name: "state", Values: []string{"a", "b"}}}, Lets: []Let{{"sick", sick}}}
	set := []Assignment{{0, -1, n}}
	r, err := Check(s, nil, set)
	if err != nil {
		t.Fatal(err)
	}
	if p := Compile(s, r, set); len(p.tabled) != 1 || p.tabled[0].of.need() < 20 || p.registers < p.tabled[0].of.need() {
		t.Errorf("%d tables, %d registers", len(p.tabled), p.registers)
	}
}

// TestRandomRules: random rules on random lattices come to the bits of their naive form, for any number of workers, and fail where it fails.
func TestRandomRules(t *testing.T) {
	rules, ticks, failures, faults, fixed, automata := *randomRules, 0, 0, 0, 0, 0
	if testing.Short() {
		rules /= 10
	}
	for n := *firstRule; n < *firstRule+rules; n++ {
		w := &writer{Rand: rand.New(rand.NewPCG(uint64(n), 7))}
		x := w.world(lattices[w.IntN(len(lattices))], 1+n%3)
		if x == nil {
			continue
		}
		for range 3 {
			failed, reason := x.step(t)
			if failed {
				if failures++; reason != nil {
					faults++
				}
				break
			}
			if ticks++; x.counts() {
				automata++
			}
		}
		if x.rule.program.hasFixed {
			fixed++
		}
	}
	t.Logf("%d rules, %d ticks, %d failures, of which %d are faults, %d rules with fixed numbers, %d ticks of automata", rules, ticks, failures, faults, fixed, automata)
	if ticks < rules || automata < rules/20 || faults < rules/20 || fixed < rules/2 {
		t.Errorf("only %d ticks of %d rules, %d of automata, %d faults, %d rules with fixed numbers", ticks, rules, automata, faults, fixed)
	}
}

// step computes a tick and compares it with the naive form, which may fail as well: the reason is that of fixed numbers.
func (x *randomWorld) step(t *testing.T) (failed bool, reason error) {
	t.Helper()
	want, first, reason := x.next()
	_, err := x.Step()
	if (err != nil) != (first.cell < noFault) {
		t.Fatalf("%v:\n%s%v; the naive form fails in cell %d: %v", x.scope.Lattice.Space(), x.text, err, first.cell, reason)
	}
	if err != nil {
		x.failsAs(t, err, first, reason)
		return true, reason
	}
	for f := range want {
		for i := range want[f].Len() {
			if got := x.Column(fields.ID(f)); got.Bits(i) != want[f].Bits(i) {
				t.Fatalf("%v, tick %d:\n%s%s, element %d is %016x; naively %016x", x.scope.Lattice.Space(), x.Tick(), x.text, x.scope.Fields[f].Name, i, got.Bits(i), want[f].Bits(i))
			}
		}
	}
	return false, nil
}
