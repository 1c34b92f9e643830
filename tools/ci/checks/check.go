package main

import "fmt"

// A check is one row of the table. Its commands are for bash, in the root of the module, and
// end at the first that fails. They exit with the status skipped if a program is missing.
type check struct {
	name  string // one word
	what  string // for --list
	do    string // the commands
	adds  string // what --long adds, and about how long that takes
	quick bool   // it belongs to --quick, too
	night bool   // it belongs to --long alone
	waits bool   // it leaves the cores idle for most of its time
	first bool   // those after it begin when it has ended: they need what it compiles, and would each compile it again
}

// skipped is an exit status: what the check needs is missing. Automake's tests use it, too.
const skipped = 77

// A mode is how much of a check is run.
type mode struct{ quick, long bool }

// of reports whether a check belongs to the mode.
func (m mode) of(c *check) bool { return (c.quick || !m.quick) && (!c.night || m.long) }

// flag returns the mode as it is typed, with a space behind it.
func (m mode) flag() string {
	switch {
	case m.quick:
		return "--quick "
	case m.long:
		return "--long "
	}
	return ""
}

// laws are the tests of engine/propagators that compute long to see what follows from formulas. Where the same bits were computed, they hold.
const laws = "^Test(DiffusionWalks|ShallowWater(Settles|Limits|Conserves|Plane)|PercolationThresholds|AdvectionConserves|SightLines|MostDirections)$"

// script returns the commands of a check for bash.
func (m mode) script(c *check) string {
	return fmt.Sprintf("quick=%v long=%v laws='%s'\nfull() { if $long; then echo \"$1\"; else echo \"$2\"; fi; }\n. tools/ci/need.sh\n%s\n", m.quick, m.long, laws, c.do)
}
