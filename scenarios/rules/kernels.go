package rules

import (
	"math"

	"github.com/murksim/murksim/exact/f32"
)

// curves are the functions of one number from Exp on.
var curves = [...]func(float32) float32{f32.Exp, f32.Log, f32.Sin, f32.Cos, f32.Tanh}

// compute computes an operation of two numbers for each cell, of which the second can be one for all.
func compute(op Op, to, a []float32, o operand) {
	if o.v == nil {
		computeOne(op, to, a[:len(to)], o.k)
		return
	}
	a, b := a[:len(to)], o.v[:len(to)]
	switch op {
	case Add:
		for i := range to {
			to[i] = a[i] + b[i]
		}
	case Subtract:
		for i := range to {
			to[i] = a[i] - b[i]
		}
	case Multiply:
		for i := range to {
			to[i] = float32(a[i] * b[i])
		}
	case Divide:
		for i := range to {
			to[i] = a[i] / b[i]
		}
	case Mod:
		for i := range to {
			to[i] = modulo(a[i], b[i])
		}
	case Pow:
		for i := range to {
			to[i] = f32.Pow(a[i], b[i])
		}
	default:
		compareEach(op, to, a, b)
	}
}

// compareEach compares the numbers of each cell.
func compareEach(op Op, to, a, b []float32) {
	switch op {
	case Greater:
		op, a, b = Less, b, a
	case GreaterEqual:
		op, a, b = LessEqual, b, a
	}
	a, b = a[:len(to)], b[:len(to)]
	switch op {
	case Equal:
		for i := range to {
			to[i] = bits(a[i] == b[i])
		}
	case NotEqual:
		for i := range to {
			to[i] = bits(a[i] != b[i])
		}
	case Less:
		for i := range to {
			to[i] = bits(a[i] < b[i])
		}
	case LessEqual:
		for i := range to {
			to[i] = bits(a[i] <= b[i])
		}
	}
}

// computeOne computes an operation with one number for all cells.
func computeOne(op Op, to, a []float32, k float32) {
	switch op {
	case Add:
		for i := range to {
			to[i] = a[i] + k
		}
	case Subtract:
		for i := range to {
			to[i] = a[i] - k
		}
	case Multiply:
		for i := range to {
			to[i] = float32(a[i] * k)
		}
	case Divide:
		for i := range to {
			to[i] = a[i] / k
		}
	case Mod:
		for i := range to {
			to[i] = modulo(a[i], k)
		}
	case Pow:
		for i := range to {
			to[i] = f32.Pow(a[i], k)
		}
	case Equal:
		for i := range to {
			to[i] = bits(a[i] == k)
		}
	case NotEqual:
		for i := range to {
			to[i] = bits(a[i] != k)
		}
	case Less:
		for i := range to {
			to[i] = bits(a[i] < k)
		}
	case LessEqual:
		for i := range to {
			to[i] = bits(a[i] <= k)
		}
	case Greater:
		for i := range to {
			to[i] = bits(a[i] > k)
		}
	case GreaterEqual:
		for i := range to {
			to[i] = bits(a[i] >= k)
		}
	}
}

// bits is true or false as all bits of a number, or none.
func bits(b bool) float32 {
	var n uint32
	if b {
		n = 1
	}
	return math.Float32frombits(-n)
}

// modulo is the remainder with the sign of the divisor.
func modulo(a, b float32) float32 {
	args := [2]value{{f: float64(a)}, {f: float64(b)}}
	return arithmetic[float32](Mod, args[:])
}
