package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
)

// A diffJob compares two recordings, or one with a replay of it.
type diffJob struct {
	*app
	session.Visitor
	result diffResult
	sides  []*diffSide
	notes  []string
	common uint64 // ticks that both recordings have
	begins bool   // a recording begins with the tick that differs
	others bool   // they are worlds of other spaces or fields
	keep   bool   // what it takes to compute that tick again
	phases bool   // trace the parts of that tick

	pictureFile  string
	pictureField string // "": the one in which the most cells differ
	force        bool
	compared     [2][]byte // the states of the report
}

func (a *app) diffCommand() *cobra.Command {
	j := &diffJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "diff RECORDING [RECORDING]",
		Short: "Show where two recordings differ, and in what",
		Long: `Diff finds the first tick in which two recordings differ, from the files alone: their
commands and hashes, and the values of their scenarios. Then it replays both up to that
tick and shows what differs: fields with the cells or entities and both values, commands
and what came of them, parameters, events that wait, random streams.

The distance of two floats is given in ulps, units in the last place: how many steps from
one float32 to the next lie between them.

Of one recording diff shows the first tick whose replay in this build gives another hash.
What the recorded run computed is then known only from an index that was written beside
it: which fields, and which parts of them. If the tick has another command than the scenario
gives, diff shows both.

Of two YREP files, in either dialect, it shows the first instruction and field that differ.

Exit status: 0 equal, 3 they differ, also in length or in their scenarios alone, 1 a file
is damaged or cannot be read.`,
		Example: `  murksim diff good.murk bad.murk
  murksim diff --json good.murk bad.murk | jq .state.fields
  murksim diff heat.murk
  murksim diff good.murk bad.murk --picture where.png`,
		Args: arguments(cobra.RangeArgs(1, 2), "one recording or two"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if name == "-" {
					return report.Usage("diff takes files, not standard input")
				}
			}
			if len(args) == 2 && c.Flags().Changed("index") {
				return report.Usage("--index takes one recording, not %d", len(args))
			}
			if err := j.checkPicture(args, c.Flags().Changed); err != nil {
				return err
			}
			if err := j.noGames(args); err != nil {
				return err
			}
			if yes, err := j.yrepFiles(args); err != nil {
				return err
			} else if yes {
				return j.compareYREP(c.Context(), args)
			}
			j.Several = len(args) > 1
			ctx, stop := j.untilSignal(c.Context()) // so that the line of progress does not stay
			defer stop()
			return j.run(ctx, args)
		},
	}
	f := c.Flags()
	a.visitorFlags(f, &j.Visitor)
	f.StringVar(&j.pictureFile, "picture", "", "draw the cells that differ, by how much, as a PNG `file`")
	f.StringVar(&j.pictureField, "field", "", "the field to be drawn (default: the one in which the most cells differ)")
	f.BoolVar(&j.force, "force", false, "overwrite the picture if it exists")
	return c
}

func (j *diffJob) run(ctx context.Context, names []string) error {
	j.result = diffResult{Event: "diff"}
	defer j.close()
	find, held := j.recordings, uint64(3) // two worlds and states of both
	if len(names) == 1 {
		find, held = j.replay, 2
	}
	j.MaxMemory = j.MaxMemory.Share(held)
	for _, name := range names {
		j.sides = append(j.sides, &diffSide{sideView: sideView{File: name}})
	}
	if err := find(ctx); err != nil {
		return err
	}
	if err := j.picture(ctx); err != nil {
		return err
	}
	return j.report()
}

func (j *diffJob) close() {
	for _, s := range j.sides {
		if s.visit != nil {
			s.visit.Close()
		} else {
			s.index.Close()
		}
	}
}

// report prints the result.
func (j *diffJob) report() error {
	r := &j.result
	j.complete()
	r.Notes, r.Next = j.notes, j.next()
	if err := j.app.Result(r, r.OK); err != nil {
		return err
	}
	if !j.JSON && !(j.Quiet && r.OK) {
		lines := j.text()
		if j.Quiet {
			lines = lines[:1]
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(j.Out, line); err != nil {
				return err
			}
		}
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// complete completes the result but for its notes.
func (j *diffJob) complete() {
	r := &j.result
	r.OK = r.Status == "equal"
	r.A = j.sides[0].sideView
	if len(j.sides) == 2 {
		r.B = &j.sides[1].sideView
	}
}

// recordings compares two recordings.
func (j *diffJob) recordings(ctx context.Context) error {
	a, b := j.sides[0], j.sides[1]
	var sources []replay.Source
	for _, s := range j.sides {
		rec, err := j.open(ctx, s)
		if err != nil {
			return err
		}
		defer rec.Close()
		s.scenario, _ = j.ScenarioOf(s.header)
		s.Planned = planned(s.scenario)
		sources = append(sources, rec.Frames)
	}
	m := j.Meter(max(a.Planned, b.Planned))
	f, err := diff.Recordings(sources[0], sources[1], func(tick uint64) error {
		m.Show(tick)
		return ctx.Err()
	})
	m.Clear()
	if err != nil {
		return session.Interrupted(a.File)
	}
	j.result.Header = headerValues(a.header, b.header)
	a.note(&f.A)
	b.note(&f.B)
	return j.judge(ctx, f)
}

// open opens the recording of a side.
func (j *diffJob) open(ctx context.Context, s *diffSide) (*session.Recording, error) {
	rec, err := j.OpenRecording(ctx, s.File)
	if ctx.Err() != nil {
		return nil, session.Interrupted(s.File)
	}
	if err != nil {
		return nil, j.About(s.File, err)
	}
	_, bytes := rec.Frames.(*replay.Reader)
	s.header, s.lines = rec.Frames.Head(), !bytes
	if j.Index == "" {
		return rec, nil
	}
	x, err := j.IndexOf(s.File) // an error, whether it turns out to be of use or not
	if err == nil {
		defer x.Close()
		if err = j.CheckIndex(x, s.header); err == nil {
			return rec, nil
		}
		err = words.About(s.File, err)
	}
	rec.Close()
	return nil, err
}

// judge says what came of the comparison of two files, and goes on to the states.
func (j *diffJob) judge(ctx context.Context, f *diff.Frames) error {
	r := &j.result
	r.Tick, r.Equal, r.Differing = f.First, f.Equal, f.Differing
	j.common = f.Common
	j.begins = f.First != 0 && (f.First == f.A.Begin || f.First == f.B.Begin)
	damaged := false
	for _, s := range j.sides {
		if s.damage != nil && f.First == 0 {
			return fmt.Errorf("%w\n  the %s before it are equal in both%s", words.About(s.File, s.damage), words.Count(r.Equal, "tick"), j.Hint(s.File, s.damage))
		}
		damaged = damaged || s.damage != nil
	}
	switch {
	case f.First != 0:
		r.Status = "ticks"
		j.commands(f)
		return j.states(ctx)
	case f.A.Ticks != f.B.Ticks || f.A.Begin != f.B.Begin:
		r.Status = "length"
	case len(r.Header) > 0:
		r.Status = "header"
	default:
		r.Status = "equal"
	}
	return nil
}

// commands notes in which commands the first tick differs.
func (j *diffJob) commands(f *diff.Frames) {
	a, b := session.Names{Scenario: j.sides[0].scenario}, session.Names{Scenario: j.sides[1].scenario}
	diff.Records(f.A.Records, f.B.Records, func(x, y *replay.Record) {
		var p valuePair
		if x != nil {
			p.A = session.DescribeRecord(a, x)
		}
		if y != nil {
			p.B = session.DescribeRecord(b, y)
		}
		j.result.CommandsDiffer++
		if len(j.result.Commands) < diff.MaxDifferences {
			j.result.Commands = append(j.result.Commands, p)
		}
	})
	if f.Commands > f.First {
		j.notes = append(j.notes, fmt.Sprintf("the commands are the same up to tick %s, which has others", words.Number(f.Commands)))
	}
}

// note takes over what was read of a file.
func (s *diffSide) note(r *diff.Recording) {
	s.first, s.Ticks, s.damage = r.Begin, r.Ticks, r.Err
	if r.Ticks > 0 {
		s.Hash = words.Hash16(r.Hash)
	}
	if s.damage != nil {
		s.Error = words.InWords(s.damage).Error()
	}
}

// replay compares a recording with a replay of it.
func (j *diffJob) replay(ctx context.Context) error {
	s, r := j.sides[0], &j.result
	wrong, err := j.verified(ctx, s)
	if err != nil {
		return err
	}
	r.Equal = s.Ticks
	if wrong == nil {
		r.Status = "equal"
		return nil
	}
	r.Status, r.Tick = "ticks", wrong.Tick
	s.Ticks, s.Hash, s.Replayed = 0, words.Hash16(wrong.Recorded), words.Hash16(wrong.Replayed)
	return j.rerun(ctx, s)
}

// verified replays a recording, notes how many ticks match, and returns the first tick that does
// not, or nil. Errors are ready to be returned by a command.
func (j *diffJob) verified(ctx context.Context, s *diffSide) (wrong *replay.MismatchError, err error) {
	rec, err := j.open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	p, err := rec.Player(ctx, j.Workers, j.MaxMemory)
	if ctx.Err() != nil {
		return nil, session.Interrupted(s.File)
	}
	if err != nil {
		return nil, j.Diverged(s.File, err)
	}
	s.scenario = rec.Scenario
	s.Planned = planned(s.scenario)
	given, err := rec.GivenInputs(p.World)
	if err != nil {
		return nil, words.About(s.File, err)
	}
	noticed := &session.NoticedInputs{GivenInputs: given}
	p.Source = noticed
	m := j.Meter(s.Planned)
	p.Before = func() error {
		m.Show(p.World.Tick())
		return ctx.Err()
	}
	s.Ticks, err = p.Verify()
	m.Clear()
	wrong, mismatch := errors.AsType[*replay.MismatchError](err)
	switch {
	case ctx.Err() != nil:
		return nil, words.About(s.File, words.NewProblem(interruption(s.Ticks), ctx.Err()))
	case err == nil:
		s.Hash = words.Hash16(p.World.Hash())
		return nil, nil
	case mismatch:
		if e, ok := errors.AsType[*session.InputsError](noticed.Other); ok && e.Tick == wrong.Tick {
			j.result.Inputs = e
		}
		return wrong, nil
	}
	_, code := session.Outcome(err)
	return nil, report.Exit(code, fmt.Errorf("%w\n  the %s before it match", words.About(s.File, err), words.Count(s.Ticks, "tick")))
}
