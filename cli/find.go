package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
  murksim find out/ 'count(state == ill) == 0'
  murksim find heat.murk 'sum(heat) > 1000' --json | jq .first`,
		Args: arguments(cobra.MinimumNArgs(2), "one recording or more, and a condition"),
		RunE: func(c *cobra.Command, args []string) error {
			last := len(args) - 1
			if _, err := os.Stat(args[last]); err == nil {
				return report.Usage("%s is a file; the condition comes last, behind the recordings", words.Argument(args[last]))
			}
			j.condition = args[last]
			names, err := recordingsIn(args[:last])
			if err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context()) // so that the line of progress does not stay
			defer stop()
			return j.all(ctx, names)
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
cells, cell(heat, 3, 4) is heat at a cell.

For each stretch of ticks in which the condition holds, find shows what its terms came to in
the first of them, and where: of least and most the first cell or entity that has the value, of
any the first for which it is true, of all the first for which it is not. Of many it shows the first ones and the last; --json has all. Where a
folder is named, it looks in all recordings in it, such as those of a sweep. In a state in
which the condition has no value, as the mean of no entities, it does not hold.

Exit status: 0 it holds in a state of at least one recording, 7 it never does, 3 a tick does
not match its recording, 1 a file is damaged or cannot be replayed here, 2 the condition is
wrong. Ctrl-C ends with 1.`

// mostStretches is how many stretches of a recording are shown.
const mostStretches = 10

// recordingsIn returns the files of these names, and instead of a folder the recordings in it.
func recordingsIn(names []string) (list []string, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			list = append(list, name) // of which it is told when it is opened
			continue
		}
		n := len(list)
		err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".murk") {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			return nil, words.About(name, err)
		}
		if len(list) == n {
			return nil, fmt.Errorf("%s: no recording (.murk) is in this folder", document.FileName(name))
		}
	}
	for _, name := range list {
		if name == "-" {
			return nil, report.Usage("find takes files, not standard input")
		}
	}
	return list, nil
}

// all looks in every file, and returns the worst outcome.
func (j *findJob) all(ctx context.Context, names []string) error {
	j.Several = len(names) > 1
	worst, held := report.StatusOK, 0
	for _, name := range names {
		s := j.Find(ctx, name, j.condition, j.workers, j.maxMemory)
		if ctx.Err() != nil {
			return words.About(name, words.NewProblem(session.Interruption(s.Ticks), ctx.Err()))
		}
		if e, ok := errors.AsType[*scenarios.StatementError](s.Err); ok {
			return report.Exit(report.StatusUsage, wrongCondition(e))
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
		if err := j.Say("it holds in %d of %s", held, words.Count(uint64(len(names)), "recording")); err != nil {
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
