package rng_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/rng"
	"lukechampine.com/frand"
)

var generators = []rng.Generator{rng.ChaCha8, rng.ChaCha20}

// testSeed is the stream "test" of seed 42 in tick 7.
func testSeed(number uint64) rng.StreamSeed { return rng.Seed(42).Tick(7).Stream("test", number) }

func open(g rng.Generator, number uint64) *rng.Stream {
	s := new(rng.Stream)
	s.Open(g, testSeed(number))
	return s
}

// draws names every function of a Stream, with its result in bits.
var draws = []struct {
	name string
	draw func(s *rng.Stream) uint64
}{
	{"Uint64", (*rng.Stream).Uint64},
	{"Below(3<<62)", func(s *rng.Stream) uint64 { return s.Below(3 << 62) }},
	{"Below(6)", func(s *rng.Stream) uint64 { return s.Below(6) }},
	{"Float32", func(s *rng.Stream) uint64 { return uint64(math.Float32bits(s.Float32())) }},
	{"Float64", func(s *rng.Stream) uint64 { return math.Float64bits(s.Float64()) }},
	{"Fixed", func(s *rng.Stream) uint64 { return uint64(s.Fixed()) }},
	{"Normal", func(s *rng.Stream) uint64 { return math.Float64bits(s.Normal()) }},
	{"Shuffle", func(s *rng.Stream) uint64 {
		digits := []byte("0123456789")
		s.Shuffle(len(digits), func(i, j int) { digits[i], digits[j] = digits[j], digits[i] })
		var v uint64
		fmt.Sscan(strings.TrimLeft(string(digits), "0"), &v)
		return v
	}},
}

// goldens holds three results of every function from the start of a stream, then the
// SHA-256, shortened, of 10,000. A change of one breaks every recording.
var goldens = map[string]string{
	"chacha8 Uint64":        "[e020c5a632cf8122 c1192264027c14e5 73e731416e837dfb] 532a1f2a893724ae",
	"chacha8 Below(3<<62)":  "[2020c5a632cf8122 1192264027c14e5 73e731416e837dfb] a94c068e25f3444c",
	"chacha8 Below(6)":      "[4 1 3] 37723295bf1f4d50",
	"chacha8 Float32":       "[3f6020c5 3f411922 3ee7ce62] 72fcbbf20c746988",
	"chacha8 Float64":       "[3fec0418b4c659f0 3fe823244c804f82 3fdcf9cc505ba0de] f6e2318d9884dc49",
	"chacha8 Fixed":         "[e020 c119 73e7] 3822e94c6ee1a402",
	"chacha8 Normal":        "[3ff271cb88d25b42 3fe60484367e360f bfbe64c943786f98] 5ef6c5e94b949c6a",
	"chacha8 Shuffle":       "[66d2baba 760806ea 2063503fb] c4eb5a1372a9cce0",
	"chacha20 Uint64":       "[e6701e70b535faf3 634b9a8128e7411a 81266cb3183a86e] abf6146b6fbd2148",
	"chacha20 Below(3<<62)": "[26701e70b535faf3 634b9a8128e7411a 68ebad29cca504ff] f8bd5825432f61fa",
	"chacha20 Below(6)":     "[5 0 0] 00ba9dbb04d287d2",
	"chacha20 Float32":      "[3f66701e 3ec69734 3d012660] 354a8af22a859d26",
	"chacha20 Float64":      "[3fecce03ce16a6bf 3fd8d2e6a04a39d0 3fa024cd96630750] 7c65ce85dc0fee27",
	"chacha20 Fixed":        "[e670 634b 812] 4ded74c506e7ef8e",
	"chacha20 Normal":       "[3ff484b2c1dc0fb4 bfd23b49ed64cf73 bffdbd782002cb2c] a6da9b64e6dd5f44",
	"chacha20 Shuffle":      "[ffb06667 16a998ef0 15d6699b3] 280c286229615b83",
}

func TestGolden(t *testing.T) {
	for _, g := range generators {
		for _, d := range draws {
			s, h := open(g, 0), sha256.New()
			var first []uint64
			var b [8]byte
			for i := range 10_000 {
				v := d.draw(s)
				if i < 3 {
					first = append(first, v)
				}
				binary.LittleEndian.PutUint64(b[:], v)
				h.Write(b[:])
			}
			name := g.String() + " " + d.name
			if got := fmt.Sprintf("%x %x", first, h.Sum(nil)[:8]); got != goldens[name] {
				t.Errorf("%q: %q, want %q", name, got, goldens[name])
			}
		}
	}
}

// TestFrand holds the default generator equal to the module that the design names.
func TestFrand(t *testing.T) {
	for number := range uint64(20) {
		seed := testSeed(number)
		s, f := open(rng.ChaCha8, number), frand.NewCustom(seed[:], 1024, 8)
		var b [8]byte
		for i := range 2000 {
			f.Read(b[:])
			if got, want := s.Uint64(), binary.LittleEndian.Uint64(b[:]); got != want {
				t.Fatalf("stream %d: draw %d is %#x, frand gives %#x", number, i, got, want)
			}
		}
	}
}

// TestDefinitions compares each function with its formula over the raw draws.
func TestDefinitions(t *testing.T) {
	for _, g := range generators {
		s, raw := open(g, 1), open(g, 1)
		for i := range 1000 {
			if got, want := s.Float32(), float32(raw.Uint64()>>40)/(1<<24); got != want || got >= 1 {
				t.Fatalf("%v: Float32 %d = %v, want %v", g, i, got, want)
			}
			if got, want := s.Float64(), math.Ldexp(float64(raw.Uint64()>>11), -53); got != want || got >= 1 {
				t.Fatalf("%v: Float64 %d = %v, want %v", g, i, got, want)
			}
			if got, want := s.Fixed(), int64(raw.Uint64()>>48); got != want || got >= 1<<16 {
				t.Fatalf("%v: Fixed %d = %v, want %v", g, i, got, want)
			}
			n := uint64(1)<<63 + 1<<62 + uint64(i) // rejects every fourth draw
			r := raw.Uint64()
			for r < -n%n {
				r = raw.Uint64()
			}
			if got, want := s.Below(n), r%n; got != want {
				t.Fatalf("%v: Below(%d) = %v, want %v", g, n, got, want)
			}
		}
		if s.Draws() != raw.Draws() || s.Last() != raw.Last() || s.Draws() < 4200 {
			t.Errorf("%v: %d draws, the last %d; want %d, %d", g, s.Draws(), s.Last(), raw.Draws(), raw.Last())
		}
	}
}

func TestOpenAgain(t *testing.T) {
	for _, g := range generators {
		s := open(g, 2)
		first := s.Uint64()
		s.Uint64()
		for _, other := range generators {
			s.Open(other, testSeed(3))
			s.Below(10)
		}
		s.Open(g, testSeed(2))
		if s.Draws() != 0 || s.Last() != 0 {
			t.Errorf("%v: opened with %d draws, last %d, want none", g, s.Draws(), s.Last())
		}
		if got := s.Uint64(); got != first || s.Draws() != 1 || s.Last() != first {
			t.Errorf("%v: first draw %d (draws %d, last %d), want %d", g, got, s.Draws(), s.Last(), first)
		}
	}
}

// TestBelowUniform: chi-squared of a die, 5 degrees of freedom; 30 is beyond one in 50,000.
func TestBelowUniform(t *testing.T) {
	const rolls = 600_000
	for _, g := range generators {
		s := open(g, 4)
		var count [6]float64
		for range rolls {
			count[s.Below(6)]++
		}
		if got := chiSquared(count[:], rolls); got > 30 {
			t.Errorf("%v: chi-squared %.1f of %v, want less than 30", g, got, count)
		}
	}
}

func chiSquared(count []float64, total float64) (sum float64) {
	mean := total / float64(len(count))
	for _, c := range count {
		sum += (c - mean) * (c - mean) / mean
	}
	return sum
}

func TestShuffle(t *testing.T) {
	s := open(rng.ChaCha8, 5)
	count := map[string]float64{}
	for range 240_000 {
		p := []byte("abcd")
		s.Shuffle(4, func(i, j int) { p[i], p[j] = p[j], p[i] })
		count[string(p)]++
	}
	var all []float64
	for _, c := range count {
		all = append(all, c)
	}
	if got := chiSquared(all, 240_000); len(all) != 24 || got > 65 { // 23 degrees of freedom
		t.Errorf("%d permutations of 4, chi-squared %.1f, want 24 and less than 65", len(all), got)
	}
	before := s.Draws()
	for _, n := range []int{-1, 0, 1} {
		s.Shuffle(n, func(i, j int) { t.Errorf("Shuffle(%d) swaps %d and %d", n, i, j) })
	}
	if s.Draws() != before {
		t.Errorf("shuffling nothing draws %d times, want 0", s.Draws()-before)
	}
}

func TestGeneratorNames(t *testing.T) {
	for _, g := range generators {
		if got, err := rng.ParseGenerator(g.String()); got != g || err != nil {
			t.Errorf("ParseGenerator(%q) = %v, %v", g, got, err)
		}
	}
	for _, name := range []string{"", "ChaCha8", "pcg", "chacha"} {
		_, err := rng.ParseGenerator(name)
		if got, ok := errors.AsType[*rng.GeneratorError](err); !ok || got.Name != name {
			t.Errorf("ParseGenerator(%q) = %v, want a GeneratorError", name, err)
		}
	}
	if got, want := rng.Generator(9).String(), "Generator(9)"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "physics", "with space", "\x00\x7f", strings.Repeat("n", 255)} {
		if err := rng.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for name, reason := range map[string]string{
		"":                       "is empty",
		"wärme":                  "is not ASCII at byte 1",
		strings.Repeat("n", 256): "has 256 bytes, at most 255 are allowed",
	} {
		err := rng.CheckName(name)
		if got, ok := errors.AsType[*rng.NameError](err); !ok || got.Reason != reason || got.Name != name {
			t.Errorf("CheckName(%q) = %v, want a NameError that it %s", name, err, reason)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"Below(0)":          func() { open(rng.ChaCha8, 0).Below(0) },
		"Words.Below(0)":    func() { w := testSeed(0).Bulk().Words(0); w.Below(0) },
		"Words.Below(2^33)": func() { w := testSeed(0).Bulk().Words(0); w.Below(1 << 33) },
		"unknown generator": func() { open(rng.Generator(9), 0) },
		"empty name":        func() { rng.Seed(0).Tick(0).Stream("", 0) },
		"Set before Begin":  func() { new(rng.Set).Stream("a", 0) },
		"negative count": func() {
			var s rng.Set
			s.Begin(rng.ChaCha8, 0, 0)
			s.Bulk("a", 0, -1)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestFresh(t *testing.T) {
	if a, b := rng.Fresh(), rng.Fresh(); a == b {
		t.Errorf("Fresh gives %d twice", a)
	}
	a, b := rng.FreshID(), rng.FreshID()
	if a == b || len(a) != 32 || strings.Trim(a, "0123456789abcdef") != "" {
		t.Errorf("FreshID gives %q, then %q, want 32 hexadecimal digits, others each time", a, b)
	}
}

func TestAllocations(t *testing.T) {
	var s rng.Stream
	seeds := slices.Repeat([]rng.StreamSeed{testSeed(0)}, 4)
	for _, tt := range []struct {
		g    rng.Generator
		want float64
	}{{rng.ChaCha8, 0}, {rng.ChaCha20, 1}} {
		s.Open(tt.g, testSeed(0))
		if got := testing.AllocsPerRun(100, func() {
			s.Open(tt.g, seeds[s.Draws()%4])
			s.Uint64()
			s.Below(10)
			s.Normal()
		}); got > tt.want {
			t.Errorf("%v: %v allocations an opened stream, want %v", tt.g, got, tt.want)
		}
	}
	if got := testing.AllocsPerRun(100, func() { testSeed(s.Draws()) }); got != 0 {
		t.Errorf("a stream seed costs %v allocations, want 0", got)
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, g := range generators {
		for _, d := range draws[:len(draws)-1] {
			b.Run(g.String()+"/"+d.name, func(b *testing.B) {
				s := open(g, 0)
				b.SetBytes(8)
				for b.Loop() {
					d.draw(s)
				}
			})
		}
	}
}

// BenchmarkOpen derives the seed, opens the stream and draws once.
func BenchmarkOpen(b *testing.B) {
	for _, g := range generators {
		b.Run(g.String(), func(b *testing.B) {
			tick, s := rng.Seed(42).Tick(7), new(rng.Stream)
			b.SetBytes(8)
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				s.Open(g, tick.Stream("test", i))
				s.Uint64()
			}
		})
	}
}
