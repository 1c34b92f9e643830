package sweep

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// ParseAxis reads path=values, where values is one of
//
//	0.5,1,2          these
//	1..10            whole numbers
//	0..1/0.1         numbers with a step between them
//	0.1..2.0         any number between, for samples
//	log 0.001..10    likewise, as many of each power of ten
//
// The first three may stand side by side, with commas between them. A comma within brackets or quotes separates
// nothing.
func ParseAxis(text string) (Axis, error) {
	path, values, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return Axis{}, fmt.Errorf("%q is not of the form path=values", document.Shorten(text))
	}
	a := Axis{Path: path}
	var err error
	if a.Values, a.Interval, err = parseValues(values); err != nil {
		return Axis{}, fmt.Errorf("%s: %w", document.Shorten(path), err)
	}
	return a, nil
}

// parseValues reads the values of an axis. Whole numbers without a step are both a list and an interval.
func parseValues(text string) (values []string, interval *Interval, err error) {
	if rest, ok := strings.CutPrefix(text, "log "); ok {
		interval, err = parseInterval(strings.TrimSpace(rest))
		if err == nil && interval.From <= 0 {
			err = errors.New("a logarithm needs numbers above 0")
		}
		if interval != nil {
			interval.Log = true
		}
		return nil, interval, err
	}
	pieces := split(text)
	for _, piece := range pieces {
		span, ok := spanOf(piece)
		switch {
		case piece == "":
			return nil, nil, errors.New("a value is missing between two commas")
		case !ok:
			values = append(values, piece)
			continue
		case span.step == nil && (!span.whole || span.many()) && len(pieces) == 1:
			interval, err = parseInterval(piece)
			return nil, interval, err
		case span.step == nil && !span.whole:
			return nil, nil, fmt.Errorf("%s needs a step, as in 0..1/0.1", piece)
		}
		if values, err = span.appendTo(values); err != nil {
			return nil, nil, fmt.Errorf("%s %w", piece, err)
		}
	}
	return values, nil, nil
}

// split cuts a text at the commas that stand in no brackets and no quotes.
func split(text string) (pieces []string) {
	depth, quote, from := 0, byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			pieces = append(pieces, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(pieces, strings.TrimSpace(text[from:]))
}

// A span is numbers with a step between them.
type span struct {
	from, to, step *big.Rat // step: nil if none is given
	whole          bool     // the ends are written as whole numbers: 1.0 is none
}

// spanOf reads A..B or A..B/S.
func spanOf(text string) (s span, ok bool) {
	a, rest, dots := strings.Cut(text, "..")
	b, c, stepped := strings.Cut(rest, "/")
	if !dots || !isNumber(a) || !isNumber(b) || stepped && !isNumber(c) {
		return s, false
	}
	s.from, s.to, s.whole = rational(a), rational(b), !strings.ContainsAny(a+b, ".eE")
	if stepped {
		s.step = rational(c)
	}
	return s, s.from != nil && s.to != nil && (!stepped || s.step != nil)
}

// isNumber reports whether a text is a number, and short enough for exact arithmetic.
func isNumber(text string) bool {
	n := document.Node{Raw: text}
	x, err := strconv.ParseFloat(text, 64)
	return len(text) <= 40 && n.IsNumber() && err == nil && math.Abs(x) < 1e30 && (x == 0 || math.Abs(x) > 1e-30)
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

// many reports whether a span has more whole numbers than an axis can list.
func (s span) many() bool {
	return new(big.Rat).Sub(s.to, s.from).Cmp(big.NewRat(maxValues, 1)) >= 0
}

// appendTo appends the numbers of a span.
func (s span) appendTo(values []string) ([]string, error) {
	step := s.step
	if step == nil {
		step = big.NewRat(1, 1)
	}
	if step.Sign() <= 0 {
		return nil, errors.New("needs a step above 0")
	}
	if s.from.Cmp(s.to) > 0 {
		return nil, errors.New("ends before it begins")
	}
	steps := new(big.Rat).Sub(s.to, s.from)
	n := new(big.Int)
	if steps.Quo(steps, step); n.Quo(steps.Num(), steps.Denom()).Cmp(big.NewInt(maxValues-1)) > 0 {
		return nil, fmt.Errorf("has more than %d values", maxValues)
	}
	x := new(big.Rat).Set(s.from)
	for range n.Int64() + 1 {
		values = append(values, decimal(x))
		x.Add(x, step)
	}
	return values, nil
}

// decimal writes a number as scenarios do: without a point if it is whole, else with the fewest digits that give
// the same float64.
func decimal(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	f, _ := x.Float64()
	return string(document.AppendFloat(nil, f))
}

func parseInterval(text string) (*Interval, error) {
	s, ok := spanOf(text)
	switch {
	case !ok || s.step != nil:
		return nil, fmt.Errorf("%q is not of the form 0.1..2.0", document.Shorten(text))
	case s.from.Cmp(s.to) >= 0:
		return nil, fmt.Errorf("%s ends before it begins", text)
	}
	v := &Interval{Whole: s.whole}
	v.From, _ = s.from.Float64()
	v.To, _ = s.to.Float64()
	return v, nil
}

// String writes an interval as ParseAxis takes it.
func (v *Interval) String() string {
	text := fmt.Sprintf("%s..%s", document.AppendFloat(nil, v.From), document.AppendFloat(nil, v.To))
	if v.Log {
		return "log " + text
	}
	return text
}

// ParseSeeds reads seeds such as 1..100, 1..100/3 or 1,7,42.
func ParseSeeds(text string) (list []Span, err error) {
	for piece := range strings.SplitSeq(text, ",") {
		piece = strings.TrimSpace(piece)
		bad := fmt.Errorf("%q are not seeds, such as 1..100 or 1,7,42: whole numbers from 0 to 18446744073709551615", document.Shorten(piece))
		a, rest, dots := strings.Cut(piece, "..")
		b, c, stepped := strings.Cut(rest, "/")
		if !dots {
			b = a
		}
		if !stepped {
			c = "1"
		}
		var numbers [3]uint64
		for i, text := range [...]string{a, b, c} {
			if numbers[i], err = strconv.ParseUint(text, 10, 64); err != nil {
				return nil, bad
			}
		}
		s := Span{numbers[0], numbers[1], numbers[2]}
		switch {
		case s.Step == 0:
			return nil, bad
		case s.To < s.From:
			return nil, fmt.Errorf("seeds %s end before they begin", piece)
		case (s.To-s.From)/s.Step >= MaxJobs:
			return nil, fmt.Errorf("seeds %s are more than %d", piece, MaxJobs)
		}
		list = append(list, s)
	}
	return list, nil
}
