package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/checkpoint"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/scenarios/document"
)

// An evidenceSource is a database or a bundle.
type evidenceSource struct {
	name   string
	db     *store.DB // nil: it is a bundle
	bundle *audit.Bundle
	file   io.Closer
}

// openEvidence opens a source to be read.
func (a *app) openEvidence(ctx context.Context, name string) (*evidenceSource, error) {
	if ours, err := files.Begins(name, audit.BundleMark); err == nil && ours {
		f, size, err := files.OpenSeekable(name)
		if err != nil {
			return nil, words.About(name, err)
		}
		b, err := audit.OpenBundle(f, size, a.mostState)
		if err != nil {
			f.Close()
			return nil, words.About(name, err)
		}
		return &evidenceSource{name: name, bundle: b, file: f}, nil
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
		return nil, stored(err)
	}
	db.MostState = a.mostState
	return &evidenceSource{name: db.Name(), db: db}, nil
}

// mostState returns how many bytes a state has at most, by the genesis document. Of a scenario that cannot be built here nobody knows.
func (a *app) mostState(genesis []byte) int64 {
	if world, _, err := audit.SplitGenesis(genesis); err == nil {
		if s, err := a.Registry.FromDescriptor(world); err == nil {
			if most, err := s.MaxState(); err == nil {
				return min(most, audit.MaxState)
			}
		}
	}
	return audit.MaxState
}

func (s *evidenceSource) close() {
	if s.db != nil {
		s.db.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
}

// sparesSource refuses an output that is a source of evidence, or one of the files that SQLite has beside it.
func sparesSource(output string, sources ...string) error {
	for _, source := range sources {
		if output == "" || source == "" || strings.Contains(source, "://") {
			continue
		}
		if err := spares(output, source); err != nil {
			return err
		}
		names := []string{source}
		if real, err := filepath.EvalSymlinks(source); err == nil {
			names = append(names, real)
		}
		for _, name := range names {
			for _, beside := range []string{"-wal", "-shm", "-journal", "-migration"} {
				if files.Same(output, name+beside) {
					return report.Usage("%s belongs to the database %s; write to another file", document.FileName(output), document.FileName(source))
				}
			}
		}
	}
	return nil
}

// list lists the runs.
func (s *evidenceSource) list(ctx context.Context) ([]store.Listed, error) {
	if s.db != nil {
		return s.db.Runs(ctx)
	}
	l := store.Listed{Key: s.bundle.Run().ID.String(), Run: *s.bundle.Run()}
	for x, err := range s.bundle.Links(ctx, 0) {
		if err != nil {
			return nil, broken(s.name, err)
		}
		l.Links, l.Last = true, x.Tick
	}
	l.Halt, _ = s.bundle.Halt(ctx)
	return []store.Listed{l}, nil
}

// one returns the run that is named, or the only one. The flag names it.
func (s *evidenceSource) one(ctx context.Context, name, flag string) (audit.ID, error) {
	var named []string
	if name != "" {
		named = []string{name}
	}
	runs, err := s.pick(ctx, named, false, "name one with --"+flag)
	if err != nil {
		return audit.ID{}, err
	}
	if runs[0].Wrong != nil {
		return audit.ID{}, broken(s.name, runs[0].Wrong)
	}
	return runs[0].Run.ID, nil
}

// maxNamed is how many runs an error names.
const maxNamed = 20

// pick returns the runs that are meant: those named, all, or the only one. If there are more, hint says what to do.
func (s *evidenceSource) pick(ctx context.Context, named []string, all bool, hint string) (picked []store.Listed, err error) {
	var runs []store.Listed
	if s.db == nil {
		runs = []store.Listed{{Key: s.bundle.Run().ID.String(), Run: *s.bundle.Run()}} // without a look at all its links
	} else if runs, err = s.db.Runs(ctx); err != nil {
		return nil, stored(err)
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
			return nil, fmt.Errorf("%s has no run %s", s.name, name)
		case 1:
		default:
			return nil, fmt.Errorf("%s has %d runs whose ids begin with %s", s.name, len(picked)-n, name)
		}
	}
	switch {
	case len(named) > 0:
		return picked, nil
	case len(runs) == 0:
		return nil, fmt.Errorf("%s has no run", s.name)
	case len(runs) > 1 && !all:
		var b strings.Builder
		fmt.Fprintf(&b, "%s has %d runs; %s", s.name, len(runs), hint)
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

// evidence opens what there is of a run.
func (s *evidenceSource) evidence(ctx context.Context, id audit.ID) (audit.Evidence, func(), error) {
	if s.db == nil {
		return s.bundle, func() {}, nil
	}
	e, done, err := s.db.Evidence(ctx, id)
	return e, func() { _ = done() }, err
}

func (a *app) auditListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list SOURCE",
		Short:   "List the runs of a database or bundle",
		Example: "  murksim audit list run.db",
		Args:    arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := a.openEvidence(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer src.close()
			runs, err := src.list(c.Context())
			if err != nil {
				return err
			}
			for i := range runs {
				if err := a.listed(&runs[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// An auditRunObject is a run of a list.
type auditRunObject struct {
	Event   string      `json:"event"` // "run"
	Run     string      `json:"run"`
	Label   string      `json:"label,omitempty"`
	Created string      `json:"created"`
	Seed    words.Whole `json:"seed"`
	First   uint64      `json:"first_tick"`
	Last    int64       `json:"last_tick"` // that is committed; -1: none
	Parent  string      `json:"parent,omitempty"`
	Halted  string      `json:"halted,omitempty"` // the code
	Wrong   string      `json:"wrong,omitempty"`  // why the row is not one of ours
}

func (a *app) listed(l *store.Listed) error {
	r := &l.Run
	o := auditRunObject{Event: "run", Run: l.Key, Label: r.Label, Created: r.Created.UTC().Format("2006-01-02T15:04:05Z"), Seed: words.Whole(r.Seed), First: r.First, Last: -1}
	ticks := "no ticks"
	if l.Links {
		o.Last = int64(l.Last)
		ticks = fmt.Sprintf("ticks %s to %s", words.Number(r.First), words.Number(l.Last))
	}
	if r.Parent != (audit.ID{}) {
		o.Parent = r.Parent.String()
		ticks += "  fork of " + o.Parent
	}
	if l.Halt != nil {
		o.Halted = l.Halt.Code
		ticks += fmt.Sprintf("  halted at tick %s: %s", words.Number(l.Halt.Tick), l.Halt.Code)
	}
	if broken, ok := errors.AsType[*audit.EvidenceError](l.Wrong); ok {
		o.Wrong = broken.Table + ": " + broken.Reason
		ticks += "  no row of ours: " + o.Wrong
	}
	if err := a.Emit(o); err != nil {
		return err
	}
	if r.Label != "" {
		ticks += "  " + words.Printable(r.Label)
	}
	return a.Say("%s", words.Clean(fmt.Sprintf("%s  %s  seed %d  %s", l.Key, o.Created, r.Seed, ticks)))
}

func (a *app) auditExportCommand() *cobra.Command {
	var out, run string
	var force bool
	c := &cobra.Command{
		Use:   "export SOURCE -o FILE",
		Short: "Write a run as a plain file, with all its evidence",
		Long: `Export writes a bundle: lines of JSON with the genesis, the inputs, the chain and the snapshots of
a run. Everything that audit does works on it, without a database.`,
		Example: "  murksim audit export run.db -o heat.audit\n  murksim audit heat.audit",
		Args:    arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return report.Usage("%s needs -o FILE", c.CommandPath())
			}
			if err := sparesSource(out, args[0]); err != nil {
				return err
			}
			ctx, stop := a.untilSignal(c.Context())
			defer stop()
			if err := a.exportBundle(ctx, args[0], run, out, force); err != nil && ctx.Err() != nil {
				return fmt.Errorf("interrupted; %s was not written", document.FileName(out))
			} else if err != nil {
				return err
			}
			return nil
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the bundle, a `file`")
	c.Flags().StringVar(&run, "run", "", "the run, by its `id` or the beginning of it (default: the only one)")
	c.Flags().BoolVar(&force, "force", false, "overwrite")
	return c
}

func (a *app) exportBundle(ctx context.Context, name, run, out string, force bool) error {
	_, e, done, err := a.openRun(ctx, name, run)
	if err != nil {
		return err
	}
	defer done()
	if err := a.writeBy(ctx, out, func(to io.Writer) error { return audit.WriteBundle(ctx, to, e) }, force); err != nil {
		return err
	}
	if err := a.Emit(exportedView{"exported", e.Run().ID.String(), out}); err != nil {
		return err
	}
	return a.Say("exported  %s  run %s", words.Argument(out), e.Run().ID)
}

// An exportedView is what audit export has written, with --json.
type exportedView struct {
	Event string `json:"event"`
	Run   string `json:"run"`
	Saved string `json:"saved"` // the bundle
}

// stored is an error of a database, which names it, in words.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return words.NewProblem(strings.TrimPrefix(err.Error(), "store: "), err)
}
