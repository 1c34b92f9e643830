package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/space"
)

// A proveJob proves what a cell or an entity was at a tick of a run.
type proveJob struct {
	*examiner
	tick        tickFlag
	last        bool // no tick is given
	field, cell string
	at          space.Coord // the cell
	entity      uint64
	out         string
	force       bool
}

// A proofResult is what audit prove prints with --json.
type proofResult struct {
	Event string `json:"event"` // "proof"
	Run   string `json:"run"`
	Tick  uint64 `json:"tick"`
	Hash  string `json:"world_hash"`
	evidence.SubjectView
	Saved string `json:"saved"`
	Bytes int64  `json:"saved_bytes"`
}

func (a *app) auditProveCommand() *cobra.Command {
	j := &proveJob{examiner: a.examiner()}
	c := &cobra.Command{
		Use:   "prove SOURCE (--field NAME --cell C | --entity ID) -o FILE",
		Short: "Prove what a cell or an entity was at a tick",
		Long: `Prove writes a proof that a value of a field at a cell, or an entity with all its attributes, belonged
to the state of a tick. Anyone with a signature of that tick (audit sign) can check it, with audit check
or a short program of their own, without the run, its database or the rest of the state.

It checks the evidence of the run, and takes the state from a snapshot, or computes it from
the last earlier snapshot. It makes a proof only from the committed state. The tick must be
the signed one.

Exit status: 0 ok, 1 the source cannot be read, the run not be computed here, or there is no such
cell or entity at that tick, 3 the state that is computed is not the committed one, 4 the evidence
is broken.`,
		Example: `  murksim audit prove run.db --field heat --cell 3,4 -o cell.proof
  murksim audit prove run.db --tick 500 --entity 1048577 -o entity.proof
  murksim audit check cell.proof heat.sig --key mine.key.pub`,
		Args: arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			given := c.Flags().Changed
			if err := cmp.Or(j.checkFlags(c.CommandPath(), given), sparesSource(j.out, args[0])); err != nil {
				return err
			}
			j.last = !given("tick")
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			j.Source = args[0]
			defer j.Close()
			return j.Failed(ctx, j.prove(ctx))
		},
	}
	f := c.Flags()
	j.flags(f)
	f.Var(&j.tick, "tick", "the tick (default: the last that is committed)")
	f.StringVar(&j.field, "field", "", "the value of this `field`, with --cell")
	f.StringVar(&j.cell, "cell", "", "at this `cell`, a coordinate such as 3,4")
	f.Uint64Var(&j.entity, "entity", 0, "the entity with this `id`, and all its attributes")
	f.StringVarP(&j.out, "output", "o", "", "the proof, a `file`")
	f.BoolVar(&j.force, "force", false, "overwrite")
	return c
}

// checkFlags looks at the flags.
func (j *proveJob) checkFlags(command string, given func(flag string) bool) (err error) {
	cell, entity := given("field") || given("cell"), given("entity")
	switch {
	case j.out == "":
		return report.Usage("%s needs -o FILE", command)
	case cell == entity || cell && !(given("field") && given("cell")):
		return report.Usage("%s needs --field NAME and --cell C, or --entity ID", command)
	case entity && j.entity == 0:
		return report.Usage("--entity must be above 0")
	case cell:
		if j.at, err = parseCell("--cell", j.cell); err != nil {
			return err
		}
	}
	return nil
}

func (j *proveJob) prove(ctx context.Context) error {
	if err := j.Open(ctx, j.flag); err != nil {
		return err
	}
	tick := uint64(j.tick)
	if j.last {
		tick = j.Found.Tick
	}
	if err := j.CheckTick(tick); err != nil {
		return err
	}
	subject := audit.Subject{Entity: j.entity}
	if j.entity == 0 {
		subject = audit.Subject{Field: j.field, Cell: j.at.AppendTo(nil)}
		if _, err := evidence.CellOf(j.Scenario, evidence.LayoutOf(j.Scenario), subject); err != nil {
			return err // before ticks are computed
		}
	}
	l, err := audit.LinkAt(ctx, j.Evidence, tick)
	if err != nil {
		return err
	}
	state, err := evidence.ProvenState(ctx, &j.Chain, l)
	if err != nil {
		return err
	}
	p, err := evidence.Prove(&j.Chain, l, state, subject)
	if err != nil {
		return err
	}
	text, err := p.File()
	if err != nil {
		return err
	}
	v, err := evidence.ViewSubject(j.Scenario, p)
	if err != nil {
		return err
	}
	if err := j.writeFile(j.out, text, j.force); err != nil {
		return err
	}
	if err := j.Emit(proofResult{"proof", j.Evidence.Run().ID.String(), tick, l.Hash.String(), *v, j.out, int64(len(text))}); err != nil {
		return err
	}
	return j.Say("proved    tick %s of run %s, hash %s\n%s\nwrote     %s  %s", words.Number(tick), j.Evidence.Run().ID, l.Hash, v.Text(), words.Argument(j.out), words.Size(int64(len(text))))
}
