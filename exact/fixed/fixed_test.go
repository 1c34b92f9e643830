package fixed_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/exact/fixed"
	"pgregory.net/rapid"
)

// anyFixed draws numbers of all sizes, the limits and their neighbours among them.
var anyFixed = rapid.Custom(func(t *rapid.T) fixed.Fixed {
	x := rapid.Int64().Draw(t, "bits") >> rapid.IntRange(0, 63).Draw(t, "shift")
	base := rapid.SampledFrom([]int64{0, 0, 0, 0, 1 << 16, 1 << 32, math.MaxInt64, math.MinInt64}).Draw(t, "base")
	if base != 0 {
		x = base + x%4 // may wrap, to the other limit
	}
	return fixed.Fixed(x)
})

func bigInt(x fixed.Fixed) *big.Int { return big.NewInt(int64(x)) }

// scale is n·65536.
func scale(n *big.Int) *big.Int { return new(big.Int).Lsh(n, 16) }

// floorDiv is floor(n/d).
func floorDiv(n, d *big.Int) *big.Int {
	q, m := new(big.Int).QuoRem(n, d, new(big.Int))
	if m.Sign() != 0 && m.Sign() != d.Sign() {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// agree checks a result against the whole number of units that it should be, or a
// kind of fault.
func agree(t interface{ Fatalf(string, ...any) }, op string, got fixed.Fixed, err error, want *big.Int, kind fixed.Kind) {
	if kind == "" && !want.IsInt64() {
		kind = fixed.ErrOverflow
	}
	switch {
	case kind != "" && (!errors.Is(err, kind) || got != 0):
		t.Fatalf("%s = %d, %v; want %v", op, int64(got), err, kind)
	case kind == "" && (err != nil || want.Cmp(bigInt(got)) != 0):
		t.Fatalf("%s = %d, %v; want %v", op, int64(got), err, want)
	}
	if f, ok := errors.AsType[*fixed.Fault](err); err != nil && (!ok || f.Op == "" || len(f.Operands) == 0) {
		t.Fatalf("%s: error %#v; want a Fault with its operands", op, err)
	}
}

func TestArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, s := anyFixed.Draw(t, "x"), anyFixed.Draw(t, "y"), anyFixed.Draw(t, "t")
		X, Y, S := bigInt(x), bigInt(y), bigInt(s)
		byZero := fixed.Kind("")
		divisor := Y
		if y == 0 {
			byZero, divisor = fixed.ErrDivideByZero, big.NewInt(1)
		}

		z, err := x.Add(y)
		agree(t, "add", z, err, new(big.Int).Add(X, Y), "")
		z, err = x.Sub(y)
		agree(t, "sub", z, err, new(big.Int).Sub(X, Y), "")
		z, err = x.Mul(y)
		agree(t, "mul", z, err, new(big.Int).Rsh(new(big.Int).Mul(X, Y), 16), "")
		z, err = x.Div(y)
		agree(t, "div", z, err, floorDiv(scale(X), divisor), byZero)
		z, err = x.Mod(y)
		agree(t, "mod", z, err, new(big.Int).Sub(X, new(big.Int).Mul(divisor, floorDiv(X, divisor))), byZero)
		z, err = x.Neg()
		agree(t, "neg", z, err, new(big.Int).Neg(X), "")
		z, err = x.Abs()
		agree(t, "abs", z, err, new(big.Int).Abs(X), "")
		z, err = x.Lerp(y, s)
		way := new(big.Int).Mul(new(big.Int).Sub(Y, X), S)
		agree(t, "lerp", z, err, new(big.Int).Add(X, way.Rsh(way, 16)), "")
		z, err = x.Hypot(y)
		sum := new(big.Int).Add(new(big.Int).Mul(X, X), new(big.Int).Mul(Y, Y))
		agree(t, "hypot", z, err, sum.Sqrt(sum), "")
		z, err = x.Sqrt()
		if x < 0 {
			agree(t, "sqrt", z, err, nil, fixed.ErrDomain)
		} else {
			agree(t, "sqrt", z, err, new(big.Int).Sqrt(scale(X)), "")
		}
	})
}

func TestWholeParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyFixed.Draw(t, "x")
		one := big.NewInt(1)
		floor := new(big.Int).Rsh(bigInt(x), 16)
		ceil := new(big.Int).Rsh(new(big.Int).Add(bigInt(x), big.NewInt(65535)), 16)
		agree(t, "floor", x.Floor(), nil, scale(floor), "")
		if got := x.Int(); got != floor.Int64() {
			t.Fatalf("Int of %v is %d, want %d", x, got, floor)
		}
		z, err := x.Ceil()
		agree(t, "ceil", z, err, scale(ceil), "")
		nearest := new(big.Int).Rsh(new(big.Int).Add(bigInt(x), big.NewInt(32768)), 16)
		if x&0xffff == 0x8000 && nearest.Bit(0) == 1 {
			nearest.Sub(nearest, one)
		}
		z, err = x.Round()
		agree(t, "round", z, err, scale(nearest), "")
		if got := x.Sign(); got != bigInt(x).Sign() {
			t.Fatalf("Sign of %v is %d", x, got)
		}
	})
}

func TestConversions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.Int64().Draw(t, "n"), rapid.Int64().Draw(t, "d")
		small := n >> 15
		got, err := fixed.FromInt(small)
		if want := scale(big.NewInt(small)); want.IsInt64() != (err == nil) || err == nil && bigInt(got).Cmp(want) != 0 {
			t.Fatalf("FromInt(%d) = %v, %v", small, got, err)
		}
		got, err = fixed.Ratio(n, d)
		want, wantErr := fixed.Fixed(n).Div(fixed.Fixed(d))
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("Ratio(%d, %d) = %v, %v; want %v, %v", n, d, got, err, want, wantErr)
		}
		f := fixed.Fixed(n >> 11) // 53 bits
		if got, err := fixed.FromFloat(f.Float64()); got != f || err != nil {
			t.Fatalf("FromFloat(%v) = %v, %v; want %v", f.Float64(), got, err, f)
		}
	})
	for _, tt := range []struct {
		v    float64
		want error
	}{
		{0.1, fixed.ErrInexact}, {0x1p-17, fixed.ErrInexact}, {5e-324, fixed.ErrInexact}, {0x1p47, fixed.ErrOverflow},
		{-0x1.0000000000001p47, fixed.ErrOverflow}, {math.MaxFloat64, fixed.ErrOverflow}, {math.Inf(-1), fixed.ErrOverflow},
		{math.NaN(), fixed.ErrDomain}, {-0x1p47, nil}, {0x1p-16, nil}, {0x1.fffffffffffffp46, nil},
	} {
		if got, err := fixed.FromFloat(tt.v); !errors.Is(err, tt.want) || err == nil && got.Float64() != tt.v {
			t.Errorf("FromFloat(%v) = %v, %v; want %v", tt.v, got, err, tt.want)
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	_, err := fixed.Max.Mul(2 * fixed.One)
	if got, want := err.Error(), "fixed: mul(140737488355327.99998, 2): overflow"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	_, err = fixed.Ratio(1, 0)
	if got, want := err.Error(), "fixed: 1/0: division by zero"; got != want || !errors.Is(err, fixed.ErrDivideByZero) {
		t.Errorf("error %q, want %q", got, want)
	}
}

// A Calc gives what the methods give and keeps the first fault.
func TestCalc(t *testing.T) {
	var all fixed.Calc
	rapid.Check(t, func(t *rapid.T) {
		x, y, s := anyFixed.Draw(t, "x"), anyFixed.Draw(t, "y"), anyFixed.Draw(t, "t")
		same := func(op string, f func(c *fixed.Calc) fixed.Fixed, want fixed.Fixed, wantErr error) {
			var c fixed.Calc
			got := f(&c)
			if got != want || (c.Err() == nil) != (wantErr == nil) || wantErr != nil && c.Err().Error() != wantErr.Error() {
				t.Fatalf("%s(%v, %v, %v) = %v, %v; want %v, %v", op, x, y, s, got, c.Err(), want, wantErr)
			}
			first := all.Err()
			f(&all)
			if first != nil && all.Err() != first {
				t.Fatalf("%s: the first fault was %v and is now %v", op, first, all.Err())
			}
		}
		for _, op := range []struct {
			name   string
			calc   func(*fixed.Calc, fixed.Fixed, fixed.Fixed) fixed.Fixed
			method func(x, y fixed.Fixed) (fixed.Fixed, error)
		}{
			{"add", (*fixed.Calc).Add, fixed.Fixed.Add}, {"sub", (*fixed.Calc).Sub, fixed.Fixed.Sub},
			{"mul", (*fixed.Calc).Mul, fixed.Fixed.Mul}, {"div", (*fixed.Calc).Div, fixed.Fixed.Div},
			{"mod", (*fixed.Calc).Mod, fixed.Fixed.Mod}, {"hypot", (*fixed.Calc).Hypot, fixed.Fixed.Hypot},
			{"pow", (*fixed.Calc).Pow, fixed.Fixed.Pow},
		} {
			want, err := op.method(x, y)
			same(op.name, func(c *fixed.Calc) fixed.Fixed { return op.calc(c, x, y) }, want, err)
		}
		for _, op := range []struct {
			name   string
			calc   func(*fixed.Calc, fixed.Fixed) fixed.Fixed
			method func(x fixed.Fixed) (fixed.Fixed, error)
		}{
			{"neg", (*fixed.Calc).Neg, fixed.Fixed.Neg}, {"abs", (*fixed.Calc).Abs, fixed.Fixed.Abs},
			{"ceil", (*fixed.Calc).Ceil, fixed.Fixed.Ceil}, {"round", (*fixed.Calc).Round, fixed.Fixed.Round},
			{"sqrt", (*fixed.Calc).Sqrt, fixed.Fixed.Sqrt}, {"tan", (*fixed.Calc).Tan, fixed.Fixed.Tan},
			{"exp", (*fixed.Calc).Exp, fixed.Fixed.Exp}, {"log", (*fixed.Calc).Log, fixed.Fixed.Log},
		} {
			want, err := op.method(x)
			same(op.name, func(c *fixed.Calc) fixed.Fixed { return op.calc(c, x) }, want, err)
		}
		want, err := x.Lerp(y, s)
		same("lerp", func(c *fixed.Calc) fixed.Fixed { return c.Lerp(x, y, s) }, want, err)
	})
	if all.Err() == nil {
		t.Error("no fault was met")
	}
}

// operands are numbers of all sizes for benchmarks.
func operands() (list [256]fixed.Fixed) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range list {
		list[i] = fixed.Fixed(r.Int64N(20*65536)) - 10*65536
		if list[i] == 0 {
			list[i] = fixed.One
		}
	}
	return list
}

func benchmark(b *testing.B, f func(x, y fixed.Fixed) fixed.Fixed) {
	list := operands()
	var sum fixed.Fixed
	i := 0
	for b.Loop() {
		sum += f(list[i&255], list[(i+7)&255])
		i++
	}
	if sum == 1 {
		b.Log(sum)
	}
}

func BenchmarkFixed(b *testing.B) {
	var c fixed.Calc
	for _, op := range []struct {
		name string
		f    func(x, y fixed.Fixed) fixed.Fixed
	}{
		{"calc add", c.Add}, {"calc mul", c.Mul}, {"calc div", c.Div}, {"hypot", c.Hypot},
		{"sqrt", func(x, _ fixed.Fixed) fixed.Fixed { return c.Sqrt(max(x, -x)) }},
		{"sin", func(x, _ fixed.Fixed) fixed.Fixed { return x.Sin() }},
		{"tan", func(x, _ fixed.Fixed) fixed.Fixed { return c.Tan(x) }},
		{"atan2", fixed.Fixed.Atan2},
		{"exp", func(x, _ fixed.Fixed) fixed.Fixed { return c.Exp(x) }},
		{"log", func(x, _ fixed.Fixed) fixed.Fixed { return c.Log(max(x, -x)) }},
		{"pow", func(x, y fixed.Fixed) fixed.Fixed { return c.Pow(max(x, -x)+fixed.One, y) }},
	} {
		b.Run(op.name, func(b *testing.B) { benchmark(b, op.f) })
	}
	if err := c.Err(); err != nil {
		b.Fatal(err)
	}
}
