package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/watch"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/worlds"
)

func watchFlag(f *pflag.FlagSet, field *string, what string) {
	f.StringVar(field, "watch", "", what+"; =`FIELD` draws another field than the first")
	f.Lookup("watch").NoOptDefVal = watch.FirstField
}

// withWatch checks the arguments of a command with --watch. If there are too many, one was meant for --watch:
// one that is neither a file nor a scenario, or else the last.
func withWatch(check cobra.PositionalArgs, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil || len(args) == 0 || c.Flags().Lookup("watch").Value.String() != watch.FirstField {
			return arguments(check, what)(c, args)
		}
		field := args[len(args)-1]
		for _, arg := range args {
			if _, err := os.Stat(arg); err != nil && !worlds.IsEmbedded(arg) {
				field = arg
			}
		}
		return report.Usage("%s takes %s, not %d; to draw the field %s write --watch=%s", c.CommandPath(), what, len(args), words.Argument(field), words.Argument(field))
	}
}

// canvas returns the terminal, which is where progress is shown. An error says why there is none.
func (a *app) canvas() (*watch.Canvas, error) {
	f, ok := a.Errs.Terminal()
	switch {
	case a.Quiet || a.JSON:
		return nil, report.Usage("--watch draws in a terminal; leave out --quiet and --json")
	case !ok:
		return nil, report.Usage("--watch draws in a terminal, and standard error is none; leave it out")
	case !drawable(f):
		return nil, report.Usage("--watch cannot draw in this terminal (TERM is %q); leave it out", os.Getenv("TERM"))
	}
	size := func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return report.DefaultColumns, 24
		}
		return columns, rows
	}
	return &watch.Canvas{Out: a.Errs, Size: size, Colours: watch.TerminalColours(os.Getenv)}, nil
}

// checkWatch finds the terminal, with --watch.
func (j *runJob) checkWatch() error {
	if j.watch == "" {
		return nil
	}
	c, err := j.canvas()
	j.watcher = &watch.Watcher{Canvas: c}
	return err
}

// beginWatch finds the field.
func (j *runJob) beginWatch() (err error) {
	if j.watcher == nil {
		return nil
	}
	if j.watcher.View, err = watch.NewView(j.Scenario, j.watch, j.watcher.Canvas.Colours); err != nil {
		return words.About(j.title, err)
	}
	return nil
}

// startWatch starts to draw; m measures the run.
func (j *runJob) startWatch(m *report.Meter) {
	if j.watcher == nil {
		return
	}
	m.Active = false
	j.watcher.Title = func(tick uint64) string {
		return fmt.Sprintf("%s of %s  %s ticks/s", render.Tick(tick), words.Number(cmp.Or(j.until, j.Scenario.Ticks)), words.Speed(m.Rate(tick-m.First)))
	}
	j.watcher.Begin()
}

// watched goes to the tick, and with --watch draws it, with the ticks before it as far as there is
// room for their totals.
func (j *seekJob) watched(ctx context.Context, name string) (*session.Visit, error) {
	if j.watch == "" {
		return j.Visit(ctx, name, j.tick)
	}
	c, err := j.canvas()
	if err != nil {
		return nil, err
	}
	at, err := j.Visit(ctx, name, max(j.tick, watch.MostTotals-1)-(watch.MostTotals-1))
	if err != nil && ctx.Err() == nil { // as where the recording begins later
		at, err = j.Visit(ctx, name, j.tick)
	}
	if err != nil {
		return nil, err
	}
	if err := j.drawAt(ctx, c, at, name); err != nil {
		at.Close()
		return nil, err
	}
	return at, nil
}

// drawAt continues to the tick and draws it.
func (j *seekJob) drawAt(ctx context.Context, c *watch.Canvas, at *session.Visit, name string) error {
	v, err := watch.NewView(at.Scenario, j.watch, c.Colours)
	if err != nil {
		return words.About(name, err)
	}
	c.Below = j.lines(at.Scenario)
	for {
		picture := c.Over(v, at.World.Snapshot(), fmt.Sprintf("%s of %s", render.Tick(at.World.Tick()), words.Number(at.Scenario.Ticks)))
		if c.Columns = 0; at.World.Tick() == j.tick { // the others were for the totals, and the rows of a line or ring
			_, err := c.Out.Write(picture)
			return err
		}
		err := at.Advance(true)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted", words.Argument(name))
		}
		if err := j.Visited(at, name, j.tick, err); err != nil {
			return err
		}
	}
}
