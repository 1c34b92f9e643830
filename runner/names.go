package runner

import (
	"io"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// CheckNames reads the commands of a recording, up to a tick, and returns a [*scenarios.NameError] if one of the entities to which the scenario gives a name
// was not made as the scenario makes it. Entities made before the recording begins are not looked at.
func CheckNames(frames replay.Source, s *scenarios.Scenario, last uint64) error {
	begin, err := frames.Head().Begin()
	if err != nil {
		return err
	}
	last = min(last, s.LastNamed())
	var frame replay.Frame
	var list []commands.Command
	if begin != nil {
		frame.Tick = begin.Tick
	}
	for frame.Tick < last {
		if err := frames.Next(&frame); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if list, err = frame.Commands(list[:0]); err != nil {
			return err
		}
		if err := s.CheckNames(frame.Tick, list); err != nil {
			return err
		}
	}
	return nil
}
