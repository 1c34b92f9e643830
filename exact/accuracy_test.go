package exact_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/exact"
)

const (
	referenceBits = 192        // working precision of the reference functions
	piBits        = 1024 + 256 // enough to reduce the largest float64
)

// newFloat returns a zero of the given precision.
func newFloat(bits uint) *big.Float { return new(big.Float).SetPrec(bits) }

// arctanInverse returns arctan(1/n) by its series.
func arctanInverse(n int64, bits uint) *big.Float {
	power := newFloat(bits).Quo(newFloat(bits).SetInt64(1), newFloat(bits).SetInt64(n))
	square := newFloat(bits).SetInt64(n * n)
	sum := newFloat(bits)
	for k := int64(1); power.MantExp(nil) > -int(bits)-8; k += 2 {
		term := newFloat(bits).Quo(power, newFloat(bits).SetInt64(k))
		if k%4 == 3 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power.Quo(power, square)
	}
	return sum
}

// halfPi is π/2 by Machin's formula: π/4 = 4·arctan(1/5) - arctan(1/239).
var halfPi = func() *big.Float {
	a, b := arctanInverse(5, piBits), arctanInverse(239, piBits)
	a.Mul(a, newFloat(piBits).SetInt64(4))
	return a.Mul(a.Sub(a, b), newFloat(piBits).SetInt64(2))
}()

// ln2 is 2·artanh(1/3).
var ln2 = artanhTwice(newFloat(referenceBits).Quo(big.NewFloat(1), big.NewFloat(3)))

// artanhTwice returns 2·artanh(s) by its series.
func artanhTwice(s *big.Float) *big.Float {
	square := newFloat(referenceBits).Mul(s, s)
	power, sum := newFloat(referenceBits).Set(s), newFloat(referenceBits)
	if s.Sign() == 0 {
		return sum
	}
	term, divisor := newFloat(referenceBits), newFloat(referenceBits)
	stop := s.MantExp(nil) - referenceBits
	for k := int64(1); power.MantExp(nil) > stop; k += 2 {
		sum.Add(sum, term.Quo(power, divisor.SetInt64(k)))
		power.Mul(power, square)
	}
	return sum.Add(sum, sum)
}

func bigLog(x float64) *big.Float {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	b := newFloat(referenceBits).SetFloat64(m)
	one := big.NewFloat(1)
	s := newFloat(referenceBits).Quo(newFloat(referenceBits).Sub(b, one), newFloat(referenceBits).Add(b, one))
	sum := newFloat(referenceBits).Mul(ln2, newFloat(referenceBits).SetInt64(int64(k)))
	return sum.Add(sum, artanhTwice(s))
}

func bigExp(x float64) *big.Float {
	const squarings = 12
	k := int64(math.RoundToEven(x / math.Ln2))
	r := newFloat(referenceBits).Mul(ln2, newFloat(referenceBits).SetInt64(k))
	r.Sub(newFloat(referenceBits).SetFloat64(x), r)
	r.SetMantExp(r, -squarings)
	sum, term := newFloat(referenceBits).SetInt64(1), newFloat(referenceBits).SetInt64(1)
	for i := int64(1); term.Sign() != 0 && term.MantExp(nil) > -referenceBits; i++ {
		term.Quo(term.Mul(term, r), newFloat(64).SetInt64(i))
		sum.Add(sum, term)
	}
	for range squarings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// bigSin returns the sine of x + shift·π/2.
func bigSin(x float64, shift int64) *big.Float {
	b := newFloat(piBits).SetFloat64(x)
	q := newFloat(piBits).Quo(b, halfPi)
	half := big.NewFloat(math.Copysign(0.5, x))
	k, _ := q.Add(q, half).Int(nil)
	b.Sub(b, newFloat(piBits).Mul(halfPi, newFloat(piBits).SetInt(k)))
	r := newFloat(referenceBits).Set(b)
	quadrant := new(big.Int).And(k.Add(k, big.NewInt(shift)), big.NewInt(3)).Int64()

	square := newFloat(referenceBits).Mul(r, r)
	term, first := newFloat(referenceBits).SetInt64(1), int64(0)
	if quadrant&1 == 0 {
		term, first = newFloat(referenceBits).Set(r), 1
	}
	sum := newFloat(referenceBits).Set(term)
	if r.Sign() == 0 {
		return sum
	}
	stop := term.MantExp(nil) - referenceBits
	for i := first + 2; term.MantExp(nil) > stop; i += 2 {
		term.Quo(term.Mul(term, square), newFloat(64).SetInt64(-i*(i-1)))
		sum.Add(sum, term)
	}
	if quadrant >= 2 {
		sum.Neg(sum)
	}
	return sum
}

// ulps returns how far got lies from want, in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	unit := max(want.MantExp(nil)-53, -1074)
	if math.IsInf(got, 0) { // the next power of two stands for infinity, as rounding sees it
		got = math.Copysign(1, got)
		if want.MantExp(nil) > 1024 {
			return 0
		}
		unit -= 1024
		want = newFloat(referenceBits).SetMantExp(want, -1024)
	}
	d := newFloat(referenceBits).SetFloat64(got)
	d.Sub(d, want)
	f, _ := d.SetMantExp(d, -unit).Float64()
	return math.Abs(f)
}

// everyExponent returns count finite arguments of both signs, every exponent alike,
// a third of them with few bits set or nearly all.
func everyExponent(seed uint64, count int) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	args := make([]float64, 0, count)
	for i := range count {
		mantissa := r.Uint64() & (1<<52 - 1)
		switch i % 6 {
		case 0:
			mantissa >>= r.UintN(53)
		case 1:
			mantissa |= (1<<52 - 1) >> r.UintN(53)
		}
		args = append(args, math.Float64frombits(r.Uint64()>>63<<63|uint64(i%2047)<<52|mantissa))
	}
	return args
}

// between returns count arguments from lo up to hi, evenly strewn.
func between(seed uint64, count int, lo, hi float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	args := make([]float64, count)
	for i := range args {
		args[i] = lo + (hi-lo)*r.Float64()
	}
	return args
}

// around returns the 2·n+1 floats about x.
func around(x float64, n int) []float64 {
	b := math.Float64bits(x)
	args := make([]float64, 0, 2*n+1)
	for i := -n; i <= n; i++ {
		args = append(args, math.Float64frombits(b+uint64(int64(i))))
	}
	return args
}

func joined(lists ...[]float64) []float64 {
	var all []float64
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// multiplesOfHalfPi returns the float64 nearest to k·π/2 and its neighbours, for k
// up to 1000 and for powers of two, and the float64 that comes closest of all to a multiple.
func multiplesOfHalfPi() []float64 {
	args := around(0x1.6ac5b262ca1ffp+849, 3)
	for k := 1; k <= 1000; k++ {
		args = append(args, around(math.Pi/2*float64(k), 2)...)
	}
	for e := range 1000 {
		args = append(args, around(math.Ldexp(math.Pi/2, e), 2)...)
	}
	return args
}

// TestAccuracy compares with series in arbitrary precision. Only results of Exp
// that are subnormal are rounded twice.
func TestAccuracy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		f      func(float64) float64
		want   func(float64) *big.Float
		lo, hi float64 // arguments outside are left out
		args   []float64
		limit  float64 // in units of the last place
	}{
		{"Exp", exact.Exp, bigExp, -708.396, 746, joined(everyExponent(1, 60_000),
			between(2, 50_000, -708, 709.7), between(3, 20_000, -1, 1), around(709.782712893384, 50)), 0.53},
		{"Exp, subnormal", exact.Exp, bigExp, -746, -708.396, joined(between(4, 10_000, -745.2, -708.4),
			around(-745.1332191019412, 50), around(-708.3964185322641, 50)), 0.77},
		{"Log", exact.Log, bigLog, 0x1p-1074, math.MaxFloat64, joined(everyExponent(5, 80_000), between(6, 40_000, 0.5, 2),
			between(7, 20_000, 0.95, 1.05), around(1, 500), around(math.Sqrt2, 50), around(math.Sqrt2/2, 50)), 0.88},
		{"Sin", exact.Sin, func(x float64) *big.Float { return bigSin(x, 0) }, -math.MaxFloat64, math.MaxFloat64,
			joined(everyExponent(8, 40_000), between(9, 30_000, -10, 10), between(10, 20_000, -1e6, 1e6), multiplesOfHalfPi()), 0.82},
		{"Cos", exact.Cos, func(x float64) *big.Float { return bigSin(x, 1) }, -math.MaxFloat64, math.MaxFloat64,
			joined(everyExponent(11, 40_000), between(12, 30_000, -10, 10), between(13, 20_000, -1e6, 1e6), multiplesOfHalfPi()), 0.85},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			worst, at, count := 0.0, 0.0, 0
			for _, x := range tt.args {
				if x < tt.lo || x > tt.hi {
					continue
				}
				count++
				if e := ulps(tt.f(x), tt.want(x)); e > worst {
					worst, at = e, x
				}
			}
			t.Logf("largest error %.4f ulp, at %x, of %d arguments", worst, at, count)
			if worst >= tt.limit || count < 10_000 {
				t.Errorf("%s(%x) is %.4f ulp off, of %d arguments; want less than %g, of 10000", tt.name, at, worst, count, tt.limit)
			}
		})
	}
}
