package rules

import (
	"fmt"

	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/rng"
)

// A State is what formulas are computed from: the columns of the fields, parameters and random words. A column of a scalar or categorical field of floats
// holds a value for each cell, that of a vector its components cell by cell.
type State struct {
	Prev, Now  [][]float32                                   // by field of the scope; nil where the field is fixed
	Found      [][]float32                                   // attributes as a rule found them whose entities act together; empty where the rule does not set them
	FoundFixed [][]int64                                     // of fixed ones
	Kinds      []int32                                       // of entities, by slot, in a rule of entities and in a statement
	Fixed      [2][][]int64                                  // of fixed fields, in Prev and Now
	Own        []float64                                     // parameters of the rule
	World      []float64                                     // parameters of the world
	Dt         float64                                       // 1 / tick_rate
	Tick       uint64                                        // that is computed
	Refused    int                                           // in a statement: how many commands from outside the tick refused
	Refusal    func() string                                 // the first of them in words, and why
	Word       func(place string, number int, at int) uint32 // the random word of a place for a cell, or for the entity in a slot

	held   []bool // by cell, or by place in the crowd: for a term of a statement, where it looks and what is there
	values []float64
	living living // of a statement

	seen func(t *Term, args []value, v value) // of each operation that was computed; may be nil
}

// A value is what a formula comes to: of a fixed type x, of a vector v, else f, which is 1 or 0 of a boolean.
type value struct {
	f float64
	x fixed.Fixed
	v []value
}

// An evaluator computes formulas cell by cell, by walking their terms. It is the readable twin of what computes them fast.
type evaluator struct {
	*Scope
	*State
	rule  *Rule
	known []knownLet // lets of the cell

	operands []value // of operations that are being computed
	totals   []known // of a statement
	agents   *Agents // of a rule of entities
	crowd    *crowd  // who stands where

	borders []bordered // of the lattice; nil: they are not known yet

	read func(field, element int) // of each element that is looked at; may be nil
}

// A known is what a term of a statement came to.
type known struct {
	value
	err error
}

// A knownLet is what a let came to at the cell.
type knownLet struct {
	known bool
	value value
	err   error
}

// A place is where a term is computed.
type place struct {
	name string // set.FIELD, where, let.NAME
	cell int    // which is looked at
	own  int    // whose value is computed
	in   bool   // it is within a term over neighbours
	step []int32

	slot, other int // of the entity and the other one, in a rule of entities
}

// A Fault is an operation of fixed numbers that has no result.
type Fault struct {
	Term *Term
	Err  error
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %v", f.Term.Node, f.Err) }

// Unwrap returns the fault of the arithmetic.
func (f *Fault) Unwrap() error { return f.Err }

// eval computes a term.
func (e *evaluator) eval(t *Term, at *place) (value, error) {
	switch t.Op {
	case Const:
		return value{f: t.Value}, nil
	case Get:
		return e.field(t, 0, e.index(t, at)), nil
	case Now:
		return e.field(t, 1, e.index(t, at)), nil
	case Own:
		return value{f: e.State.Own[t.Index]}, nil
	case World:
		return value{f: e.State.World[t.Index]}, nil
	case UseLet:
		return e.let(t, at)
	case Total:
		return e.totals[t.Index].value, e.totals[t.Index].err
	case Dt:
		return value{f: e.Dt}, nil
	case Tick:
		return value{f: float64(e.State.Tick)}, nil
	case Cells:
		return value{f: float64(e.Lattice.Cells())}, nil
	case Degree:
		return value{f: float64(e.Lattice.Degree(e.cellOf(t, at)))}, nil
	case Coordinate:
		return value{f: float64(e.Lattice.Coord(e.cellOf(t, at)).At(t.Index))}, nil
	case CountOn:
		return e.countOn(t, at)
	case Step:
		return value{f: float64(at.step[t.Index])}, nil
	case And, Or, Choose:
		return e.lazy(t, at)
	}
	if t.Op >= Chance && t.Op <= Pick {
		return e.draw(t, at)
	}
	if t.Op >= Sum {
		return e.around(t, at)
	}
	first := len(e.operands)
	defer func() { e.operands = e.operands[:first] }()
	for _, a := range t.Args {
		x, err := e.operand(t, a, at)
		if err != nil {
			return value{}, err
		}
		e.operands = append(e.operands, x)
	}
	args := e.operands[first:]
	v, err := apply(t, args)
	if err != nil {
		err = &Fault{t, err}
	} else if e.seen != nil {
		e.seen(t, args, v)
	}
	return v, err
}

// operand computes an operand: in an operation that is not uniform a uniform number is rounded first.
func (e *evaluator) operand(of, t *Term, at *place) (value, error) {
	v, err := e.eval(t, at)
	if t.Uniform && !of.Uniform && err == nil {
		if exact := v; e.seen != nil && exact.finite(t.Type) {
			if v = v.rounded(t.Type); !v.finite(t.Type) {
				e.seen(t, nil, v)
			}
		}
		v = v.rounded(t.Type)
	}
	return v, err
}

// rounded is a value with its numbers rounded to float32.
func (v value) rounded(t Type) value {
	if t.Base != Float {
		return v
	}
	if t.N == 0 {
		return value{f: float64(float32(v.f))}
	}
	r := value{v: make([]value, len(v.v))}
	for i := range v.v {
		r.v[i] = v.v[i].rounded(Type{})
	}
	return r
}

// field is the value of a field in Prev, 0, or Now, 1.
func (e *evaluator) field(t *Term, gen, cell int) value {
	if e.agents != nil && t.Index == len(e.Fields)-1 {
		return value{f: float64(e.Kinds[cell])}
	}
	found := t.Who == Other && e.State.Found != nil && len(e.State.Found[t.Index])+len(e.State.FoundFixed[t.Index]) > 0
	if t.Type.N == 0 {
		return e.element(t, gen, found, cell)
	}
	all := make([]value, t.Type.N)
	for k := range all {
		all[k] = e.element(t, gen, found, cell*t.Type.N+k)
	}
	return value{v: all}
}

// element is one of a field's column.
func (e *evaluator) element(t *Term, gen int, found bool, i int) (v value) {
	if e.read != nil {
		e.read(t.Index, i)
	}
	switch {
	case t.Type.Base == Fixed:
		v.x = fixed.Fixed(e.fixes(t, gen, found)[i])
	case e.Fields[t.Index].Fixed: // a category
		v.f = fixed.Fixed(e.fixes(t, gen, found)[i]).Float64()
	case found:
		v.f = float64(e.State.Found[t.Index][i])
	case gen == 0:
		v.f = float64(e.Prev[t.Index][i])
	default:
		v.f = float64(e.State.Now[t.Index][i])
	}
	return v
}

// fixes is a column of fixed numbers.
func (e *evaluator) fixes(t *Term, gen int, found bool) []int64 {
	if found {
		return e.State.FoundFixed[t.Index]
	}
	return e.State.Fixed[gen][t.Index]
}

// let computes a let at the cell that is looked at; numbers are rounded to float32.
func (e *evaluator) let(t *Term, at *place) (v value, err error) {
	if e.agents != nil {
		of, there := e.agents.uses[t.Index][t.Sight].Term, *at
		there.name = "let." + e.Lets[t.Index].Name
		v, err = e.eval(of, &there)
		return v.rounded(of.Type), err
	}
	of := e.rule.let(t.Index, at.in)
	if !at.in { // what is at the neighbours is limited by the cost
		if k := e.known[t.Index]; k.known {
			return k.value, k.err
		}
		defer func() { e.known[t.Index] = knownLet{true, v, err} }()
	}
	v, err = e.eval(of, &place{name: "let." + e.Lets[t.Index].Name, cell: at.cell, own: at.cell, in: at.in})
	v = v.rounded(of.Type)
	return v, err
}

// lazy computes what may leave operands out.
func (e *evaluator) lazy(t *Term, at *place) (value, error) {
	first, err := e.eval(t.Args[0], at)
	if err != nil {
		return first, err
	}
	yes := first.f == 1
	switch {
	case t.Op == And && !yes, t.Op == Or && yes:
		return first, nil
	case t.Op == Choose && !yes:
		return e.operand(t, t.Args[2], at)
	}
	return e.operand(t, t.Args[1], at)
}

// draw computes what is drawn.
func (e *evaluator) draw(t *Term, at *place) (value, error) {
	w := e.Word(at.name, t.Number, e.drawsFor(at))
	switch t.Op {
	case Normal:
		return value{f: float64(float32(rng.NormalQuantile((float64(w) + 0.5) * 0x1p-32)))}, nil
	case Pick:
		return e.operand(t, t.Args[chosen(w, len(t.Args))], at)
	case Chance:
		p, err := e.eval(t.Args[0], at)
		return truth(float64(w) < p.f*0x1p32), err // exactly: a power of two
	}
	a, err := e.operand(t, t.Args[0], at)
	if err != nil {
		return a, err
	}
	b, err := e.operand(t, t.Args[1], at)
	u := float32(w>>8) * 0x1p-24
	return value{f: float64(float32(a.f) + float32((float32(b.f)-float32(a.f))*u))}, err
}

// chosen is one of n things by a word.
func chosen(w uint32, n int) int { return int(uint64(w) * uint64(n) >> 32) }

func truth(b bool) value {
	if b {
		return value{f: 1}
	}
	return value{}
}

// around computes a term over the neighbours of the cell.
func (e *evaluator) around(t *Term, at *place) (value, error) {
	if t.Op == AtCell {
		return e.eval(t.Args[0], &place{name: at.name, cell: at.own, own: at.own, in: true})
	}
	var seen []value
	var open []*place // of one
	for _, n := range e.entries(t, at.cell) {
		there := &place{name: at.name, cell: n.cell, own: at.cell, in: true, step: n.step, slot: at.slot, other: at.other}
		if t.Where != nil {
			if c, err := e.eval(t.Where, there); err != nil || c.f == 0 {
				if err != nil {
					return c, err
				}
				continue
			}
		}
		if t.Op == One { // only the choice is computed
			seen, open = append(seen, value{}), append(open, there)
			continue
		}
		x, err := e.operand(t, t.Args[0], there)
		if err != nil {
			return x, err
		}
		seen = append(seen, x)
		if t.Op == Any && x.f == 1 || t.Op == All && x.f == 0 {
			return x, nil
		}
	}
	switch {
	case t.Op == Any, t.Op == All, t.Op == Count, t.Op == Distinct:
		return counted(t, seen, e.lists(t)), nil
	case len(seen) == 0 && t.Else != nil && t.Op != Sum:
		return e.operand(t, t.Else, at)
	case t.Op == One:
		return e.operand(t, t.Args[0], open[chosen(e.Word(at.name, t.Number, e.drawsFor(at)), len(open))])
	case t.Op == At:
		return seen[0], nil
	}
	v, err := folded(t, seen)
	if err != nil {
		err = &Fault{t, err}
	} else if e.seen != nil {
		e.seen(t, nil, v)
	}
	return v, err
}

// lists is how many categories the term of distinct has.
func (e *evaluator) lists(t *Term) int {
	if x := t.Args[0]; x.Type.Base == Category {
		return len(lists(e.Fields)[x.Type.List])
	}
	return 0
}

// An entry is a neighbour, and the step that leads to it.
type entry struct {
	cell int
	step []int32
}

// entries lists the neighbours that a term looks at, in contract order; of at one or none.
func (e *evaluator) entries(t *Term, cell int) (list []entry) {
	if t.Op == At && t.Direction < 0 {
		if n, ok := e.beyond(cell, t.Offset); ok {
			return []entry{{n, t.Offset}}
		}
		return nil
	}
	for _, s := range e.Lattice.Spans() {
		if k := cell - s.First; k < 0 || k%s.Stride != 0 || k/s.Stride >= s.Count {
			continue
		}
		for i, offset := range s.Pattern.Offsets {
			if t.Op == At && int(s.Pattern.Dirs[i]) != t.Direction {
				continue
			}
			var step []int32
			for k := range e.Lattice.Dim() {
				step = append(step, s.Pattern.Deltas[i].At(k))
			}
			list = append(list, entry{cell + offset, step})
		}
	}
	return list
}

// number is a value that is known to be a number, as a float32.
func (v value) number() float32 { return float32(v.f) }

// A Naive computes a rule of fields cell by cell, by walking its terms: slowly, and so that it can be compared with the page that specifies it.
type Naive struct {
	of  evaluator
	set []Assignment
}

// NewNaive returns the naive form of a rule that was checked.
func NewNaive(s *Scope, r *Rule, set []Assignment) *Naive {
	return &Naive{evaluator{Scope: s, rule: r, known: make([]knownLet, len(r.Lets))}, set}
}

// Cell computes what an assignment writes in a cell: float32 numbers, categories too, or fixed ones; written is false where the rule writes nothing.
func (n *Naive) Cell(s *State, assignment, cell int) (numbers []float32, money []fixed.Fixed, written bool, err error) {
	e := n.of
	e.State = s
	clear(e.known)
	if e.rule.Where != nil {
		c, err := e.eval(e.rule.Where, &place{name: "where", cell: cell, own: cell})
		if err != nil || c.f == 0 {
			return nil, nil, false, err
		}
	}
	t := e.rule.Set[assignment]
	v, err := e.eval(t, &place{name: e.Place(&n.set[assignment]), cell: cell, own: cell})
	if err != nil {
		return nil, nil, false, err
	}
	all := v.v
	if t.Type.N == 0 {
		all = []value{v}
	}
	for _, x := range all {
		if t.Type.Base == Fixed {
			money = append(money, x.x)
		} else {
			numbers = append(numbers, x.number())
		}
	}
	return numbers, money, true, nil
}
