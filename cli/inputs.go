package cli

import (
	"bytes"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// givenInputs are the frames of a recording, each compared with the commands that the scenario
// itself gives for the tick, in the order in which the world's queue hands them out.
type givenInputs struct {
	replay.Source
	world    *engine.World                                 // that replays them; nil: none does
	list     func(tick uint64) ([]commands.Command, error) // what the scenario gives
	scenario *scenarios.Scenario
	queue    *commands.Queue
	arrival  uint64 // of the next command
	given    []commands.Command
	payload  []byte
}

// givenInputs compares the frames of a recording that are replayed in a world.
func (rec *recording) givenInputs(w *engine.World) (*givenInputs, error) {
	run := &runner.Run{Scenario: rec.scenario, World: w}
	g := &givenInputs{Source: rec.frames, world: w, list: run.Scheduled, scenario: rec.scenario, queue: commands.NewQueue(commands.MaxQueue), arrival: 1}
	if rec.state != nil {
		s, err := engine.ReadState(rec.state)
		if err != nil {
			return nil, err
		}
		g.arrival = s.Arrival
	}
	return g, nil
}

// Next implements [replay.Source].
func (g *givenInputs) Next(f *replay.Frame) error {
	if err := g.Source.Next(f); err != nil {
		return err
	}
	return g.compare(f)
}

// compare returns an [*inputsError] if a frame has other commands than the scenario gives. Frames
// are compared in their order.
func (g *givenInputs) compare(f *replay.Frame) error {
	if g.world != nil && f.Tick != g.world.Tick()+1 {
		return nil // it is out of order, which the player says
	}
	list, err := g.list(f.Tick)
	if err != nil {
		return err
	}
	if _, err := g.queue.PushAll(list); err != nil {
		return fmt.Errorf("the commands of tick %s: %w", words.Number(f.Tick), err)
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
	n := names{Scenario: g.scenario}
	e := &inputsError{Tick: f.Tick, Command: i + 1, Recorded: "nothing", Given: "nothing"}
	if i < len(f.Records) {
		e.Recorded = describeRecord(n, &f.Records[i])
	}
	if i < len(g.given) {
		c := &g.given[i]
		e.Given = describeRecord(n, &replay.Record{Tag: uint8(c.Kind), Payload: c.AppendPayload(nil), Meta: c.Meta})
	}
	return e
}

// noticedInputs are the frames of a recording, and the first command in them that is not the
// scenario's.
type noticedInputs struct {
	*givenInputs
	other error // an [*inputsError]; or why the frames after it are not compared
}

// Next implements [replay.Source].
func (n *noticedInputs) Next(f *replay.Frame) error {
	if err := n.Source.Next(f); err != nil || n.other != nil {
		return err
	}
	n.other = n.compare(f)
	return nil
}

// An inputsError reports a tick with other commands than the scenario gives.
type inputsError struct {
	Tick     uint64 `json:"-"`
	Command  int    `json:"command"` // from 1
	Recorded string `json:"recorded"`
	Given    string `json:"scenario"`
}

// Error implements error.
func (e *inputsError) Error() string {
	return fmt.Sprintf("tick %s: command %d is not the scenario's\n  recorded  %s\n  scenario  %s", words.Number(e.Tick), e.Command, e.Recorded, e.Given)
}
