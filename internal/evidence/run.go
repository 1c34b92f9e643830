package evidence

import (
	"context"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/audit"
)

// A Run is one run of a source.
type Run struct {
	*Source
	Evidence audit.Evidence
	Found    *audit.Checked // nil until [Run.Hold]
	Begins   string         // a line that says with what the run begins, if not with its genesis
	done     func()
}

// OpenRun opens a run of a source; the id may be the beginning of one, or "" for the only one, and the flag is what names it.
// The caller must close it.
func OpenRun(ctx context.Context, opener *session.Session, source, id, flag string) (*Run, error) {
	src, err := Open(ctx, opener, source)
	if err != nil {
		return nil, err
	}
	r := &Run{Source: src, done: func() {}}
	full, err := src.One(ctx, id, flag)
	if err == nil {
		r.Evidence, r.done, err = src.Run(ctx, full)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the run and its source.
func (r *Run) Close() {
	r.done()
	r.Source.Close()
}

// Hold checks that the evidence of the run, and of the runs from which it comes, is whole. From then on the evidence is
// what was checked, whatever the source shows when it is read again.
func (r *Run) Hold(ctx context.Context) (err error) {
	if r.Found, err = r.Check(ctx, r.Evidence); err != nil {
		return err
	}
	r.Evidence = r.Found.Held(r.Evidence)
	p, held, err := r.HoldParent(ctx, r.Evidence)
	r.Begins = Begins(r.Evidence.Run(), p, held)
	return err
}
