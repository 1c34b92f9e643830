package rules

import "slices"

// A code is a scalar part of a formula, made to be computed for many cells at once: a vector is one code for each component.
type code struct {
	op      Op
	args    []*code
	where   *code
	els     *code
	uniform bool // computed in float64, once for all cells with one number of neighbours
	slot    int  // of the value of a uniform code in one that is not
	truth   bool // it is true or false: a mask of all bits or none

	field       int // Get, Now: of the scope; component part of parts
	part, parts int
	fixed       bool    // it is a fixed number
	failing     uint8   // what is known of its faults, see fails
	value       float64 // Const
	index       int     // parameters, lets, coordinates, steps, draws; Distinct: how many categories there are
	near        bool    // Degree: the neighbour's
	memo        int     // of a code that several others use: where its value is kept, from 1; 0: it is not
	needs       int     // registers; 0: not known yet
	seen        bool    // by tabulate
	hangs       *code   // see hangsOn
	steps       int     // likewise; -1: not known yet
	counts      bool    // UseLet: of a count
	direction   int     // At: -1: by the table
	table       []int32 // At: by cell, the cell that it looks at; -1: none
}

// Codes beside those of terms.
const (
	round      = Total + 1 + iota // a uniform number that is rounded to float32, and stays uniform
	square                        // a number times itself
	constantOf                    // the value of a slot, in a uniform code
	tableEntry                    // the count that a table's value is of
	lookup                        // a number of a table
	alongside                     // the first of several, of which the others have faults alone
	relaxed                       // x + k * (sum(x) - degree * x), of a field and a uniform k; els computes it otherwise
)

// A stream is where words come from: a draw of a place.
type stream struct {
	place  string
	number int
}

// A letPart is a component of a let, as it is within a term over neighbours or elsewhere.
type letPart struct {
	let, part int
	inner     bool
}

// A termAt is a term and where it is computed: in place, or at a neighbour.
type termAt struct {
	*Term
	near, inner bool
}

// A Program is a rule of fields in the form in which it is computed, for blocks of cells. It may be used by several goroutines.
type Program struct {
	scope   *Scope
	rule    *Rule
	set     []Assignment
	where   *code
	targets []*code // of set, component by component
	plain   []bool  // by target: it is computed where it is written, in the cells of one row
	certain []bool  // by assignment: it is a category, whatever is read
	lets    []*code // that are computed for each block, in an order in which each needs earlier ones only
	slots   []*code // uniform codes
	streams []stream
	degrees []int // that cells have, ascending

	tabled      []table
	census      int         // the first of its tables; -1: the rule is no census
	tableSize   int         // numbers of all tables
	coordinates [][]float32 // by component, of each cell; nil if not used
	degree      []float32   // of each cell; nil if not used
	registers   int         // that a block needs at once
	memos       int         // registers behind those, of codes that several others use
	hasFixed    bool        // there are fixed numbers
	fails       bool        // a formula can fail
}

// A compiler makes a program of a rule.
type compiler struct {
	*Program
	place   string // of the formula
	near    bool   // what is computed is computed at a neighbour
	inner   bool   // within a term over neighbours, where the degree is a float32: also in own
	known   map[letPart]int
	uniform map[int]*code      // of uniform lets that are computed already, what gives their value
	once    map[termAt]*code   //detcheck:allow pointer it is looked up only
	offsets map[string][]int32 // the tables of at
}

// Compile makes a program of a rule. Set may be nil if the rule only computes, and draws nothing.
func Compile(s *Scope, r *Rule, set []Assignment) *Program {
	//detcheck:allow pointer it is looked up only
	c := &compiler{Program: &Program{scope: s, rule: r, set: set, hasFixed: r.fixed(s, set)}, known: map[letPart]int{}, uniform: map[int]*code{}, once: map[termAt]*code{}, offsets: map[string][]int32{}}
	for _, span := range s.Lattice.Spans() {
		if n := len(span.Pattern.Offsets); !slices.Contains(c.degrees, n) {
			c.degrees = append(c.degrees, n)
		}
	}
	slices.Sort(c.degrees)
	c.streams = r.streams(s, set)
	c.near = r.crowd // the degree is that of the cell on which one stands
	if c.place = "where"; r.Where != nil {
		c.where = c.root(r.Where, 0)
	}
	for i, t := range r.Set {
		if set != nil {
			c.place = s.Place(&set[i])
		}
		for k := range max(1, t.Type.N) {
			x := c.operand(c.lower(t, k), false)
			if c.census = -1; len(set) == 1 {
				c.census = c.takeCensus(x)
			}
			c.targets = append(c.targets, c.tabulate(x))
			c.plain = append(c.plain, set != nil && s.Fields[set[i].Field].N == 0 && !s.Fields[set[i].Field].Fixed && !r.InPlace(set[i]))
		}
		c.certain = append(c.certain, t.Type.Base == Category && r.certain())
	}
	depth := 0
	for _, x := range slices.Concat(c.lets, c.targets, []*code{c.where}) {
		depth = max(depth, x.need())
		c.fails = x.fails() || c.fails // each is asked before there are several goroutines
	}
	for i := range c.tabled {
		depth = max(depth, c.tabled[i].of.need())
		c.fails = c.tabled[i].of.fails() || c.fails
	}
	c.registers = len(c.lets) + len(c.targets) + 1 + depth + c.memos
	return c.Program
}

// scratch is how much memory of float32 a block's registers take. Those of fixed numbers are as many and take double.
func (p *Program) scratch() int {
	if p.hasFixed {
		return 3 * p.registers * blockSize
	}
	return p.registers * blockSize
}

// streams are all draws of the rule: of let, where and set, whether their values are used or not.
func (r *Rule) streams(s *Scope, set []Assignment) (all []stream) {
	list := func(place string, t *Term) {
		t.Walk(func(x *Term) {
			if x.draws() {
				all = append(all, stream{place, x.Number})
			}
		})
	}
	for i, t := range r.Lets {
		list("let."+s.Lets[i].Name, t)
	}
	list("where", r.Where)
	for i, t := range r.Set {
		if set != nil { // else nothing draws
			list(s.Place(&set[i]), t)
		}
	}
	return all
}

// stream is the number of a draw in the list.
func (c *compiler) stream(number int) int { return slices.Index(c.streams, stream{c.place, number}) }

// root is a formula, or a component of it, that does not stand in another one.
func (c *compiler) root(t *Term, k int) *code { return c.tabulate(c.operand(c.lower(t, k), false)) }

// operand gives a uniform code in one that is not a slot.
func (c *compiler) operand(x *code, uniform bool) *code {
	if !x.uniform || uniform || x.slot >= 0 {
		return x
	}
	x.slot = len(c.slots)
	c.slots = append(c.slots, x)
	return x
}

// lower makes the code of component k of a term; of a scalar k is 0.
func (c *compiler) lower(t *Term, k int) *code {
	x := &code{op: t.Op, uniform: t.Uniform, slot: -1, value: t.Value, index: t.Index, truth: t.Type.Base == Boolean, fixed: t.Type.Base == Fixed, steps: -1}
	switch t.Op {
	case Get, Now:
		x.field, x.part, x.parts = t.Index, k, max(1, t.Type.N)
		return x
	case UseLet:
		return c.useLet(t, k)
	case Degree:
		if x.near = c.near; c.near {
			c.needDegree()
		}
		return x
	case Coordinate:
		c.needCoordinate(t.Index)
		return x
	case Component:
		return c.component(t)
	case MakeVector:
		return rounded(c.lower(t.Args[k], 0))
	case Dot, Length:
		return c.dot(t)
	case Pick, Chance, Uniform, Normal, One:
		x.index = c.stream(t.Number)
	case ToFloat:
		x.truth = false
	}
	if t.Op >= Sum && t.Op <= At {
		return c.neighbours(t, x, k)
	}
	if t.Op == AtCell {
		c.near = false
		x.args = []*code{c.operand(c.lower(t.Args[0], k), false)}
		x.uniform, c.near = false, true
		return x
	}
	for _, a := range t.Args {
		y := (*code)(nil)
		switch {
		case a.Type.N > 0:
			y = c.lower(a, k)
		case t.Type.N > 0: // each component of the vector needs it
			y = c.shared(a)
		default:
			y = c.lower(a, 0)
		}
		x.args = append(x.args, c.operand(y, t.Uniform))
	}
	return relaxation(x)
}

// component is one of a vector. All others are computed, too, if they can fail.
func (c *compiler) component(t *Term) *code {
	x := c.lower(t.Args[0], t.Index)
	if !c.hasFixed {
		return x
	}
	all := []*code{c.operand(x, false)}
	for k := range t.Args[0].Type.N {
		if k == t.Index {
			continue
		}
		if y := c.lower(t.Args[0], k); y.fails() {
			all = append(all, c.operand(y, false))
		}
	}
	if len(all) == 1 {
		return x
	}
	return &code{op: alongside, args: all, fixed: x.fixed, slot: -1, steps: -1}
}

// shared is the code of a scalar that several others use, which is computed once for them.
func (c *compiler) shared(t *Term) *code {
	key := termAt{t, c.near, c.inner}
	x := c.once[key]
	switch {
	case x == nil:
		x = c.lower(t, 0)
		c.once[key] = x
	case x.memo == 0 && len(x.args) > 0 && !x.uniform:
		c.memos++
		x.memo = c.memos
	}
	return x
}

// rounded is a number as a float32; a uniform one stays uniform, and a fixed one as it is.
func rounded(x *code) *code {
	if !x.uniform || x.fixed {
		return x
	}
	return &code{op: round, args: []*code{x}, uniform: true, slot: -1, steps: -1}
}

// dot is the sum of the products of two vectors, from component 0; of length, its root.
func (c *compiler) dot(t *Term) *code {
	of := func(op Op, args ...*code) *code {
		for i := range args {
			args[i] = c.operand(args[i], t.Uniform)
		}
		return &code{op: op, args: args, uniform: t.Uniform, fixed: t.Type.Base == Fixed, slot: -1, steps: -1}
	}
	u, v := t.Args[0], t.Args[len(t.Args)-1]
	var sum *code
	for k := range u.Type.N {
		var p *code
		if t.Op == Length {
			p = of(square, c.lower(u, k))
		} else {
			p = of(Multiply, c.lower(u, k), c.lower(v, k))
		}
		if sum == nil {
			sum = p
		} else {
			sum = of(Add, sum, p)
		}
	}
	if t.Op == Length {
		return of(Sqrt, sum)
	}
	return sum
}

// neighbours is a term over the neighbours.
func (c *compiler) neighbours(t *Term, x *code, k int) *code {
	if c.near, c.inner = true, true; t.Op == Distinct {
		x.index, x.parts = len(lists(c.scope.Fields)[t.Args[0].Type.List]), c.scope.Lattice.MaxDegree()
	}
	x.args = []*code{c.operand(c.lower(t.Args[0], k), false)}
	if t.Where != nil {
		x.where = c.operand(c.shared(t.Where), false)
	}
	c.near, c.inner = false, false
	if t.Else != nil {
		x.els = c.operand(c.lower(t.Else, k), false)
	}
	if x.direction = t.Direction; t.Op == At && t.Direction < 0 {
		x.table = c.tableOf(t.Offset)
	}
	return x
}

// tableOf is the cell at an offset from each cell; -1 for none.
func (c *compiler) tableOf(offset []int32) []int32 {
	key := ""
	for _, o := range offset {
		key += string(rune(o + 100))
	}
	if c.offsets[key] == nil {
		e := evaluator{Scope: c.scope}
		table := make([]int32, c.scope.Lattice.Cells())
		for cell := range table {
			table[cell] = -1
			if to, ok := e.beyond(cell, offset); ok {
				table[cell] = int32(to)
			}
		}
		c.offsets[key] = table
	}
	return c.offsets[key]
}

// useLet is component k of a let: computed in place if it is uniform or at a neighbour, else once for each block.
func (c *compiler) useLet(t *Term, k int) *code {
	of := c.rule.let(t.Index, c.inner)
	place, key := c.place, letPart{t.Index, k, c.inner && c.rule.Inner[t.Index] != nil}
	if i, ok := c.known[key]; ok && !c.near && !of.Uniform {
		return c.used(i)
	}
	if x := c.uniform[t.Index]; x != nil && of.Uniform {
		return x
	}
	c.place = "let." + c.scope.Lets[t.Index].Name
	x := c.lower(of, k)
	c.place = place
	switch {
	case of.Uniform:
		if of.Type.Base != Boolean {
			x = rounded(x)
		}
		c.operand(x, false)
		c.uniform[t.Index] = &code{op: constantOf, uniform: true, slot: x.slot, truth: x.truth, fixed: x.fixed, failing: failing(x), steps: -1}
		return c.uniform[t.Index]
	case x.uniform && of.Type.Base != Boolean:
		return rounded(x)
	case c.near || x.uniform:
		return x
	}
	c.known[key] = len(c.lets)
	c.lets = append(c.lets, c.tabulate(x))
	return c.used(c.known[key])
}

// used is the value of a let that is computed for each block.
func (c *compiler) used(i int) *code {
	of := c.lets[i]
	return &code{op: UseLet, index: i, slot: -1, truth: of.truth, fixed: of.fixed, failing: failing(of), counts: of.op == Count, steps: -1}
}

// needDegree lists the number of neighbours of each cell.
func (c *compiler) needDegree() {
	if c.degree == nil {
		c.degree = make([]float32, c.scope.Lattice.Cells())
		for _, s := range c.scope.Lattice.Spans() {
			for i := range s.Count {
				c.degree[s.First+i*s.Stride] = float32(len(s.Pattern.Offsets))
			}
		}
	}
}

// needCoordinate lists a component of the coordinate of each cell.
func (c *compiler) needCoordinate(k int) {
	if c.coordinates == nil {
		c.coordinates = make([][]float32, c.scope.Lattice.Dim())
	}
	if c.coordinates[k] == nil {
		c.coordinates[k] = make([]float32, c.scope.Lattice.Cells())
		for cell := range c.coordinates[k] {
			c.coordinates[k][cell] = float32(c.scope.Lattice.Coord(cell).At(k))
		}
	}
}

// need is how many registers a code takes.
func (x *code) need() int {
	switch {
	case x == nil || x.uniform:
		return 0
	case x.needs > 0:
		return x.needs
	}
	n := 1
	for i, a := range x.args {
		n = max(n, 2+min(i, 2)+a.need())
	}
	if x.op == relaxed {
		n = x.els.need()
	}
	if x.op >= Sum && x.op <= At {
		held := nearRegisters
		if x.op == Distinct {
			held += 2 * x.parts
		}
		n = max(n, held+x.args[0].need(), held+x.where.need(), held+x.els.need())
	}
	x.needs = n
	return n
}
