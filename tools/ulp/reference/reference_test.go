package reference

import (
	"math"
	"math/big"
	"testing"
)

// TestQuick compares the sums of two floats with the series in 192 bits.
func TestQuick(t *testing.T) {
	for _, f := range Functions {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			worst, at, count := 0.0, [2]float64{}, 0
			args := f.Arguments(Float64, 1, 4000)
			if !f.Two {
				args = append(args, f.edges(Float64)...)
			}
			for _, a := range args {
				if _, special := f.Special(a[0], a[1]); special {
					continue
				}
				want, q := f.truth(a[0], a[1]), f.quick(a[0], a[1])
				if e := want.MantExp(nil); e > 1500 || e < -1500 {
					continue // of powers, the quick version bounds the exponent
				}
				count++
				if want.Sign() == 0 {
					if q.Hi != 0 || q.Lo != 0 {
						t.Errorf("%s(%x) = %x + %x, want 0", f.Name, a, q.Hi, q.Lo)
					}
					continue
				}
				got := newFloat().Add(newFloat().SetFloat64(q.Hi), newFloat().SetFloat64(q.Lo))
				got.SetMantExp(got, q.Exp)
				got.Sub(got, want)
				e, _ := got.Quo(got, want).Float64()
				if e = math.Abs(e); e > worst {
					worst, at = e, a
				}
			}
			t.Logf("largest relative error 2**%.1f, at %x, of %d arguments", math.Log2(worst), at, count)
			if worst > 0x1p-80 || count < 1000 {
				t.Errorf("%s is off by 2**%.1f at %x, of %d arguments; want at most 2**-80, of 1000", f.Name, math.Log2(worst), at, count)
			}
		})
	}
}

// The truth itself, against identities that its series do not use.
func TestTruth(t *testing.T) {
	for _, x := range []float64{0x1p-300, 1e-9, 0.3, 1, 1.7, 40, 1e5} {
		sin, cos := bigSin(x), bigCos(x)
		s := newFloat().Add(newFloat().Mul(sin, sin), newFloat().Mul(cos, cos))
		near(t, "sin²+cos²", x, s, newFloat().SetInt64(1))
		near(t, "tan(atan)", x, tanBig(bigAtan(x)), newFloat().SetFloat64(x))
		if x < 2 {
			near(t, "artanh(tanh)", x, odd(1, bigTanh(x), 1), newFloat().SetFloat64(x))
		}
		root := bigCbrt(x)
		near(t, "cbrt³", x, newFloat().Mul(root, newFloat().Mul(root, root)), newFloat().SetFloat64(x))
		near(t, "pow(x, 3)", x, bigPow(x, 3), newFloat().Mul(newFloat().SetFloat64(x), newFloat().SetFloat64(x*x)).Mul(
			newFloat().Mul(newFloat().SetFloat64(x), newFloat().SetFloat64(x)), newFloat().SetFloat64(x)))
		near(t, "exp(log)", x, bigPower(bigLog(x)), newFloat().SetFloat64(x))
	}
}

// tanBig returns the tangent by the series of sine and cosine without reduction.
func tanBig(x *big.Float) *big.Float {
	sin, cos, term := newFloat().Set(x), newFloat().SetInt64(1), newFloat().Set(x)
	for n := int64(2); n < 120; n++ {
		term.Quo(term.Mul(term, x), newFloat().SetInt64(n))
		signed := newFloat().Set(term)
		if n%4 >= 2 {
			signed.Neg(signed)
		}
		if n%2 == 0 {
			cos.Add(cos, signed)
		} else {
			sin.Add(sin, signed)
		}
	}
	return sin.Quo(sin, cos)
}

func near(t *testing.T, name string, x float64, got, want *big.Float) {
	t.Helper()
	d := newFloat().Sub(got, want)
	if e, _ := d.Quo(d, want).Float64(); math.Abs(e) > 0x1p-165 {
		t.Errorf("%s at %g = %.60g, want %.60g", name, x, got, want)
	}
}
