package exact_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/tools/ulp/reference"
)

// of2 makes a function of one argument one of two, which ignores the second.
func of2(f func(float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

// TestAccuracy compares with arbitrary precision, and with the special cases of
// package math.
func TestAccuracy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		f     func(x, y float64) float64
		limit float64 // in units of the last place
	}{
		{"Exp", of2(exact.Exp), 0.77}, // subnormal results are rounded twice
		{"Log", of2(exact.Log), 0.88},
		{"Sin", of2(exact.Sin), 0.82},
		{"Cos", of2(exact.Cos), 0.85},
		{"Tan", of2(exact.Tan), 0.65},
		{"Atan", of2(exact.Atan), 0.51},
		{"Cbrt", of2(exact.Cbrt), 0.51},
		{"Tanh", of2(exact.Tanh), 0.55},
		{"Atan2", exact.Atan2, 0.51},
		{"Pow", exact.Pow, 0.77},
		{"Hypot", exact.Hypot, 0.501},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, _ := reference.Named(tt.name)
			worst, at, count := 0.0, [2]float64{}, 0
			for block := range uint64(4) {
				for _, a := range f.Arguments(reference.Float64, block, 50_000) {
					got := tt.f(a[0], a[1])
					if want, special := f.Special(a[0], a[1]); special {
						if math.Float64bits(got) != math.Float64bits(want) {
							t.Errorf("%s(%x) = %x, want %x", tt.name, a, got, want)
						}
						continue
					}
					count++
					if e, _ := f.Measure(reference.Float64, got, a[0], a[1]); !(e <= worst) {
						worst, at = e, a
					}
				}
			}
			t.Logf("largest error %.4f ulp, at %x, of %d arguments", worst, at, count)
			if !(worst < tt.limit) || count < 50_000 {
				t.Errorf("%s(%x) is %.4f ulp off, of %d arguments; want less than %g, of 50000", tt.name, at, worst, count, tt.limit)
			}
		})
	}
}
