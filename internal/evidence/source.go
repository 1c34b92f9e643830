// Package evidence opens the chains that run --audit commits, in a database or in a bundle, checks their rows, and computes their runs again.
//
// A [Source] is where chains lie. A replay.Source is another thing, a form in which the frames of a recording come, and a view.Source a third,
// what a page shows.
package evidence

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// Broken names the source of an error of evidence, and gives it its exit status.
func Broken(source string, err error) error {
	if _, is := errors.AsType[*audit.EvidenceError](err); is {
		return report.Exit(report.StatusEvidence, words.About(source, err))
	}
	return words.About(source, err)
}

// A Source is a database or a bundle.
type Source struct {
	Name   string
	DB     *store.DB // nil: it is a bundle
	Bundle *audit.Bundle

	// Parent, unless nil, is called with each run from which one comes, see [Source.HoldParent]: with its evidence, or nil if it is not in this source.
	Parent func(ctx context.Context, e audit.Evidence, p *audit.Parent) error

	opener *session.Session
	file   io.Closer
}

// Open opens a source to be read.
func Open(ctx context.Context, opener *session.Session, name string) (*Source, error) {
	if ours, err := files.Begins(name, audit.BundleMark); err == nil && ours {
		f, size, err := files.OpenSeekable(name)
		if err != nil {
			return nil, words.About(name, err)
		}
		b, err := audit.OpenBundle(f, size, mostState(opener))
		if err != nil {
			f.Close()
			return nil, words.About(name, err)
		}
		return &Source{Name: name, Bundle: b, opener: opener, file: f}, nil
	}
	for _, other := range []struct{ mark, is string }{
		{"MURK", "a recording: verify checks it"}, {audit.ProofMark, "a proof: audit check checks it"}, {checkpoint.Mark, "a signature: audit check checks it"},
		{session.StateMark, "a saved state: run --state goes on from it"}, {"-----BEGIN", "a key: audit sign and audit check take it by --key"},
	} {
		if is, err := files.Begins(name, other.mark); err == nil && is {
			return nil, fmt.Errorf("%s: it is %s", document.FileName(name), other.is)
		}
	}
	db, err := store.OpenReader(ctx, name)
	if err != nil {
		return nil, Stored(err)
	}
	return SourceOf(db, opener), nil
}

// SourceOf returns a database as a source. The caller that opened the database closes it, or the source.
func SourceOf(db *store.DB, opener *session.Session) *Source {
	db.MostState = mostState(opener)
	return &Source{Name: db.Name(), DB: db, opener: opener}
}

// mostState returns a function that returns the most bytes of a state, by the genesis document. For a scenario that cannot be built here the number is unknown.
func mostState(opener *session.Session) func(genesis []byte) int64 {
	return func(genesis []byte) int64 {
		if world, _, err := audit.SplitGenesis(genesis); err == nil {
			if s, err := opener.Registry.FromDescriptor(world); err == nil {
				if most, err := s.MaxState(); err == nil {
					return min(most, audit.MaxState)
				}
			}
		}
		return audit.MaxState
	}
}

// Close closes the database or the file.
func (s *Source) Close() {
	if s.DB != nil {
		s.DB.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
}

// Runs lists the runs.
func (s *Source) Runs(ctx context.Context) ([]store.Listed, error) {
	if s.DB != nil {
		return s.DB.Runs(ctx)
	}
	l := store.Listed{Key: s.Bundle.Run().ID.String(), Run: *s.Bundle.Run()}
	for x, err := range s.Bundle.Links(ctx, 0) {
		if err != nil {
			return nil, Broken(s.Name, err)
		}
		l.Links, l.Last = true, x.Tick
	}
	l.Halt, _ = s.Bundle.Halt(ctx)
	return []store.Listed{l}, nil
}

// One returns the run that is named, or the only one. The flag names it.
func (s *Source) One(ctx context.Context, name, flag string) (audit.ID, error) {
	var named []string
	if name != "" {
		named = []string{name}
	}
	runs, err := s.Pick(ctx, named, false, "name one with --"+flag)
	if err != nil {
		return audit.ID{}, err
	}
	if runs[0].Wrong != nil {
		return audit.ID{}, Broken(s.Name, runs[0].Wrong)
	}
	return runs[0].Run.ID, nil
}

// maxNamed is how many runs an error names.
const maxNamed = 20

// Pick returns the runs that the user asks for: those named, all, or the only one. If there are several, hint says what to do.
func (s *Source) Pick(ctx context.Context, named []string, all bool, hint string) (picked []store.Listed, err error) {
	var runs []store.Listed
	if s.DB == nil {
		runs = []store.Listed{{Key: s.Bundle.Run().ID.String(), Run: *s.Bundle.Run()}} // without a look at all its links
	} else if runs, err = s.DB.Runs(ctx); err != nil {
		return nil, Stored(err)
	}
	for _, name := range named {
		n := len(picked)
		for i := range runs {
			if strings.HasPrefix(runs[i].Key, strings.ToLower(name)) {
				picked = append(picked, runs[i])
			}
		}
		switch len(picked) - n {
		case 0:
			return nil, fmt.Errorf("%s has no run %s", s.Name, name)
		case 1:
		default:
			return nil, fmt.Errorf("%s has %d runs whose ids begin with %s", s.Name, len(picked)-n, name)
		}
	}
	switch {
	case len(named) > 0:
		return picked, nil
	case len(runs) == 0:
		return nil, fmt.Errorf("%s has no run", s.Name)
	case len(runs) > 1 && !all:
		var b strings.Builder
		fmt.Fprintf(&b, "%s has %d runs; %s", s.Name, len(runs), hint)
		for i := range runs[:min(len(runs), maxNamed)] {
			fmt.Fprintf(&b, "\n  %s  %s", runs[i].Key, words.Printable(runs[i].Run.Label))
		}
		if more := len(runs) - maxNamed; more > 0 {
			fmt.Fprintf(&b, "\n  and %s more, which audit list lists", words.Number(uint64(more)))
		}
		return nil, report.Usage("%s", b.String())
	}
	return runs, nil
}

// Run opens what there is of a run.
func (s *Source) Run(ctx context.Context, id audit.ID) (audit.Evidence, func(), error) {
	if s.DB == nil {
		return s.Bundle, func() {}, nil
	}
	e, done, err := s.DB.Evidence(ctx, id)
	if err != nil {
		return nil, func() {}, err
	}
	return e, func() { _ = done() }, nil
}

// Stored is an error of a database, which names it, in words.
func Stored(err error) error {
	if err == nil {
		return nil
	}
	return words.NewProblem(words.Bare(err), err)
}

// FreshID returns a random UUID, of version 4.
func FreshID() (id audit.ID) {
	hex.Decode(id[:], []byte(rng.FreshID()))
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}
