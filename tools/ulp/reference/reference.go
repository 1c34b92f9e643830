// Package reference computes the functions of package exact to more bits than they
// return, and measures errors in units of the last place.
//
// Every function is there twice. The truth is a series in [big.Float] with 192 bits,
// each step rounded once, so that some 180 bits are right. The quick version is a
// [Sum] of two float64, after a handful of formulas other than exact's; its error is
// below 2**-80 of the value, by counting roundings of 2**-103, the cancellations
// (a logarithm away from 1 keeps 4 bits less, a power 10 and the logarithm's) and the
// series left out, which are below 2**-106. TestQuick compares the two, and so does
// tools/ulp on a sample of whatever it measures.
//
// Where package math is called, it gives no more than the first approximation, which
// a step of Newton's method then corrects, and the special cases.
package reference

import (
	"math"
	"math/big"
)

// A Function is one of package exact, of x, or of x and y in the order of its arguments.
type Function struct {
	Name    string
	Two     bool // has two arguments
	quick   func(x, y float64) Sum
	truth   func(x, y float64) *big.Float
	special func(x, y float64) float64 // right where an argument is special
}

// Functions are all of package exact's.
var Functions = []Function{
	one("Exp", quickExp, bigExp, math.Exp),
	one("Log", quickLog, bigLog, math.Log),
	one("Sin", quickSin, bigSin, math.Sin),
	one("Cos", quickCos, bigCos, math.Cos),
	one("Tan", quickTan, bigTan, math.Tan),
	one("Atan", quickAtan, bigAtan, math.Atan),
	one("Cbrt", quickCbrt, bigCbrt, math.Cbrt),
	one("Tanh", quickTanh, bigTanh, math.Tanh),
	{"Atan2", true, quickAtan2, bigAtan2, math.Atan2},
	{"Pow", true, quickPow, bigPow, math.Pow},
	{"Hypot", true, quickHypot, bigHypot, specialHypot},
}

func one(name string, quick func(float64) Sum, truth func(float64) *big.Float, special func(float64) float64) Function {
	return Function{
		Name:    name,
		quick:   func(x, _ float64) Sum { return quick(x) },
		truth:   func(x, _ float64) *big.Float { return truth(x) },
		special: func(x, _ float64) float64 { return special(x) },
	}
}

// Named returns the function of that name.
func Named(name string) (f Function, found bool) {
	for _, f := range Functions {
		if f.Name == name {
			return f, true
		}
	}
	return f, false
}

// Special returns the result where no arithmetic decides it: for an argument that is
// zero, infinite or NaN, and where the result is NaN.
func (f Function) Special(x, y float64) (want float64, special bool) {
	switch {
	case edge(x) || f.Two && edge(y),
		f.Name == "Log" && x < 0,
		f.Name == "Pow" && x < 0 && math.Floor(y) != y:
		if want = f.special(x, y); want != want {
			want = math.NaN() // one NaN of all there are
		}
		return want, true
	}
	return 0, false
}

func edge(x float64) bool { return x == 0 || x != x || math.IsInf(x, 0) }

// specialHypot is not math.Hypot, whose version for 386 makes an infinity of some NaN.
func specialHypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	case x == 0:
		return y
	case y == 0:
		return x
	}
	return math.NaN()
}

// A Format is that of the results.
type Format struct {
	bits        int
	least, most int // 2**least is the least positive number, 2**most the first too large
}

// The formats of IEEE 754.
var (
	Float64 = Format{53, -1074, 1024}
	Float32 = Format{24, -149, 128}
)

// Measure says how far got lies from the value, in units of the value's last place,
// and whether it is the float nearest to it, at a tie the even one. An infinity
// counts as the power of two that comes after the largest float. The arguments must
// not be special.
func (f Function) Measure(p Format, got, x, y float64) (ulps float64, nearest bool) {
	ulps = p.ulps(got, f.quick(x, y))
	if math.Abs(ulps-0.5) > 0x1p-24 {
		return ulps, ulps < 0.5
	}
	return f.MeasureSlowly(p, got, x, y)
}

// MeasureSlowly is Measure by the series of 192 bits.
func (f Function) MeasureSlowly(p Format, got, x, y float64) (ulps float64, nearest bool) {
	want := f.truth(x, y)
	unit := max(want.MantExp(nil)-p.bits, p.least)
	if math.IsInf(got, 0) && want.MantExp(nil) > p.most {
		return 0, true
	}
	d := p.finite(got)
	d.Sub(d, want)
	d.Abs(d.SetMantExp(d, -unit))
	ulps, _ = d.Float64()
	off := d.Sub(d, big.NewFloat(0.5))
	if off.Sign() == 0 || off.MantExp(nil) < -100 { // a tie, as far as one can tell
		last, _ := p.finite(got).SetMantExp(p.finite(got), -unit).Int64()
		return 0.5, last%2 == 0
	}
	return ulps, off.Sign() < 0
}

// finite returns x, or the power of two after the largest float for an infinity.
func (p Format) finite(x float64) *big.Float {
	b := newFloat()
	if !math.IsInf(x, 0) {
		return b.SetFloat64(x)
	}
	return b.SetMantExp(newFloat().SetFloat64(math.Copysign(1, x)), p.most)
}

// ulps returns the distance of got from want.
func (p Format) ulps(got float64, want Sum) float64 {
	_, e := math.Frexp(want.Hi)
	if want.Hi == math.Copysign(math.Ldexp(0.5, e), want.Hi) && want.Lo*want.Hi < 0 {
		e-- // the second part takes the sum below the power of two
	}
	e += want.Exp
	if math.IsInf(got, 0) {
		if e > p.most {
			return 0
		}
		got = math.Copysign(math.Ldexp(1, p.most-1-want.Exp)*2, got)
	} else {
		got = math.Ldexp(got, -want.Exp)
	}
	unit := max(e-p.bits, p.least) - want.Exp
	return math.Abs(math.Ldexp((got-want.Hi)-want.Lo, -unit))
}
