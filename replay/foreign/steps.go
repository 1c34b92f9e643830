package foreign

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// steps are the frames of a recording and, between them, the steps of the world file whose
// ticks failed, which no recording holds. A step in the file takes effect as it is read: the
// world is reset, and actions are pushed.
type steps struct {
	replay.Source
	file    *File
	world   *engine.World
	actions *actionQueue
	step    int   // calls made
	next    int   // index of the next of file.Steps
	failing *Step // the last one read, if its tick failed
}

// Next implements [replay.Source].
func (s *steps) Next(f *replay.Frame) error {
	s.failing = nil
	if n := s.file.StepCount; n > 0 && s.step == n {
		return s.end(f)
	}
	s.step++
	if s.next == len(s.file.Steps) || s.file.Steps[s.next].Step != s.step {
		return s.frame(f)
	}
	current := &s.file.Steps[s.next]
	s.next++
	if current.ResetSeed != nil {
		s.world.Reset(uint64(*current.ResetSeed))
	}
	for _, a := range current.Actions {
		s.actions.push(a.Agent, a.Direction)
	}
	if current.Error != nil && string(current.Error) != "null" {
		s.failing = current
		return s.failed(f)
	}
	return s.frame(f)
}

// end checks that the recording ends where the steps do.
func (s *steps) end(f *replay.Frame) error {
	if err := s.Source.Next(f); err != nil {
		return err
	}
	return &DivergedError{f.Tick, "the recording goes on after the last step of the world file"}
}

// frame reads a step that the recording holds.
func (s *steps) frame(f *replay.Frame) error {
	tick := s.world.Tick() + 1
	switch err := s.Source.Next(f); {
	case err == io.EOF && s.step <= s.file.lastStep():
		return &DivergedError{tick, fmt.Sprintf("the recording ends before step %d of %d", s.step, s.file.lastStep())}
	case err != nil:
		return err
	case f.Tick != tick:
		return &DivergedError{tick, fmt.Sprintf("the frame of step %d is of tick %d", s.step, f.Tick)}
	}
	return nil
}

// failed makes a frame of a step whose tick failed, which leaves the state as it was.
func (s *steps) failed(f *replay.Frame) error {
	*f = replay.Frame{Tick: s.world.Tick() + 1, Hash: s.world.Hash()}
	for i := range s.failing.Commands {
		c, err := s.failing.Commands[i].command()
		if err != nil {
			return &Error{File: s.file.name, Err: fmt.Errorf("step %d: commands[%d]: %w", s.step, i, err)}
		}
		f.Records = append(f.Records, replay.Record{Tag: uint8(c.Kind), Payload: c.AppendPayload(nil), Meta: c.Meta})
	}
	return nil
}

// An Action is an order to an agent.
type Action struct {
	Agent     uint16
	Direction Heading
}

// UnmarshalJSON implements [json.Unmarshaler]: [agent, "north"].
func (a *Action) UnmarshalJSON(b []byte) error {
	var name string
	if err := pair(b, &a.Agent, &name); err != nil {
		return err
	}
	var err error
	if a.Direction, err = parseHeading(name); err != nil {
		return &valueError{bytes.Clone(b), err}
	}
	return nil
}

// A Command is a command as a world file writes it. Keys that are absent mean the
// default: user's priority, no source, no expiry.
type Command struct {
	Type     string  `json:"type"`
	Coord    []int32 `json:"coord"`
	FieldID  uint32  `json:"field_id"`
	Bits     string  `json:"value_bits"` // of a float32, such as 0x3f800000
	Priority *uint8  `json:"priority_class"`
	Source   *Number `json:"source_id"`
	Sequence *Number `json:"source_seq"`
	Expires  *Number `json:"expires_after_tick"`

	// Ignored by the original.
	Arrival remark `json:"arrival_seq"`
	Target  remark `json:"target_coord"`
	Entity  remark `json:"entity_id"`
	Values  remark `json:"field_values"`
	Params  remark `json:"params"`
	Key     remark `json:"key"`
	TypeID  remark `json:"type_id"`
	Data    remark `json:"data_hex"`
	Value   remark `json:"value"`
}

func (c *Command) command() (commands.Command, error) {
	out := commands.Custom(0, nil)
	if c.Type == "set_field" {
		bits, err := strconv.ParseUint(strings.TrimPrefix(c.Bits, "0x"), 16, 32)
		if err != nil {
			return out, fmt.Errorf("value_bits: %w", err)
		}
		if len(c.Coord) > space.MaxDim {
			return out, fmt.Errorf("coord: %d components; at most %d", len(c.Coord), space.MaxDim)
		}
		out = commands.SetField(space.At(c.Coord...), c.FieldID, math.Float32frombits(uint32(bits)))
		out.Bits = bits
	}
	if c.Priority != nil {
		out.Priority = *c.Priority
	}
	if c.Source != nil {
		out.HasSource, out.Source = true, uint64(*c.Source)
	}
	if c.Sequence != nil {
		out.HasSeq, out.SourceSeq = true, uint64(*c.Sequence)
	}
	if c.Expires != nil {
		out.Expires = uint64(*c.Expires)
	}
	return out, nil
}
