package session

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
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
	return words.Meta(what, &r.Meta)
}

// DescribeCommand says a command in words, with all that stands beside it.
func DescribeCommand(n Names, c *commands.Command) string {
	return words.Command(n, c)
}

// CheckNames is [runner.CheckNames] of a file.
func CheckNames(ctx context.Context, a *Session, recording string, s *scenarios.Scenario, last uint64) error {
	if s.LastNamed() == 0 {
		return nil
	}
	rec, err := a.OpenRecording(ctx, recording)
	if err != nil {
		return err
	}
	defer rec.Close()
	return runner.CheckNames(rec.Frames, s, last)
}
