package session

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// GivenInputs are the frames of a recording, each compared with the commands that the scenario
// itself gives for the tick, in the order in which the world's queue hands them out.
type GivenInputs struct {
	replay.Source
	world    *engine.World                                 // that replays them; nil: none does
	list     func(tick uint64) ([]commands.Command, error) // what the scenario gives
	scenario *scenarios.Scenario
	queue    *commands.Queue
	arrival  uint64 // of the next command; 0: not known yet
	given    []commands.Command
	payload  []byte
}

// Given compares frames that no world replays with the commands of a scenario. Where a recording begins at a state, the
// number of its first command is taken as it is.
func Given(s *scenarios.Scenario, begin *replay.Begin) *GivenInputs {
	g := &GivenInputs{
		list:     func(tick uint64) ([]commands.Command, error) { return s.CommandsAt(tick), nil },
		scenario: s, queue: commands.NewQueue(commands.MaxQueue),
	}
	if begin == nil {
		g.arrival = 1
	}
	return g
}

// Next implements [replay.Source].
func (g *GivenInputs) Next(f *replay.Frame) error {
	if err := g.Source.Next(f); err != nil {
		return err
	}
	return g.Compare(f)
}

// Compare returns an [*InputsError] if a frame has other commands than the scenario gives. Frames
// are compared in their order.
func (g *GivenInputs) Compare(f *replay.Frame) error {
	if g.world != nil && f.Tick != g.world.Tick()+1 {
		return nil // it is out of order, which the player says
	}
	list, err := g.list(f.Tick)
	if err != nil {
		return err
	}
	if _, _, err := g.queue.PushAll(list); err != nil {
		return fmt.Errorf("the commands of tick %s: %w", words.Number(f.Tick), err)
	}
	g.given = g.queue.Take(g.given[:0], g.arrival)
	if len(f.Records) > 0 {
		g.number(f.Records[0].Meta.Arrival)
	}
	g.arrival += uint64(len(g.given))
	for i := range max(len(g.given), len(f.Records)) {
		if i >= len(g.given) || i >= len(f.Records) || !g.same(&f.Records[i], &g.given[i]) {
			return g.differ(f, i)
		}
	}
	return nil
}

// number numbers what is given as it is recorded, where that is not known: the first command of the tick has this number.
func (g *GivenInputs) number(recorded uint64) {
	if g.arrival != 0 || len(g.given) == 0 {
		return
	}
	g.arrival = recorded - g.given[0].Arrival // which counts from 0
	for i := range g.given {
		g.given[i].Arrival += g.arrival
	}
}

// same reports whether a recorded command is one that was given.
func (g *GivenInputs) same(r *replay.Record, c *commands.Command) bool {
	g.payload = c.AppendPayload(g.payload[:0])
	return r.Tag == uint8(c.Kind) && r.Meta == c.Meta && bytes.Equal(r.Payload, g.payload)
}

// differ returns the error for the first command of a tick that differs.
func (g *GivenInputs) differ(f *replay.Frame, i int) error {
	n := Names{Scenario: g.scenario}
	e := &InputsError{Tick: f.Tick, Command: i + 1, Recorded: "nothing", Given: "nothing"}
	if i < len(f.Records) {
		e.Recorded = DescribeRecord(n, &f.Records[i])
	}
	if i < len(g.given) {
		c := &g.given[i]
		e.Given = DescribeRecord(n, &replay.Record{Tag: uint8(c.Kind), Payload: c.AppendPayload(nil), Meta: c.Meta})
	}
	return e
}

// NoticedInputs are the frames of a recording, and the first command in them that is not the
// scenario's.
type NoticedInputs struct {
	*GivenInputs
	Other error // an [*InputsError]; or why the frames after it are not compared
}

// Next implements [replay.Source].
func (n *NoticedInputs) Next(f *replay.Frame) error {
	if err := n.Source.Next(f); err != nil || n.Other != nil {
		return err
	}
	n.Other = n.Compare(f)
	return nil
}

// An InputsError reports a tick with other commands than the scenario gives.
type InputsError struct {
	Tick     uint64 `json:"-"`
	Command  int    `json:"command"` // from 1
	Recorded string `json:"recorded"`
	Given    string `json:"scenario"`
}

// Error implements error.
func (e *InputsError) Error() string {
	return fmt.Sprintf("tick %s: command %d is not the scenario's\n  recorded  %s\n  scenario  %s", words.Number(e.Tick), e.Command, e.Recorded, e.Given)
}

// Begins reports whether a frame that is cut short is the beginning of the one that the scenario gives for a tick.
func (g *GivenInputs) Begins(tick uint64, cut []byte) bool {
	if len(cut) == 0 {
		return true
	}
	list, err := g.list(tick)
	if err != nil {
		return false
	}
	if _, _, err := g.queue.PushAll(list); err != nil {
		return false
	}
	g.given = g.queue.Take(g.given[:0], g.arrival)
	if len(g.given) > 0 {
		const head = 8 + 4
		if end := head + len(g.given[0].Append(nil)); len(cut) >= end {
			g.number(binary.LittleEndian.Uint64(cut[end-8:])) // the number stands at the end of a command
		} else if g.arrival == 0 {
			cut = cut[:min(len(cut), end-8)]
		}
	}
	want := binary.LittleEndian.AppendUint64(nil, tick)
	want = binary.LittleEndian.AppendUint32(want, uint32(len(g.given)))
	for i := range g.given {
		want = g.given[i].Append(want)
	}
	n := min(len(want), len(cut))
	return bytes.Equal(want[:n], cut[:n])
}
