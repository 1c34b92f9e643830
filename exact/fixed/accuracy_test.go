package fixed_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/exact/fixed"
)

// References, to 256 bits.

const precision = 256

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func real(x fixed.Fixed) *big.Float {
	f := number(0).SetInt64(int64(x))
	return f.SetMantExp(f, -16)
}

func product(a, b *big.Float) *big.Float  { return number(0).Mul(a, b) }
func quotient(a, b *big.Float) *big.Float { return number(0).Quo(a, b) }
func sum(a, b *big.Float) *big.Float      { return number(0).Add(a, b) }
func minus(a, b *big.Float) *big.Float    { return number(0).Sub(a, b) }

// series sums terms until they vanish: each is the one before times x·f(k), k = 1, 2, …
func series(first, x *big.Float, f func(k int) *big.Float) *big.Float {
	total, term := number(0).Set(first), number(0).Set(first)
	for k := 1; term.Sign() != 0 && term.MantExp(nil) > -2*precision; k++ {
		term = product(product(term, x), f(k))
		total = sum(total, term)
	}
	return total
}

var pi = func() *big.Float { // Machin's formula
	inverse := func(n float64) *big.Float { return arctanBig(quotient(number(1), number(n))) }
	return minus(product(number(16), inverse(5)), product(number(4), inverse(239)))
}()

// arctanBig is by its series, after halving the angle until the argument is small.
func arctanBig(x *big.Float) *big.Float {
	halvings := 0
	x = number(0).Set(x)
	for ; x.Sign() != 0 && x.MantExp(nil) > -8; halvings++ {
		root := number(0).Sqrt(sum(number(1), product(x, x)))
		x = quotient(x, sum(number(1), root))
	}
	square := product(x, x)
	square.Neg(square)
	s := series(x, square, func(k int) *big.Float { return quotient(number(float64(2*k-1)), number(float64(2*k+1))) })
	return s.SetMantExp(s, halvings)
}

// sinCosBig are by their series, after taking off whole turns.
func sinCosBig(x *big.Float) (sin, cos *big.Float) {
	turn := product(number(2), pi)
	n, _ := quotient(x, turn).Int(nil)
	x = minus(x, product(number(0).SetInt(n), turn))
	square := product(x, x)
	square.Neg(square)
	over := func(a, b int) *big.Float { return quotient(number(1), number(float64(a*b))) }
	return series(x, square, func(k int) *big.Float { return over(2*k, 2*k+1) }),
		series(number(1), square, func(k int) *big.Float { return over(2*k-1, 2*k) })
}

// expBig is by its series, after halving the argument.
func expBig(x *big.Float) *big.Float {
	halvings := max(0, x.MantExp(nil)+4)
	y := number(0).SetMantExp(x, -halvings)
	s := series(number(1), y, func(k int) *big.Float { return quotient(number(1), number(float64(k))) })
	for range halvings {
		s = product(s, s)
	}
	return s
}

// logBig is 2·artanh((m-1)/(m+1)) + k·ln 2 for x = m·2^k.
func logBig(x *big.Float) *big.Float {
	artanh := func(s *big.Float) *big.Float {
		return series(s, product(s, s), func(k int) *big.Float { return quotient(number(float64(2*k-1)), number(float64(2*k+1))) })
	}
	m := number(0)
	k := x.MantExp(m)
	ln2 := artanh(quotient(number(1), number(3)))
	half := sum(artanh(quotient(minus(m, number(1)), sum(m, number(1)))), product(number(float64(k)), ln2))
	return product(number(2), half)
}

// A worst is the largest error that a function was seen to make, in units.
type worst struct {
	error float64
	cases int
}

// see compares a result with what it should be. limit is how far off it may be, in units.
func (w *worst) see(t *testing.T, what string, got fixed.Fixed, err error, want *big.Float, limit float64) {
	t.Helper()
	w.cases++
	units := number(0).SetMantExp(want, 16)
	if err != nil {
		most := sum(number(0).SetInt64(int64(fixed.Max)), number(-0.5))
		if !errors.Is(err, fixed.ErrOverflow) || number(0).Abs(units).Cmp(most) < 0 {
			t.Errorf("%s: %v; want %v units", what, err, units.Text('g', 25))
		}
		return
	}
	diff, _ := minus(units, number(0).SetInt64(int64(got))).Float64()
	if diff < 0 {
		diff = -diff
	}
	w.error = max(w.error, diff)
	if diff > limit {
		t.Errorf("%s = %d units, want %v: off by %v", what, int64(got), units.Text('g', 25), diff)
	}
}

func (w *worst) report(t *testing.T, name string) {
	t.Logf("%s: %d arguments, at most %.7f units off", name, w.cases, w.error)
}

// arguments are n numbers of all sizes, and edges.
func arguments(n int) []fixed.Fixed {
	r := rand.New(rand.NewPCG(3, 4))
	list := []fixed.Fixed{0, 1, -1, fixed.One, -fixed.One, fixed.One / 2, fixed.Pi, fixed.Pi / 2, fixed.Max, fixed.Min, fixed.Min + 1}
	for len(list) < n {
		list = append(list, fixed.Fixed(r.Uint64())>>r.IntN(64))
	}
	return list
}

const nearly = 0.50001 // results that are rounded to nearest but for a hair

func TestTrigonometryAccuracy(t *testing.T) {
	var s, c, tan worst
	list := append(arguments(2000), nearPoles()...)
	for x := range fixed.Fixed(1000) {
		list = append(list, x*211)
	}
	for _, x := range list {
		sin, cos := sinCosBig(real(x))
		s.see(t, "sin "+x.String(), x.Sin(), nil, sin, nearly)
		c.see(t, "cos "+x.String(), x.Cos(), nil, cos, nearly)
		got, err := x.Tan()
		tan.see(t, "tan "+x.String(), got, err, quotient(sin, cos), nearly)
	}
	s.report(t, "sin")
	c.report(t, "cos")
	tan.report(t, "tan")
}

// nearPoles are angles closer and closer to odd multiples of π/2: the numerators of
// the continued fraction of π·2^15, with their neighbours and multiples.
func nearPoles() (list []fixed.Fixed) {
	rest := number(0).SetMantExp(pi, 15)
	h0, h1 := big.NewInt(0), big.NewInt(1)
	for range 60 {
		whole, _ := rest.Int(nil)
		h0, h1 = h1, new(big.Int).Add(new(big.Int).Mul(whole, h1), h0)
		if !h1.IsInt64() {
			break
		}
		for _, x := range []int64{h1.Int64() - 1, h1.Int64(), h1.Int64() + 1} {
			list = append(list, fixed.Fixed(x), -fixed.Fixed(x), fixed.Fixed(x)*3)
		}
		rest = quotient(number(1), minus(rest, number(0).SetInt(whole)))
	}
	return list
}

func TestTanMeetsPoles(t *testing.T) {
	var largest fixed.Fixed
	for _, x := range nearPoles() {
		got, _ := x.Tan()
		largest = max(largest, got, -got)
	}
	if largest < 1<<60 {
		t.Errorf("the largest tangent seen is %v; want one near the limit", largest)
	}
}

func TestAtan2Accuracy(t *testing.T) {
	var w worst
	list := arguments(1500)
	for i, y := range list {
		for _, x := range []fixed.Fixed{list[(i*7+3)%len(list)], y, -y, y + 1, fixed.One} {
			if x == 0 && y == 0 {
				continue
			}
			w.see(t, "atan2("+y.String()+", "+x.String()+")", y.Atan2(x), nil, atan2Big(real(y), real(x)), nearly)
		}
	}
	w.report(t, "atan2")
	if got := fixed.Fixed(0).Atan2(0); got != 0 {
		t.Errorf("atan2(0, 0) = %v, want 0", got)
	}
}

func atan2Big(y, x *big.Float) *big.Float {
	half := quotient(pi, number(2))
	var a *big.Float
	switch {
	case x.Sign() == 0:
		return half.Mul(half, number(float64(y.Sign())))
	default:
		a = arctanBig(quotient(y, x))
	}
	if x.Sign() < 0 {
		if y.Sign() < 0 {
			return minus(a, pi)
		}
		return sum(a, pi)
	}
	return a
}

func TestExpAccuracy(t *testing.T) {
	var w worst
	list := []fixed.Fixed{0, 1, -1, 2134973, 2134974, 2134975, -772244, -772245, 60 * fixed.One, -60 * fixed.One}
	r := rand.New(rand.NewPCG(5, 6))
	for range 4000 {
		list = append(list, fixed.Fixed(r.Int64N(48*65536))-14*65536)
	}
	for _, x := range list {
		got, err := x.Exp()
		w.see(t, "exp "+x.String(), got, err, expBig(real(x)), nearly)
	}
	w.report(t, "exp")
	for _, x := range []fixed.Fixed{fixed.Max, 1 << 40, 33 * fixed.One} {
		if got, err := x.Exp(); !errors.Is(err, fixed.ErrOverflow) {
			t.Errorf("exp %v = %v, %v; want an overflow", x, got, err)
		}
		if got, err := (-x).Exp(); got != 0 || err != nil {
			t.Errorf("exp %v = %v, %v; want 0", -x, got, err)
		}
	}
}

func TestLogAccuracy(t *testing.T) {
	var w worst
	for _, x := range arguments(2000) {
		got, err := x.Log()
		if x <= 0 {
			if !errors.Is(err, fixed.ErrDomain) {
				t.Errorf("log %v = %v, %v; want it outside the domain", x, got, err)
			}
			continue
		}
		w.see(t, "log "+x.String(), got, err, logBig(real(x)), nearly)
	}
	w.report(t, "log")
}

func TestPowAccuracy(t *testing.T) {
	var w worst
	r := rand.New(rand.NewPCG(7, 8))
	for _, x := range arguments(1500) {
		if x == fixed.Min {
			continue
		}
		x = max(x, -x)
		if x == 0 || x == fixed.One {
			continue
		}
		log := logBig(real(x))
		// Powers with results from 2^-18 to 2^48, so that both ends are met.
		goal := product(number(r.Float64()*66-18), logBig(number(2)))
		units, _ := number(0).SetMantExp(quotient(goal, log), 16).Int64()
		y := fixed.Fixed(units)
		got, err := x.Pow(y)
		w.see(t, "pow("+x.String()+", "+y.String()+")", got, err, expBig(product(log, real(y))), nearly)
	}
	w.report(t, "pow")
}

func TestPowEdges(t *testing.T) {
	const one = fixed.One
	for _, tt := range []struct {
		x, y, want fixed.Fixed
		kind       error
	}{
		{0, 0, one, nil}, {-one, 0, one, nil}, {0, one, 0, nil}, {0, 1, 0, nil}, {0, -1, 0, fixed.ErrDivideByZero},
		{one, fixed.Max, one, nil}, {one, fixed.Min, one, nil}, {-one, fixed.Min, one, nil}, {-one, 3 * one, -one, nil},
		{-2 * one, 3 * one, -8 * one, nil}, {-2 * one, -3 * one, -one / 8, nil}, {-2 * one, one / 2, 0, fixed.ErrDomain},
		{2 * one, 46 * one, 1 << 62, nil}, {2 * one, 47 * one, 0, fixed.ErrOverflow}, {-2 * one, 47 * one, fixed.Min, nil},
		{-2 * one, 48 * one, 0, fixed.ErrOverflow}, {-2 * one, 49 * one, 0, fixed.ErrOverflow}, {2 * one, -16 * one, 1, nil}, {2 * one, -18 * one, 0, nil},
		{fixed.Min, one, fixed.Min, nil}, {fixed.Min, 2 * one, 0, fixed.ErrOverflow}, {fixed.Min, -one, 0, nil},
		{fixed.Max, one, fixed.Max, nil}, {fixed.Max, fixed.Max, 0, fixed.ErrOverflow}, {fixed.Max, fixed.Min, 0, nil},
		{1, fixed.Max, 0, nil}, {1, fixed.Min, 0, fixed.ErrOverflow}, {3 * one / 2, 2 * one, 9 * one / 4, nil},
		{10 * one, 14 * one, 100000000000000 * one, nil}, {9 * one, one / 2, 3 * one, nil}, {one / 4, -one / 2, 2 * one, nil},
	} {
		if got, err := tt.x.Pow(tt.y); got != tt.want || !errors.Is(err, tt.kind) {
			t.Errorf("pow(%v, %v) = %v, %v; want %v, %v", tt.x, tt.y, got, err, tt.want, tt.kind)
		}
	}
}
