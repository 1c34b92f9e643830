package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

// An auditStateResult is what audit state prints with --json.
type auditStateResult struct {
	Event    string   `json:"event"` // "state"
	OK       bool     `json:"ok"`    // it is the one that was committed
	Run      string   `json:"run"`
	Tick     uint64   `json:"tick"`
	Expected string   `json:"expected_hash"`
	Hash     string   `json:"calculated_hash"`
	Sections []string `json:"differing_sections,omitempty"`
	Saved    string   `json:"saved"`
	Bytes    int64    `json:"saved_bytes"`
}

func (a *app) auditStateCommand() *cobra.Command {
	x := a.examiner()
	var tick tickFlag
	var out string
	c := &cobra.Command{
		Use:   "state SOURCE --tick N -o FILE",
		Short: "Compute a run up to a tick, and write the state",
		Long: `State computes a run again from its genesis up to a tick, and writes the state there as this
program computes it, whether it is the one that was committed or not. The verdict says that. It is
a saved state, as that of seek --save-state.

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
			defer func() { x.Close() }()
			return x.failure(ctx, x.writeState(ctx, uint64(tick), out))
		},
	}
	x.flags(c.Flags())
	c.Flags().Var(&tick, "tick", "the tick")
	c.Flags().StringVarP(&out, "output", "o", "", "the saved state, a `file`; an older state is replaced")
	return c
}

func (x *examiner) writeState(ctx context.Context, tick uint64, out string) error {
	if err := x.Open(ctx, "run"); err != nil {
		return err
	}
	s, _, err := x.At(ctx, tick, 0)
	if err != nil {
		return err
	}
	if s.Err != nil {
		return fmt.Errorf("tick %s cannot be computed here: %w", words.Number(tick), words.InWords(s.Err))
	}
	l, err := audit.NewLink(s.Committed.Prev, s.State)
	if err != nil {
		return err
	}
	sealed := engine.Seal(s.State)
	if err := x.writeFrom(ctx, out, bytes.NewReader(sealed), true); err != nil {
		return err
	}
	r := auditStateResult{
		Event: "state", OK: l.Hash == s.Committed.Hash, Run: x.Evidence.Run().ID.String(), Tick: tick, Expected: s.Committed.Hash.String(), Hash: l.Hash.String(),
		Sections: sectionNames(s), Saved: out, Bytes: int64(len(sealed)),
	}
	if err := x.Result(r, r.OK); err != nil {
		return err
	}
	line := fmt.Sprintf("PASS tick=%d hash=%s", tick, l.Hash)
	if !r.OK {
		line = fmt.Sprintf("FAIL tick=%d expected=%s calculated=%s", tick, s.Committed.Hash, l.Hash)
	}
	if err := x.Say("saved     %s  the state of tick %s, %s\n%s", words.Argument(out), words.Number(tick), words.Size(r.Bytes), line); err != nil {
		return err
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// sectionNames names the sections of a tick that differ from the committed ones.
func sectionNames(s *audit.Step) (names []string) {
	if d, ok := errors.AsType[*audit.DivergenceError](s.Divergence()); ok {
		for _, id := range d.Sections {
			names = append(names, sectionName(id))
		}
	}
	return names
}

func sectionName(id uint16) string {
	if i := int(id) - 1; i >= 0 && i < len(engine.SectionNames) {
		return engine.SectionNames[i]
	}
	return strconv.Itoa(int(id))
}
