package cli

import (
	"bytes"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// givenInputs are the frames of a recording, each compared with the commands that the scenario
// itself gives for the tick, in the order in which the world's queue hands them out.
type givenInputs struct {
	replay.Source
	scenario *scenarios.Scenario
	queue    *commands.Queue
	arrival  uint64 // of the next command
	given    []commands.Command
	payload  []byte
}

func newGivenInputs(frames replay.Source, s *scenarios.Scenario) *givenInputs {
	return &givenInputs{Source: frames, scenario: s, queue: commands.NewQueue(commands.MaxQueue), arrival: 1}
}

// Next implements [replay.Source].
func (g *givenInputs) Next(f *replay.Frame) error {
	if err := g.Source.Next(f); err != nil {
		return err
	}
	if _, err := g.queue.PushAll(g.scenario.CommandsAt(f.Tick)); err != nil {
		return fmt.Errorf("the commands of tick %s: %w", number(f.Tick), err)
	}
	g.given = g.queue.Take(g.given[:0], g.arrival)
	g.arrival += uint64(len(g.given))
	for i := range max(len(g.given), len(f.Records)) {
		if i >= len(g.given) || i >= len(f.Records) || !g.same(&f.Records[i], &g.given[i]) {
			return g.differ(f, i)
		}
	}
	return nil
}

// same reports whether a recorded command is one that was given.
func (g *givenInputs) same(r *replay.Record, c *commands.Command) bool {
	g.payload = c.AppendPayload(g.payload[:0])
	return r.Tag == uint8(c.Kind) && r.Meta == c.Meta && bytes.Equal(r.Payload, g.payload)
}

// differ returns the error for the first command of a tick that differs.
func (g *givenInputs) differ(f *replay.Frame, i int) error {
	n := names{g.scenario}
	e := &inputsError{Tick: f.Tick, Command: i + 1, Recorded: "nothing", Given: "nothing"}
	if i < len(f.Records) {
		e.Recorded = n.describeRecord(&f.Records[i])
	}
	if i < len(g.given) {
		c := &g.given[i]
		e.Given = n.describeRecord(&replay.Record{Tag: uint8(c.Kind), Payload: c.AppendPayload(nil), Meta: c.Meta})
	}
	return e
}

// An inputsError reports a tick with other commands than the scenario gives.
type inputsError struct {
	Tick            uint64
	Command         int // from 1
	Recorded, Given string
}

// Error implements error.
func (e *inputsError) Error() string {
	return fmt.Sprintf("tick %s: command %d is not the scenario's\n  recorded  %s\n  scenario  %s", number(e.Tick), e.Command, e.Recorded, e.Given)
}
