package kernel

import (
	"math"
	"slices"
	"unsafe"
)

// An Op is an operation of two numbers, or a comparison, which gives all bits or none.
type Op uint8

// The operations.
const (
	OpAdd Op = iota
	OpSubtract
	OpMultiply
	OpDivide
	OpEqual
	OpNotEqual
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpLeast // the second number if it is less than the first, else the first
	OpMost  // if it is greater
	OpAnd   // of bits
	OpOr
)

// Combine computes an operation of each two elements. To may be one of the others; all have one length.
func Combine(op Op, to, a, b []float32) {
	if !vectors || len(to) == 0 {
		combinePlain(op, to, a, b)
		return
	}
	p, q, r, n := &a[:len(to)][0], &b[:len(to)][0], &to[0], len(to)
	switch op {
	case OpAdd:
		addPairs(p, q, r, n, nil)
	case OpSubtract:
		subtractPairs(p, q, r, n, nil)
	case OpMultiply:
		multiplyPairs(p, q, r, n, nil)
	case OpDivide:
		dividePairs(p, q, r, n, nil)
	case OpEqual:
		equalPairs(p, q, r, n, nil)
	case OpNotEqual:
		notEqualPairs(p, q, r, n, nil)
	case OpLess:
		lessPairs(p, q, r, n, nil)
	case OpLessEqual:
		lessEqualPairs(p, q, r, n, nil)
	case OpGreater:
		greaterPairs(p, q, r, n, nil)
	case OpGreaterEqual:
		greaterEqualPairs(p, q, r, n, nil)
	case OpLeast:
		leastPairs(p, q, r, n, nil)
	case OpMost:
		mostPairs(p, q, r, n, nil)
	case OpAnd:
		andPairs(p, q, r, n, nil)
	case OpOr:
		orPairs(p, q, r, n, nil)
	}
}

// CombineEach computes an operation of each element and k.
func CombineEach(op Op, to, a []float32, k float32) {
	if !vectors || len(to) == 0 {
		combineEachPlain(op, to, a, k)
		return
	}
	p, r, n := &a[:len(to)][0], &to[0], len(to)
	switch op {
	case OpAdd:
		addEach(p, r, n, &k)
	case OpSubtract:
		subtractEach(p, r, n, &k)
	case OpMultiply:
		multiplyEach(p, r, n, &k)
	case OpDivide:
		divideEach(p, r, n, &k)
	case OpEqual:
		equalEach(p, r, n, &k)
	case OpNotEqual:
		notEqualEach(p, r, n, &k)
	case OpLess:
		lessEach(p, r, n, &k)
	case OpLessEqual:
		lessEqualEach(p, r, n, &k)
	case OpGreater:
		greaterEach(p, r, n, &k)
	case OpGreaterEqual:
		greaterEqualEach(p, r, n, &k)
	case OpLeast:
		leastEach(p, r, n, &k)
	case OpMost:
		mostEach(p, r, n, &k)
	case OpAnd:
		andEach(p, r, n, &k)
	case OpOr:
		orEach(p, r, n, &k)
	}
}

// Choose takes yes where the mask has all bits and no where it has none. Yes or no may be nil: then it is k for all.
func Choose(to, mask, yes, no []float32, yesK, noK float32) {
	if !vectors || len(to) == 0 {
		choosePlain(to, mask, yes, no, yesK, noK)
		return
	}
	m, r, n := &mask[:len(to)][0], &to[0], len(to)
	switch {
	case yes != nil && no != nil:
		choosePairs(m, &yes[:n][0], &no[:n][0], r, n, nil)
	case yes != nil:
		chooseNo(m, &yes[:n][0], r, n, &noK)
	case no != nil:
		chooseYes(m, &no[:n][0], r, n, &yesK)
	default:
		w := [2]float32{yesK, noK}
		chooseEach(m, r, n, &w[0])
	}
}

// Flip turns the given bits of each element round.
func Flip(to, a []float32, bits uint32) {
	k := math.Float32frombits(bits)
	if vectors && len(to) > 0 {
		flipEach(&a[:len(to)][0], &to[0], len(to), &k)
		return
	}
	for i, v := range a[:len(to)] {
		to[i] = math.Float32frombits(math.Float32bits(v) ^ bits)
	}
}

// Floor is the next whole number below each element; -0 stays.
func Floor(to, a []float32) {
	if vectors && len(to) > 0 {
		floorEach(&a[:len(to)][0], &to[0], len(to), nil)
		return
	}
	for i, v := range a[:len(to)] {
		to[i] = float32(math.Floor(float64(v)))
	}
}

// Sqrt is the square root of each element.
func Sqrt(to, a []float32) {
	if vectors && len(to) > 0 {
		sqrtEach(&a[:len(to)][0], &to[0], len(to), nil)
		return
	}
	for i, v := range a[:len(to)] {
		to[i] = float32(math.Sqrt(float64(v)))
	}
}

const mostNear = 32 // neighbours that vector code takes

// SumNear adds the neighbours of elements first, first + 1, … of in, one after another: to is the sum of in at the offsets from there; -0 if there are none.
func SumNear(to, in []float32, first int, offsets []int) {
	if n := len(offsets); vectors && n > 0 && n <= mostNear && len(to) > 0 {
		bytes, from := inBytes(in, first, offsets, len(to))
		sumNear(from, &to[0], &bytes[0], n, len(to), 4*(slices.Max(offsets)+len(to)), nil)
		return
	}
	sumNearPlain(to, in, first, offsets)
}

// CountNear counts the neighbours that equal k, of elements first, first + stride, ….
func CountNear(to, in []float32, first, stride int, offsets []int, k float32) {
	if n := len(offsets); vectors && stride == 1 && n > 0 && n <= mostNear && len(to) > 0 {
		bytes, from := inBytes(in, first, offsets, len(to))
		countNear(from, &to[0], &bytes[0], n, len(to), 4*(slices.Max(offsets)+len(to)), &k)
		return
	}
	if stride == 1 {
		countNearPlain(to, in, first, offsets, k)
		return
	}
	countApart(to, in, first, stride, offsets, k)
}

// RelaxNear adds to elements first, first + 1, … of in a share k of what their neighbours have more: to is in + k·((Σ neighbours) - n·in), as [Relax] computes it.
// There must be a neighbour.
func RelaxNear(to, in []float32, first int, offsets []int, k float32) {
	w := NewWeights(k, 1, len(offsets))
	if n := len(offsets); vectors && n <= mostNear && len(to) > 0 && len(to) <= longest {
		bytes, from := inBytes(in, first, offsets, len(to))
		w.ahead = (&Neighbours{offsets, 1}).ahead(in)
		relaxVectors(&to[0], from, &bytes[0], n, len(to), 1, 0, &w.k)
		return
	}
	relaxNearPlain(to, in, first, offsets, &w)
}

func relaxNearPlain(to, in []float32, first int, offsets []int, w *Weights) {
	sumNearPlain(to, in, first, offsets)
	w.blend(to, in[first:][:len(to)], 1)
}

// inBytes are offsets in bytes, which were checked, and where they count from.
func inBytes(in []float32, first int, offsets []int, n int) (bytes [mostNear]int, from *float32) {
	for i, o := range offsets {
		_ = in[first+o:][:n]
		bytes[i] = 4 * o
	}
	return bytes, &in[first]
}

// Below is all bits where a word is below the limit, which is at most 2**32, and none where it is not, nor where need, if it is not nil, has none.
func Below(to []float32, words []uint32, need []float32, limit uint64) {
	const sign = 1 << 31
	if vectors && len(to) > 0 && limit < 1<<32 {
		w := [2]float32{math.Float32frombits(uint32(limit) ^ sign), math.Float32frombits(sign)}
		//detcheck:allow pointer a word has the size of a number, and the kernel looks at its bits
		of := (*float32)(unsafe.Pointer(&words[:len(to)][0]))
		if need == nil {
			belowEach(of, &to[0], len(to), &w[0])
		} else {
			belowNeeded(of, &need[:len(to)][0], &to[0], len(to), &w[0])
		}
		return
	}
	for i, v := range words[:len(to)] {
		is := bitsOf(uint64(v) < limit)
		if need != nil {
			is = math.Float32frombits(math.Float32bits(is) & math.Float32bits(need[i]))
		}
		to[i] = is
	}
}

// BelowEach is all bits where a word is below the element of p times 2**32, compared exactly, and none where it is not, or p is NaN.
func BelowEach(to []float32, words []uint32, p []float32) {
	if vectors && len(to) > 0 {
		//detcheck:allow pointer a word has the size of a number, and the kernel looks at its bits
		belowPairs((*float32)(unsafe.Pointer(&words[:len(to)][0])), &p[:len(to)][0], &to[0], len(to), nil)
		return
	}
	p = p[:len(to)]
	for i, w := range words[:len(to)] {
		to[i] = bitsOf(float64(w) < float64(p[i])*0x1p32)
	}
}

// Lookup takes the number of the table that each element counts, which are whole and below the length of the table.
func Lookup(to, a, table []float32) {
	const most = 16
	if vectors && len(to) > 0 && len(table) <= most {
		var all [most]float32
		copy(all[:], table)
		lookupEach(&a[:len(to)][0], &to[0], len(to), &all[0])
		return
	}
	for i, v := range a[:len(to)] {
		to[i] = table[int32(v)] //detcheck:allow floatint it is a count below the length of the table
	}
}

// Fetch fetches elements ahead of need, if it can.
func Fetch(v []float32) {
	if vectors && len(v) > 0 {
		fetchColumn(&v[0], len(v))
	}
}
