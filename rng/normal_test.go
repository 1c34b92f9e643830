package rng_test

import (
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/rng"
)

// TestNormalQuantile checks z against the distribution function of package math,
// whose relative error is far below the tolerance, and symmetry.
func TestNormalQuantile(t *testing.T) {
	for i := range 200_000 {
		u := (float64(i) + 0.5) / 400_000 // (0, ½)
		if i%2 == 1 {
			u = math.Exp2(-1 - float64(i)/200_000*52)
		}
		z := rng.NormalQuantile(u)
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		got := math.Erfc(-z/math.Sqrt2) / 2
		// An error dz of z moves the probability by density·dz.
		if dz := (got - u) / density; math.Abs(dz) > 4e-15*math.Max(1, math.Abs(z)) {
			t.Fatalf("quantile of %x = %v, %g off", u, z, dz)
		}
		if 1-(1-u) == u && rng.NormalQuantile(1-u) != -z {
			t.Fatalf("quantile of 1-%x = %v, want %v", u, rng.NormalQuantile(1-u), -z)
		}
	}
}

func TestNormalQuantileGolden(t *testing.T) {
	for _, tt := range []struct{ u, want float64 }{
		{0.5, 0},
		{0.25, -0.6744897501960817}, // this and the next two: at the arguments that the paper tests
		{0.001, -3.090232306167813},
		{1e-20, -9.262340089798405},
		{0.975, 1.9599639845400536},
		{0x1p-33, -6.337957754553789}, // the smallest u of a word
		{1 - 0x1p-33, 6.337957754553789},
		{0x1p-53, -8.209536151601386}, // the smallest u of a draw
		{1 - 0x1p-53, 8.209536151601386},
	} {
		if got := rng.NormalQuantile(tt.u); got != tt.want {
			t.Errorf("quantile of %v = %v, want %v", tt.u, got, tt.want)
		}
	}
}

func TestNormalMoments(t *testing.T) {
	const n = 1_000_000
	bulk, index := testSeed(6).Bulk(), uint64(0)
	for name, draw := range map[string]func() float64{
		"chacha8":  open(rng.ChaCha8, 6).Normal,
		"chacha20": open(rng.ChaCha20, 6).Normal,
		"bulk":     func() float64 { index++; return bulk.Normal(index) },
	} {
		var sum [5]float64
		for range n {
			z := draw()
			for p, power := 1, z; p <= 4; p, power = p+1, power*z {
				sum[p] += power / n
			}
		}
		// Standard errors of the moments: 1, √2, √15 and √96 thousandths.
		for p, want := range []float64{1: 0, 2: 1, 3: 0, 4: 3} {
			if bound := []float64{0, 0.005, 0.007, 0.02, 0.05}[p]; p > 0 && math.Abs(sum[p]-want) > bound {
				t.Errorf("%s: moment %d of %d draws is %v, want %v ± %v", name, p, n, sum[p], want, bound)
			}
		}
	}
}

// TestNormalDistribution holds draws against the normal distribution by the tests of Kolmogorov and Smirnov, at one in a
// thousand, and pairs of draws that follow each other against independence: neither grows with the other, nor do their squares.
func TestNormalDistribution(t *testing.T) {
	const n = 200_000
	bulk, index := testSeed(7).Bulk(), uint64(0)
	for name, draw := range map[string]func() float64{
		"chacha8":  open(rng.ChaCha8, 7).Normal,
		"chacha20": open(rng.ChaCha20, 7).Normal,
		"bulk":     func() float64 { index++; return bulk.Normal(index) },
	} {
		z := make([]float64, n)
		for i := range z {
			z[i] = draw()
		}
		var product, squares float64
		for i := range n - 1 {
			product += z[i] * z[i+1] / n
			squares += (z[i]*z[i] - 1) * (z[i+1]*z[i+1] - 1) / n
		}
		if bound := 4 / math.Sqrt(n); math.Abs(product) > bound || math.Abs(squares) > 2*bound {
			t.Errorf("%s: draws that follow each other have the correlation %v, their squares %v; want 0 ± %v", name, product, squares/2, bound)
		}
		slices.Sort(z)
		furthest := 0.0
		for i, x := range z {
			below := math.Erfc(-x/math.Sqrt2) / 2
			furthest = max(furthest, below-float64(i)/n, float64(i+1)/n-below)
		}
		if d := furthest * math.Sqrt(n); d > 1.95 {
			t.Errorf("%s: the distribution is %.2f/√n away from the normal one, want at most 1.95", name, d)
		}
	}
}
