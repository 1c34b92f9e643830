package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// A refusal is the first command of a run that was refused.
type refusal struct {
	Tick    uint64 `json:"tick"`
	Reason  string `json:"reason"`
	Command string `json:"command"` // in words
	why     string
}

// noteRefused keeps the first command that was refused.
func (j *runJob) noteRefused(r *commands.Receipt) {
	if j.first == nil {
		j.first = &refusal{j.World.Tick(), r.Reason.String(), session.Names{Scenario: j.Scenario}.Describe(r.Command), r.Why()}
	}
}

// A tally counts refusals by reason.
type tally map[commands.Reason]uint64

func (t tally) total() (n uint64) {
	for _, k := range t {
		n += k
	}
	return n
}

// byName is the tally for JSON.
func (t tally) byName() map[string]uint64 {
	m := make(map[string]uint64, len(t))
	for reason, n := range t {
		m[reason.String()] = n
	}
	return m
}

// String lists the reasons, with how often each occurred if there are several.
func (t tally) String() string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(t)) {
		part := reason.String()
		if len(t) > 1 {
			part = words.Number(t[reason]) + " " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// refusedLines says how many commands and events were refused and why, and which command
// was the first.
func (j *runJob) refusedLines() (lines []string) {
	if n := j.refused.total(); n > 0 {
		first := "at"
		if n > 1 {
			first = "the first at"
		}
		lines = append(lines, fmt.Sprintf("refused   %s (%s)\n          %s tick %s: %s; %s", words.Count(n, "command"), j.refused,
			first, words.Number(j.first.Tick), j.first.Command, j.first.why))
	}
	if n := j.refusedEvents.total(); n > 0 {
		lines = append(lines, fmt.Sprintf("refused   %s of the world (%s)", words.Count(n, "event"), j.refusedEvents))
	}
	return lines
}
