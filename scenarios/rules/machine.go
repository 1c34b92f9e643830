package rules

import (
	"math"

	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// blockSize is how many cells are computed at once: few enough for their registers to stay in the nearest cache.
const blockSize = 1024

// A block is some cells with one pattern of neighbours: first, first + stride, …; or those of a list.
type block struct {
	first, stride, n int
	cells            []int32
	agents           *block // of a list of the cells on which entities stand: their slots; nil: it is of cells, and else first is the place of the first in the crowd
	own              *block // the block whose neighbours they are; nil: they are none
	pattern          *space.Pattern
	step             int // to those cells, an index of the pattern; -1: it is of no direction
	degree           int // an index of the degrees
	id               uint64
}

// cell is that of an element of a block.
func (b *block) cell(i int) int {
	if b.cells != nil {
		return int(b.cells[i])
	}
	return b.first + i*b.stride
}

// index is where an element of a block stands among all: by cell, or by place in the crowd.
func (b *block) index(i int) int {
	if b.agents != nil {
		return b.first + i
	}
	return b.cell(i)
}

// An operand is what a code comes to in the cells of a block: a number for each, or one for all. True is all bits, false none. Fixed numbers are always in a register.
// It has no more words and fields than the compiler keeps in registers of its own.
type operand struct {
	v  []float32 // nil: k for all
	k  float32
	at uint16 // of fixed numbers: their register, from 1; 0: it is not of them
	in bool   // it is in a register that is free afterwards
}

// A machine computes a program's codes. It belongs to one goroutine at a time.
type machine struct {
	*Program
	prev, now []fields.Column // by field of the scope, those that are read
	next      []fields.Column // those that are written
	naive     *Naive
	bulks     []rng.Bulk
	constants []constant // by degree, then by slot
	registers []float32
	fixed     []int64   // as many registers of fixed numbers
	cells     []int32   // of a block that is a list
	values    []float32 // of the tables
	blocks    uint64    // how many there were
	memory    []uint64  // by memo: of which block its value is
	here      block
	there     block // of neighbours
	agents    block // of entities, by slot
	words     []uint32
	need      []float32   // of the cells of the block: where it has no bits, nothing hangs on what is computed now; nil: all is needed
	wanted    []float32   // that of words
	outputs   [][]float32 // by target, while they are computed: the cells of the block in the columns that are written, in the place of registers; nil: not so
	dt        float64
	tick      uint64
	own       []float64
	world     []float64
	totals    []known // of a statement

	faults *lanes  // of what is computed
	failed []lanes // by let, by memo, and of a formula; nil: nothing fails
	reach  reach
	masks  [][]float32
}

// newMachine returns a machine of a program.
func newMachine(p *Program) *machine {
	m := &machine{Program: p, cells: make([]int32, blockSize), words: make([]uint32, blockSize+rng.AtOnce+4), wanted: make([]float32, blockSize+rng.AtOnce+4), memory: make([]uint64, p.memos+1)}
	if p.fails {
		m.failed = make([]lanes, len(p.lets)+p.memos+1)
	}
	return m
}

// use gives the machine the memory of its registers, as much as the program's scratch, and returns what is left of it.
func (m *machine) use(memory []float32) []float32 {
	n, all := m.Program.registers*blockSize, m.scratch()
	m.registers, m.fixed = memory[:n], kernel.AsUnits(memory[n:all])
	return memory[all:]
}

// at is the block of the neighbours in a direction of a block's pattern, until the next call: terms over neighbours do not nest.
func (m *machine) at(b *block, k int) *block {
	m.there = *b
	m.there.first += b.pattern.Offsets[k]
	m.there.own, m.there.step, m.there.id = b, k, m.number()
	return &m.there
}

// number is that of the next block.
func (m *machine) number() uint64 {
	m.blocks++
	return m.blocks
}

// register is memory for the elements of a block.
func (m *machine) register(d, n int) []float32 {
	if t := d - len(m.lets) - 1; t >= 0 && t < len(m.outputs) && m.outputs[t] != nil {
		return m.outputs[t]
	}
	return m.registers[d*blockSize:][:n:n]
}

// prepare computes what is one number for all cells with as many neighbours.
func (m *machine) prepare() {
	m.constants, m.reach = m.constants[:0], reach{}
	for degree := range m.degrees {
		for _, x := range m.slots {
			m.constants = append(m.constants, m.uniformly(x, degree))
		}
	}
	m.fillTables()
}

// A constant is what a uniform code comes to: a float64, or a fixed number, or nothing.
type constant struct {
	f     float64
	x     fixed.Fixed
	fails bool
}

// counting are the counts that tables have entries for.
var counting = func() (all [blockSize]float32) {
	for i := range all {
		all[i] = float32(i)
	}
	return all
}()

// uniformly computes a uniform code, for a degree by its index.
func (m *machine) uniformly(x *code, degree int) constant {
	switch x.op {
	case Const:
		return constant{f: x.value}
	case Own:
		return constant{f: m.own[x.index]}
	case World:
		return constant{f: m.world[x.index]}
	case Total:
		return constant{f: m.totals[x.index].f, fails: m.totals[x.index].err != nil}
	case Dt:
		return constant{f: m.dt}
	case Tick:
		return constant{f: float64(m.tick)}
	case Cells:
		return constant{f: float64(m.scope.Lattice.Cells())}
	case Degree:
		return constant{f: float64(m.degrees[degree])}
	case constantOf: // of an earlier slot
		return m.constants[degree*len(m.slots)+x.slot]
	case And, Or, Choose:
		c := m.uniformly(x.args[0], degree)
		switch yes := c.f == 1; {
		case c.fails, x.op == And && !yes, x.op == Or && yes:
			return c
		case x.op == Choose && !yes:
			return m.uniformly(x.args[2], degree)
		}
		return m.uniformly(x.args[1], degree)
	}
	var memory [maxArguments]value
	args := memory[:len(x.args)]
	for i, a := range x.args {
		c := m.uniformly(a, degree)
		if c.fails {
			return c
		}
		args[i] = value{f: c.f, x: c.x}
	}
	v, err := x.uniformly(args)
	return constant{v.f, v.x, err != nil}
}

// uniformly computes an operation of uniform numbers.
func (x *code) uniformly(args []value) (value, error) {
	switch {
	case x.op == round:
		return value{f: float64(float32(args[0].f))}, nil
	case x.op == ToFixed:
		v, err := toFixed(args[0].f)
		return value{x: v}, err
	case x.op == ToFloat && x.args[0].fixed:
		return value{f: float64(float32(int64(args[0].x)) / float32(fixed.One))}, nil
	case x.op == ToFloat:
		return args[0], nil
	case x.op == As:
		return value{f: float64(category(float32(args[0].f), x.index))}, nil
	case x.op == Not:
		return truth(args[0].f == 0), nil
	case x.op >= Equal && x.op <= GreaterEqual && x.args[0].fixed:
		return truth(holds(x.op, args[0].x, args[1].x)), nil
	case x.op >= Equal && x.op <= GreaterEqual:
		return truth(holds(x.op, args[0].f, args[1].f)), nil
	case x.op >= Exp && x.op <= Pow:
		return curve(x.op, args), nil
	case x.fixed:
		return fix(x.op, args)
	}
	return value{f: arithmetic[float64](x.op, args)}, nil
}

// constant is the value of a uniform code in a block.
func (m *machine) constant(x *code, b *block) operand {
	c := m.known(x, b)
	if x.truth {
		return mask(c.f == 1)
	}
	return operand{k: float32(c.f)}
}

// known is the value of a uniform code in a block as it was computed.
func (m *machine) known(x *code, b *block) constant {
	c := m.constants[b.degree*len(m.slots)+x.slot]
	for i := 0; c.fails && i < b.n; i++ {
		m.fail(i)
	}
	return c
}

var allBits = math.Float32frombits(0xffffffff)

// mask is true or false for all cells.
func mask(b bool) operand {
	if b {
		return operand{k: allBits}
	}
	return operand{}
}

// load is a field in the cells of a block.
func (m *machine) load(column *fields.Column, x *code, b *block, d int) operand {
	if b.agents != nil && m.scope.Fields[x.field].Attribute {
		b = b.agents
	}
	if x.fixed {
		o := m.result(x, b.n, d)
		if v, in := gather(column.Fixed, x.part, x.parts, b, m.fixed, d); !in {
			copy(m.units(o, b.n), v)
		}
		return o
	}
	if column.Fixed == nil {
		v, in := gather(column.Float32, x.part, x.parts, b, m.registers, d)
		return operand{v: v, in: in}
	}
	to := m.register(d, b.n) // a category
	for i := range to {
		to[i] = float32(fixed.Fixed(column.Fixed[b.cell(i)]).Float64())
	}
	return operand{v: to, in: true}
}

// gather is a component of a column in the cells of a block: where it lies, or in a register.
func gather[T float32 | int64](column []T, part, parts int, b *block, registers []T, d int) (v []T, in bool) {
	if b.cells == nil && b.stride == 1 && parts == 1 {
		return column[b.first:][:b.n], false
	}
	to := registers[d*blockSize:][:b.n:b.n]
	if b.cells != nil {
		for i, c := range b.cells[:b.n] {
			to[i] = column[int(c)*parts+part]
		}
		return to, true
	}
	at, step := b.first*parts+part, b.stride*parts
	for i := range to {
		to[i] = column[at]
		at += step
	}
	return to, true
}

// list is a number of each cell in those of a block.
func (m *machine) list(column []float32, b *block, d int) operand {
	v, in := gather(column, 0, 1, b, m.registers, d)
	return operand{v: v, in: in}
}

// eval computes a code in the cells of a block. What it keeps is in registers from d on, its result in d if in a register at all.
func (m *machine) eval(x *code, b *block, d int) operand {
	switch {
	case x.uniform && x.fixed:
		o := m.result(x, b.n, d)
		fill(m.units(o, b.n), int64(m.known(x, b).x))
		return o
	case x.uniform:
		return m.constant(x, b)
	case x.memo > 0:
		return m.remembered(x, b, d)
	}
	return m.computed(x, b, d)
}

// remembered is a code that several others use: computed for the first of them.
func (m *machine) remembered(x *code, b *block, d int) operand {
	r, k := m.Program.registers-x.memo, len(m.lets)+x.memo-1
	if m.memory[x.memo] != b.id {
		reached, faults, need := m.reach, m.faults, m.need
		m.reach.mask, m.need = nil, nil // others may need the rest
		m.collect(k)
		m.keep(m.computed(x, b, d), b.n, r)
		m.memory[x.memo], m.reach, m.faults, m.need = b.id, reached, faults, need
	}
	if x.fails() {
		m.failAs(&m.failed[k], b.n)
	}
	o := m.result(x, b.n, r)
	o.in = false
	return o
}

// keep puts an operand of n cells into a register.
func (m *machine) keep(o operand, n, d int) {
	switch {
	case o.at > 0:
		copy(m.amounts(d, n), m.units(o, n))
	case o.v != nil:
		copy(m.register(d, n), o.v)
	default:
		fill(m.register(d, n), o.k)
	}
}

// computed is a code that is computed now.
func (m *machine) computed(x *code, b *block, d int) operand {
	switch x.op {
	case tableEntry:
		return operand{v: counting[:b.n]}
	case lookup:
		a, t := m.eval(x.args[0], b, d), &m.tabled[x.index]
		to := m.register(d, b.n)
		kernel.Lookup(to, m.full(a, b.n, d), m.values[t.at+b.degree*t.size:][:t.size])
		return operand{v: to, in: true}
	case relaxed:
		return m.relax(x, b, d)
	case Get:
		return m.load(&m.prev[x.field], x, b, d)
	case Now:
		return m.load(&m.now[x.field], x, b, d)
	case UseLet:
		return m.let(x, b)
	case Degree:
		if x.near {
			return m.list(m.degree, b, d)
		}
		return operand{k: float32(m.degrees[b.degree])}
	case Coordinate:
		return m.list(m.coordinates[x.index], b, d)
	case Step:
		return operand{k: float32(b.pattern.Deltas[b.step].At(x.index))}
	case AtCell:
		return m.eval(x.args[0], b.own, d)
	case Not, And, Or, Choose:
		return m.logic(x, b, d)
	case alongside:
		return m.first(x, b, d)
	}
	switch {
	case x.op < Chance && (x.fixed || x.args[0].fixed), x.op == square && x.fixed:
		return m.exact(x, b, d)
	case x.op == ToFloat, x.op == As:
		return m.convert(x, b, d)
	case x.op == Min, x.op == Max, x.op == Clamp:
		return m.extreme(x, b, d)
	case x.draws() && x.op != One:
		return m.draw(x, b, d)
	case x.op >= Sum && x.op <= At:
		return m.around(x, b, d)
	case len(x.args) == 1:
		return m.unary(x, b, d)
	}
	return m.binary(x, b, d)
}

// let is the value of a let that was computed for the block.
func (m *machine) let(x *code, b *block) operand {
	if x.fails() {
		m.failAs(&m.failed[x.index], b.n)
	}
	o := m.result(x, b.n, x.index)
	o.in = false
	return o
}

// first is the first of several codes; the others are computed for their faults.
func (m *machine) first(x *code, b *block, d int) operand {
	o := m.eval(x.args[0], b, d)
	for _, a := range x.args[1:] {
		m.eval(a, b, o.after(d))
	}
	return o
}

// draws reports whether it draws a number.
func (x *code) draws() bool { return x.op >= Chance && x.op <= Pick || x.op == One }

// after is the register after that of an operand, if it has one.
func (o *operand) after(d int) int {
	if o.in {
		return d + 1
	}
	return d
}

// full is an operand as a number for each cell.
func (m *machine) full(o operand, n, d int) []float32 {
	if o.v != nil {
		return o.v
	}
	to := m.register(d, n)
	fill(to, o.k)
	return to
}
