// Package rules checks that Go code of a simulation gives the same bits on every
// machine and in every run. It is one analyzer of golang.org/x/tools/go/analysis,
// [Analyzer]; each of its findings carries the name of the [Rule] it breaks as its
// category and at the head of its message.
//
// It reads one package at a time and knows nothing of what called functions do, so
// where it cannot see that code is harmless it says so, and the code must either be
// written another way or give its reason where it stands:
//
//	//detcheck:allow RULE reason
//
// Such a comment covers its own line, or, standing alone, the line below it. One
// without a reason, of an unknown rule or that covers no finding is itself a finding.
//
// Two rules one could wish for are left out. Floats in state structs are no fault
// here, for the engine's columns may be float32. And a conversion to int of a number
// with 64 bits is far too common where the number is a length, so only conversions of
// values computed on the spot are looked at.
package rules

import "strings"

// A Rule forbids one way in which results can come to differ.
type Rule struct {
	Name    string
	Why     string // what goes wrong
	Instead string // what to write
}

// All lists the rules in the order of their names.
var All = []Rule{
	{"clock", "real time is another one in every run", "count ticks; time is the tick times a constant step"},
	{"environment", "the machine, its files and its network are not part of the state", "read them before the run and pass values in"},
	{"floatint", "a float beyond the integer's range converts differently on each processor", "compare or clamp it first"},
	{"foreign", "code that is not Go may compute otherwise on each processor, and is not checked", "write it in Go"},
	{"fuse", "compilers may fuse a product with a sum and round once instead of twice", "round the product: float32(x*y) + z"},
	{"goroutine", "goroutines, channels and locks run in an order that nobody fixes", "work in one goroutine, or by index in a helper that joins in order"},
	{"hidden", "a propagator, system or handler remembers something that no save holds", "put it into the state"},
	{"maprange", "a map's order is another one every time", "collect the keys, sort them and range over the slice"},
	{"pkgvar", "a package variable keeps something between ticks that no save holds", "put it into the state"},
	{"platformint", "int has 32 bits on some machines", "use int64 or uint64, or check the range"},
	{"pointer", "addresses are others in every run", "use an index or an id"},
	{"random", "nothing repeats these numbers", "draw from a generator that the run's seed has seeded"},
	{"runtime", "collector, finalizers and scheduler work when they like", "let nothing of them reach the state"},
	{"sort", "an unstable sort leaves equal elements in any order", "compare until nothing is equal, or sort stably"},
	{"transcendental", "package math computes it differently on each processor", "use functions whose every step is rounded"},
}

// instead returns what to do about a breach of a rule.
func instead(rule string) string {
	for _, r := range All {
		if r.Name == rule {
			return r.Instead
		}
	}
	panic("rules: no rule " + rule)
}

// known reports whether a rule has that name.
func known(rule string) bool {
	for _, r := range All {
		if r.Name == rule {
			return true
		}
	}
	return false
}

// Split takes a message of the analyzer apart.
func Split(message string) (rule, text string) {
	rule, text, _ = strings.Cut(message, ": ")
	return rule, text
}
