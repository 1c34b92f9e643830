package observe

import "math"

// half returns the IEEE 754 half nearest to v, ties to even, as its bits. What is 65520 or more
// is infinite. The NaN that comes of a NaN is quiet.
func half(v float64) uint16 {
	b := math.Float64bits(v)
	sign := uint16(b>>48) & 0x8000
	switch abs := b &^ (1 << 63); {
	case abs > 0x7ff<<52:
		return sign | 0x7e00
	case abs >= math.Float64bits(65520):
		return sign | 0x7c00
	case abs >= math.Float64bits(0x1p-14): // normal: 10 bits of the fraction stay, 42 go
		abs -= (1023 - 15) << 52 // the exponents' biases
		return sign | uint16((abs+(1<<41-1)+abs>>42&1)>>42)
	default: // a multiple of 2^-24, exact before it is rounded
		//detcheck:allow floatint at most 2^10
		return sign | uint16(math.RoundToEven(math.Abs(v)*0x1p24))
	}
}

// fromHalf is the number that bits of a half stand for.
func fromHalf(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&0x3ff)
	v := math.Inf(1)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 0:
		v = fraction * 0x1p-24
	case exponent < 31:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h&0x8000 != 0 {
		return -v
	}
	return v
}

// uint8Of returns the whole number nearest to v, ties to even, put into 0 to 255; 0 for a NaN.
func uint8Of(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(math.RoundToEven(v), 255))
}

// round returns the value of the element that v becomes.
func (e Element) round(v float64) float64 {
	switch e {
	case Uint8:
		return float64(uint8Of(v))
	case Float16:
		return fromHalf(half(v))
	}
	return float64(float32(v))
}

// String returns "float32", "uint8" or "float16".
func (e Element) String() string {
	if e > Float16 {
		return "invalid"
	}
	return [...]string{"float32", "uint8", "float16"}[e]
}
