package rules

import (
	"math"

	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/internal/kernel"
)

// curves are the functions of one number from Exp on.
var curves = [...]func(float32) float32{f32.Exp, f32.Log, f32.Sin, f32.Cos, f32.Tanh}

// A kernelOp is an operation that a kernel computes, if there is one.
type kernelOp struct {
	op    kernel.Op
	there bool
}

var kernelOps = func() (ops [256]kernelOp) {
	for op, k := range map[Op]kernel.Op{
		Add: kernel.OpAdd, Subtract: kernel.OpSubtract, Multiply: kernel.OpMultiply, Divide: kernel.OpDivide,
		Equal: kernel.OpEqual, NotEqual: kernel.OpNotEqual, Less: kernel.OpLess, LessEqual: kernel.OpLessEqual, Greater: kernel.OpGreater,
		GreaterEqual: kernel.OpGreaterEqual, Min: kernel.OpLeast, Max: kernel.OpMost, And: kernel.OpAnd, Or: kernel.OpOr,
	} {
		ops[op] = kernelOp{k, true}
	}
	return ops
}()

// swapped are the operations that do the same with their operands the other way around; 0: there is none.
var swapped = [256]Op{
	Add: Add, Multiply: Multiply, Equal: Equal, NotEqual: NotEqual, Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual,
}

// skips reports whether an element need not be computed: see machine.need.
func skips(need []float32, i int) bool { return need != nil && math.Float32bits(need[i]) == 0 }

// compute computes an operation of two numbers for each cell, of which the second can be one for all.
func compute(op Op, to, a []float32, o operand) { computeNeeded(op, to, a, o, nil) }

// computeNeeded may leave out what is not needed.
func computeNeeded(op Op, to, a []float32, o operand, need []float32) {
	switch k := kernelOps[op]; {
	case k.there && o.v != nil:
		kernel.Combine(k.op, to, a, o.v)
	case k.there:
		kernel.CombineEach(k.op, to, a, o.k)
	default:
		f := modulo
		if op == Pow {
			f = f32.Pow
		}
		for i, v := range a[:len(to)] {
			if skips(need, i) {
				continue
			}
			b := o.k
			if o.v != nil {
				b = o.v[i]
			}
			to[i] = f(v, b)
		}
	}
}

// modulo is the remainder with the sign of the divisor.
func modulo(a, b float32) float32 {
	const small = 1 << 24
	if a > -small && a < small && b > -small && b < small {
		n, d := int32(a), int32(b)
		if float32(n) == a && float32(d) == b && d != 0 { // whole numbers, as coordinates and ticks are
			switch r := n % d; {
			case r == 0:
				return float32(math.Copysign(0, float64(b)))
			case (r < 0) != (d < 0):
				return float32(r + d)
			default:
				return float32(r)
			}
		}
	}
	args := [2]value{{f: float64(a)}, {f: float64(b)}}
	return arithmetic[float32](Mod, args[:])
}

// choose takes one number where the mask is true, and another where it is not.
func choose(to, mask []float32, yes, no operand) { kernel.Choose(to, mask, yes.v, no.v, yes.k, no.k) }

func fill[T float32 | int64](to []T, k T) {
	for i := range to {
		to[i] = k
	}
}
