package exact_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/murksim/murksim/exact"
)

var functions = []struct {
	name   string
	f      func(float64) float64
	golden string // SHA-256 of the results over sweep, as LE64 of their bits
}{
	{"Exp", exact.Exp, "2979e26e312bff36a6220aaaacaa5639d19182c737cc76f4ccf6998d935502c8"},
	{"Log", exact.Log, "85a9fcae7c0761d8c7f75224197b290886a672088a4b222323a99ff0976e1c84"},
	{"Sin", exact.Sin, "cbf3cff7d30a770267d20d23c496cabfd22b58692afb59261bdca271abeae2ba"},
	{"Cos", exact.Cos, "600e93820d86dde8602df449d2bb26b68dd8d2ac76d9b68ffbd7a669ab283c94"},
	{"Tan", exact.Tan, "bb1392ff98fffb7acc527bc8393ecbfae45f50724e2523a1daee2e9e1cc39f29"},
	{"Atan", exact.Atan, "9ab36e2dca8f1192b33b37af12d5255476d679edf6ecae34164dde7ea2febe64"},
	{"Cbrt", exact.Cbrt, "1c5c4df06ab03c37d929837e48efb1747c979d801eb2cd52a4fa6995b140cc52"},
	{"Tanh", exact.Tanh, "d87393af4e3d1bf4cd66c3cc97000ded63fc0ce792fbf95200bb3d8c26ce89d2"},
	{"Atan2(x, 1.7)", func(x float64) float64 { return exact.Atan2(x, 1.7) }, "26acbbe52c082e35ffbbd362fba833f23259905161a868b17ee2dacb59cf84d5"},
	{"Atan2(-0.3, x)", func(x float64) float64 { return exact.Atan2(-0.3, x) }, "e337573a02d96f71303308242ee9bc52f6cf0ee6d963c696d45f4ee5e0d019ab"},
	{"Hypot(x, 2.5)", func(x float64) float64 { return exact.Hypot(x, 2.5) }, "3c5ea74a887d25049d49f02e749104cb1702cc47d0629753348d5d1399ab9484"},
	{"Hypot(x, x/3)", func(x float64) float64 { return exact.Hypot(x, x/3) }, "0f5261bb2db402c251b86fc97c7d6df627af22e9ccb13834322e3f5afb9fc0b9"},
	{"Pow(x, 1.3)", func(x float64) float64 { return exact.Pow(x, 1.3) }, "abfd7318b2ad32b026382ef77edb01d08b451a00ee978f1437021cce7df4c1fd"},
	{"Pow(x, -7)", func(x float64) float64 { return exact.Pow(x, -7) }, "afd2cfb00a4c490ba6de1c3993ac87a36ce3c23afb167ab54090be191b4a673d"},
	{"Pow(1.1, x)", func(x float64) float64 { return exact.Pow(1.1, x) }, "fe382a4dbad8ca5b80c5b813c0e654ad610fa33f7c6620b77f91842b0b5ada08"},
}

// sweep returns arguments that are themselves the same bits everywhere: every
// exponent with fifteen mantissas and both signs, then a fine grid over [-800, 800].
func sweep() []float64 {
	var args []float64
	for b := uint64(0); b < 0x7ff; b++ {
		mantissa := b * 0x9e3779b97f4a7c15
		for range 15 {
			mantissa = mantissa*0xd1342543de82ef95 + 1
			x := math.Float64frombits(b<<52 | mantissa>>12)
			args = append(args, x, -x)
		}
	}
	for i := -102_400; i <= 102_400; i++ {
		args = append(args, float64(i)/128)
	}
	return args
}

// TestGolden holds the bits of every result. They are a promise: a processor or
// compiler that gives others breaks recordings.
func TestGolden(t *testing.T) {
	args := sweep()
	for _, fn := range functions {
		h := sha256.New()
		var b [8]byte
		for _, x := range args {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(fn.f(x)))
			h.Write(b[:])
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)); got != fn.golden {
			t.Errorf("%s over %d arguments = %s, want %s", fn.name, len(args), got, fn.golden)
		}
	}
}

func TestSpecialCases(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	odd := math.Float64frombits(0xfff8000000000123) // a NaN with a payload and a sign
	for _, tt := range []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"Exp", exact.Exp, nan, nan},
		{"Exp", exact.Exp, odd, nan},
		{"Exp", exact.Exp, inf, inf},
		{"Exp", exact.Exp, -inf, 0},
		{"Exp", exact.Exp, 0, 1},
		{"Exp", exact.Exp, zero, 1},
		{"Exp", exact.Exp, 0x1p-1074, 1},
		{"Exp", exact.Exp, -0x1p-60, 1},
		{"Exp", exact.Exp, 1, math.E},
		{"Exp", exact.Exp, 0x1.62e42fefa39efp+9, 0x1.fffffffffff2ap+1023}, // the last finite one
		{"Exp", exact.Exp, 0x1.62e42fefa39f0p+9, inf},
		{"Exp", exact.Exp, math.MaxFloat64, inf},
		{"Exp", exact.Exp, -0x1.74910d52d3051p+9, 0x1p-1074}, // the last that is not zero
		{"Exp", exact.Exp, -0x1.74910d52d3052p+9, 0},
		{"Exp", exact.Exp, -math.MaxFloat64, 0},
		{"Log", exact.Log, nan, nan},
		{"Log", exact.Log, odd, nan},
		{"Log", exact.Log, inf, inf},
		{"Log", exact.Log, -inf, nan},
		{"Log", exact.Log, 0, -inf},
		{"Log", exact.Log, zero, -inf},
		{"Log", exact.Log, -0x1p-1074, nan},
		{"Log", exact.Log, 1, 0},
		{"Log", exact.Log, 2, math.Ln2},
		{"Log", exact.Log, 0x1p-1074, -0x1.74385446d71c3p+9},
		{"Log", exact.Log, math.MaxFloat64, 0x1.62e42fefa39efp+9},
		{"Sin", exact.Sin, nan, nan},
		{"Sin", exact.Sin, odd, nan},
		{"Sin", exact.Sin, inf, nan},
		{"Sin", exact.Sin, -inf, nan},
		{"Sin", exact.Sin, 0, 0},
		{"Sin", exact.Sin, zero, zero},
		{"Sin", exact.Sin, -0x1p-1074, -0x1p-1074},
		{"Sin", exact.Sin, math.Pi, 0x1.1a62633145c07p-53},
		{"Sin", exact.Sin, -math.Pi, -0x1.1a62633145c07p-53},
		{"Sin", exact.Sin, math.MaxFloat64, 0x1.452fc98b34e97p-8},
		{"Cos", exact.Cos, nan, nan},
		{"Cos", exact.Cos, odd, nan},
		{"Cos", exact.Cos, inf, nan},
		{"Cos", exact.Cos, -inf, nan},
		{"Cos", exact.Cos, 0, 1},
		{"Cos", exact.Cos, zero, 1},
		{"Cos", exact.Cos, math.Pi, -1},
		{"Cos", exact.Cos, 0x1p-1074, 1},
		{"Cos", exact.Cos, math.Pi / 2, 0x1.1a62633145c07p-54},
		{"Cos", exact.Cos, 0x1.6ac5b262ca1ffp+849, -0x1.14ae72e6ba22fp-61}, // nearest to a multiple of π/2
		{"Tan", exact.Tan, nan, nan},
		{"Tan", exact.Tan, odd, nan},
		{"Tan", exact.Tan, inf, nan},
		{"Tan", exact.Tan, -inf, nan},
		{"Tan", exact.Tan, 0, 0},
		{"Tan", exact.Tan, zero, zero},
		{"Tan", exact.Tan, -0x1p-1074, -0x1p-1074},
		{"Tan", exact.Tan, math.Pi / 4, 1 - 0x1p-53},
		{"Tan", exact.Tan, math.Pi / 2, 0x1.d02967c31cdb5p+53},
		{"Tan", exact.Tan, -math.Pi, 0x1.1a62633145c07p-53},
		{"Atan", exact.Atan, nan, nan},
		{"Atan", exact.Atan, odd, nan},
		{"Atan", exact.Atan, inf, math.Pi / 2},
		{"Atan", exact.Atan, -inf, -math.Pi / 2},
		{"Atan", exact.Atan, 0, 0},
		{"Atan", exact.Atan, zero, zero},
		{"Atan", exact.Atan, -0x1p-1074, -0x1p-1074},
		{"Atan", exact.Atan, 1, math.Pi / 4},
		{"Atan", exact.Atan, math.MaxFloat64, math.Pi / 2},
		{"Tanh", exact.Tanh, nan, nan},
		{"Tanh", exact.Tanh, odd, nan},
		{"Tanh", exact.Tanh, inf, 1},
		{"Tanh", exact.Tanh, -inf, -1},
		{"Tanh", exact.Tanh, 0, 0},
		{"Tanh", exact.Tanh, zero, zero},
		{"Tanh", exact.Tanh, -0x1p-1074, -0x1p-1074},
		{"Tanh", exact.Tanh, 0x1p-28, 0x1p-28},
		{"Tanh", exact.Tanh, 19, 1 - 0x1p-53},
		{"Tanh", exact.Tanh, -20, -1},
		{"Tanh", exact.Tanh, math.MaxFloat64, 1},
		{"Cbrt", exact.Cbrt, nan, nan},
		{"Cbrt", exact.Cbrt, odd, nan},
		{"Cbrt", exact.Cbrt, inf, inf},
		{"Cbrt", exact.Cbrt, -inf, -inf},
		{"Cbrt", exact.Cbrt, 0, 0},
		{"Cbrt", exact.Cbrt, zero, zero},
		{"Cbrt", exact.Cbrt, -27, -3},
		{"Cbrt", exact.Cbrt, 0x1p-1074, 0x1p-358},
		{"Cbrt", exact.Cbrt, 0x1p1023, 0x1p341},
	} {
		if got := tt.f(tt.x); math.Float64bits(got) != math.Float64bits(tt.want) {
			t.Errorf("%s(%x) = %x (%#x), want %x", tt.name, tt.x, got, math.Float64bits(got), tt.want)
		}
	}
}

// The functions of two arguments: zeros, infinities and NaN as IEEE 754 and C99 have
// them, results that are exact, and the borders of overflow and underflow.
func TestSpecialPairs(t *testing.T) {
	const least = 0x1p-1074
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	odd := math.Float64frombits(0xfff8000000000123)
	for _, tt := range []struct {
		name string
		f    func(x, y float64) float64
		list [][3]float64 // arguments and result
	}{
		{"Atan2", exact.Atan2, [][3]float64{
			{nan, 1, nan}, {1, odd, nan}, {nan, inf, nan}, {0, nan, nan},
			{0, 1, 0}, {zero, 1, zero}, {0, 0, 0}, {zero, 0, zero}, {0, inf, 0}, {zero, inf, zero},
			{0, -1, math.Pi}, {zero, -1, -math.Pi}, {0, zero, math.Pi}, {zero, zero, -math.Pi}, {0, -inf, math.Pi},
			{1, 0, math.Pi / 2}, {-1, 0, -math.Pi / 2}, {1, zero, math.Pi / 2}, {-least, zero, -math.Pi / 2},
			{inf, inf, math.Pi / 4}, {-inf, inf, -math.Pi / 4}, {inf, -inf, 3 * math.Pi / 4}, {-inf, -inf, -3 * math.Pi / 4},
			{1, inf, 0}, {-1, inf, zero}, {1, -inf, math.Pi}, {-1, -inf, -math.Pi},
			{inf, 1, math.Pi / 2}, {-inf, -1, -math.Pi / 2}, {inf, 0, math.Pi / 2},
			{1, 1, math.Pi / 4}, {1, -1, 3 * math.Pi / 4}, {least, math.MaxFloat64, 0}, {-least, math.MaxFloat64, zero},
			{least, -math.MaxFloat64, math.Pi}, {math.MaxFloat64, least, math.Pi / 2}, {least, least, math.Pi / 4},
			{3 * least, 2, 2 * least}, {math.MaxFloat64, math.MaxFloat64, math.Pi / 4},
		}},
		{"Hypot", exact.Hypot, [][3]float64{
			{inf, nan, inf}, {odd, -inf, inf}, {inf, inf, inf}, {1, -inf, inf}, {nan, 1, nan}, {0, odd, nan},
			{0, 0, 0}, {zero, zero, 0}, {0, -3, 3}, {-3, 4, 5}, {least, 0, least}, {3 * least, -4 * least, 5 * least},
			{math.MaxFloat64, 0, math.MaxFloat64}, {math.MaxFloat64, math.MaxFloat64, inf}, {0x1p1023, 0x1p1023, 0x1.6a09e667f3bcdp1023},
			{math.MaxFloat64, 0x1p997, math.MaxFloat64}, {3 * 0x1p1000, 4 * 0x1p1000, 5 * 0x1p1000},
		}},
		{"Pow", exact.Pow, [][3]float64{
			{nan, 0, 1}, {inf, zero, 1}, {0, 0, 1}, {-5, zero, 1}, {1, nan, 1}, {1, inf, 1}, {1, -1e300, 1},
			{nan, 1, nan}, {odd, -inf, nan}, {2, odd, nan}, {-1, nan, nan}, {0, nan, nan},
			{-1, inf, 1}, {-1, -inf, 1}, {2, inf, inf}, {-2, inf, inf}, {2, -inf, 0}, {-inf, -inf, 0},
			{0.5, inf, 0}, {-0.5, inf, 0}, {0.5, -inf, inf}, {zero, -inf, inf}, {zero, inf, 0}, {-inf, inf, inf},
			{0, 3, 0}, {zero, 3, zero}, {zero, 2, 0}, {zero, 0.5, 0}, {zero, 1e300, 0}, {0, least, 0},
			{0, -3, inf}, {zero, -3, -inf}, {zero, -2, inf}, {zero, -0.5, inf}, {zero, -1e300, inf},
			{inf, 2, inf}, {inf, -2, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {-inf, -3, zero}, {-inf, -2, 0}, {-inf, -0.5, 0},
			{-2, 0.5, nan}, {-1, 1.5, nan}, {-math.MaxFloat64, -least, nan}, {-least, 0x1p-70, nan},
			{-2, 3, -8}, {-2, 2, 4}, {-2, -3, -0.125}, {-1, 0x1p53 - 1, -1}, {-1, 0x1p53, 1}, {-1, 1e300, 1}, {-1, -3, -1},
			{7, 1, 7}, {-least, 1, -least}, {math.MaxFloat64, 1, math.MaxFloat64}, {3, 33, 5559060566555523}, {9, 0.5, 3}, {4, -0.5, 0.5},
			{10, 22, 1e22}, {10, -1, 0.1}, {2, 1023, 0x1p1023}, {2, 1024, inf}, {-2, 1025, -inf}, {2, -1074, least}, {2, -1075, 0}, {-2, -1075, zero},
			{-2, -1077, zero}, {1 + 0x1p-52, 0x1p64, inf}, {1 - 0x1p-53, 0x1p64, 0}, {1 - 0x1p-53, -0x1p70, inf},
			{math.MaxFloat64, least, 1}, {least, least, 1}, {least, -1, inf}, {0x1p-1022, -1, 0x1p1022},
		}},
	} {
		for _, c := range tt.list {
			if got := tt.f(c[0], c[1]); math.Float64bits(got) != math.Float64bits(c[2]) {
				t.Errorf("%s(%x, %x) = %x (%#x), want %x", tt.name, c[0], c[1], got, math.Float64bits(got), c[2])
			}
		}
	}
}

// TestSymmetry checks that functions are odd or even in every bit.
func TestSymmetry(t *testing.T) {
	for _, fn := range []struct {
		name string
		f    func(float64) float64
		sign float64 // of f(-x)/f(x)
	}{
		{"Sin", exact.Sin, -1},
		{"Cos", exact.Cos, 1},
		{"Tan", exact.Tan, -1},
		{"Atan", exact.Atan, -1},
		{"Cbrt", exact.Cbrt, -1},
		{"Tanh", exact.Tanh, -1},
		{"Atan2", func(x float64) float64 { return exact.Atan2(x, -3) }, -1},
		{"Hypot", func(x float64) float64 { return exact.Hypot(-3, x) }, 1},
		{"Pow", func(x float64) float64 { return exact.Pow(x, 5) }, -1},
	} {
		for _, x := range sweep() {
			if got, want := fn.f(-x), fn.sign*fn.f(x); got != want {
				t.Fatalf("%s(%x) = %x, want %x", fn.name, -x, got, want)
			}
		}
	}
}

func ExampleExp() {
	fmt.Println(exact.Exp(1), exact.Log(10), exact.Sin(1e22))
	// Output: 2.718281828459045 2.302585092994046 -0.8522008497671888
}

// BenchmarkFunctions takes arguments in [0.5, 8.5), in "huge" near 2**1000, and
// reports the time of a call, and as a multiple of package math's in the same run.
func BenchmarkFunctions(b *testing.B) {
	for _, fn := range []struct {
		name       string
		ours, math func(x float64) float64
		scale      float64
	}{
		{"Exp", exact.Exp, math.Exp, 1},
		{"Log", exact.Log, math.Log, 1},
		{"Sin", exact.Sin, math.Sin, 1},
		{"Sin/huge", exact.Sin, math.Sin, 0x1p1000},
		{"Cos", exact.Cos, math.Cos, 1},
		{"Cos/huge", exact.Cos, math.Cos, 0x1p1000},
		{"Tan", exact.Tan, math.Tan, 1},
		{"Tan/huge", exact.Tan, math.Tan, 0x1p1000},
		{"Atan", exact.Atan, math.Atan, 1},
		{"Cbrt", exact.Cbrt, math.Cbrt, 1},
		{"Tanh", exact.Tanh, math.Tanh, 1},
		{"Atan2", func(x float64) float64 { return exact.Atan2(x, 3) }, func(x float64) float64 { return math.Atan2(x, 3) }, 1},
		{"Pow", func(x float64) float64 { return exact.Pow(x, 2.7) }, func(x float64) float64 { return math.Pow(x, 2.7) }, 1},
		{"Hypot", func(x float64) float64 { return exact.Hypot(x, 3) }, func(x float64) float64 { return math.Hypot(x, 3) }, 1},
	} {
		b.Run(fn.name, func(b *testing.B) {
			var args [1024]float64
			for i := range args {
				args[i] = (0.5 + float64(i)/128) * fn.scale
			}
			var ours, theirs time.Duration
			sum := 0.0
			b.SetBytes(8 * int64(len(args)))
			for b.Loop() {
				start := time.Now()
				for _, x := range args {
					sum += fn.ours(x)
				}
				middle := time.Now()
				for _, x := range args {
					sum += fn.math(x)
				}
				ours += middle.Sub(start)
				theirs += time.Since(middle)
			}
			if math.IsNaN(sum) {
				b.Error("a NaN")
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*len(args)), "ns/call")
			b.ReportMetric(float64(ours)/float64(theirs), "of-math")
		})
	}
}
