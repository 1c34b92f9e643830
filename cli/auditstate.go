package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
)

func (a *app) auditStateCommand() *cobra.Command {
	x := a.examiner()
	var tick tickFlag
	var out string
	c := &cobra.Command{
		Use:   "state SOURCE --tick N -o FILE",
		Short: "Compute a run up to a tick, and write the state",
		Long: `State computes a run again from its genesis up to a tick, and writes the state that this
program computes for it, even if it is not the committed one: the verdict says whether it
is. The file is a saved state, like that of seek --save-state.

Exit status: 0 it is the committed state, 3 it is not; the file is there all the same. 1 the
source cannot be read or the run not be computed here, 4 the evidence is broken.`,
		Example: `  murksim audit state run.db --tick 500 -o half.state
  ./old audit state heat.audit --tick 500 -o old.state`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("tick") || out == "" {
				return report.Usage("%s needs --tick N and -o FILE", c.CommandPath())
			}
			if err := sparesSource(out, args[0]); err != nil {
				return err
			}
			if err := replaceable(out, session.StateMark, "saved state"); err != nil {
				return err
			}
			ctx, stop := x.untilSignal(c.Context())
			defer stop()
			x.Source = args[0]
			defer x.Close()
			return x.Failed(ctx, x.state(ctx, uint64(tick), out))
		},
	}
	x.flags(c.Flags())
	c.Flags().Var(&tick, "tick", "the tick")
	c.Flags().StringVarP(&out, "output", "o", "", "the saved state, a `file`; an older state is replaced")
	return c
}

// seekChain is seek of a chain.
func (a *app) seekChain(ctx context.Context, name string, j *seekJob) error {
	x := a.chainOf(name, &j.Visitor)
	x.flag = "run of audit state"
	if err := sparesSource(j.saveState, name); err != nil {
		return err
	}
	if j.saveState != "" && j.saveState != "-" {
		if err := replaceable(j.saveState, session.StateMark, "saved state"); err != nil {
			return err
		}
	}
	ctx, stop := x.untilSignal(ctx)
	defer stop()
	defer x.Close()
	return x.Failed(ctx, x.state(ctx, j.tick, j.saveState))
}

// state computes a tick of the run, prints what it holds, and writes it to a file if one is asked for.
func (x *examiner) state(ctx context.Context, tick uint64, out string) error {
	if err := x.Open(ctx, x.flag); err != nil {
		return err
	}
	s, again, err := x.At(ctx, tick, 0)
	if err != nil {
		return err
	}
	if s.Err != nil {
		return fmt.Errorf("tick %s cannot be computed here: %w", words.Number(tick), words.InWords(s.Err))
	}
	l := s.Calculated // over all that was computed, and nothing that was read
	r, err := stateOf(x.Name(), &session.Visit{Player: &replay.Player{World: again.World}, Scenario: x.Scenario})
	if err != nil {
		return err
	}
	r.Hash = l.Hash.String()
	r.chainState = &chainState{l.Hash == s.Committed.Hash, x.Evidence.Run().ID.String(), compare.SectionNames(s)}
	line := fmt.Sprintf("PASS tick=%d hash=%s", tick, l.Hash)
	if !r.OK {
		r.Recorded = s.Committed.Hash.String()
		line = fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", tick, s.Committed.Hash, l.Hash)
	}
	if r.Saved = out; out != "" {
		if r.SavedBytes, err = x.write(ctx, again.World, out); err != nil {
			return err
		}
	}
	if err := x.Result(r, r.OK); err != nil {
		return err
	}
	if err := x.Say("run       %s  tick %s", x.Evidence.Run().ID, tickOf(tick, r.PlannedTicks)); err != nil {
		return err
	}
	if x.Begins != "" {
		if err := x.Say("%s", x.Begins); err != nil {
			return err
		}
	}
	if err := x.sayFields(x.Scenario, r); err != nil {
		return err
	}
	switch {
	case r.OK || len(r.Sections) > 0:
	case l.StateLen != s.Committed.StateLen:
		line = fmt.Sprintf("length    the sections are those of the committed state, which is said to have %s, not %s\n%s", words.Count(uint64(s.Committed.StateLen), "byte"), words.Count(uint64(l.StateLen), "byte"), line)
	default:
		line = "earlier   the sections are those of the committed state, so an earlier tick differs, which bisect finds\n" + line
	}
	if out != "" {
		line = fmt.Sprintf("saved     %s  the state of tick %s, %s\n%s", words.Argument(out), words.Number(tick), words.Size(r.SavedBytes), line)
	}
	if err := x.Say("%s", line); err != nil {
		return err
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// write writes the state of a world, even that of a fork, so that run --state can continue from it. It returns the length in
// bytes.
func (x *examiner) write(ctx context.Context, w *engine.World, out string) (int64, error) {
	if err := chainNames(ctx, x.Evidence, x.Scenario, w.Tick()); err != nil {
		return 0, err
	}
	state, err := w.Save(x.Scenario.Descriptor())
	if err != nil {
		return 0, err
	}
	sealed := engine.Seal(state)
	if out != "-" {
		return int64(len(sealed)), x.writeFrom(ctx, out, bytes.NewReader(sealed), true)
	}
	to, err := x.takeStdout()
	if err == nil {
		_, err = to.Write(sealed)
	}
	return int64(len(sealed)), err
}
