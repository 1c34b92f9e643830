package exact_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

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
	} {
		if got := tt.f(tt.x); math.Float64bits(got) != math.Float64bits(tt.want) {
			t.Errorf("%s(%x) = %x (%#x), want %x", tt.name, tt.x, got, math.Float64bits(got), tt.want)
		}
	}
}

// TestSymmetry checks that Sin is odd and Cos even in every bit.
func TestSymmetry(t *testing.T) {
	for _, x := range sweep() {
		if got, want := exact.Sin(-x), -exact.Sin(x); got != want {
			t.Fatalf("Sin(%x) = %x, want %x", -x, got, want)
		}
		if got, want := exact.Cos(-x), exact.Cos(x); got != want {
			t.Fatalf("Cos(%x) = %x, want %x", -x, got, want)
		}
	}
}

func ExampleExp() {
	fmt.Println(exact.Exp(1), exact.Log(10), exact.Sin(1e22))
	// Output: 2.718281828459045 2.302585092994046 -0.8522008497671888
}

// BenchmarkFunctions takes arguments in [0.5, 8.5); "huge" reduces arguments near 2**1000.
func BenchmarkFunctions(b *testing.B) {
	for _, fn := range functions {
		for _, size := range []struct {
			name  string
			scale float64
		}{{"small", 1}, {"huge", 0x1p1000}} {
			if size.scale > 1 && (fn.name == "Exp" || fn.name == "Log") {
				continue
			}
			b.Run(fn.name+"/"+size.name, func(b *testing.B) {
				var args [1024]float64
				for i := range args {
					args[i] = (0.5 + float64(i)/128) * size.scale
				}
				sum := 0.0
				b.SetBytes(8 * int64(len(args)))
				for b.Loop() {
					for _, x := range args {
						sum += fn.f(x)
					}
				}
				if math.IsNaN(sum) {
					b.Error("a NaN")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(args)), "ns/call")
			})
		}
	}
}
