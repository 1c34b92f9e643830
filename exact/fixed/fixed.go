package fixed

import (
	"fmt"
	"math"
	"strings"
)

// A Fixed is a number of units of 1/65536.
type Fixed int64

// Numbers to know. One unit is Fixed(1).
const (
	One Fixed = 1 << fractionBits
	Max Fixed = math.MaxInt64 // 140737488355327.99998…
	Min Fixed = math.MinInt64 // -140737488355328
	Pi  Fixed = 205887        // the nearest to π
)

const (
	fractionBits = 16
	fraction     = One - 1 // mask
)

// A Kind says what is wrong with an operation or a text, and is its own sentinel:
// errors.Is(err, ErrOverflow).
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds.
const (
	ErrOverflow     Kind = "overflow"
	ErrDivideByZero Kind = "division by zero"
	ErrDomain       Kind = "outside the domain" // a root or logarithm of a negative number and the like
	ErrInexact      Kind = "no multiple of 1/65536"
	ErrSyntax       Kind = "not a decimal number"
)

// A Fault is an operation that has no result.
type Fault struct {
	Op       string // "add", "sqrt", …: the method's name in lower case
	Operands []Fixed
	Kind     Kind // ErrOverflow, ErrDivideByZero or ErrDomain
}

// Error implements error.
func (f *Fault) Error() string {
	var b strings.Builder
	for i, x := range f.Operands {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(x.String())
	}
	return fmt.Sprintf("fixed: %s(%s): %s", f.Op, b.String(), string(f.Kind))
}

// Unwrap returns the kind.
func (f *Fault) Unwrap() error { return f.Kind }

func fault(k Kind, op string, operands ...Fixed) (Fixed, error) {
	return 0, &Fault{op, operands, k}
}

// FromInt is n, or ErrOverflow outside of ±2^47.
func FromInt(n int64) (Fixed, error) {
	if n > int64(Max>>fractionBits) || n < int64(Min>>fractionBits) {
		return 0, fmt.Errorf("fixed: %d: %w", n, ErrOverflow)
	}
	return Fixed(n) << fractionBits, nil
}

// Ratio is n/d rounded toward minus infinity, or ErrOverflow, or ErrDivideByZero.
func Ratio(n, d int64) (Fixed, error) {
	x, err := Fixed(n).Div(Fixed(d))
	if f, ok := err.(*Fault); ok {
		return 0, fmt.Errorf("fixed: %d/%d: %w", n, d, f.Kind)
	}
	return x, nil
}

// FromFloat is v exactly, or ErrInexact, or ErrOverflow; ErrDomain for a NaN.
func FromFloat(v float64) (Fixed, error) {
	scaled := v * 65536 // exact, or infinite
	kind := ErrOverflow
	switch {
	case v != v:
		kind = ErrDomain
	case scaled != math.Floor(scaled):
		kind = ErrInexact
	case scaled >= -(1<<63) && scaled < 1<<63:
		return Fixed(scaled), nil
	}
	return 0, fmt.Errorf("fixed: %v: %w", v, kind)
}

// Float64 returns the nearest float64, for display and statistics.
func (x Fixed) Float64() float64 { return float64(x) / 65536 }

// Int returns the greatest whole number that is not above x.
func (x Fixed) Int() int64 { return int64(x >> fractionBits) }

// Sign is -1, 0 or 1.
func (x Fixed) Sign() int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// Floor is Int as a Fixed.
func (x Fixed) Floor() Fixed { return x &^ fraction }

// Ceil returns the least whole number that is not below x.
func (x Fixed) Ceil() (Fixed, error) {
	if x > Max&^fraction {
		return fault(ErrOverflow, "ceil", x)
	}
	return (x + fraction) &^ fraction, nil
}

// Round returns the nearest whole number; halves go to the even one.
func (x Fixed) Round() (Fixed, error) {
	floor, rest := x.Floor(), x&fraction
	if rest < One/2 || rest == One/2 && floor&One == 0 {
		return floor, nil
	}
	if floor == Max&^fraction {
		return fault(ErrOverflow, "round", x)
	}
	return floor + One, nil
}
