package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

func (a *app) auditImportCommand() *cobra.Command {
	var halt bool
	c := &cobra.Command{
		Use:   "import BUNDLE DATABASE",
		Short: "Put a bundle into a database",
		Long: `Import checks the evidence of a bundle, and puts its run into a database, with the id that it has. An
import that was interrupted goes on. What the database has of the run already must be the same: the row of
the run, and all ticks and inputs that both have.`,
		Example: "  murksim audit import heat.audit postgres://user@host/name",
		Args:    arguments(cobra.ExactArgs(2), "a bundle and a database"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := a.untilSignal(c.Context())
			defer stop()
			if err := a.importBundle(ctx, args[0], args[1], halt); err != nil && ctx.Err() != nil {
				return errors.New("interrupted; what is there stays, and another import goes on")
			} else if err != nil {
				return err
			}
			return nil
		},
	}
	c.Flags().BoolVar(&halt, "halt", false, "if the bundle halts the run, halt it in a database that has the run already, too")
	return c
}

func (a *app) importBundle(ctx context.Context, name, dsn string, takesHalt bool) error {
	src, err := evidence.Open(ctx, a.Registry, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if src.Bundle == nil {
		return report.Usage("%s is no bundle", src.Name)
	}
	found, err := a.whole(ctx, name, src.Bundle)
	switch {
	case err != nil:
		return err
	case len(found.Refused) > 0:
		return evidence.Broken(name, found.Refused[0])
	}
	held := found.Held(src.Bundle)
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return evidence.Stored(err)
	}
	defer db.Close()
	r := src.Bundle.Run()
	from, begin, err := imported(ctx, db, held, found, takesHalt)
	if err != nil {
		return evidence.Stored(err)
	}
	var w *store.Writer
	if begin {
		w, err = db.Begin(ctx, r)
	} else {
		w, err = db.Writer(ctx, r.ID)
	}
	if err != nil {
		return evidence.Stored(err)
	}
	defer w.Close()
	if from <= found.Tick {
		if err := audit.Copy(ctx, w, held, from); err != nil {
			return evidence.Stored(err)
		}
	}
	if err := w.Close(); err != nil {
		return evidence.Stored(err)
	}
	if halt, _ := src.Bundle.Halt(ctx); halt != nil {
		if err := db.Halt(ctx, r.ID, *halt); err != nil {
			return evidence.Stored(err)
		}
	}
	if err := a.Emit(importedView{"imported", r.ID.String(), db.Name()}); err != nil {
		return err
	}
	return a.Say("imported  %s  run %s", db.Name(), r.ID)
}

// An importedView is what audit import has done, with --json.
type importedView struct {
	Event    string `json:"event"`
	Run      string `json:"run"`
	Database string `json:"database"` // without a password
}

// imported looks at what a database has of a bundle's run, and returns the tick with which to go on, one that is not the first where an import
// was interrupted, and whether the run is to be begun.
func imported(ctx context.Context, db *store.DB, b audit.Evidence, found *audit.Checked, takesHalt bool) (from uint64, begin bool, err error) {
	r := b.Run()
	runs, err := db.Runs(ctx)
	if err != nil {
		return 0, false, err
	}
	i := slices.IndexFunc(runs, func(l store.Listed) bool { return l.Run.ID == r.ID })
	if i < 0 {
		if r.Parent != (audit.ID{}) && !slices.ContainsFunc(runs, func(l store.Listed) bool { return l.Run.ID == r.Parent }) {
			return 0, false, fmt.Errorf("run %s is a fork of run %s, which %s does not have; import that one first", r.ID, r.Parent, db.Name())
		}
		return r.First, true, nil
	}
	there := runs[i]
	if there.Wrong != nil {
		return 0, false, evidence.Broken(db.Name(), there.Wrong)
	}
	if err := agree(ctx, db, b, &there, found); err != nil {
		return 0, false, err
	}
	halt, err := b.Halt(ctx)
	switch all := there.Links && there.Last >= found.Tick; {
	case err != nil:
		return 0, false, err
	case halt != nil && there.Halt == nil && !takesHalt:
		return 0, false, fmt.Errorf("%s has run %s already, without a halt; the bundle halts it at tick %s: %s. With --halt it is halted in %s, too, for good", db.Name(), r.ID, words.Number(halt.Tick), words.Printable(halt.Code), db.Name())
	case all && (halt == nil || there.Halt != nil):
		return 0, false, fmt.Errorf("%s has run %s already", db.Name(), r.ID)
	case all:
		return found.Tick + 1, false, nil // the halt is missing
	case there.Links:
		return there.Last + 1, false, nil
	}
	return r.First, false, nil
}

// agree holds that what a database has of a run is what the bundle has of it.
func agree(ctx context.Context, db *store.DB, b audit.Evidence, there *store.Listed, found *audit.Checked) error {
	e, done, err := db.Evidence(ctx, there.Run.ID)
	if err != nil {
		return err
	}
	defer done()
	row := *b.Run()
	row.Created = time.UnixMicro(row.Created.UnixMicro()) // as databases keep it
	if column := e.Run().Difference(&row); column != "" {
		return fmt.Errorf("%s has a run %s already, whose %s is another one", db.Name(), row.ID, column)
	}
	if !there.Links {
		return nil
	}
	tick, differs, err := audit.FirstDifference(ctx, e, b, min(there.Last, found.Tick))
	if err == nil && differs {
		err = fmt.Errorf("%s has a run %s already, whose hash or inputs at tick %s are others", db.Name(), row.ID, words.Number(tick))
	}
	return err
}
