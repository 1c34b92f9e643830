package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

// An auditDiffJob reports in what a tick of a run differs: from what is computed here, or from the tick of another run.
type auditDiffJob struct {
	difference
	tick    tickFlag
	ticked  bool // --tick is given
	against *examiner
	output  string
	force   bool
}

func (a *app) auditDiffCommand() *cobra.Command {
	j := &auditDiffJob{difference: difference{examiner: a.examiner()}, against: a.examiner()}
	c := &cobra.Command{
		Use:   "diff SOURCE",
		Short: "Show in what the first tick that differs does",
		Long: `Diff compares two states of a tick, a and b, and reports their sections, values that differ, with
paths that name fields, cells, entities and streams, and the inputs of the tick. The tick is the
first that differs, as bisect finds it, or that of --tick.

The state a is the one that was committed: a snapshot of the tick, or what the program of --engine
computes, another build of this one, such as the one that recorded the run. It is run as
PROGRAM audit state SOURCE. Without either only the digests of the sections are compared. To have
all states, record with --audit-every 1.

The state b is the one that is computed here. With --against it is that of another run, which may
be in another source, and the tick the first in which their committed hashes differ.

A difference is observable if a number is off by more than 0.0001 units, or an entity is missing;
else it is sub-threshold. Both are failures.

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
			j.against.Workers, j.against.MaxMemory = j.Workers, j.MaxMemory
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
	engineFlag(f, &j.engine)
	f.Var(&j.tick, "tick", "report on this `tick` (default: the first that differs)")
	f.StringVar(&j.against.Source, "against", "", "compare with a run of another `source`, or of the same one")
	f.StringVar(&j.against.ID, "against-run", "", "with --against: the run, by its `id` or the beginning of it (default: the only one)")
	f.StringVarP(&j.output, "output", "o", "", "write the report, JSON, to a `file`")
	f.BoolVar(&j.force, "force", false, "overwrite the file if it exists")
	return c
}

func (j *auditDiffJob) run(ctx context.Context) error {
	defer func() { j.Close(); j.against.Close() }()
	find := j.fromHere
	if j.against.Source != "" {
		find = j.fromOther
	}
	err := j.Open(ctx, "run")
	if err == nil {
		err = find(ctx)
	}
	if err != nil {
		return j.failure(ctx, err)
	}
	if j.output != "" {
		text, err := j.report.json()
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
func (d *difference) tell() error {
	r := &d.report
	if err := d.Result(r, r.OK); err != nil {
		return err
	}
	if !d.JSON && !(d.Quiet && r.OK) {
		text := d.text()
		if d.Quiet {
			text = r.headline() + "\n"
		}
		if _, err := fmt.Fprint(d.Out, text); err != nil {
			return err
		}
	}
	if !r.OK {
		return report.Exit(report.StatusDiverged, nil)
	}
	return nil
}

// json is the report as a file.
func (r *auditDiffResult) json() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// fromHere compares a tick with what is computed here.
func (j *auditDiffJob) fromHere(ctx context.Context) error {
	if j.ticked {
		j.asked = true
		s, again, err := j.At(ctx, uint64(j.tick), j.Repeat)
		if err != nil {
			return err
		}
		return j.replayed(ctx, s, again)
	}
	return j.first(ctx)
}

// first reports on the first tick that differs, or on the last one if there is none.
func (d *difference) first(ctx context.Context) error {
	b, again, err := d.Bisect(ctx)
	if err != nil {
		return err
	}
	if b.Step != nil {
		return d.replayed(ctx, b.Step, again)
	}
	last, err := audit.LinkAt(ctx, d.Evidence, d.Found.Tick)
	if err != nil {
		return err
	}
	state, err := again.World.Save(again.Descriptor) // where the search has left it
	if err != nil {
		return err
	}
	equal := &audit.Step{Tick: last.Tick, Committed: last, Calculated: last, State: state, Outcomes: []audit.Outcome{{Hash: last.Hash, Times: 1}}}
	if before := true; last.Tick > d.Evidence.Run().First {
		d.report.EqualBefore = &before
	}
	return d.replayed(ctx, equal, again)
}

// fromOther compares a tick of two runs.
func (j *auditDiffJob) fromOther(ctx context.Context) error {
	y := j.against
	if err := y.Open(ctx, "against-run"); err != nil {
		return y.failure(ctx, err)
	}
	p, err := j.pair(ctx)
	if err != nil {
		return err
	}
	r := &j.report
	r.Event, r.Format, r.Run, r.Against, r.Tick = "diff", 1, j.Evidence.Run().ID.String(), y.Evidence.Run().ID.String(), p.a.Tick
	r.OK, r.EqualBefore = p.a.Hash == p.b.Hash, p.equalBefore
	if a, b := j.Found.Tick, y.Found.Tick; a != b {
		j.note("a has ticks up to %s, b up to %s", words.Number(a), words.Number(b))
	}
	other := &difference{examiner: y, engine: j.engine}
	if err := j.elsewhere(ctx, &r.A, p.a); err != nil {
		return err
	}
	if err := other.elsewhere(ctx, &r.B, p.b); err != nil {
		return y.failure(ctx, err)
	}
	for _, note := range other.report.Notes {
		j.note("b: %s", note)
	}
	return j.compare(ctx)
}

// elsewhere finds the state that was committed, where it needs that by computing it here.
func (d *difference) elsewhere(ctx context.Context, v *auditSide, l *audit.Link) error {
	return d.committed(ctx, v, l, func() ([]byte, error) {
		s, again, err := d.At(ctx, l.Tick, 0)
		if _, ok := errors.AsType[*audit.DivergenceError](err); ok { // it cannot get there
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		d.world = again.World
		return s.State, nil
	})
}

// A linkPair is a tick of two runs.
type linkPair struct {
	a, b        *audit.Link
	equalBefore *bool // nil: there is no tick before it that both have
}

// pair returns the links of the tick that is asked for, or of the first at which the hashes differ, or of the last that both have.
func (j *auditDiffJob) pair(ctx context.Context) (p linkPair, err error) {
	y := j.against
	from := max(j.Evidence.Run().First, y.Evidence.Run().First)
	to := min(j.Found.Tick, y.Found.Tick)
	switch {
	case from > to:
		return p, errors.New("there is no tick that both runs have")
	case j.ticked && (uint64(j.tick) < from || uint64(j.tick) > to):
		return p, report.Usage("--tick must be one of %s to %s, which both runs have, not %s", words.Number(from), words.Number(to), words.Number(uint64(j.tick)))
	}
	next, stop := iter.Pull2(y.Evidence.Links(ctx, from))
	defer stop()
	for l, err := range j.Evidence.Links(ctx, from) {
		if err != nil {
			return p, err
		}
		m, err, ok := next()
		if err != nil || !ok {
			return p, err
		}
		differ := l.Hash != m.Hash
		if j.ticked && l.Tick == uint64(j.tick) || !j.ticked && differ || l.Tick == to {
			return j.pairAt(ctx, l.Tick, p.equalBefore)
		}
		equal := !differ
		p.equalBefore = &equal
	}
	return p, errors.New("there is no tick that both runs have")
}

// pairAt reads the links of a tick.
func (j *auditDiffJob) pairAt(ctx context.Context, tick uint64, equalBefore *bool) (p linkPair, err error) {
	p.equalBefore = equalBefore
	if p.a, err = audit.LinkAt(ctx, j.Evidence, tick); err == nil {
		p.b, err = audit.LinkAt(ctx, j.against.Evidence, tick)
	}
	return p, err
}
