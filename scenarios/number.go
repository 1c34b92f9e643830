package scenarios

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var (
	integerForm = regexp.MustCompile(`^[-+]?([0-9][0-9_]*|0x[0-9a-fA-F_]+|0o[0-7_]+)$`)
	decimalForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	specialForm = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// isNumber says whether a scalar is written as a number.
func (n *node) isNumber() bool {
	return n.kind == scalarNode && !n.quoted &&
		(integerForm.MatchString(n.raw) || decimalForm.MatchString(n.raw) || specialForm.MatchString(n.raw))
}

// bool reads true or false.
func (n *node) bool() (v, ok bool) {
	if n.kind != scalarNode || n.quoted {
		return false, false
	}
	switch n.raw {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// integer reads a whole number between two bounds, exactly.
func (n *node) integer(low, high *big.Int) (*big.Int, error) {
	if !n.isNumber() {
		return nil, n.errorf("%s is not a whole number", n.what())
	}
	if !integerForm.MatchString(n.raw) {
		e := n.errorf("%s is not a whole number", n.what())
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
			return nil, n.errorf("%s is not a whole number", n.what())
		}
	}
	if len(raw) > mostDigits || v.Cmp(low) < 0 || v.Cmp(high) > 0 {
		return nil, n.errorf("%s is out of range: it must be %v to %v", n.what(), low, high)
	}
	return v, nil
}

// digits is the number's text without the underscores between its digits.
func (n *node) digits() string { return strings.ReplaceAll(n.raw, "_", "") }

// float reads a finite number. One with a fraction or an exponent is rounded to
// the nearest float64; a whole one must be exact.
func (n *node) float() (float64, error) {
	switch {
	case !n.isNumber():
		return 0, n.errorf("%s is not a number", n.what())
	case specialForm.MatchString(n.raw):
		return 0, n.errorf("%s: numbers must be finite", n.raw)
	case integerForm.MatchString(n.raw):
		v, err := n.integer(lowestInteger, highestInteger)
		if err != nil {
			return 0, err
		}
		f, accuracy := new(big.Float).SetInt(v).Float64()
		if accuracy != big.Exact {
			return 0, n.errorf("%s cannot be held exactly; the nearest number is %s", n.what(), strconv.FormatFloat(f, 'f', -1, 64))
		}
		if f == 0 && strings.HasPrefix(n.raw, "-") {
			f = math.Copysign(0, -1)
		}
		return f, nil
	}
	f, err := strconv.ParseFloat(n.digits(), 64)
	switch {
	case err != nil:
		return 0, n.errorf("%s is out of range: numbers go up to 1.8e308", n.what())
	case f == 0 && strings.ContainsAny(mantissa(n.raw), "123456789"):
		return 0, n.errorf("%s is too small to be told from 0", n.what())
	}
	return f, nil
}

// The whole numbers that a float64 might hold and a scenario might need.
var (
	highestInteger = new(big.Int).Lsh(big.NewInt(1), 128)
	lowestInteger  = new(big.Int).Neg(highestInteger)
)

// mantissa is a number's text up to its exponent.
func mantissa(raw string) string {
	m, _, _ := strings.Cut(strings.ToLower(raw), "e")
	return m
}

// appendFloat appends the shortest decimal that reads back as v, with an exponent
// if it is below 1e-6 or from 1e21 on, as encoding/json does.
func appendFloat(b []byte, v float64) []byte {
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
