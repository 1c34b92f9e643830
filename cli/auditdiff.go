package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
)

// An auditDiffJob reports how a tick of a run differs from its computation here, or from the tick of another run.
type auditDiffJob struct {
	*examiner
	chains  compare.Chains
	tick    tickFlag
	ticked  bool // --tick is given
	against evidence.Chain
	output  string
	force   bool
}

func (a *app) auditDiffCommand() *cobra.Command {
	j := &auditDiffJob{examiner: a.examiner()}
	c := &cobra.Command{
		Use:   "diff SOURCE",
		Short: "Show what differs in the first tick that differs",
		Long: `Diff compares two states of a tick, a and b, and reports their sections, values that differ, with
paths that name fields, cells, entities and streams, and the inputs of the tick. The tick is the
first that differs, as bisect finds it, or that of --tick.

The state a is the one that was committed: a snapshot of the tick, or what the program of --engine
computes: another build of this program, such as the one that recorded the run. Diff runs it as
PROGRAM audit state SOURCE. Without either, diff compares only the digests of the sections. To have
all states, record with --audit-every 1.

The state b is the one computed here. With --against it belongs to another run, which may be
in another source, and the tick is the first in which their committed hashes differ.

A difference is observable if a number is off by more than 0.0001 units, or an entity is
missing; otherwise it is sub-threshold. Both are failures.

Exit status: 0 equal, 3 they differ, 1 a source cannot be read or the run not be computed here,
4 the evidence is broken.`,
		Example: `  murksim audit diff run.db
  murksim audit diff heat.audit --engine ./old -o report.json
  murksim audit diff run.db --tick 500 --json | jq .differences
  murksim audit diff old.audit --against new.audit`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			given := c.Flags().Changed
			switch j.ticked = given("tick"); {
			case given("against-run") && !given("against"):
				return report.Usage("--against-run needs --against")
			case given("against") && given("repeat"):
				return report.Usage("--against and --repeat cannot be used together: both runs are committed")
			}
			j.against.Builder = j.Builder
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			if err := sparesSource(j.output, args[0], j.against.Source); err != nil {
				return err
			}
			j.Source = args[0]
			return j.run(ctx)
		},
	}
	f := c.Flags()
	j.flags(f)
	j.repeatFlag(f)
	engineFlag(f, &j.chains.Engine)
	f.Var(&j.tick, "tick", "report on this `tick` (default: the first that differs)")
	f.StringVar(&j.against.Source, "against", "", "compare with a run of another `source`, or of the same one")
	f.StringVar(&j.against.ID, "against-run", "", "with --against: the run, by its `id` or the beginning of it (default: the only one)")
	f.StringVarP(&j.output, "output", "o", "", "write the report, JSON, to a `file`")
	f.BoolVar(&j.force, "force", false, "overwrite the file if it exists")
	return c
}

// diffChains is diff of a chain with what is computed here, or of two.
func (a *app) diffChains(ctx context.Context, names []string, v *session.Visitor) error {
	j := &auditDiffJob{examiner: a.chainOf(names[0], v)}
	if j.flag = "run of audit diff"; len(names) == 2 {
		j.against.Source, j.against.Builder = names[1], j.Builder
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	return j.run(ctx)
}

func (j *auditDiffJob) run(ctx context.Context) error {
	defer j.Close()
	defer j.against.Close()
	d := &j.chains
	d.Chain = &j.Chain
	err := j.Open(ctx, j.flag)
	if err == nil && j.against.Source != "" {
		d.Against = &j.against
		err = j.against.Failed(ctx, j.against.Open(ctx, strings.Replace(j.flag, "run", "against-run", 1)))
	}
	var tick *uint64
	if j.ticked {
		tick = (*uint64)(&j.tick)
	}
	if err == nil {
		err = d.Compare(ctx, tick)
	}
	if err != nil {
		return j.Failed(ctx, err)
	}
	if j.output != "" {
		text, err := reportOf(&d.Result)
		if err != nil {
			return err
		}
		if err := j.writeFile(j.output, text, j.force); err != nil {
			return err
		}
	}
	return j.tell()
}

// tell prints the report.
func (j *auditDiffJob) tell() error {
	r, t := &j.chains.Result, &chainText{&j.chains}
	if err := j.Result(r, r.OK); err != nil {
		return err
	}
	if !j.JSON && !(j.Quiet && r.OK) {
		text := t.text()
		if j.Quiet {
			text = t.headline() + "\n"
		}
		if _, err := fmt.Fprint(j.Out, text); err != nil {
			return err
		}
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// reportOf is a result as a file.
func reportOf(r *compare.Result) ([]byte, error) {
	text, err := json.MarshalIndent(report.Lists(r), "", "  ")
	return append(text, '\n'), err
}
