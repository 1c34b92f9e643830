package view

import (
	"strconv"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
)

const (
	mostInputs     = 1000 // of an answer
	mostInputBytes = 240  // of a command's data, in words: whole attributes of a spawn, whole parameters
)

// An inputsAnswer is what came from outside in a tick, and what was scheduled for it, in the order in which it was done.
type inputsAnswer struct {
	Tick   uint64  `json:"tick"`
	Inputs []input `json:"inputs"`
	More   int     `json:"more,omitempty"` // after them
}

// An input is a command or an event, and what came of it. Numbers that may have 64 bits are strings.
type input struct {
	What     string `json:"what"`            // "set wall at [63, 10] to open"
	Event    bool   `json:"event,omitempty"` // scheduled in the world
	Priority *uint8 `json:"priority,omitempty"`
	Source   string `json:"source,omitempty"`
	Sequence string `json:"sequence,omitempty"` // among those of the source
	Made     string `json:"made,omitempty"`     // the id of the entity or event that it made
	Refused  string `json:"refused,omitempty"`  // the reason, "static field"
	Why      string `json:"why,omitempty"`      // in a few words, "a static field never changes"
}

// inputs answers with the commands and events of a tick, after those that the page has.
func (r *Recording) inputs(q *request, a *answer, deadline time.Time) error {
	if err := r.show.to(q.Tick, deadline); err != nil {
		return err
	}
	head := &inputsAnswer{Tick: q.Tick, Inputs: []input{}}
	var all []commands.Receipt
	if q.Tick > r.first {
		all = r.show.player.Receipts() // a cursor comes to a tick by replaying it
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
	in := input{What: describe(s, r.Command), Event: r.Event}
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

// describe says what a command does, in not too many words.
func describe(s *scenarios.Scenario, c *commands.Command) string {
	names := scenarios.Names{Scenario: s}
	if len(c.Data) <= mostInputBytes {
		return names.Describe(c)
	}
	cut := *c
	cut.Data = c.Data[:mostInputBytes]
	return names.Describe(&cut) + " …"
}
