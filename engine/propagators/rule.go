package propagators

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A Rule gives the next state of a cell of an [Automaton] by the number of its
// neighbours that are alive. Under the zero Rule everything dies at once.
type Rule struct {
	Born    uint64 // bit n: a dead cell with n live neighbours comes alive
	Survive uint64 // bit n: a live cell with n live neighbours stays alive
	States  int    // 2 or 0: dead and alive; more: a cell that dies passes through states 2 to States-1
}

const (
	countDigits = "0123456789abcdefghijklmnopqrstuvwxyz"
	maxCount    = len(countDigits) - 1
	maxStates   = 1 << 16
)

// ParseRule reads a rule such as "B3/S23", Conway's Life: counts at which cells are
// born and survive, a digit each, with a for 10, b for 11, up to z for 35. A third
// part is the number of states: "B2/S/3" is Brian's Brain. B and S may be lower case.
func ParseRule(s string) (Rule, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Rule{}, fmt.Errorf("rule %q must look like B3/S23 or B2/S/3", s)
	}
	r := Rule{States: 2}
	var err error
	if r.Born, err = parsePart(parts[0], "B"); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", s, err)
	}
	if r.Survive, err = parsePart(parts[1], "S"); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", s, err)
	}
	if len(parts) == 3 {
		if r.States, err = strconv.Atoi(parts[2]); err != nil || r.States < 2 || r.States > maxStates {
			return Rule{}, fmt.Errorf("rule %q: states must be 2 to %d, not %q", s, maxStates, parts[2])
		}
	}
	return r, nil
}

func parsePart(part, letter string) (mask uint64, err error) {
	digits, ok := strings.CutPrefix(part, letter)
	if !ok {
		digits, ok = strings.CutPrefix(part, strings.ToLower(letter))
	}
	if !ok {
		return 0, fmt.Errorf("%q does not begin with %s", part, letter)
	}
	return parseCounts(digits)
}

func parseCounts(digits string) (mask uint64, err error) {
	for _, d := range digits {
		n := strings.IndexRune(countDigits, d)
		if n < 0 {
			return 0, fmt.Errorf("%q is not a count; use 0 to 9 and a to z", d)
		}
		mask |= 1 << n
	}
	return mask, nil
}

// String is the inverse of [ParseRule]. It leaves out counts above 35.
func (r Rule) String() string {
	s := "B" + countString(r.Born) + "/S" + countString(r.Survive)
	if r.States > 2 {
		s += "/" + strconv.Itoa(r.States)
	}
	return s
}

func countString(mask uint64) string {
	var b strings.Builder
	for n := range countDigits {
		if mask>>n&1 != 0 {
			b.WriteByte(countDigits[n])
		}
	}
	return b.String()
}

// most returns the largest count that the rule names, -1 if none.
func (r Rule) most() int { return bits.Len64(r.Born|r.Survive) - 1 }
