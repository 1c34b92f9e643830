package cli

import (
	"context"
	"path/filepath"

	"github.com/murksim/murksim/export"
	"github.com/murksim/murksim/sweep"
)

// The files in the folder of a sweep.
const (
	journalName = "journal"
	csvName     = "results.csv"
	parquetName = "results.parquet"
)

// sweepTables are the tables of a sweep.
type sweepTables struct {
	*app
	folder  string
	journal *sweep.Journal
}

func (j *sweepJob) tables() *sweepTables { return &sweepTables{j.app, j.folder(), j.journal} }

// names returns their paths.
func (t *sweepTables) names() []string {
	return []string{filepath.Join(t.folder, csvName), filepath.Join(t.folder, parquetName)}
}

// write writes the tables anew. Whoever reads one of them meanwhile has the older one.
func (t *sweepTables) write(ctx context.Context) error {
	for _, path := range t.names() {
		if err := t.writeOne(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (t *sweepTables) writeOne(ctx context.Context, path string) error {
	format, err := export.StatsFormatOf(path)
	if err != nil {
		return err
	}
	f, err := t.draft(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := sweep.Table(f, format, t.journal); err != nil {
		return about(path, err)
	}
	return about(path, f.Publish())
}
