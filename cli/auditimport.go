package cli

import (
	"context"
	"errors"
	"fmt"

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
		Long: `Import checks the evidence of a bundle, and puts its run into a database, under the same id.
An interrupted import can be continued. If the database already has a part of the run, that
part must be the same: the row of the run, and all ticks and inputs that both have. What is
added must give the recorded hashes when it is computed here, and nothing is added to a fork
with which run --resume would not go on.`,
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
	src, err := evidence.Open(ctx, a.Session, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if src.Bundle == nil {
		return report.Usage("%s is no bundle", src.Name)
	}
	found, err := src.Check(ctx, src.Bundle)
	switch {
	case err != nil:
		return evidence.Broken(name, err)
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
	to := evidence.SourceOf(db, a.Session)
	from, begin, err := evidence.Imported(ctx, to, held, found, takesHalt)
	if err != nil {
		return evidence.Stored(err)
	}
	adds := !begin && from <= found.Tick // to a run that is there, where it stays for good
	if adds {
		to.Parent = a.parentHeld(to, true, true)
	}
	if _, _, err := to.HoldParent(ctx, held); err != nil {
		return evidence.Broken(name, err)
	}
	if adds {
		b := a.newBuilder()
		if _, err := a.proved(ctx, &b, name, held, found.Tick); err != nil {
			if _, differs := errors.AsType[*audit.DivergenceError](err); differs {
				return report.Exit(report.StatusDiverged, fmt.Errorf("%w\n  nothing is added to the run, which %s has already", words.About(name, err), db.Name()))
			}
			return err
		}
	}
	if err := copyChain(ctx, db, held, begin, from, found.Tick); err != nil {
		return err
	}
	if halt, _ := src.Bundle.Halt(ctx); halt != nil {
		err = db.Halt(ctx, r.ID, *halt)
	}
	if err != nil {
		return evidence.Stored(err)
	}
	if err := a.Emit(importedView{"imported", r.ID.String(), db.Name()}); err != nil {
		return err
	}
	return a.Say("imported  %s  run %s", db.Name(), r.ID)
}

// copyChain adds the ticks of a run, from one to another, to a database, which has the run or not.
func copyChain(ctx context.Context, db *store.DB, e audit.Evidence, begin bool, from, to uint64) (err error) {
	r := e.Run()
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
	if from <= to {
		if err := audit.Copy(ctx, w, e, from); err != nil {
			return evidence.Stored(err)
		}
	}
	if err := w.Close(); err != nil || !begin {
		return evidence.Stored(err)
	}
	return memoryOf(r.ID).replaced(db.Place())
}

// An importedView is what audit import has done, with --json.
type importedView struct {
	Event    string `json:"event"`
	Run      string `json:"run"`
	Database string `json:"database"` // without a password
}
