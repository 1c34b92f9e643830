package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// An inspectJob shows what is in a recording, without replaying it.
type inspectJob struct {
	*app
	frames, commands bool
	all              bool // with a YREP file
	tick             uint64
	names            session.Names
	yrep             yrepFlags
	lines            *replay.LineWriter // with --json
}

func (a *app) inspectCommand() *cobra.Command {
	j, stream := &inspectJob{app: a}, false
	c := &cobra.Command{
		Use:   "inspect RECORDING",
		Short: "Show what is in a recording",
		Long: `Inspect prints a recording's header and its number of frames. With --frames it adds a line
for each frame, with --commands one for each that has commands, and these. With --json it prints the JSON lines
that convert writes: the header, then every frame with its commands. It replays nothing.

For a game of MineWars (.mw1) it says who played and who won, and with --frames prints every
frame with its messages. Give the parts of a game in order; parts that do not follow each
other are refused.

For a YREP file it shows who was there and what happened: players with their lifetimes, the
number of instructions by name, chat, deaths, blocks, and inconsistencies. There --frames
prints a line for every frame, --commands also its instructions, and --tick N only frame N.
A list has at most 20 lines, unless --all is given. --json prints all findings as one
object, or with --frames, the JSON lines.`,
		Example: `  murksim inspect heat.murk
  murksim inspect --commands --tick 500 heat.murk
  murksim inspect --json heat.murk | jq 'select(.tick == 500)'
  murksim inspect game.mw1
  murksim inspect match.yrep
  murksim inspect match.yrep --tick 44`,
		Args: arguments(cobra.MinimumNArgs(1), "one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("tick") && j.tick == 0 {
				return report.Usage("--tick must be a whole number above 0, not 0")
			}
			kind := j.FormatOfFile(args[0])
			if stream || kind.IsGame() {
				return j.inspectGame(args, stream)
			}
			if err := arguments(cobra.ExactArgs(1), "one recording")(c, args); err != nil {
				return err
			}
			switch kind {
			case session.FormatYREP:
				return j.inspectYREP(c.Context(), args[0])
			case session.FormatYREPLines:
				return fmt.Errorf("%s: it is JSON lines; make a YREP file: %s convert %s NEW.yrep", inputName(args[0]), j.Name, words.Argument(args[0]))
			}
			if err := j.yrep.only(c.Flags().Changed); err != nil {
				return err
			}
			return j.inspect(args[0])
		},
	}
	c.Flags().BoolVar(&j.frames, "frames", false, "a line for every frame")
	c.Flags().BoolVar(&j.commands, "commands", false, "the frames that have commands, with these; with --frames all frames")
	c.Flags().Var((*tickFlag)(&j.tick), "tick", "this tick's frame only")
	c.Flags().BoolVar(&stream, "stream", false, "it is a network stream of a game, which has no header")
	allFlag(c.Flags(), &j.all)
	j.yrep.add(c.Flags())
	return c
}

func (j *inspectJob) inspect(name string) error {
	err := j.read(name)
	if j.lines != nil {
		return errors.Join(j.lines.Flush(), err)
	}
	return err
}

func (j *inspectJob) read(name string) error {
	rec, err := j.OpenRecording(context.Background(), name)
	if err != nil {
		return j.About(name, err)
	}
	defer rec.Close()
	if s, err := j.ScenarioOf(rec.Frames.Head()); err == nil {
		j.names.Scenario = s
	}
	if j.tick == 0 {
		if err := j.header(name, rec.Frames.Head()); err != nil {
			return err
		}
	}
	var f replay.Frame
	var total struct{ frames, commands, last uint64 }
	found := false
	for {
		switch err := rec.Frames.Next(&f); {
		case err == io.EOF && j.tick != 0 && !found:
			return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", document.FileName(name), words.Number(j.tick), words.Number(total.last))
		case err == io.EOF:
			return j.Say("frames    %s, %s, the last is tick %s", words.Count(total.frames, "frame"), words.Count(total.commands, "command"), words.Number(total.last))
		case err != nil:
			return fmt.Errorf("%w\n  there are %s before it%s", words.About(name, err), words.Count(total.frames, "whole frame"), j.Hint(name, err))
		}
		total.frames++
		total.commands += uint64(len(f.Records))
		total.last = f.Tick
		if j.tick != 0 && f.Tick != j.tick {
			continue
		}
		if j.tick != 0 && !found {
			if err := j.header(name, rec.Frames.Head()); err != nil {
				return err
			}
		}
		found = true
		if err := j.frame(&f); err != nil {
			return err
		}
	}
}

// header prints what the header holds.
func (j *inspectJob) header(name string, h *replay.Header) (err error) {
	if j.JSON && !j.Quiet {
		if j.lines, err = replay.NewLineWriter(j.Out, *h); err != nil {
			return words.About(name, err)
		}
		return nil
	}
	what, fields := "not a scenario of this build", words.Count(uint64(h.FieldCount), "field")
	switch s := j.names.Scenario; {
	case s != nil:
		if own := uint64(len(s.Fields)); own <= uint64(h.FieldCount) {
			fields = fmt.Sprintf("%s + %d of the engine's", words.Count(own, "field"), uint64(h.FieldCount)-own)
		}
		what = fmt.Sprintf("scenario %s, %s, %s planned ticks", s.Name, s.Lattice().Space(), words.Number(s.Ticks))
		if s.PlannedTicks() == 0 {
			what = fmt.Sprintf("a world of this program, %s", s.Lattice().Space())
		}
	case len(h.Descriptor) == 0:
		what = "none"
	}
	return j.Say(`file      %s
recorded  by %s
seed      %d
config    hash %s, %s, %s cells
descriptor  %s, %s%s`, document.FileName(name), session.DescribeBuild(h.Build), h.Seed, words.Hash16(h.ConfigHash), fields, words.Number(h.CellCount),
		words.Size(int64(len(h.Descriptor))), what, beginLine(h))
}

// beginLine says where the recording begins, if not at genesis.
func beginLine(h *replay.Header) string {
	b, err := h.Begin()
	switch {
	case err != nil:
		return "\nbegins    " + words.Printable(words.InWords(err).Error())
	case b == nil:
		return ""
	case b.State == nil:
		return fmt.Sprintf("\nbegins    at the state of tick %s, which is not in it; SHA-256 %x", words.Number(b.Tick), b.SHA256)
	}
	return fmt.Sprintf("\nbegins    at the state of tick %s, %s; SHA-256 %x", words.Number(b.Tick), words.Size(int64(len(b.State))), b.SHA256)
}

// frame prints a frame, if frames are asked for.
func (j *inspectJob) frame(f *replay.Frame) error {
	if j.lines != nil {
		return j.lines.CopyFrame(f)
	}
	if !j.frames && j.tick == 0 && (!j.commands || len(f.Records) == 0) {
		return nil
	}
	if err := j.Say("tick %d  hash %s  %s", f.Tick, words.Hash16(f.Hash), words.Count(uint64(len(f.Records)), "command")); err != nil {
		return err
	}
	if !j.commands && j.tick == 0 {
		return nil
	}
	for i := range f.Records {
		if err := j.Say("  %s", session.DescribeRecord(j.names, &f.Records[i])); err != nil {
			return err
		}
	}
	return nil
}
