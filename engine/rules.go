package engine

import "fmt"

// Rules say how a tick works.
type Rules uint8

// The rule sets.
const (
	Murksim Rules = iota // this engine's own
	Murk019              // those of the original Murk engine, version 0.1.9
)

var ruleSets = [...]struct {
	name string
	make func() ruleSet
}{
	Murksim: {"murksim", func() ruleSet { return murksimRules{} }},
	Murk019: {"murk-0.1.9", func() ruleSet { return new(murk019Rules) }},
}

// String returns the name that [ParseRules] reads.
func (r Rules) String() string {
	if r.exist() {
		return ruleSets[r].name
	}
	return fmt.Sprintf("Rules(%d)", uint8(r))
}

// ParseRules reads the name of a rule set.
func ParseRules(name string) (Rules, error) {
	for i := range ruleSets {
		if ruleSets[i].name == name {
			return Rules(i), nil
		}
	}
	return 0, fmt.Errorf("engine: there are no rules %q; use %s or %s", name, Murksim, Murk019)
}

func (r Rules) exist() bool { return int(r) < len(ruleSets) }

// set makes the rules for one world. Rules that do not exist, which no world has, count as
// Murksim.
func (r Rules) set() ruleSet {
	if !r.exist() {
		r = Murksim
	}
	return ruleSets[r].make()
}

// A ruleSet does what differs between sets of rules; everything else in a world and its
// ticks is the same for every set. Each world has a ruleSet of its own, and a new one after
// a reset.
type ruleSet interface {
	// check returns an error for a configuration with something that the rules do not have.
	check(*Config) error

	// closed reports whether the state is all that influences a later tick. If so, the
	// world has the column world.rest and can be saved.
	closed() bool

	// strict reports whether propagators must keep to all that their Spec says: to write a
	// Full output in full, to begin an Incremental one with what Now gives, and to run at
	// steps of at most MaxDt. Only then does Context.Changed count.
	strict() bool

	// admit decides how a new stage may use its fields, and reports whether several
	// workers may share it.
	admit(*World, *stage) bool

	// The parts of a tick, in order. If the tick fails, failed is called before it is taken
	// back.
	apply(*World)           // applies events and inputs, and writes their receipts
	prepare(*World, *stage) // makes a stage's outputs ready to be written
	finish(*World) error    // checks what the stages wrote, and completes the state
	failed(*World)
}
