package engine

import "fmt"

// Rules say how a tick works.
type Rules uint8

// The rule sets.
const (
	Murksim Rules = iota // this engine's own
	Murk019              // those of the original Murk engine, version 0.1.9
)

var rulesNames = [...]string{"murksim", "murk-0.1.9"}

// String is the name that [ParseRules] reads.
func (r Rules) String() string {
	if int(r) < len(rulesNames) {
		return rulesNames[r]
	}
	return fmt.Sprintf("Rules(%d)", uint8(r))
}

// ParseRules reads the name of a rule set.
func ParseRules(name string) (Rules, error) {
	for i, n := range rulesNames {
		if n == name {
			return Rules(i), nil
		}
	}
	return 0, fmt.Errorf("engine: there are no rules %q; use %s or %s", name, Murksim, Murk019)
}
