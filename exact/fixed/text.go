package fixed

import (
	"fmt"
	"math/bits"
	"strconv"
)

// A SyntaxError locates what is wrong with a text.
type SyntaxError struct {
	Text   string // its first 64 bytes
	Offset int    // of the first byte that could not be used, or of the number if it is too large
	Kind   Kind   // ErrSyntax or ErrOverflow
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("fixed: %q: %s at byte %d", e.Text, string(e.Kind), e.Offset)
}

// Unwrap returns the kind.
func (e *SyntaxError) Unwrap() error { return e.Kind }

// Parse reads a decimal number such as "-12.5": an optional sign, digits, and
// optionally a point and digits, however many. The result is the nearest value, of
// two the even one.
func Parse(s string) (Fixed, error) {
	at := 0
	negative := false
	if at < len(s) && (s[at] == '-' || s[at] == '+') {
		negative = s[at] == '-'
		at++
	}
	first := at
	whole, fits := uint64(0), true
	for ; at < len(s) && isDigit(s[at]); at++ {
		if whole = whole*10 + uint64(s[at]-'0'); whole > 1<<47 {
			whole, fits = 1<<47, false
		}
	}
	var units uint64
	end := at
	if at > first && at < len(s) && s[at] == '.' {
		units, end = parseFraction(s, at+1)
		if end == at+1 {
			return 0, syntaxError(s, end, ErrSyntax)
		}
	}
	if end == first || end < len(s) {
		return 0, syntaxError(s, end, ErrSyntax)
	}
	if x, ok := signed(whole<<fractionBits+units, negative); ok && fits {
		return x, nil
	}
	return 0, syntaxError(s, 0, ErrOverflow)
}

// parseFraction reads the digits from s[at:] on and returns the nearest number of
// units, up to 65536, and where the digits end. All halves have 17 digits, so of
// those after the nineteenth it matters only whether one is not zero.
func parseFraction(s string, at int) (units uint64, end int) {
	const digits, ten19 = 19, 1e19
	n, more := uint64(0), false
	for end = at; end < len(s) && isDigit(s[end]); end++ {
		if end-at < digits {
			n = n*10 + uint64(s[end]-'0')
		} else if s[end] != '0' {
			more = true
		}
	}
	for i := end - at; i < digits; i++ {
		n *= 10
	}
	units, rest := bits.Div64(n>>(64-fractionBits), n<<fractionBits, ten19)
	if rest > ten19/2 || rest == ten19/2 && (more || units&1 == 1) {
		units++
	}
	return units, end
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func syntaxError(s string, at int, k Kind) error {
	return &SyntaxError{s[:min(len(s), 64)], at, k}
}

// String returns the shortest decimal text that [Parse] reads as x, and of those the nearest.
func (x Fixed) String() string {
	var buf [24]byte
	return string(x.Append(buf[:0]))
}

// Append appends what String returns.
func (x Fixed) Append(b []byte) []byte {
	m := magnitude(x)
	if x < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, m>>fractionBits, 10)
	rest := m & uint64(fraction)
	if rest == 0 {
		return b
	}
	// Numbers of five digits lie closer together than units do, so five always suffice.
	digits, scale := 1, uint64(10)
	decimals := nearestEven(rest*scale, 1<<fractionBits)
	for nearestEven(decimals<<fractionBits, scale) != rest {
		digits, scale = digits+1, scale*10
		decimals = nearestEven(rest*scale, 1<<fractionBits)
	}
	b = append(b, '.')
	for range digits {
		scale /= 10
		b = append(b, byte('0'+decimals/scale%10))
	}
	return b
}

// nearestEven is n/d to nearest, halves to even.
func nearestEven(n, d uint64) uint64 {
	q, r := n/d, n%d
	if 2*r > d || 2*r == d && q&1 == 1 {
		q++
	}
	return q
}
