package fixed

import "math/bits"

// Add is x + y, exactly.
func (x Fixed) Add(y Fixed) (Fixed, error) {
	s := x + y
	if (s^x)&(s^y) < 0 {
		return fault(ErrOverflow, "add", x, y)
	}
	return s, nil
}

// Sub is x - y, exactly.
func (x Fixed) Sub(y Fixed) (Fixed, error) {
	d := x - y
	if (x^y)&(d^x) < 0 {
		return fault(ErrOverflow, "sub", x, y)
	}
	return d, nil
}

// Neg returns -x, which only Min does not have.
func (x Fixed) Neg() (Fixed, error) {
	if x == Min {
		return fault(ErrOverflow, "neg", x)
	}
	return -x, nil
}

// Abs is x without its sign.
func (x Fixed) Abs() (Fixed, error) {
	if x == Min {
		return fault(ErrOverflow, "abs", x)
	}
	return max(x, -x), nil
}

// Mul is floor(x·y).
func (x Fixed) Mul(y Fixed) (Fixed, error) {
	z, ok := x.TryMul(y)
	if !ok {
		return fault(ErrOverflow, "mul", x, y)
	}
	return z, nil
}

// TryMul is [Fixed.Mul], or false instead of an error, which takes memory.
func (x Fixed) TryMul(y Fixed) (z Fixed, ok bool) {
	h, l := bits.Mul64(uint64(x), uint64(y))
	hi := int64(h) - int64(x>>63&y) - int64(y>>63&x) // of the signed product
	z = Fixed(uint64(hi)<<(64-fractionBits) | l>>fractionBits)
	if hi>>(fractionBits-1) != int64(z>>63) || hi>>fractionBits != int64(z>>63) {
		return 0, false
	}
	return z, true
}

// Div is floor(x/y).
func (x Fixed) Div(y Fixed) (Fixed, error) {
	z, ok := x.TryDiv(y)
	switch {
	case y == 0:
		return fault(ErrDivideByZero, "div", x, y)
	case !ok:
		return fault(ErrOverflow, "div", x, y)
	}
	return z, nil
}

// TryDiv is [Fixed.Div], or false instead of an error, which takes memory.
func (x Fixed) TryDiv(y Fixed) (z Fixed, ok bool) {
	n, d := magnitude(x), magnitude(y)
	hi, lo := n>>(64-fractionBits), n<<fractionBits
	if hi >= d { // also of a division by zero
		return 0, false
	}
	q, r := bits.Div64(hi, lo, d)
	negative := x^y < 0
	if negative && r != 0 {
		q++ // away from zero; a wrap to 0 is seen below
	}
	if z, ok = signed(q, negative); ok && (q != 0 || r == 0 || !negative) {
		return z, true
	}
	return 0, false
}

// Mod is x - y·floor(x/y), exactly: zero, or of y's sign and smaller than y.
func (x Fixed) Mod(y Fixed) (Fixed, error) {
	if y == 0 {
		return fault(ErrDivideByZero, "mod", x, y)
	}
	r := x % y
	if r != 0 && r^y < 0 {
		r += y
	}
	return r, nil
}

// Lerp is floor(x + (y-x)·t), without an error on the way: x for t = 0, y for
// t = One, between them in between and monotonic, and further on beyond.
func (x Fixed) Lerp(y, t Fixed) (Fixed, error) {
	distance := uint64(y) - uint64(x)
	down := y < x
	if down {
		distance = -distance
	}
	down = down != (t < 0)
	hi, lo := bits.Mul64(distance, magnitude(t))
	if down { // round up what is taken away
		var c uint64
		lo, c = bits.Add64(lo, uint64(fraction), 0)
		hi += c
	}
	step := hi<<(64-fractionBits) | lo>>fractionBits
	room := uint64(Max) - uint64(x)
	if down {
		room = uint64(x) - uint64(1<<63)
	}
	switch {
	case hi>>fractionBits != 0 || step > room:
		return fault(ErrOverflow, "lerp", x, y, t)
	case down:
		return Fixed(uint64(x) - step), nil
	}
	return Fixed(uint64(x) + step), nil
}

// magnitude is |x|, for Min too.
func magnitude(x Fixed) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// signed returns a magnitude with a sign, if Fixed can hold the number.
func signed(m uint64, negative bool) (Fixed, bool) {
	if negative {
		return Fixed(-m), m <= 1<<63
	}
	return Fixed(m), m <= uint64(Max)
}
