package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/scenarios/document"
)

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
		if real, err := draft.Destination(source); err == nil {
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

func (a *app) auditListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list SOURCE",
		Short:   "List the runs of a database or bundle",
		Example: "  murksim audit list run.db",
		Args:    arguments(cobra.ExactArgs(1), "one source"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := evidence.Open(c.Context(), a.Session, args[0])
			if err != nil {
				return err
			}
			defer src.Close()
			runs, err := src.Runs(c.Context())
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
	r, err := evidence.OpenRun(ctx, a.Session, name, run, "run")
	if err != nil {
		return err
	}
	defer r.Close()
	var left []*audit.EvidenceError
	write := func(to io.Writer) (err error) {
		left, err = audit.WriteBundle(ctx, to, r.Evidence)
		return err
	}
	if err := a.writeBy(ctx, out, write, force); err != nil {
		return err
	}
	for _, refused := range left {
		a.Warn("left out  the snapshot of %s: %s", refused.Row, refused.Reason)
	}
	if err := a.Emit(exportedView{"exported", r.Evidence.Run().ID.String(), out}); err != nil {
		return err
	}
	return a.Say("exported  %s  run %s", words.Argument(out), r.Evidence.Run().ID)
}

// An exportedView is what audit export has written, with --json.
type exportedView struct {
	Event string `json:"event"`
	Run   string `json:"run"`
	Saved string `json:"saved"` // the bundle
}
