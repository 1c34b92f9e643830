package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A findJob looks for a condition in recordings.
type findJob struct {
	*app
	condition string
	workers   int
	maxMemory session.Size
}

func (a *app) findCommand() *cobra.Command {
	j := &findJob{app: a, maxMemory: session.DefaultMaxMemory}
	c := &cobra.Command{
		Use:   "find RECORDING... CONDITION",
		Short: "Find the ticks of recordings in which a condition holds",
		Long:  aboutFind,
		Example: `  murksim find heat.murk 'most(heat) > 250'
  murksim find heat.murk 'cell(heat, 24, 24) < 0'
  murksim find predators.murk 'died(hunter) > 0'
  murksim find heat.murk 'refused() > 0'
  murksim find out/ 'count(state == ill) == 0'
  murksim find heat.murk 'sum(heat) > 1000' --json | jq .first`,
		Args: arguments(cobra.MinimumNArgs(2), "one recording or more, and a condition"),
		RunE: func(c *cobra.Command, args []string) error {
			last := len(args) - 1
			if _, err := os.Stat(args[last]); err == nil {
				return report.Usage("%s is a file; the condition comes last, behind the recordings", words.Argument(args[last]))
			}
			j.condition = args[last]
			files, err := j.recordingsIn(args[:last])
			if err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context()) // so that the line of progress does not stay
			defer stop()
			return j.all(ctx, files)
		},
	}
	workersFlag(c.Flags(), &j.workers, sharing)
	maxMemoryFlag(c.Flags(), &j.maxMemory)
	a.stateFlag(c.Flags())
	return c
}

const aboutFind = `Find replays recordings, compares every tick as verify does, and looks in which of their
states a condition holds: in that in which a recording begins, and in that after each tick.
So what it finds was so in the run that was recorded.

A condition is a formula about the whole world, as in the expectations of a scenario (see
docs/start/rules.md): count, sum, mean, least, most, any and all of a term go over all
cells, cell(heat, 3, 4) is heat at a cell. It may also say what happened in a tick: born(sheep),
died(sheep where sheep.energy > 1) and entered(sheep where sheep.row < 8) are how many of a
kind were born, died, or went where they had not been, and refused() how many commands were
refused, and why.

For each stretch of ticks in which the condition holds, find shows what its terms came to in
the first of them, and where: of least and most the first cell or entity that has the value, of
any the first for which it is true, of all the first for which it is not. Of many it shows the
first ones and the last; --json has all. Where a folder is named, it looks in all recordings in
it, such as those of a sweep, of which each must be that of its row. In a state in which the
condition has no value, as the mean of no entities, it does not hold.

Exit status: 0 it holds in a state of at least one recording, 7 it never does, 3 a tick does
not match its recording, 1 a file is damaged, not that of its row, or cannot be replayed
here, 2 the condition is wrong. Of several files the gravest counts: 3, 1, 2, 0, 7. Ctrl-C
ends with 1.`

// mostStretches is how many stretches of a recording are shown.
const mostStretches = 10

// all looks in every file, and returns the worst outcome.
func (j *findJob) all(ctx context.Context, files []searched) error {
	j.Several = len(files) > 1
	worst, held, wrong := report.StatusOK, 0, ""
	for _, f := range files {
		s := j.look(ctx, f)
		if ctx.Err() != nil {
			return words.About(f.name, words.NewProblem(session.Interruption(s.Ticks), ctx.Err()))
		}
		if e, ok := errors.AsType[*scenarios.StatementError](s.Err); ok {
			s.Code, s.Err = report.StatusUsage, wrongCondition(e)
			switch text := s.Err.Error(); {
			case !j.Several:
				return report.Exit(s.Code, s.Err)
			case text == wrong:
				s.Err = errors.New("the condition is wrong for it, too")
			default:
				wrong = text
			}
		}
		if err := j.report(s); err != nil {
			return err
		}
		if s.Held > 0 {
			held++
		}
		worst = report.Worse(worst, s.Code)
	}
	if j.Several {
		if err := j.Say("it holds in %d of %s", held, words.Count(uint64(len(files)), "recording")); err != nil {
			return err
		}
	}
	switch {
	case worst != report.StatusOK:
		return report.Exit(worst, nil)
	case held == 0:
		return report.Exit(report.StatusNever, nil)
	}
	return nil
}

// look looks in a file, if it is what it must be.
func (j *findJob) look(ctx context.Context, f searched) *session.Search {
	if f.fits != nil {
		if err := f.fits(); err != nil {
			return session.Unsearched(f.name, err)
		}
	}
	return j.Find(ctx, f.name, j.condition, j.workers, j.maxMemory)
}

// wrongCondition shows where a condition is wrong.
func wrongCondition(e *scenarios.StatementError) error {
	text := words.Printable(e.Text)
	if text != e.Text || e.At >= e.End || e.End > len(text) {
		return fmt.Errorf("the condition %q: %v", e.Text, e)
	}
	before, under := utf8.RuneCountInString(text[:e.At]), utf8.RuneCountInString(text[e.At:e.End])
	return fmt.Errorf("the condition: %v\n  %s\n  %s%s", e, text, strings.Repeat(" ", before), strings.Repeat("^", under))
}

// report shows what was found in a recording.
func (j *findJob) report(s *session.Search) error {
	if j.JSON {
		for i := range s.Spans {
			if err := j.Emit(s.Spans[i]); err != nil {
				return err
			}
		}
		return j.Result(s, s.Err == nil)
	}
	if s.Err == nil || s.Held > 0 {
		if err := j.Say("%s", strings.TrimSuffix(foundText(s), "\n")); err != nil {
			return err
		}
	}
	if s.Err == nil {
		return nil
	}
	text := words.About(s.File, s.Err).Error() + "\n"
	if s.Code == report.StatusDiverged {
		text += fmt.Sprintf("  the %s before it match\n  next: %s verify %s%s%s\n", words.Count(s.Ticks, "tick"), j.Name, words.Argument(s.File), session.StateArguments(j.States...), s.Memory)
	} else if hint := j.Hint(s.File, s.Err); hint != "" {
		text += hint[1:] + "\n"
	}
	return j.Warn("%s", strings.TrimSuffix(text, "\n"))
}

// foundText is what was found, for people.
func foundText(s *session.Search) string {
	name, states := document.FileName(s.File), s.Ticks+1
	if s.Held == 0 {
		return fmt.Sprintf("never  %s  %s, in ticks %s to %s\n", name, s.Condition, words.Number(s.Begin), words.Number(s.Begin+s.Ticks)) + unknownText(s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "found  %s  %s, in %s of %s\n", name, s.Condition, words.Number(s.Held), words.Count(states, "state"))
	var rows [][]string
	for i := range s.Spans {
		last := len(s.Spans) - 1
		if i >= mostStretches-1 && i < last {
			continue
		}
		if i == last && i >= mostStretches {
			rows = append(rows, []string{fmt.Sprintf("… %s more", words.Number(uint64(last-mostStretches+1)))})
		}
		x := &s.Spans[i]
		ticks := "tick " + words.Number(x.First)
		if x.Last > x.First {
			ticks = fmt.Sprintf("ticks %s to %s", words.Number(x.First), words.Number(x.Last))
		}
		rows = append(rows, []string{ticks, x.Found})
	}
	for _, row := range words.Aligned(rows) {
		fmt.Fprintf(&b, "  %s\n", row)
	}
	return b.String() + unknownText(s)
}

// unknownText says in how many states the condition has no value.
func unknownText(s *session.Search) string {
	if s.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("  without a value in %s: %s\n", words.Count(s.Unknown, "state"), s.Reason)
}
