package document

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var (
	// An underscore stands between two digits.
	integerForm = regexp.MustCompile(`^[-+]?([0-9]+(_[0-9]+)*|0x[0-9a-fA-F]+(_[0-9a-fA-F]+)*|0o[0-7]+(_[0-7]+)*)$`)
	decimalForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	specialForm = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// IsNumber reports whether a scalar is written as a number.
func (n *Node) IsNumber() bool {
	return n.Kind == Scalar && !n.Quoted &&
		(integerForm.MatchString(n.Raw) || decimalForm.MatchString(n.Raw) || specialForm.MatchString(n.Raw))
}

// IsInteger reports whether a scalar is written as a whole number.
func (n *Node) IsInteger() bool {
	return n.Kind == Scalar && !n.Quoted && integerForm.MatchString(n.Raw)
}

// Integer reads a whole number between two bounds, exactly.
func (n *Node) Integer(low, high *big.Int) (*big.Int, error) {
	if !n.IsNumber() {
		return nil, n.Errorf("%s is not a whole number", n.What())
	}
	if !integerForm.MatchString(n.Raw) {
		e := n.Errorf("%s is not a whole number", n.What())
		if f, err := strconv.ParseFloat(n.digits(), 64); err == nil && f == math.Floor(f) {
			e.Hint = "write it without a point or an exponent"
		}
		return nil, e
	}
	const mostDigits = 64
	v := new(big.Int)
	raw := strings.TrimPrefix(n.digits(), "+")
	if len(raw) <= mostDigits {
		base := 10
		if unsigned := strings.TrimPrefix(raw, "-"); strings.HasPrefix(unsigned, "0x") || strings.HasPrefix(unsigned, "0o") {
			base = 0
		}
		if _, ok := v.SetString(raw, base); !ok {
			return nil, n.Errorf("%s is not a whole number", n.What())
		}
	}
	if len(raw) > mostDigits || v.Cmp(low) < 0 || v.Cmp(high) > 0 {
		return nil, n.Errorf("%s is out of range: it must be %v to %v", n.What(), low, high)
	}
	return v, nil
}

// Int is Integer for bounds that an int64 holds, and allocates nothing if the number is right.
func (n *Node) Int(low, high int64) (int64, error) {
	if v, ok := n.short(); ok && v >= low && v <= high {
		return v, nil
	}
	v, err := n.Integer(big.NewInt(low), big.NewInt(high))
	if err != nil {
		return 0, err
	}
	return v.Int64(), nil
}

// Uint reads a whole number from 0 to a bound, as Int does.
func (n *Node) Uint(high uint64) (uint64, error) {
	if v, ok := n.short(); ok && v >= 0 && uint64(v) <= high {
		return uint64(v), nil
	}
	v, err := n.Integer(new(big.Int), new(big.Int).SetUint64(high))
	if err != nil {
		return 0, err
	}
	return v.Uint64(), nil
}

// Within returns an error if a scalar is not a whole number between two bounds.
func (n *Node) Within(low, high *big.Int) error {
	if v, ok := n.short(); ok && low.IsInt64() && v >= low.Int64() && (!high.IsInt64() || v <= high.Int64()) {
		return nil // a bound beyond an int64 is above it
	}
	_, err := n.Integer(low, high)
	return err
}

// short reads a whole number of at most 15 digits, which a float64 holds, too. It is not ok
// for other spellings.
func (n *Node) short() (v int64, ok bool) {
	digits := strings.TrimPrefix(n.Raw, "-")
	if n.Kind != Scalar || n.Quoted || len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + int64(c-'0')
	}
	if len(digits) < len(n.Raw) {
		v = -v
	}
	return v, true
}

// digits returns the number's text without the underscores between its digits.
func (n *Node) digits() string { return strings.ReplaceAll(n.Raw, "_", "") }

// Float reads a finite number. One with a fraction or an exponent is rounded to
// the nearest float64; a whole one must be exact, or what [AppendFloat] writes.
func (n *Node) Float() (float64, error) {
	if v, ok := n.short(); ok && v != 0 {
		return float64(v), nil
	}
	switch {
	case !n.IsNumber():
		return 0, n.Errorf("%s is not a number", n.What())
	case specialForm.MatchString(n.Raw):
		return 0, n.Errorf("%s: numbers must be finite", n.Raw)
	case integerForm.MatchString(n.Raw):
		v, err := n.Integer(lowestInteger, highestInteger)
		if err != nil {
			return 0, err
		}
		f, accuracy := new(big.Float).SetInt(v).Float64()
		if accuracy != big.Exact && n.digits() != string(AppendFloat(nil, f)) {
			return 0, n.Errorf("%s cannot be held exactly; the nearest number is %s", n.What(), strconv.FormatFloat(f, 'f', -1, 64))
		}
		if f == 0 && strings.HasPrefix(n.Raw, "-") {
			f = math.Copysign(0, -1)
		}
		return f, nil
	}
	f, err := strconv.ParseFloat(n.digits(), 64)
	switch {
	case err != nil:
		return 0, n.Errorf("%s is out of range: numbers go up to 1.8e308", n.What())
	case f == 0 && strings.ContainsAny(mantissa(n.Raw), "123456789"):
		return 0, n.Errorf("%s is too small to be told from 0", n.What())
	}
	return f, nil
}

// The whole numbers that a float64 might hold and a scenario might need.
var (
	highestInteger = new(big.Int).Lsh(big.NewInt(1), 128)
	lowestInteger  = new(big.Int).Neg(highestInteger)
)

// mantissa returns a number's text up to its exponent.
func mantissa(raw string) string {
	m, _, _ := strings.Cut(strings.ToLower(raw), "e")
	return m
}

// AppendFloat appends the shortest decimal that reads back as v, with an exponent
// if it is below 1e-6 or from 1e21 on, as encoding/json does.
func AppendFloat(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, v, format, -1, 64)
	if n := len(b); format == 'e' && n-start >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b = append(b[:n-2], b[n-1]) // e-09 becomes e-9
	}
	return b
}
