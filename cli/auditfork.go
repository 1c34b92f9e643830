package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
)

// An auditForkJob forks a run, as the flags ask for it.
type auditForkJob struct {
	*app
	evidence.Builder
	run   string
	tick  tickFlag
	given bool // the tick
	label string
}

func (a *app) auditForkCommand() *cobra.Command {
	j := &auditForkJob{app: a, Builder: a.newBuilder()}
	c := &cobra.Command{
		Use:   "fork DATABASE",
		Short: "Begin a new run from the last right tick of another",
		Long: `Fork computes a run again up to a tick, compares every hash on the way, and begins a new run
with the state of that tick. The new run names its parent, the tick and the hash there in
its genesis, and so in each of its hashes. It has no ticks of its own yet: run --resume
continues it.

A halted run stays halted; to continue its work, fork it. Without --tick, the fork begins at
the last tick that is right.

Exit status: 0 ok, 1 an error, 3 the tick or one before it is not what was committed, 4 the evidence is broken.`,
		Example: `  murksim audit fork run.db
  murksim audit fork run.db --run 01234567 --tick 499 --label "after the fix"
  murksim run --resume run.db --audit-run 89abcdef`,
		Args: arguments(cobra.ExactArgs(1), "one database"),
		RunE: func(c *cobra.Command, args []string) error {
			j.given = c.Flags().Changed("tick")
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			if err := j.fork(ctx, args[0]); err != nil && ctx.Err() != nil {
				return errors.New("interrupted; there is no fork")
			} else if err != nil {
				return err
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&j.run, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	f.Var(&j.tick, "tick", "the `tick` at whose state the fork begins (default: the last right one)")
	f.StringVar(&j.label, "label", "", "a `text` that tells people what the fork is")
	builderFlags(f, &j.Builder)
	return c
}

// fork proves the parent up to a tick, and begins the fork.
func (j *auditForkJob) fork(ctx context.Context, name string) error {
	r, err := j.wholeRun(ctx, name, j.run, holding{complete: true, right: true})
	if err != nil {
		return err
	}
	defer r.Close()
	e, last := r.Evidence, r.Found.Tick
	if r.DB == nil {
		return report.Usage("%s is a bundle; audit import puts it into a database", name)
	}
	tick := last
	if j.given {
		tick = uint64(j.tick)
	}
	if tick < e.Run().First || tick > last {
		return fmt.Errorf("--tick must be from %s to %s, the last tick that is committed, not %s", words.Number(e.Run().First), words.Number(last), words.Number(tick))
	}
	if r.Begins != "" {
		if err := j.Say("%s", r.Begins); err != nil {
			return err
		}
	}
	if err := extensible(e.Run()); err != nil {
		return words.About(r.Name, fmt.Errorf("there is no fork: %w", err))
	}
	again, err := j.proved(ctx, &j.Builder, r.Name, e, tick)
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
		j.noteWrong(ctx, r.Source, e.Run().ID, d.Tick)
	}
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok && !j.given && d.Tick > e.Run().First {
		if err := j.Say("differs   tick %s is not what was committed", words.Number(d.Tick)); err != nil {
			return err
		}
		tick = d.Tick - 1
		again, err = j.proved(ctx, &j.Builder, r.Name, e, tick)
	}
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
		return report.Exit(report.StatusDiverged, words.About(r.Name, d))
	}
	if err != nil {
		return err
	}
	return j.begin(ctx, r, again, tick)
}

// extensible returns an error for a run whose descriptor can have no key more, as that of a fork or of a recording from a later tick has.
func extensible(r *audit.Run) error {
	world, _, err := audit.SplitGenesis(r.Genesis)
	if err == nil && !replay.Extensible(world) {
		err = replay.ErrExtend
	}
	return err
}

// proved computes a run up to a tick, and compares every hash; if one differs, twice.
func (a *app) proved(ctx context.Context, b *evidence.Builder, name string, e audit.Evidence, tick uint64) (*audit.Rerun, error) {
	s, err := b.Genesis(e.Run(), tick)
	if err != nil {
		return nil, evidence.Broken(name, err)
	}
	m := a.Meter(tick)
	defer m.Clear()
	var differed *audit.DivergenceError // the first time
	for {
		again := &audit.Rerun{Evidence: e, Descriptor: e.Run().Genesis, To: tick, Passed: m.Show}
		if err := b.Place(ctx, e, s, again, e.Run().First); err != nil {
			return nil, evidence.Broken(name, err)
		}
		err := again.Run(ctx)
		d, differs := errors.AsType[*audit.DivergenceError](err)
		switch {
		case differs && differed == nil: // a machine may fail once
			differed = d
		case differs:
			return nil, err
		case err == nil && differed != nil:
			return nil, report.Exit(report.StatusDiverged, words.About(name, evidence.Once(differed)))
		case err != nil:
			return nil, evidence.Broken(name, err)
		default:
			return again, nil
		}
	}
}

// begin adds the fork to the database, with its first tick.
func (j *auditForkJob) begin(ctx context.Context, from *evidence.Run, again *audit.Rerun, tick uint64) error {
	of := from.Evidence.Run()
	l, err := audit.LinkAt(ctx, from.Evidence, tick)
	if err != nil {
		return err
	}
	world, _, err := audit.SplitGenesis(of.Genesis)
	if err != nil {
		return err
	}
	r := *of
	r.ID, r.Created, r.Label, r.First, r.Parent, r.Engine = evidence.FreshID(), time.Now(), j.label, tick, of.ID, replay.ThisBuild().Version
	if r.Genesis, err = (&audit.Parent{Run: of.ID, Tick: tick, Hash: l.Hash}).Describe(world); err != nil {
		return err
	}
	r.Digest = sha256.Sum256(r.Genesis)
	db, err := from.DB.Writable(ctx)
	if err != nil {
		return evidence.Stored(err)
	}
	from.Close() // else a file that is not in WAL mode, such as a copy, cannot be written to
	defer db.Close()
	w, err := db.Begin(ctx, &r)
	if err != nil {
		return evidence.Stored(err)
	}
	defer w.Close()
	x := auditing{db: db, writer: w, memory: memoryOf(r.ID)} // notes the fork, as a run does
	recorder, err := audit.NewRecorder(x.noting(j.app), again.World, r.Genesis, 1)
	if err != nil {
		return err
	}
	if err := cmp.Or(recorder.Close(), w.Close()); err != nil {
		return evidence.Stored(err)
	}
	x.notes.note()
	if why := x.memory.none(); why != "" {
		if err := j.Say("%s", noNote(why)); err != nil {
			return err
		}
	}
	if err := j.Emit(forkedView{"forked", r.ID.String(), of.ID.String(), tick}); err != nil {
		return err
	}
	return j.Say("forked    run %s from tick %s of run %s\n  %s run --resume %s --audit-run %s goes on with it", r.ID, words.Number(tick), of.ID, j.Name, words.Argument(db.Name()), r.ID)
}

// A forkedView is a fork as JSON.
type forkedView struct {
	Event  string `json:"event"` // "forked"
	Run    string `json:"run"`
	Parent string `json:"parent"`
	Tick   uint64 `json:"first_tick"`
}
