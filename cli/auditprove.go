package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
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
	subjectView
	Saved string `json:"saved"`
	Bytes int64  `json:"saved_bytes"`
}

func (a *app) auditProveCommand() *cobra.Command {
	j := &proveJob{examiner: a.examiner()}
	c := &cobra.Command{
		Use:   "prove SOURCE (--field NAME --cell C | --entity ID) -o FILE",
		Short: "Prove what a cell or an entity was at a tick",
		Long: `Prove writes a proof that a value of a field at a cell, or an entity with all its attributes, belonged
to the state of a tick. Who has a signature of that tick (audit sign) can check it, by audit check
or by a short program of their own, without the run, its database or the rest of the state.

It checks the evidence of the run, and takes the state from a snapshot, or computes it again from the
snapshot before it. A state that is not the committed one is no proof. The tick must be the one that
is signed.

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

// layoutOf returns the columns of a scenario's states.
func layoutOf(s *scenarios.Scenario) *audit.Layout {
	var defs []fields.Def
	for i := range s.Fields {
		defs = append(defs, s.Fields[i].Def())
	}
	capacity := 0
	if s.Entities != nil {
		capacity = s.Entities.Capacity
	}
	return audit.LayoutOf(defs, s.Lattice().Cells(), capacity)
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
	if j.entity == 0 {
		if _, err := cellOf(j.Scenario, layoutOf(j.Scenario), audit.Subject{Field: j.field, Cell: j.at.AppendTo(nil)}); err != nil {
			return err // before ticks are computed
		}
	}
	l, err := audit.LinkAt(ctx, j.Evidence, tick)
	if err != nil {
		return err
	}
	state, err := j.stateOf(ctx, l)
	if err != nil {
		return err
	}
	p, err := j.proof(l, state)
	if err != nil {
		return err
	}
	text, err := p.File()
	if err != nil {
		return err
	}
	v, err := viewSubject(j.Scenario, p)
	if err != nil {
		return err
	}
	if err := j.writeFile(j.out, text, j.force); err != nil {
		return err
	}
	if err := j.Emit(proofResult{"proof", j.Evidence.Run().ID.String(), tick, l.Hash.String(), *v, j.out, int64(len(text))}); err != nil {
		return err
	}
	return j.Say("proved    tick %s of run %s, hash %s\n%s\nwrote     %s  %s", words.Number(tick), j.Evidence.Run().ID, l.Hash, v.text(), words.Argument(j.out), words.Size(int64(len(text))))
}

// proof makes the proof.
func (j *proveJob) proof(l *audit.Link, state []byte) (*audit.Proof, error) {
	y, subject := layoutOf(j.Scenario), audit.Subject{Entity: j.entity}
	var list []audit.Elements
	if j.entity == 0 {
		subject = audit.Subject{Field: j.field, Cell: j.at.AppendTo(nil)}
		x, err := cellOf(j.Scenario, y, subject)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	} else {
		s, err := engine.ReadState(state)
		if err != nil {
			return nil, err
		}
		slot := -1
		if y.IDs() >= 0 {
			slot = slices.Index(s.Columns[y.IDs()].Column().Uint64, j.entity)
		}
		if slot < 0 {
			return nil, fmt.Errorf("there is no entity %d at tick %s", j.entity, words.Number(l.Tick))
		}
		list = y.Entity(slot)
	}
	p, err := audit.Prove(l, j.Evidence.Run().Genesis, state, list...)
	if err != nil {
		return nil, err
	}
	p.Subject = subject
	return p, nil
}

// cellOf returns the elements of a cell in a field.
func cellOf(s *scenarios.Scenario, y *audit.Layout, of audit.Subject) (e audit.Elements, err error) {
	i := slices.IndexFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == of.Field })
	if i < 0 {
		var names []string
		for k := range s.Fields {
			names = append(names, s.Fields[k].Name)
		}
		return e, fmt.Errorf("there is no field %q%s", of.Field, document.Suggestion(of.Field, names))
	}
	c, err := space.MakeCoord(of.Cell)
	if err != nil {
		return e, err
	}
	rank, ok := s.Lattice().Rank(c)
	if !ok {
		return e, fmt.Errorf("there is no cell %v in %s", c, s.Lattice().Space())
	}
	return y.Cell(of.Field, rank)
}

// stateOf returns the state of a tick: a snapshot that belongs to it, or what is computed from the last one before it, if that is the committed one.
func (j *proveJob) stateOf(ctx context.Context, l *audit.Link) ([]byte, error) {
	snapshots, err := j.Evidence.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(snapshots, l.Tick) {
		s, _, err := audit.Open(ctx, j.Evidence, l.Tick)
		if _, refused := errors.AsType[*audit.EvidenceError](err); !refused {
			if err != nil {
				return nil, err
			}
			return s.State, nil
		}
	}
	first := j.Evidence.Run().First
	for _, from := range slices.Backward(append([]uint64{first}, snapshots...)) {
		if from < first || from >= l.Tick && from != first {
			continue
		}
		state, err := j.compute(ctx, l, from)
		if e, refused := errors.AsType[*audit.EvidenceError](err); refused && e.Table == "snapshots" && from > first {
			continue // the one before it
		}
		if _, differs := errors.AsType[*audit.DivergenceError](err); differs && from > first { // what counts is where the first tick leads to
			return j.compute(ctx, l, first)
		}
		return state, err
	}
	return nil, &audit.EvidenceError{Table: "snapshots", Row: fmt.Sprintf("tick %d", first), Reason: "it is missing"}
}

// compute computes the state of a tick from the snapshot of another, or from genesis.
func (j *proveJob) compute(ctx context.Context, l *audit.Link, from uint64) ([]byte, error) {
	r := &audit.Rerun{Evidence: j.Evidence, Descriptor: j.Evidence.Run().Genesis, To: l.Tick}
	if err := j.Place(ctx, j.Evidence, j.Scenario, r, from); err != nil {
		return nil, err
	}
	m := j.Meter(l.Tick)
	m.First, r.Passed = from, m.Show
	defer m.Clear()
	s, err := r.At(ctx, l.Tick, 0)
	if err == nil {
		err = s.Divergence()
	}
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
		return nil, report.Exit(report.StatusDiverged, fmt.Errorf("run %s: the state of tick %s, as this program computes it, is not the committed one, so nothing can be proved of it: %w", j.Evidence.Run().ID, words.Number(l.Tick), words.InWords(d)))
	}
	if err != nil {
		return nil, err
	}
	return s.State, nil
}
