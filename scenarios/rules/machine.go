package rules

import (
	"math"

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

// An operand is what a code comes to in the cells of a block: a number for each, or one for all. True is all bits, false none.
type operand struct {
	v  []float32 // nil: k for all
	k  float32
	in bool // v is a register that is free afterwards
}

// A machine computes a program's codes. It belongs to one goroutine at a time.
type machine struct {
	*Program
	prev, now [][]float32 // by field of the scope, those that are read
	next      [][]float32 // those that are written
	naive     *Naive
	bulks     []rng.Bulk
	constants []float64 // by degree, then by slot
	registers []float32
	cells     []int32   // of a block that is a list
	values    []float32 // of the tables
	blocks    uint64    // how many there were
	memory    []uint64  // by memo: of which block its value is
	here      block
	there     block // of neighbours
	words     []uint32
	need      []float32   // of the cells of the block: where it has no bits, nothing hangs on what is computed now; nil: all is needed
	wanted    []float32   // that of words
	outputs   [][]float32 // by target, while they are computed: the cells of the block in the columns that are written, in the place of registers; nil: not so
	dt        float64
	tick      uint64
	own       []float64
	world     []float64
}

// newMachine returns a machine; the program is nil where each cell is computed by itself.
func newMachine(p *Program) *machine {
	m := &machine{Program: p, cells: make([]int32, blockSize), words: make([]uint32, blockSize+rng.AtOnce+4), wanted: make([]float32, blockSize+rng.AtOnce+4)}
	if p != nil {
		m.memory = make([]uint64, p.memos+1)
	}
	return m
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
	m.constants = m.constants[:0]
	for degree := range m.degrees {
		for _, x := range m.slots {
			m.constants = append(m.constants, m.uniformly(x, degree))
		}
	}
	m.fillTables()
}

// counting are the counts that tables have entries for.
var counting = func() (all [blockSize]float32) {
	for i := range all {
		all[i] = float32(i)
	}
	return all
}()

// uniformly computes a uniform code, for a degree by its index.
func (m *machine) uniformly(x *code, degree int) float64 {
	switch x.op {
	case Const:
		return x.value
	case Own:
		return m.own[x.index]
	case World:
		return m.world[x.index]
	case Dt:
		return m.dt
	case Tick:
		return float64(m.tick)
	case Cells:
		return float64(m.scope.Lattice.Cells())
	case Degree:
		return float64(m.degrees[degree])
	case constantOf: // of an earlier slot
		return m.constants[degree*len(m.slots)+x.slot]
	}
	var memory [maxArguments]value
	args := memory[:len(x.args)]
	for i, a := range x.args {
		args[i].f = m.uniformly(a, degree)
	}
	switch {
	case x.op == round:
		return float64(float32(args[0].f))
	case x.op == ToFloat:
		return args[0].f
	case x.op == As:
		return float64(category(float32(args[0].f), x.index))
	case x.op == Not:
		return 1 - args[0].f
	case x.op == And:
		return min(args[0].f, args[1].f)
	case x.op == Or:
		return max(args[0].f, args[1].f)
	case x.op == Choose && args[0].f == 1:
		return args[1].f
	case x.op == Choose:
		return args[2].f
	case x.op >= Equal && x.op <= GreaterEqual:
		return truth(holds(x.op, args[0].f, args[1].f)).f
	case x.op >= Exp && x.op <= Pow:
		return curve(x.op, args).f
	}
	return arithmetic[float64](x.op, args)
}

// constant is the value of a uniform code in a block.
func (m *machine) constant(x *code, b *block) operand {
	v := m.constants[b.degree*len(m.slots)+x.slot]
	if x.truth {
		return mask(v == 1)
	}
	return operand{k: float32(v)}
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
func (m *machine) load(column []float32, x *code, b *block, d int) operand {
	if x.parts == 1 {
		return m.gather(column, b, d)
	}
	to := m.register(d, b.n)
	for i := range to {
		to[i] = column[b.cell(i)*x.parts+x.part]
	}
	return operand{v: to, in: true}
}

// gather is a column of one number a cell.
func (m *machine) gather(column []float32, b *block, d int) operand {
	if b.cells == nil && b.stride == 1 {
		return operand{v: column[b.first:][:b.n]}
	}
	to := m.register(d, b.n)
	if b.cells != nil {
		for i, c := range b.cells[:b.n] {
			to[i] = column[c]
		}
		return operand{v: to, in: true}
	}
	at := b.first
	for i := range to {
		to[i] = column[at]
		at += b.stride
	}
	return operand{v: to, in: true}
}

// eval computes a code in the cells of a block. What it keeps is in registers from d on, its result in d if in a register at all.
func (m *machine) eval(x *code, b *block, d int) operand {
	switch {
	case x.uniform:
		return m.constant(x, b)
	case x.memo > 0:
		return m.remembered(x, b, d)
	}
	return m.computed(x, b, d)
}

// remembered is a code that several others use: computed for the first of them.
func (m *machine) remembered(x *code, b *block, d int) operand {
	r := m.Program.registers - x.memo
	if m.memory[x.memo] != b.id {
		need := m.need
		m.need = nil // others may need the rest
		o := m.computed(x, b, d)
		m.need = need
		copy(m.register(r, b.n), m.full(o, b.n, d))
		m.memory[x.memo] = b.id
	}
	return operand{v: m.register(r, b.n)}
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
		return m.load(m.prev[x.field], x, b, d)
	case Now:
		return m.load(m.now[x.field], x, b, d)
	case UseLet:
		return operand{v: m.register(x.index, b.n)}
	case Degree:
		if x.near {
			return m.gather(m.degree, b, d)
		}
		return operand{k: float32(m.degrees[b.degree])}
	case Coordinate:
		return m.gather(m.coordinates[x.index], b, d)
	case Step:
		return operand{k: float32(b.pattern.Deltas[b.step].At(x.index))}
	case AtCell:
		return m.eval(x.args[0], b.own, d)
	case Not, And, Or, Choose:
		return m.logic(x, b, d)
	case ToFloat, As:
		return m.convert(x, b, d)
	case Min, Max, Clamp:
		return m.extreme(x, b, d)
	}
	switch {
	case x.draws() && x.op != One:
		return m.draw(x, b, d)
	case x.op >= Sum && x.op <= At:
		return m.around(x, b, d)
	case len(x.args) == 1:
		return m.unary(x, b, d)
	}
	return m.binary(x, b, d)
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
