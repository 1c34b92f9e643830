// Package session opens what can be computed again (scenarios, recordings and saved states), goes to any of its ticks, and says what
// is wrong with it in words that name what to do.
package session

import (
	"io"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// A Session opens what can be computed again: scenarios, recordings and states.
type Session struct {
	*report.Printer
	Name     string // of the program, for commands that are recommended
	In       io.Reader
	Registry *scenarios.Registry
	Build    replay.Builder // of worlds whose descriptor is no scenario; nil: there are none

	States    []string // at which recordings begin: files
	Several   bool     // recordings are named
	lastState []byte   // from the last of these files that fitted
}
