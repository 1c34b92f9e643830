package cli

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/commands"
)

// A refusal is the first command of a run that was refused.
type refusal struct {
	Tick    uint64 `json:"tick"`
	Reason  string `json:"reason"`
	Command string `json:"command"` // in words
	reason  commands.Reason
}

// noteRefused keeps the first command that was refused.
func (j *runJob) noteRefused(r *commands.Receipt) {
	if j.first == nil {
		j.first = &refusal{j.World.Tick(), r.Reason.String(), names{j.Scenario}.describe(r.Command), r.Reason}
	}
}

// refusedText says how many commands were refused and why, and which was the first.
func (j *runJob) refusedText() string {
	var parts []string
	for reason := commands.Applied; reason <= commands.UnknownEvent; reason++ {
		switch n := j.reasons[reason]; n {
		case 0:
		case j.refused:
			parts = append(parts, reason.String())
		default:
			parts = append(parts, number(n)+" "+reason.String())
		}
	}
	first := "at"
	if j.refused > 1 {
		first = "the first at"
	}
	return fmt.Sprintf("refused   %s (%s)\n          %s tick %s: %s; %s", count(j.refused, "command"), strings.Join(parts, ", "),
		first, number(j.first.Tick), j.first.Command, whyRefused(j.first.reason))
}

// whyRefused explains a reason in words that need no other page.
func whyRefused(r commands.Reason) string {
	switch r {
	case commands.Expired:
		return "it had expired"
	case commands.UnknownEntity:
		return "no living entity has this id"
	case commands.UnknownField:
		return "the world has no such field, or has it for cells and not for entities, or the reverse"
	case commands.StaticField:
		return "a static field never changes"
	case commands.OutsideSpace:
		return "there is no such cell, or no such component of a vector"
	case commands.CapacityFull:
		return "there is no room for another entity or event"
	case commands.NotFinite:
		return "a value must be finite"
	case commands.Unsupported:
		return "this program has no handler for it"
	case commands.UnknownParameter:
		return "the world has no such parameter"
	case commands.BadValue:
		return "the field cannot hold the value"
	case commands.Occupied:
		return "the cell is full"
	case commands.UnknownEvent:
		return "no such event waits"
	}
	return r.String()
}
