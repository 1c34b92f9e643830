package f32_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/tools/ulp/reference"
)

var functions = []struct {
	name   string
	f      func(x, y float32) float32
	limit  float64 // of the error, in units of the last place; ½ says that all are nearest
	golden string  // SHA-256 of the results as LE32 of their bits
}{
	{"Exp", of2(f32.Exp), 0.5, "6329be8a8b63aa5c5a63efe4c1da4325ebca9d14f2a5f38202923f957ac74d28"},
	{"Log", of2(f32.Log), 0.5, "355bd6ec3dfea6baf0073f0b7f1fde8ce42e2f1bb6ad91a39bd463dc30ce0a3c"},
	{"Sin", of2(f32.Sin), 0.5, "95dd0f84e874f248853a30f6dfd094367706f2340e70b866b61735471896cb71"},
	{"Cos", of2(f32.Cos), 0.5, "c6d7631c1b62827300639506f6d8a8845bf56c3ed25dd26e6a94fca4e3d83d66"},
	{"Tan", of2(f32.Tan), 0.5, "b512a1032ff2fa13c3bf9a60fcc8a7dbebc6da557cd03e394b66410d22560d35"},
	{"Atan", of2(f32.Atan), 0.5, "2eeccc58379740ed38e64e4fb46fbefc7c1c63d27d824f4e697f850215c675b8"},
	{"Cbrt", of2(f32.Cbrt), 0.5, "4f01c5813850c650ba2f7b4022dba7cd71d73b2ee668aac19cac55487d3ca17f"},
	{"Tanh", of2(f32.Tanh), 0.5, "b3eda15cacdf15f482853ec2fc7a03c4b9eec0f319c2b1d7774531e12fd55c6b"},
	{"Hypot", f32.Hypot, 0.5, "86eb09d6f150ecda68002b26687176bd23436bd03bef9f0bd8311eff66d4be31"},
	{"Atan2", f32.Atan2, 0.500001, "11db72eb7b840a78e5bcbe2a679330b6b2a0314564f3f6b6830ec8dfe476c9d7"},
	{"Pow", f32.Pow, 0.5, "5b8a1a77acdb208d78a961af94a9431bddf8f52caf7c04213528b9981b83f0bb"},
}

// of2 makes a function of one argument one of two, which ignores the second.
func of2(f func(float32) float32) func(x, y float32) float32 {
	return func(x, _ float32) float32 { return f(x) }
}

// TestGolden holds the bits of results for bits x strewn over all there are, with as
// many y, of which a half are between 1/8 and 8.
func TestGolden(t *testing.T) {
	const count = 200_000
	for _, fn := range functions {
		h := sha256.New()
		var b [4]byte
		for i := range uint32(count) {
			x, y := i*0x9e3779b1, i*0x85ebca77
			if i%2 == 0 {
				y = y&(1<<31|1<<23-1) | (124+i/2%6)<<23
			}
			r := fn.f(math.Float32frombits(x), math.Float32frombits(y))
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(r))
			h.Write(b[:])
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)); got != fn.golden {
			t.Errorf("%s over %d arguments = %s, want %s", fn.name, count, got, fn.golden)
		}
	}
}

// TestAccuracy compares with arbitrary precision and with the special cases of
// package math. All float32 are for tools/ulp.
func TestAccuracy(t *testing.T) {
	for _, fn := range functions {
		t.Run(fn.name, func(t *testing.T) {
			t.Parallel()
			f, _ := reference.Named(fn.name)
			count, off := 0, 0
			for block := range uint64(2) {
				for _, a := range f.Arguments(reference.Float32, block, 60_000) {
					got := fn.f(float32(a[0]), float32(a[1]))
					if want, special := f.Special(a[0], a[1]); special {
						if bits := math.Float32bits(float32(want)); math.Float32bits(got) != bits {
							t.Errorf("%s(%x) = %x, want %x", fn.name, a, got, want)
						}
						continue
					}
					count++
					e, nearest := f.Measure(reference.Float32, float64(got), a[0], a[1])
					if !nearest {
						off++
					}
					if !(e <= fn.limit) || fn.limit == 0.5 && !nearest {
						t.Errorf("%s(%x) = %x is %.9f ulp off; want at most %g", fn.name, a, got, e, fn.limit)
					}
				}
			}
			t.Logf("%d of %d results are not the nearest", off, count)
			if count < 30_000 {
				t.Errorf("%d arguments; want 30000", count)
			}
		})
	}
}

// A NaN of any payload and sign gives the one NaN.
func TestNaN(t *testing.T) {
	for _, fn := range functions {
		for _, bits := range []uint32{0x7fc00000, 0xffc00123, 0x7f800001, 0xff8fffff} {
			if got := math.Float32bits(fn.f(math.Float32frombits(bits), 2)); got != 0x7fc00000 {
				t.Errorf("%s(NaN %#x) = %#x, want 0x7fc00000", fn.name, bits, got)
			}
		}
	}
}

// Results that package exact alone would round to the wrong side.
func TestHardCases(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(float32) float32
		args []float32
	}{
		{"Log", f32.Log, []float32{0x1.827a74p-07, 0x1.2f1fd6p+03, 0x1.bacb4ap+25, 0x1.b121a6p+76, 0x1.6351d8p+95}},
		{"Sin", f32.Sin, []float32{0x1.33333p+13, -0x1.33333p+13}},
		{"Cos", f32.Cos, []float32{0x1.3170fp+63, -0x1.3170fp+63, 0x1.2b9622p+67, -0x1.2b9622p+67}},
		{"Atan", f32.Atan, []float32{0x1.1ad646p-04, -0x1.1ad646p-04}},
	} {
		f, _ := reference.Named(tt.name)
		for _, x := range tt.args {
			got := tt.f(x)
			if e, nearest := f.MeasureSlowly(reference.Float32, float64(got), float64(x), 0); !nearest {
				t.Errorf("%s(%x) = %x is %.12f ulp off; want the nearest", tt.name, x, got, e)
			}
		}
	}
}

// The roots of sums of squares that lie so near the middle of two float32 that a
// float64 cannot tell: x² is the square of a middle, y² a hair.
func TestHypotNextToMiddle(t *testing.T) {
	f, _ := reference.Named("Hypot")
	for i := range uint32(20_000) {
		x := math.Float32frombits(0x3f800000 | i*0x9e3779b1>>9)
		y := float32(math.Sqrt(float64(math.Nextafter32(x, 2)-x) * float64(x))) // x²+y² ≈ (x + half a unit)²
		for range 3 {
			got := f32.Hypot(x, y)
			if e, nearest := f.Measure(reference.Float32, float64(got), float64(x), float64(y)); !nearest {
				t.Errorf("Hypot(%x, %x) = %x is %.12f ulp off; want the nearest", x, y, got, e)
			}
			y = math.Nextafter32(y, 2)
		}
	}
}

func ExampleExp() {
	fmt.Println(f32.Exp(1), f32.Log(10), f32.Sin(1e22), f32.Pow(2, 0.5))
	// Output: 2.7182817 2.3025851 -0.7340815 1.4142135
}

// BenchmarkFunctions takes arguments in [0.5, 8.5).
func BenchmarkFunctions(b *testing.B) {
	for _, fn := range functions {
		b.Run(fn.name, func(b *testing.B) {
			const count = 1024
			sum := float32(0)
			b.SetBytes(4 * count)
			for b.Loop() {
				for i := range count {
					sum += fn.f(0.5+float32(i)/128, 3)
				}
			}
			if sum != sum {
				b.Error("a NaN")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/call")
		})
	}
}
