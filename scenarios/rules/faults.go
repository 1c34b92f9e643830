package rules

import (
	"math"
	"slices"

	"github.com/murksim/murksim/internal/kernel"
)

// An operation of fixed numbers can have no result. A machine computes every branch in all cells of a block, so it keeps count of where each is evaluated: a fault
// elsewhere is none. Lets and codes that several others use are computed without regard to that; they keep their faults, which become those of who uses them.

// lanes are the cells of a block in which something has no result.
type lanes struct {
	any bool
	is  [blockSize]bool
}

// A reach says in which cells of a block a code is evaluated.
type reach struct {
	mask  []float32 // nil: in all
	spare int       // masks that are in use
}

// unknown, never and perhaps are what is known of the faults of a code.
const (
	unknown uint8 = iota
	never
	perhaps
)

// fails reports whether a code, or what is in it, can have no result. The first call finds it out for all that is in it.
func (x *code) fails() bool {
	if x == nil {
		return false
	}
	if x.failing == unknown {
		x.failing = never
		for _, y := range append(slices.Clone(x.args), x.where, x.els) {
			x.failing = max(x.failing, failing(y))
		}
		if x.faults() {
			x.failing = perhaps
		}
	}
	return x.failing == perhaps
}

// faults reports whether the operation itself can have no result.
func (x *code) faults() bool {
	switch x.op {
	case ToFixed:
		v, known := x.args[0].literal()
		_, err := toFixed(v)
		return !known || err != nil
	case Add, Subtract, Multiply, Divide, Mod, Negate, Abs, Sqrt, square, Sum, Mean:
		return x.fixed
	}
	return false
}

// literal is a number that is written out, with a sign or without.
func (x *code) literal() (v float64, ok bool) {
	switch x.op {
	case Const:
		return x.value, true
	case Negate:
		v, ok = x.args[0].literal()
	}
	return -v, ok
}

// failing is what is known of a code that stands for another one.
func failing(of *code) uint8 {
	if of.fails() {
		return perhaps
	}
	return never
}

// collect lets faults from now on be those of a let or of a shared code, by its place in the list, or, with the last place, of a formula.
func (m *machine) collect(k int) {
	if m.failed == nil {
		return
	}
	if m.faults = &m.failed[k]; m.faults.any {
		*m.faults = lanes{}
	}
}

// fail notes that an operation has no result in a cell of the block, and returns what stands there instead.
func (m *machine) fail(i int) int64 {
	if m.reach.mask == nil || math.Float32bits(m.reach.mask[i]) != 0 {
		m.faults.any, m.faults.is[i] = true, true
	}
	return 0
}

// firstFault is the first cell of a block in which what was computed has no result; -1: there is none.
func (m *machine) firstFault(n int) int {
	if m.failed == nil || !m.faults.any {
		return -1
	}
	return slices.Index(m.faults.is[:n], true)
}

// failAs notes the faults of what is used.
func (m *machine) failAs(of *lanes, n int) {
	if !of.any {
		return
	}
	for i, is := range of.is[:n] {
		if is {
			m.fail(i)
		}
	}
}

// spare is memory for a mask, until the reach is again what it was.
func (m *machine) spare(n int) []float32 {
	if m.reach.spare == len(m.masks) {
		m.masks = append(m.masks, make([]float32, blockSize))
	}
	m.reach.spare++
	return m.masks[m.reach.spare-1][:n]
}

// narrow lets a code be evaluated only where a mask is true, or where it is not. It returns the reach as it was.
func (m *machine) narrow(x *code, mask []float32, is bool) (was reach) {
	if was = m.reach; !x.fails() {
		return was
	}
	to := m.spare(len(mask))
	if copy(to, mask); !is {
		kernel.Flip(to, mask, allOnes)
	}
	if was.mask != nil {
		compute(And, to, to, operand{v: was.mask})
	}
	m.reach.mask = to
	return was
}
