package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/words"
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

// write writes the tables anew. A program that reads a table meanwhile keeps the older one.
func (t *sweepTables) write(ctx context.Context) error {
	var outputs []sweep.Output
	var files []*draft.File
	for _, path := range t.names() {
		format, err := export.StatsFormatOf(path)
		if err != nil {
			return err
		}
		f, err := t.draft(ctx, path)
		if err != nil {
			return err
		}
		defer f.Close()
		outputs, files = append(outputs, sweep.Output{To: f, Format: format}), append(files, f)
	}
	if err := t.journal.Table(outputs...); err != nil {
		return words.About(t.folder, err)
	}
	for i, f := range files {
		if err := f.Publish(); err != nil {
			return words.About(t.names()[i], err)
		}
	}
	return nil
}

// current reports whether the tables are there and not older than the journal.
func (t *sweepTables) current() bool {
	journal, err := os.Stat(filepath.Join(t.folder, journalName))
	for _, path := range t.names() {
		table, missing := os.Stat(path)
		if err != nil || missing != nil || table.ModTime().Before(journal.ModTime()) {
			return false
		}
	}
	return true
}
