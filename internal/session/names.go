package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// Names are what a scenario calls what commands know by number.
type Names = scenarios.Names

// DescribeRecord says what a recorded command does, and in which order it comes.
func DescribeRecord(n Names, r *replay.Record) string {
	what := ""
	if c, err := r.Command(); err == nil {
		what = n.Describe(&c)
	} else {
		what = fmt.Sprintf("payload of type %d, %s: %v", r.Tag, hex.EncodeToString(r.Payload), err)
	}
	return describeMeta(what, &r.Meta)
}

// DescribeCommand says a command in words, with all that stands beside it.
func DescribeCommand(n Names, c *commands.Command) string {
	return describeMeta(n.Describe(c), &c.Meta)
}

func describeMeta(what string, m *commands.Meta) string {
	parts := []string{what, fmt.Sprintf("priority %d", m.Priority)}
	if m.HasSource {
		parts = append(parts, fmt.Sprintf("source %d", m.Source))
	}
	if m.HasSeq {
		parts = append(parts, fmt.Sprintf("source sequence %d", m.SourceSeq))
	}
	if m.Expires != commands.NoExpiry {
		parts = append(parts, "expires after tick "+words.Number(m.Expires))
	}
	return strings.Join(slices.Concat(parts, []string{fmt.Sprintf("arrival %d", m.Arrival)}), "  ")
}

// CheckNames reads the commands of a recording up to a tick, and returns an error if one of the entities to which the scenario gives a name was not
// made as the scenario makes it. Entities made before the recording begins are not looked at.
func CheckNames(ctx context.Context, a *Session, recording string, s *scenarios.Scenario, last uint64) error {
	last = min(last, s.LastNamed())
	if last == 0 {
		return nil
	}
	rec, err := a.OpenRecording(ctx, recording)
	if err != nil {
		return err
	}
	defer rec.Close()
	var frame replay.Frame
	var list []commands.Command
	for frame.Tick < last {
		if err := rec.Frames.Next(&frame); err == io.EOF {
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
