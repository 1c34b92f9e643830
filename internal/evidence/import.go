package evidence

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// Imported checks what a database already has of a bundle's run, and returns the tick with which to go on, which is not the first if an import
// was interrupted, and whether the import must begin the run.
func Imported(ctx context.Context, to *Source, b audit.Evidence, found *audit.Checked, takesHalt bool) (from uint64, begin bool, err error) {
	db := to.DB
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
		return 0, false, Broken(db.Name(), there.Wrong)
	}
	if err := to.agree(ctx, b, &there, found); err != nil {
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

// agree checks that what a database has of a run is the same in the bundle.
func (s *Source) agree(ctx context.Context, b audit.Evidence, there *store.Listed, found *audit.Checked) error {
	db := s.DB
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
	checked, err := s.Check(ctx, e) // else its links could be of other inputs than it has
	if err != nil {
		return Broken(db.Name(), err)
	}
	tick, differs, err := audit.FirstDifference(ctx, checked.Held(e), b, min(there.Last, found.Tick))
	if err == nil && differs {
		err = fmt.Errorf("%s has a run %s already, whose hash or inputs at tick %s are others", db.Name(), row.ID, words.Number(tick))
	}
	return err
}
