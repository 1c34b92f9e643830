package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
)

// A diffJob compares recordings, as the flags ask for it.
type diffJob struct {
	*app
	compare.Comparison
	pictureFile  string
	pictureField string // "": the one in which the most cells differ
	force        bool
}

func (a *app) diffCommand() *cobra.Command {
	j := &diffJob{app: a, Comparison: compare.Comparison{Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}}}
	c := &cobra.Command{
		Use:   "diff RECORDING [RECORDING]",
		Short: "Show where two recordings differ, and in what",
		Long: `Diff finds the first tick in which two recordings differ, from the files alone: their
commands and hashes, and the values of their scenarios. Then it replays both up to that tick
and shows what differs: fields with the cells or entities and both values, commands and
their outcomes, parameters, waiting events, random streams.

The distance of two floats is given in ulps, units in the last place: the number of steps
between neighbouring float32 numbers that separate them.

With one recording, diff shows the first tick whose replay in this build gives another hash.
What the recorded run computed is then known only from an index that was written beside it:
which fields differ, and in which parts. If the tick has a command that differs from the
scenario's, diff shows both.

With two YREP files, in either dialect, it shows the first instruction and field that
differ. With one or two chains (databases or bundles of run --audit) it does what audit diff
does.

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
			if chains, err := ofChains(c, args, "workers", "max-memory"); err != nil {
				return err
			} else if chains {
				return a.diffChains(c.Context(), args, &j.Visitor)
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
	defer j.Close()
	if err := j.Compare(ctx, names); err != nil {
		return err
	}
	if err := j.picture(ctx); err != nil {
		return err
	}
	return j.report()
}

func (j *diffJob) text() *diffText { return &diffText{&j.Comparison, j.Name} }

// report prints the result.
func (j *diffJob) report() error {
	r := &j.Result
	j.Complete()
	r.Notes, r.Next = j.Notes, j.text().next()
	if err := j.app.Result(r, r.OK); err != nil {
		return err
	}
	if !j.JSON && !(j.Quiet && r.OK) {
		lines := j.text().lines()
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
