package fixed_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/murksim/murksim/exact/fixed"
	"pgregory.net/rapid"
)

// parseBig is Parse by rational numbers, for texts that are numbers.
func parseBig(s string) *big.Int {
	r, _ := new(big.Rat).SetString(s)
	r.Mul(r, big.NewRat(65536, 1))
	n := floorDiv(new(big.Int).Lsh(r.Num(), 1), r.Denom()) // halves of units
	exact := r.IsInt() || new(big.Rat).Mul(r, big.NewRat(2, 1)).IsInt()
	up := n.Bit(0) == 1 && (!exact || n.Bit(1) == 1)
	n.Rsh(n, 1)
	if up {
		n.Add(n, big.NewInt(1))
	}
	return n
}

var anyDecimal = rapid.OneOf(
	rapid.StringMatching(`[-+]?[0-9]{1,16}(\.[0-9]{1,40})?`),
	rapid.Custom(func(t *rapid.T) string { // halves of units, and what lies close by
		halves := new(big.Int).Add(new(big.Int).Lsh(bigInt(anyFixed.Draw(t, "x")), 1), big.NewInt(1))
		s := new(big.Rat).SetFrac(halves, big.NewInt(1<<17)).FloatString(17)
		return s + rapid.SampledFrom([]string{"", "0", "00000000000000000000", "0000000000000000000000001", "1"}).Draw(t, "tail")
	}),
)

func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyDecimal.Draw(t, "text")
		x, err := fixed.Parse(s)
		want := parseBig(s)
		if want.IsInt64() != (err == nil) || err == nil && bigInt(x).Cmp(want) != 0 {
			t.Fatalf("Parse(%q) = %d, %v; want %v units", s, int64(x), err, want)
		}
		if err != nil && !errors.Is(err, fixed.ErrOverflow) {
			t.Fatalf("Parse(%q): %v; want an overflow", s, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
		kind   fixed.Kind
	}{
		{"", 0, fixed.ErrSyntax}, {"-", 1, fixed.ErrSyntax}, {".5", 0, fixed.ErrSyntax}, {"5.", 2, fixed.ErrSyntax},
		{"1e5", 1, fixed.ErrSyntax}, {"1.5 ", 3, fixed.ErrSyntax}, {" 1", 0, fixed.ErrSyntax}, {"--1", 1, fixed.ErrSyntax},
		{"1.2.3", 3, fixed.ErrSyntax}, {"0x10", 1, fixed.ErrSyntax}, {"1_0", 1, fixed.ErrSyntax}, {"NaN", 0, fixed.ErrSyntax},
		{"999999999999999x", 15, fixed.ErrSyntax}, {"1٣", 1, fixed.ErrSyntax},
		{"140737488355328", 0, fixed.ErrOverflow}, {"140737488355327.999999", 0, fixed.ErrOverflow},
		{"-140737488355328.00001", 0, fixed.ErrOverflow}, {"-" + strings.Repeat("9", 60), 0, fixed.ErrOverflow},
	} {
		_, err := fixed.Parse(tt.text)
		want := fixed.SyntaxError{Text: tt.text, Offset: tt.offset, Kind: tt.kind}
		if got, ok := errors.AsType[*fixed.SyntaxError](err); !ok || *got != want {
			t.Errorf("Parse(%q): %v, want %v", tt.text, err, &want)
		}
	}
	long := strings.Repeat("1", 1000)
	if _, err := fixed.Parse(long); len(err.Error()) > 200 {
		t.Errorf("an error of %d bytes quotes all of its text", len(err.Error()))
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct {
		x    fixed.Fixed
		want string
	}{
		{0, "0"}, {fixed.One, "1"}, {-fixed.One / 2, "-0.5"}, {1, "0.00002"}, {-1, "-0.00002"}, {65535, "0.99998"},
		{fixed.Max, "140737488355327.99998"}, {fixed.Min, "-140737488355328"}, {fixed.Pi, "3.14159"}, {6554, "0.1"},
	} {
		if got := tt.x.String(); got != tt.want {
			t.Errorf("%d units print as %q, want %q", int64(tt.x), got, tt.want)
		}
	}
}

// All fractions print as a text that parses back, and no shorter text does.
func TestStringIsShortest(t *testing.T) {
	for n := range fixed.One {
		for _, x := range []fixed.Fixed{n, -n, n + 123456*fixed.One, n + (fixed.Max - fixed.One + 1)} {
			s := x.String()
			if got, err := fixed.Parse(s); got != x || err != nil {
				t.Fatalf("%d units print as %q, which parses as %d, %v", int64(x), s, int64(got), err)
			}
		}
		s := n.String()
		whole, digits, ok := strings.Cut(s, ".")
		if !ok || whole != "0" {
			continue
		}
		shorter := digits[:len(digits)-1]
		for _, d := range []string{shorter, increment(shorter)} {
			if got, err := fixed.Parse("0." + d); err == nil && got == n {
				t.Fatalf("%d units print as %q, but %q would do", n, s, "0."+d)
			}
		}
	}
}

// increment adds one to the last of some digits; nines stay.
func increment(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return digits
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-12.5", "+1", "140737488355327.99999", "0.00000762939453125", "1.", ".", "1e9", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := fixed.Parse(s)
		if err != nil {
			if e, ok := errors.AsType[*fixed.SyntaxError](err); !ok || e.Offset < 0 || e.Offset > len(s) {
				t.Errorf("Parse(%q): %v, want a place in the text", s, err)
			}
			return
		}
		if want := parseBig(s); bigInt(x).Cmp(want) != 0 {
			t.Errorf("Parse(%q) = %d units, want %v", s, int64(x), want)
		}
		if back, err := fixed.Parse(x.String()); back != x || err != nil {
			t.Errorf("%v parses as %v, %v", x, back, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := fixed.Parse("-12345.67891"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	var buf [32]byte
	for b.Loop() {
		fixed.Fixed(-809088617).Append(buf[:0])
	}
}
