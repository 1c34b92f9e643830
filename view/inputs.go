package view

import (
	"strconv"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
)

const mostInputs = 1000 // per answer

// An inputsAnswer lists a tick's inputs from outside and the events scheduled for it, in the order in which they were
// applied.
type inputsAnswer struct {
	Tick   uint64  `json:"tick"`
	Inputs []input `json:"inputs"`
	More   int     `json:"more,omitempty"` // how many more follow
}

// An input is a command or an event, with its outcome. Numbers that may need 64 bits are strings.
type input struct {
	What     string `json:"what"`            // "set wall at [63, 10] to open"
	Event    bool   `json:"event,omitempty"` // scheduled in the world
	Priority *uint8 `json:"priority,omitempty"`
	Source   string `json:"source,omitempty"`
	Sequence string `json:"sequence,omitempty"` // number among the commands of its source
	Made     string `json:"made,omitempty"`     // id of the entity or event that it created
	Refused  string `json:"refused,omitempty"`  // the reason, such as "static field"
	Why      string `json:"why,omitempty"`      // a short explanation, such as "a static field never changes"
}

// inputs answers with the commands and events of a tick that the page does not have yet.
func (r *Recording) inputs(q *request, a *answer, deadline time.Time) error {
	if err := r.show.to(q.Tick, deadline); err != nil {
		return err
	}
	head := &inputsAnswer{Tick: q.Tick, Inputs: []input{}}
	var all []commands.Receipt
	if q.Tick > r.first {
		all = r.show.player.Receipts() // a cursor reaches a tick by replaying it
	}
	all = all[min(max(q.Since, 0), len(all)):]
	n := min(len(all), mostInputs)
	for i := range all[:n] {
		head.Inputs = append(head.Inputs, inWords(r.scenario, &all[i]))
	}
	head.More = len(all) - n
	a.head = head
	return nil
}

// inWords describes a receipt.
func inWords(s *scenarios.Scenario, r *commands.Receipt) input {
	in := input{What: scenarios.Names{Scenario: s}.DescribeBriefly(r.Command), Event: r.Event}
	if r.Priority != commands.PriorityUser && !r.Event {
		in.Priority = &r.Priority
	}
	if r.HasSource {
		in.Source = strconv.FormatUint(r.Source, 10)
		if r.HasSeq {
			in.Sequence = strconv.FormatUint(r.SourceSeq, 10)
		}
	}
	if r.Made != 0 {
		in.Made = strconv.FormatUint(r.Made, 10)
	}
	if r.Reason != commands.Applied {
		in.Refused, in.Why = r.Reason.String(), r.Why()
	}
	return in
}
