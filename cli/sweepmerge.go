package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
)

func (a *app) sweepMergeCommand() *cobra.Command {
	output := ""
	c := &cobra.Command{
		Use:   "merge FOLDER... -o FOLDER",
		Short: "Join the shards of a sweep",
		Long: `Merge joins the jobs that several shards of one sweep have done (sweep --shard) into one
folder, with its tables, and says what is missing. Repeat it when more shards are there. The
folder belongs to the whole sweep: the same sweep without --shard, writing there, runs what
is missing. Jobs that two shards have are compared. Kept recordings and states become files
of the folder, too: links on the same disk, otherwise copies.

Exit status: 0 all jobs are there, 1 some are missing, 3 a job came to different ends, in two
shards or when a shard ran it again.`,
		Example: `  murksim sweep merge part-1/ part-2/ part-3/ -o out/
  murksim sweep merge part-*/ -o out/`,
		Args: arguments(cobra.MinimumNArgs(1), "one folder or more"),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return report.Usage("sweep merge needs --output, a folder for the whole sweep")
			}
			return a.mergeSweeps(c.Context(), output, args)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the `folder` of the whole sweep")
	return c
}

// A sweepMerged is what sweep merge says with --json.
type sweepMerged struct {
	Event   string         `json:"event"` // "merged"
	Jobs    int            `json:"jobs"`
	Done    int            `json:"done"`
	Added   int            `json:"added"`
	Kept    int            `json:"kept,omitempty"`  // recordings and states that were taken along
	Gone    int            `json:"gone,omitempty"`  // kept files that no shard has any more
	Other   int            `json:"other,omitempty"` // files that do not end as the rows that name them
	Differ  []differing    `json:"differing,omitempty"`
	Missing []missingShard `json:"missing,omitempty"`
	Tables  []string       `json:"tables"`
}

// missingShard says how many jobs of a shard are missing.
type missingShard struct {
	Shard string `json:"shard"` // "" if no shard was given
	Jobs  int    `json:"jobs"`
}

func (a *app) mergeSweeps(ctx context.Context, output string, folders []string) error {
	var parts []sweep.Part
	for _, folder := range folders {
		if files.Same(folder, output) {
			return report.Usage("%s is both a shard and the output", document.FileName(folder))
		}
		j, err := openSweep(folder)
		if err != nil {
			return err
		}
		defer j.Close()
		parts = append(parts, sweep.Part{Folder: document.FileName(folder), Journal: j})
	}
	if err := os.MkdirAll(output, 0o777); err != nil {
		return words.About(output, err)
	}
	claim, err := a.draft(ctx, filepath.Join(output, "sweep"))
	if err != nil {
		return err
	}
	defer claim.Close()
	whole, err := wholeJournal(filepath.Join(output, journalName), parts[0].Journal.Head)
	if err != nil {
		return err
	}
	defer whole.Close()
	v := sweepMerged{Event: "merged", Jobs: whole.Head.Jobs}
	if err := a.mergeParts(ctx, &v, &sweep.Merge{Folder: output, To: whole, Parts: parts}); err != nil {
		return errors.Join(err, whole.Sync())
	}
	t := sweepTables{app: a, folder: output, journal: whole}
	if err := errors.Join(whole.Sync(), t.write(ctx)); err != nil {
		return err
	}
	v.Done, v.Tables, v.Missing = whole.Done(), t.names(), missing(whole, parts)
	if v.Differ, err = differingJobs(output, whole); err != nil {
		return words.About(output, err)
	}
	return a.merged(&v, whole)
}

// merge adds the rows, with a line of progress, until Ctrl-C.
func (a *app) mergeParts(ctx context.Context, v *sweepMerged, m *sweep.Merge) error {
	ctx, stop := a.untilSignal(ctx)
	defer stop()
	rows := 0
	for _, p := range m.Parts {
		rows += p.Journal.Done()
	}
	line := a.Meter(uint64(rows))
	m.Progress = func(seen int) { line.Note("%s of %s", words.Number(uint64(seen)), words.Count(uint64(rows), "job")) }
	err := m.Run(ctx)
	line.Clear()
	v.Added, v.Kept, v.Gone, v.Other = m.Added, m.Kept, m.Gone, m.Other
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("interrupted after %s of %s; the same command goes on", words.Number(uint64(m.Added)), words.Count(uint64(rows), "job"))
	}
	return err
}

// wholeJournal opens the journal of the whole sweep, or begins it.
func wholeJournal(path string, part sweep.Head) (*sweep.Journal, error) {
	j, err := sweep.OpenJournal(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		if err := noOthers(filepath.Dir(path)); err != nil {
			return nil, err
		}
		part.Shard, part.Pick = sweep.Shard{}, rng.FreshID()
		j, err = sweep.CreateJournal(path, part)
	}
	return j, words.About(filepath.Dir(path), err)
}

// missing counts the jobs that are missing, by shard.
func missing(whole *sweep.Journal, parts []sweep.Part) (list []missingShard) {
	of := parts[0].Journal.Head.Shard.Of
	for _, p := range parts {
		if p.Journal.Head.Shard.Of != of {
			of = 0 // they were cut in different ways
		}
	}
	for job := range whole.Missing() {
		name := ""
		if of > 0 {
			name = fmt.Sprintf("%d/%d", job%of+1, of)
		}
		i := slices.IndexFunc(list, func(m missingShard) bool { return m.Shard == name })
		if i < 0 {
			i, list = len(list), append(list, missingShard{Shard: name})
		}
		list[i].Jobs++
	}
	return list
}

// merged reports the result.
func (a *app) merged(v *sweepMerged, whole *sweep.Journal) error {
	if err := a.Emit(v); err != nil {
		return err
	}
	if err := a.Say("%s of %s   %s   %s added", words.Number(uint64(v.Done)), words.Count(uint64(v.Jobs), "job"), outcomes(whole), words.Number(uint64(v.Added))); err != nil {
		return err
	}
	if v.Gone > 0 {
		if err := a.Say("gone      %s that were kept are not in the folders of the shards", words.Count(uint64(v.Gone), "file")); err != nil {
			return err
		}
	}
	if v.Other > 0 {
		if err := a.Say("left out  %s that were kept, with another end than the row says", words.Count(uint64(v.Other), "file")); err != nil {
			return err
		}
	}
	for _, d := range v.Differ {
		for _, line := range d.lines() {
			if err := a.Say("%s", line); err != nil {
				return err
			}
		}
	}
	for _, m := range v.Missing {
		where := ""
		if m.Shard != "" {
			where = " of shard " + m.Shard
		}
		if err := a.Say("missing   %s%s", words.Count(uint64(m.Jobs), "job"), where); err != nil {
			return err
		}
	}
	if err := a.Say("wrote     %s, %s", document.FileName(v.Tables[1]), document.FileName(v.Tables[0])); err != nil {
		return err
	}
	switch {
	case len(v.Differ) > 0:
		return report.Exit(report.StatusDiverged, fmt.Errorf("%s came to different ends", words.Count(uint64(len(v.Differ)), "job")))
	case len(v.Missing) > 0:
		return report.Exit(report.StatusError, nil)
	}
	return nil
}
