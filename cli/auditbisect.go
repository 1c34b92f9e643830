package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

func (a *app) auditBisectCommand() *cobra.Command {
	x := a.examiner()
	c := &cobra.Command{
		Use:   "bisect SOURCE",
		Short: "Find the first tick that differs, and whether computing it again gives the same",
		Long: `Bisect computes a run again, as audit does, and finds the first tick whose hash is not the
committed one. Then it computes the tick three more times (--repeat): once from the first
tick on, then from the state before it. If all hashes are the same, the tick is stable: this
program has other code or data than the one that recorded the run, or the chain was changed.
If not, the tick depends on more than the state: on the order of a map, a clock, or
something that a propagator remembers.

Bisect writes nothing into the database. The last line is a verdict like that of audit.

Exit status: 0 PASS, 1 the source cannot be read or the run not be computed here, 3 FAIL,
4 EVIDENCE, 5 the run is halted, and passes.`,
		Example: `  murksim audit bisect run.db
  murksim audit bisect run.db --run 01234567 --repeat 10
  murksim audit bisect heat.audit --json`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := x.untilSignal(c.Context())
			defer stop()
			x.Source = args[0]
			return x.tellBisect(ctx)
		},
	}
	x.flags(c.Flags())
	x.repeatFlag(c.Flags())
	return c
}

// bisectChain is bisect of a chain.
func (a *app) bisectChain(ctx context.Context, names []string, v *session.Visitor) error {
	if len(names) != 1 {
		return report.Usage("bisect compares a chain with what is computed here; diff compares two")
	}
	x := a.chainOf(names[0], v)
	x.flag = "run of audit bisect"
	ctx, stop := x.untilSignal(ctx)
	defer stop()
	return x.tellBisect(ctx)
}

// tellBisect bisects and prints the result.
func (x *examiner) tellBisect(ctx context.Context) error {
	v := new(evidence.Report)
	var step *audit.Step
	err := x.Open(ctx, x.flag)
	defer x.Close()
	if x.Evidence == nil {
		return err
	}
	if err == nil {
		v.From, v.To, v.Computed = x.Evidence.Run().First, x.Found.Tick, x.Found.Hash
		err = x.Say("%s", strings.TrimSpace(fmt.Sprintf("evidence  %s, %s: whole\n%s", words.Count(x.Found.Ticks, "link"), words.Count(x.Found.Inputs, "input"), x.Begins)))
	}
	halt, unread := x.Evidence.Halt(ctx)
	if err = cmp.Or(err, unread); err == nil {
		if halt != nil {
			v.Halted, v.Code = halt.Code, report.StatusHalted
		}
		step, _, err = x.Bisect(ctx)
	}
	if err == nil && step != nil {
		err = step.Divergence()
	}
	if v.Conclude(err); v.Verdict == "ERROR" {
		return x.Failed(ctx, err)
	}
	if err := x.printBisect(v, step); err != nil {
		return err
	}
	if v.Code != report.StatusOK {
		return report.Exit(v.Code, nil)
	}
	return nil
}

func (x *examiner) printBisect(v *evidence.Report, s *audit.Step) error {
	r := compare.BisectResult{
		Event: "bisect", OK: v.Code == report.StatusOK, Status: "equal", A: &compare.BisectView{File: x.Name(), Hash: v.Hash}, B: &compare.BisectView{File: x.Name(), Replay: true, Hash: v.Hash},
		EqualTick: v.To,
		ChainBisect: &compare.ChainBisect{
			Run: x.Evidence.Run().ID.String(), From: v.From, To: v.To, Verdict: v.Verdict, Sections: v.Sections,
			Table: v.Table, Row: v.Row, Reason: v.Reason, Halted: v.Halted,
		},
	}
	if v.Verdict == "EVIDENCE" {
		r.Status, r.EqualTick, r.A.Error = "evidence", 0, v.Reason
	}
	var lines []string
	if v.Halted != "" {
		lines = append(lines, "halted    "+v.Halted)
	}
	if s != nil {
		r.Exact, r.Status, r.Tick, r.EqualTick, r.A.Hash = true, "ticks", s.Tick, 0, v.Expected
		if s.EqualBefore {
			r.EqualTick = s.Tick - 1
		}
		if v.Reason != "" {
			r.B.Hash, r.B.Error = "", v.Reason
		}
		r.B.Stable, r.B.Repeats = compare.Stability(s)
		if r.B.Stable != nil {
			for _, line := range words.LayOut([]words.Block{stableBlock("tick "+words.Number(s.Tick), r.B.Repeats)}, 1000) {
				lines = append(lines, strings.TrimPrefix(line, "  "))
			}
		}
		if s.Before == nil {
			lines = append(lines, "genesis   the first tick differs: another configuration, or another way to write the state")
		}
		if v.Reason != "" {
			lines = append(lines, fmt.Sprintf("fails     tick %s cannot be computed: %s", words.Number(s.Tick), v.Reason))
		}
		if len(v.Sections) > 0 {
			lines = append(lines, "differs   in the section "+strings.Join(v.Sections, ", "))
		}
	}
	if err := x.Result(r, r.OK); err != nil {
		return err
	}
	lines = append(lines, v.Line())
	for i := range lines {
		lines[i] = words.Clean(lines[i])
	}
	return x.Say("%s", strings.Join(lines, "\n"))
}
