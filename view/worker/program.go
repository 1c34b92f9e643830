package worker

import (
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// A Program is what the engine in a page knows besides what comes with murksim: the same that cli.Program says of the program that writes the page.
type Program struct {
	Name       string                // as people call it
	Components []scenarios.Component // with names of their own
	Build      replay.Builder        // of worlds that it builds in Go; nil: there are none
}
