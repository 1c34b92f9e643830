package f32_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/murksim/murksim/exact/f32"
	"github.com/murksim/murksim/tools/ulp/reference"
)

// wantPow returns the float32 nearest to x**y, by the special cases of package math and
// by the series of 192 bits: one of the neighbours of got, or got itself.
func wantPow(x, y, got float32) float32 {
	f, _ := reference.Named("Pow")
	if want, special := f.Special(float64(x), float64(y)); special {
		if want != want {
			return math.Float32frombits(0x7fc00000)
		}
		return float32(want)
	}
	for _, to := range []float32{got, float32(math.Inf(-1)), float32(math.Inf(1))} {
		near := math.Nextafter32(got, to)
		if _, nearest := f.Measure(reference.Float32, float64(near), float64(x), float64(y)); nearest {
			return near
		}
	}
	return float32(math.Pow(float64(x), float64(y)))
}

func checkPow(t *testing.T, x, y float32) {
	t.Helper()
	got := f32.Pow(x, y)
	if want := wantPow(x, y, got); math.Float32bits(got) != math.Float32bits(want) {
		t.Errorf("Pow(%x, %x) = %x, want %x", x, y, got, want)
	}
}

// The special cases of C99, F.9.4.4, zeros told apart.
func TestPowSpecial(t *testing.T) {
	inf, nan, zero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	odd := math.Float32frombits(0xff800123) // a NaN with a payload and a sign
	const least, most = 0x1p-149, math.MaxFloat32
	for _, tt := range [][3]float32{
		{nan, 0, 1}, {nan, zero, 1}, {odd, 0, 1}, {inf, zero, 1}, {0, 0, 1}, {zero, zero, 1}, {-5, 0, 1},
		{1, nan, 1}, {1, odd, 1}, {1, inf, 1}, {1, -inf, 1}, {1, -most, 1}, {1, least, 1},
		{nan, 1, nan}, {odd, 2, nan}, {2, nan, nan}, {-1, odd, nan}, {0, nan, nan}, {nan, inf, nan}, {inf, nan, nan}, {nan, nan, nan},
		{-1, inf, 1}, {-1, -inf, 1}, {2, inf, inf}, {-2, inf, inf}, {2, -inf, 0}, {-2, -inf, 0}, {0.5, inf, 0}, {-0.5, inf, 0},
		{0.5, -inf, inf}, {-0.5, -inf, inf}, {inf, inf, inf}, {-inf, inf, inf}, {inf, -inf, 0}, {-inf, -inf, 0},
		{0, inf, 0}, {zero, inf, 0}, {0, -inf, inf}, {zero, -inf, inf},
		{0, 3, 0}, {zero, 3, zero}, {zero, 0x1p24 - 1, zero}, {zero, 0x1p24, 0}, {zero, 2, 0}, {zero, 0.5, 0},
		{zero, 2.5, 0}, {0, least, 0},
		{0, -3, inf}, {zero, -3, -inf}, {zero, -2, inf}, {zero, -0.5, inf}, {zero, -most, inf}, {0, -least, inf},
		{inf, 2, inf}, {inf, least, inf}, {inf, -2, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf},
		{-inf, -3, zero}, {-inf, -2, 0}, {-inf, -0.5, 0},
		{-2, 0.5, nan}, {-1, 1.5, nan}, {-most, least, nan}, {-least, -0x1p-70, nan}, {-1, 0x1.000002p22, nan},
		{-2, 3, -8}, {-2, -3, -0.125},
		{-1, 0x1p24 - 1, -1}, {-1, 0x1p24, 1}, {-1, -most, 1}, {-3, 2, 9}, {7, 1, 7}, {-least, 1, -least},
		{most, 1, most}, {-most, -0x1p30, 0},
		{2, 127, 0x1p127}, {2, 128, inf}, {-2, 129, -inf}, {2, -149, least}, {2, -150, 0}, {-2, -151, zero},
		{-2, -149, -least}, {2, -149.9, least},
		{2, -150.1, 0}, {most, 2, inf}, {-most, 3, -inf}, {least, -1, inf}, {-least, -1, -inf}, {least, 2, 0},
		{-least, 3, zero}, {least, least, 1},
		{0x1p-75, 2, 0}, {0x1p-50, 3, 0}, {-0x1p-50, 3, zero}, {0x1p-30, 5, 0}, {0x1p75, -2, 0},
		{0x1p-100, 1.5, 0}, {0x1p-120, 1.25, 0}, {0x1p-37, 4.0540543, 0},
	} {
		got := f32.Pow(tt[0], tt[1])
		if a, b := math.Float32bits(got), math.Float32bits(tt[2]); a != b && !(tt[2] != tt[2] && a == 0x7fc00000) {
			t.Errorf("Pow(%x, %x) = %x (%#x), want %x", tt[0], tt[1], got, a, tt[2])
		}
	}
}

// forExact calls do for x > 0 and y for which x**y = power·2**exponent with at most 25 bits
// and a power that is odd and not 1: x = (r·2**e)**(2**k) and y = n/2**k, for each e, but for y = 1.
func forExact(do func(x, y float32, power int64, exponent int)) {
	for k := range 4 {
		for n := 1; n <= 15; n++ {
			if k > 0 && n%2 == 0 || k == 0 && n == 1 {
				continue
			}
			for r := int64(3); ; r += 2 {
				base, power := int64(1), int64(1)
				for range 1 << k {
					base *= min(r, 1<<24)
					base = min(base, 1<<24)
				}
				for range n {
					power = min(power*r, 1<<25)
				}
				if base >= 1<<24 || power >= 1<<25 {
					break
				}
				for e := -149; e <= 127; e++ {
					x := math.Ldexp(float64(base), e<<k)
					x32 := float32(x)
					if p := math.Ldexp(float64(power), e*n); float64(x32) == x && x32 > 0 && x32 <= math.MaxFloat32 && p > 0x1p-152 && p < 0x1p130 {
						do(x32, float32(n)/float32(int(1)<<k), power, e*n)
					}
				}
			}
		}
	}
}

// Every power that is exact in 25 bits, and so a float32, the middle of two, or less than
// that, but for y = 1; and the powers beside those middles.
func TestPowExact(t *testing.T) {
	count, middles := 0, 0
	forExact(func(x, y float32, power int64, exponent int) {
		count++
		b := new(big.Float).SetInt64(power)
		b.SetMantExp(b, exponent)
		p, _ := b.Float64()
		want, _ := b.Float32()
		if got := f32.Pow(x, y); got != want {
			t.Errorf("Pow(%x, %x) = %x, want %x", x, y, got, want)
		}
		if got, sign := f32.Pow(-x, y), float32(1-2*(int(y)&1)); float32(int(y)) == y && got != sign*want {
			t.Errorf("Pow(-%x, %x) = %x, want %x", x, y, got, sign*want)
		}
		other := math.Nextafter32(want, float32(math.Copysign(math.Inf(1), p-float64(want))))
		if p == float64(want) || float64(want)+float64(other) != 2*p {
			return
		}
		if middles++; middles%64 == 0 || !testing.Short() && middles%8 == 0 {
			for _, d := range []float32{0, 1e30} {
				checkPow(t, math.Nextafter32(x, d), y)
				checkPow(t, x, math.Nextafter32(y, d))
			}
		}
	})
	t.Logf("%d exact powers, %d of them the middle of two float32", count, middles)
	if count < 700_000 || middles != 116_494 {
		t.Errorf("%d exact powers, %d of them in the middle; want 700000 and 116494", count, middles)
	}
	for e := -149; e <= 127; e++ { // powers of two; only 2**-150 is a middle
		for q := -1300; q <= 1300; q++ {
			y := float32(q) / 8
			want := float32(math.Exp2(float64(e) * float64(y)))
			if p := float64(e) * float64(y); e == 0 || p != math.Floor(p) {
				continue
			}
			if got := f32.Pow(float32(math.Ldexp(1, e)), y); got != want {
				t.Errorf("Pow(0x1p%d, %g) = %x, want %x", e, y, got, want)
			}
		}
	}
}

// hardPowers lie next to the middle of two float32, or where a way to compute them ends.
// The first are from the list of hard cases of the project CORE-MATH, with the number
// of equal bits behind the 25th where it has one; the last were found by trying, and are those
// that the float64 of package exact, rounded, gets wrong.
var hardPowers = [][2]float32{
	{0x1.2e9178p-119, 0x1.023178p+0}, // 49
	{0x1.aa25fp-122, 0x1.04d8e4p+0},  // 50
	{0x1.9b35c6p+6, 0x1.053cc8p+0},   // 48
	{0x1.d6a9eap-89, 0x1.1249fcp+0},  // 49
	{0x1.49b684p-69, 0x1.1509f6p+0},  // 51
	{0x1.8b178cp+69, 0x1.159f0ap+0},  // 48
	{0x1.cc53e8p-96, 0x1.1bb752p+0},  // 49
	{0x1.95c6c2p+113, 0x1.1f771cp+0}, // 49
	{0x1.4ec09p-72, 0x1.27766ep+0},   // 49
	{0x1.f4ff26p-81, 0x1.2a584p+0},   // 50
	{0x1.cc0b74p+14, 0x1.3076dep+0},  // 48
	{0x1.3cd062p-107, 0x1.326734p+0}, // 48
	{0x1.8fdb0ep-21, 0x1.a31bp-102},
	{0x1.0dfe0ep-56, -0x1.1c882ep-107},
	{0x1.9a1p-20, 0x1.ep+0},
	{0x1.9a1p-76, 0x1.ep+0},
	{0x1.7632cp-45, -0x1.5f9314p-23},
	{0x1.fd12b4p-1, -0x1.d0b058p+13},
	{0x1.00006ep+0, 0x1.8ee9aap+23},
	{0x1.ffffb6p-1, 0x1.e9f1a4p+24},
	{0x1.fffffep-1, -0x1.fcb85cp+29},
	{0x1.fffffep-1, 0x1.67a6fp+30},
	{0x1.3f9534p-1, 0x1.729d02p+7},
	{0x1.69a63cp-1, 0x1.f670bp+7},
	{0x1.123144p+27, 0x1.d0b914p-13},
	{0x1.333498p-19, -0x1.318678p-23},
	{0x1.00035ap+00, -0x1.2710cep+19},
	{0x1.633792p+09, -0x1.536bb4p+00},
	{0x1.ba673ap+87, 0x1.e41a08p-12},
}

func TestPowHard(t *testing.T) {
	for _, a := range hardPowers {
		checkPow(t, a[0], a[1])
		checkPow(t, math.Nextafter32(a[0], 9), a[1])
		checkPow(t, a[0], math.Nextafter32(a[1], 9))
	}
}

// Arguments of every kind: next to 1, huge, tiny, with subnormal results, next to the
// ends of the range, and any bits.
func TestPowRandom(t *testing.T) {
	s := rand.New(rand.NewPCG(7, 0))
	float := func() float32 { return math.Float32frombits(s.Uint32()) }
	around := func(x float64, units int32) float32 {
		return math.Float32frombits(uint32(int32(math.Float32bits(float32(x))) + s.Int32N(2*units+1) - units))
	}
	count := 60_000
	if testing.Short() {
		count = 6_000
	}
	for range count {
		x, y := float(), float()
		checkPow(t, x, y)
		near := around(1, 1<<s.IntN(22))
		checkPow(t, near, y)
		checkPow(t, x, around(1, 1<<s.IntN(22)))
		checkPow(t, around(1, 3000), around(float64(s.IntN(65)-32)/8, 3))
		size := math.Log(math.Abs(float64(x)))
		for _, target := range []float64{128, -126, -149, -150, -126 - 24*s.Float64(), 256*s.Float64() - 128} {
			checkPow(t, x, around(target*math.Ln2/size, 3))
			checkPow(t, near, around(target*math.Ln2/math.Log(float64(near)), 3))
			if float32(math.Floor(float64(y))) != y {
				checkPow(t, around(math.Exp2(target/float64(y)), 3), y)
			}
		}
		checkPow(t, x, around(math.Copysign(0x1p-24, s.Float64()-0.5)/size, 1000)) // results next to 1
	}
}

// The way for doubtful results, on results of all kinds: compare says on which side of
// a middle of two float32 a power lies. Exponents have many bits, or few, or are huge.
func TestCompare(t *testing.T) {
	s := rand.New(rand.NewPCG(8, 0))
	f, _ := reference.Named("Pow")
	for i := range 20_000 {
		x := math.Abs(float64(math.Float32frombits(s.Uint32())))
		if i%4 == 3 {
			x = float64(float32(1 + s.Float64()*math.Exp2(-float64(s.IntN(23)))))
		}
		y := float64(float32((s.Float64()*250 - 125) * math.Ln2 / math.Log(x)))
		if i%4 == 1 {
			y = float64(int64(y))
		}
		got := math.Abs(float64(f32.Pow(float32(x), float32(y))))
		if special := !(x > 0 && x < math.Inf(1) && x != 1 && y != 0 && got > 0); special {
			continue
		}
		if _, nearest := f.MeasureSlowly(reference.Float32, got, x, y); !nearest {
			t.Fatalf("Pow(%x, %x) = %x is not the nearest", x, y, got)
		}
		below := float64(math.Nextafter32(float32(got), 0))
		above := float64(math.Nextafter32(float32(got), float32(math.Inf(1))))
		if c := f32.Compare(x, y, (got+above)/2); c != -1 {
			t.Errorf("compare(%x, %x, the middle above %x) = %d, want -1", x, y, got, c)
		}
		if c := f32.Compare(x, y, (got+below)/2); c != 1 {
			t.Errorf("compare(%x, %x, the middle below %x) = %d, want 1", x, y, got, c)
		}
	}
	const cube = 321 * 321 * 321 // of 25 bits
	for _, tt := range []struct {
		x, y, m float64
		want    int
	}{
		{321, 3, cube, 0}, {321, 3, 2 * cube, -1}, {321, 3, cube / 2, 1}, {321, 3, cube + 2, -1}, {321, 3, cube - 2, 1},
		{321 * 321, 1.5, cube, 0}, {2 * 321 * 321, 1.5, cube, 1}, {321 * 321 / 2.0, 1.5, cube, -1}, {4 * 321 * 321, 1.5, 8 * cube, 0},
		{321, -3, 1.0 / (1 << 25), 1}, {321 * 321 * 7, 1.5, cube, 1}, {4097, 2, 4097 * 4097, 0}, {4097, 2, 4097*4097 - 2, 1},
		{2, -150, 0x1p-150, 0}, {2, -149.75, 0x1p-150, 1}, {2, -150.25, 0x1p-150, -1}, {0x1p-75, 2, 0x1p-150, 0}, {0x1p-75, 2, 0x3p-150, -1},
		{0x1p-100, 1.5, 0x1p-150, 0}, {0x1p100, -1.5, 0x1p-150, 0}, {3, 16, 1<<25 + 1, 1}, {2, 127.99999, 0x1.ffffffp127, -1},
	} {
		if got := f32.Compare(tt.x, tt.y, tt.m); got != tt.want {
			t.Errorf("compare(%x, %x, %x) = %d, want %d", tt.x, tt.y, tt.m, got, tt.want)
		}
		if got := f32.Compare(-tt.x, tt.y, tt.m); got != tt.want {
			t.Errorf("compare(%x, %x, %x) = %d, want %d", -tt.x, tt.y, tt.m, got, tt.want)
		}
	}
}

// TestLogarithm compares with a series of 300 bits: log(n·2**e) = log m + k·log 2, and
// log m = 2·artanh((m-1)/(m+1)).
func TestLogarithm(t *testing.T) {
	const precision = 300
	float := func(x int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(x) }
	series := func(num, den int64) *big.Float { // of 2·artanh(num/den)
		s := float(num)
		s.Quo(s, float(den))
		square, power, sum := float(0).Mul(s, s), float(0).Set(s), float(0)
		for i := int64(1); power.Sign() != 0 && power.MantExp(nil) > -precision; i += 2 {
			sum.Add(sum, float(0).Quo(power, float(i)))
			power.Mul(power, square)
		}
		return sum.Add(sum, sum)
	}
	two := series(1, 3)
	s := rand.New(rand.NewPCG(9, 0))
	for i := range 3000 {
		n, e := int64(1)+s.Int64N(1<<s.IntN(26)), s.IntN(398)-199
		switch i % 3 {
		case 1:
			n, e = 1<<24+int64(i)-1500, -24 // next to 1
		case 2:
			n, e = 23726566+int64(i)-1500, -24 // next to √2
		}
		digits := len(big.NewInt(n).Text(2)) - 1
		one := int64(1) << digits
		want := float(0).Mul(two, float(int64(e+digits)))
		want.Add(want, series(n-one, n+one))
		sum := new(big.Int)
		for _, w := range f32.Logarithm(uint64(n), e) {
			sum.Add(sum.Lsh(sum, 64), new(big.Int).SetUint64(w))
		}
		if sum.Bit(255) == 1 {
			sum.Sub(sum, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		got := float(0).SetInt(sum)
		got.SetMantExp(got, -192)
		limit := -183
		if i%3 == 1 {
			limit = -184
		}
		if off := float(0).Sub(got, want); off.Sign() != 0 && off.MantExp(nil) > limit {
			t.Errorf("the logarithm of %d·2**%d is %.60g, want %.60g", n, e, got, want)
		}
	}
}

// The usual arguments take no memory, nor do the doubtful.
func TestPowMemory(t *testing.T) {
	sum := float32(0)
	allocated := testing.AllocsPerRun(100, func() {
		sum += f32.Pow(1.5, 2.5) + f32.Pow(4099, 2) + f32.Pow(0x1.49b684p-69, 0x1.1509f6p+0) + f32.Tanh(0.3)
	})
	if allocated != 0 || sum != sum {
		t.Errorf("Pow and Tanh allocate %g times, want 0", allocated)
	}
}

func FuzzPow(f *testing.F) {
	for _, a := range hardPowers {
		f.Add(math.Float32bits(a[0]), math.Float32bits(a[1]))
	}
	f.Add(math.Float32bits(4099), math.Float32bits(2))
	f.Add(uint32(1<<31), uint32(0xc0400000))
	f.Fuzz(func(t *testing.T, x, y uint32) { checkPow(t, math.Float32frombits(x), math.Float32frombits(y)) })
}

// besideMath reports the time of a call, and as a multiple of package math's in the same run.
func besideMath(b *testing.B, ours func(x float32) float32, theirs func(x float64) float64, from, step float32) {
	var args [1024]float32
	for i := range args {
		args[i] = from + step*float32(i)
	}
	var mine, other time.Duration
	sum := 0.0
	for b.Loop() {
		start := time.Now()
		for _, x := range args {
			sum += float64(ours(x))
		}
		middle := time.Now()
		for _, x := range args {
			sum += theirs(float64(x))
		}
		mine += middle.Sub(start)
		other += time.Since(middle)
	}
	if sum != sum {
		b.Error("a NaN")
	}
	b.ReportMetric(float64(mine.Nanoseconds())/float64(b.N*len(args)), "ns/call")
	b.ReportMetric(float64(mine)/float64(other), "of-math")
}

// BenchmarkPow takes bases in [0.5, 8.5), or such whose squares are in the middle of two float32, or one
// hard case.
func BenchmarkPow(b *testing.B) {
	for _, tt := range []struct {
		name       string
		from, step float32
		y          float32
	}{{"any", 0.5, 1.0 / 128, 2.7}, {"middles", 4097, 2, 2}, {"hard", 0x1.49b684p-69, 0, 0x1.1509f6p+0}} {
		b.Run(tt.name, func(b *testing.B) {
			besideMath(b, func(x float32) float32 { return f32.Pow(x, tt.y) },
				func(x float64) float64 { return math.Pow(x, float64(tt.y)) }, tt.from, tt.step)
		})
	}
}

// BenchmarkTanh takes arguments in [-4, 4).
func BenchmarkTanh(b *testing.B) { besideMath(b, f32.Tanh, math.Tanh, -4, 1.0/128) }
