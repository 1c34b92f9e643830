package kernel

import "math"

// bitsOf is true or false as all bits of a number, or none.
func bitsOf(b bool) float32 {
	var n uint32
	if b {
		n = 1
	}
	return math.Float32frombits(-n)
}

// An equal compares numbers with one by their bits, without a branch: which processors guess, and often wrongly.
type equal struct{ bits, seen uint32 }

func equalTo(k float32) equal {
	switch {
	case k == 0:
		return equal{0, 1<<31 - 1} // of either sign
	case k != k:
		return equal{1, 0} // nothing
	}
	return equal{math.Float32bits(k), math.MaxUint32}
}

// mask is all bits if a number is equal, and none if it is not.
func (e equal) mask(v float32) uint32 {
	return uint32(int64(uint64(math.Float32bits(v)&e.seen^e.bits)-1) >> 63)
}

func combinePlain(op Op, to, a, b []float32) {
	a, b = a[:len(to)], b[:len(to)]
	switch op {
	case OpAdd:
		for i := range to {
			to[i] = a[i] + b[i]
		}
	case OpSubtract:
		for i := range to {
			to[i] = a[i] - b[i]
		}
	case OpMultiply:
		for i := range to {
			to[i] = float32(a[i] * b[i])
		}
	case OpDivide:
		for i := range to {
			to[i] = a[i] / b[i]
		}
	case OpLeast:
		for i, v := range a {
			if b[i] < v {
				v = b[i]
			}
			to[i] = v
		}
	case OpMost:
		for i, v := range a {
			if b[i] > v {
				v = b[i]
			}
			to[i] = v
		}
	case OpAnd:
		for i := range to {
			to[i] = math.Float32frombits(math.Float32bits(a[i]) & math.Float32bits(b[i]))
		}
	case OpOr:
		for i := range to {
			to[i] = math.Float32frombits(math.Float32bits(a[i]) | math.Float32bits(b[i]))
		}
	default:
		comparePlain(op, to, a, b)
	}
}

func comparePlain(op Op, to, a, b []float32) {
	switch op {
	case OpGreater:
		op, a, b = OpLess, b, a
	case OpGreaterEqual:
		op, a, b = OpLessEqual, b, a
	}
	a, b = a[:len(to)], b[:len(to)]
	switch op {
	case OpEqual:
		for i := range to {
			to[i] = bitsOf(a[i] == b[i])
		}
	case OpNotEqual:
		for i := range to {
			to[i] = bitsOf(a[i] != b[i])
		}
	case OpLess:
		for i := range to {
			to[i] = bitsOf(a[i] < b[i])
		}
	case OpLessEqual:
		for i := range to {
			to[i] = bitsOf(a[i] <= b[i])
		}
	}
}

func combineEachPlain(op Op, to, a []float32, k float32) {
	a = a[:len(to)]
	switch op {
	case OpAdd:
		for i, v := range a {
			to[i] = v + k
		}
	case OpSubtract:
		for i, v := range a {
			to[i] = v - k
		}
	case OpMultiply:
		for i, v := range a {
			to[i] = float32(v * k)
		}
	case OpDivide:
		for i, v := range a {
			to[i] = v / k
		}
	case OpLeast:
		for i, v := range a {
			if k < v {
				v = k
			}
			to[i] = v
		}
	case OpMost:
		for i, v := range a {
			if k > v {
				v = k
			}
			to[i] = v
		}
	case OpAnd:
		for i, v := range a {
			to[i] = math.Float32frombits(math.Float32bits(v) & math.Float32bits(k))
		}
	case OpOr:
		for i, v := range a {
			to[i] = math.Float32frombits(math.Float32bits(v) | math.Float32bits(k))
		}
	default:
		compareEachPlain(op, to, a, k)
	}
}

func compareEachPlain(op Op, to, a []float32, k float32) {
	switch op {
	case OpEqual, OpNotEqual:
		of, flip := equalTo(k), uint32(0)
		if op == OpNotEqual {
			flip = math.MaxUint32
		}
		for i, v := range a {
			to[i] = math.Float32frombits(of.mask(v) ^ flip)
		}
	case OpLess:
		for i, v := range a {
			to[i] = bitsOf(v < k)
		}
	case OpLessEqual:
		for i, v := range a {
			to[i] = bitsOf(v <= k)
		}
	case OpGreater:
		for i, v := range a {
			to[i] = bitsOf(v > k)
		}
	case OpGreaterEqual:
		for i, v := range a {
			to[i] = bitsOf(v >= k)
		}
	}
}

func choosePlain(to, mask, yes, no []float32, yesK, noK float32) {
	mask = mask[:len(to)]
	pick := func(m, y, n float32) float32 {
		k := math.Float32bits(m)
		return math.Float32frombits(math.Float32bits(y)&k | math.Float32bits(n)&^k)
	}
	switch {
	case yes == nil && no == nil:
		for i, m := range mask {
			to[i] = pick(m, yesK, noK)
		}
	case yes == nil:
		no = no[:len(to)]
		for i, m := range mask {
			to[i] = pick(m, yesK, no[i])
		}
	case no == nil:
		yes = yes[:len(to)]
		for i, m := range mask {
			to[i] = pick(m, yes[i], noK)
		}
	default:
		yes, no = yes[:len(to)], no[:len(to)]
		for i, m := range mask {
			to[i] = pick(m, yes[i], no[i])
		}
	}
}

func sumNearPlain(to, in []float32, first int, offsets []int) {
	at := func(k int) []float32 { return in[first+offsets[k]:][:len(to)] }
	if len(offsets) == 0 {
		for i := range to {
			to[i] = float32(math.Copysign(0, -1))
		}
		return
	}
	copy(to, at(0))
	k := 1
	for ; k+4 <= len(offsets); k += 4 {
		add4(to, at(k), at(k+1), at(k+2), at(k+3), 1)
	}
	switch len(offsets) - k {
	case 3:
		add3(to, at(k), at(k+1), at(k+2), 1)
	case 2:
		add2(to, at(k), at(k+1), 1)
	case 1:
		add1(to, at(k), 1)
	}
}

func countNearPlain(to, in []float32, first int, offsets []int, k float32) {
	at := func(j int) []float32 { return in[first+offsets[j]:][:len(to)] }
	of := equalTo(k)
	clear(to)
	j := 0
	for ; j+4 <= len(offsets); j += 4 {
		a, b, c, d := at(j), at(j+1), at(j+2), at(j+3)
		for i := range to {
			to[i] -= float32(int32(of.mask(a[i]) + of.mask(b[i]) + of.mask(c[i]) + of.mask(d[i])))
		}
	}
	for ; j < len(offsets); j++ {
		for i, v := range at(j) {
			to[i] -= float32(int32(of.mask(v)))
		}
	}
}

// countApart is countNearPlain for elements that lie apart: all neighbours of one, then those of the next, which may lie in the same lines of a cache.
func countApart(to, in []float32, first, stride int, offsets []int, k float32) {
	of := equalTo(k)
	for i := range to {
		n := uint32(0)
		for _, o := range offsets {
			n -= of.mask(in[first+o])
		}
		to[i] = float32(n)
		first += stride
	}
}
