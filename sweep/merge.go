package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// A Part is a shard that a Merge takes rows from.
type Part struct {
	Folder  string
	Journal *Journal
}

// A Merge adds the rows of shards to the journal of a whole sweep, and what was kept of their jobs to its folder.
type Merge struct {
	Folder   string
	To       *Journal
	Parts    []Part
	Progress func(rows int) // nil, or called with the number of rows of the parts processed so far

	Added int // rows
	Kept  int // files that were brought into the folder
	Gone  int // files that a row names and a part does not have
	Other int // files that do not end as the row that names them

	seen int
}

// Run merges. It compares jobs that two shards have: a difference becomes a check. A shard of another sweep is an error before anything
// is added. After an error, or the end of the context, what was added stays, and another Merge continues.
func (m *Merge) Run(ctx context.Context) error {
	for _, p := range m.Parts {
		h := p.Journal.Head
		h.Shard = m.To.Head.Shard
		if change := m.To.Head.Change(&h); change != "" {
			return fmt.Errorf("%s: it is of another sweep, with %s", p.Folder, h.Change(&m.To.Head))
		}
	}
	for _, p := range m.Parts {
		if err := m.part(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.Folder, err)
		}
	}
	return nil
}

// part adds the rows of a shard.
func (m *Merge) part(ctx context.Context, p Part) error {
	files, err := openTransfer(p.Folder, m.Folder)
	if err != nil {
		return err
	}
	defer files.close()
	for job := range p.Journal.places {
		if !p.Journal.Has(job) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.job(ctx, files, p.Journal, job); err != nil {
			return err
		}
		if m.seen++; m.Progress != nil {
			m.Progress(m.seen)
		}
	}
	return nil
}

// job adds a shard's row of one job, its check and its files.
func (m *Merge) job(ctx context.Context, files *transfer, from *Journal, job int) error {
	row, err := from.Row(job)
	if err != nil {
		return err
	}
	if twin, known := m.To.Twin(row.ID); known {
		if err := m.To.compare(twin, row); err != nil {
			return err
		}
		if twin != job {
			row = row.equal(twin)
		}
	}
	if !m.To.Has(job) {
		if err := m.keep(ctx, files, row, from.differs(job)); err != nil {
			return err
		}
		if err := m.To.Add(*row); err != nil {
			return err
		}
		m.Added++
	}
	c, checked := from.Checks[job]
	if mine, known := m.To.Checks[job]; !checked || known && c.weight() <= mine.weight() {
		return nil
	}
	if c.Files, err = m.evidence(ctx, files, &c); err != nil {
		return err
	}
	return m.To.AddCheck(c)
}

// evidence brings the recordings of a job that gave different results, if there are any, and returns their names.
func (m *Merge) evidence(ctx context.Context, files *transfer, c *Check) (names []string, err error) {
	if c.Equal || len(c.Files) == 0 {
		return nil, nil
	}
	free, err := FreeEvidence(m.Folder, c.Job)
	if err != nil {
		return nil, err
	}
	for i, name := range c.Files {
		switch err := files.bring(ctx, name, free[i]); {
		case err == nil:
			names = append(names, free[i])
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return names, nil
}

// keep brings what was kept of a job. A row whose file is gone, or does not end as the row does, keeps nothing; of a job that differs, the
// file may show the other end.
func (m *Merge) keep(ctx context.Context, files *transfer, row *Row, differs bool) error {
	if row.Kept == "" {
		return nil
	}
	from := row.Kept
	if path, err := FindKept(files.fromPath, from); err == nil && !differs {
		err = row.Fits(nil, path)
		if _, disk := errors.AsType[*fs.PathError](err); disk {
			return err
		}
		if err != nil {
			m.Other++
			row.Kept = ""
			return nil
		}
	}
	row.Kept = m.To.KeptName(m.Folder, row.Job, strings.HasPrefix(from, "states/"))
	err := files.bring(ctx, from, row.Kept)
	if errors.Is(err, fs.ErrNotExist) {
		m.Gone++
		row.Kept = ""
		return nil
	}
	m.Kept++
	return err
}

// compare notes whether a job of the journal gave the same result elsewhere.
func (j *Journal) compare(job int, row *Row) error {
	mine, err := j.Row(job)
	if err != nil || !mine.Comparable(row) {
		return err
	}
	c := Check{Job: job, Row: *row, Differ: differs(mine, row, j.Head.Stats)}
	c.Equal = c.Differ == ""
	known, checked := j.Checks[job]
	same := c.Equal && mine.Worker == row.Worker && mine.Seconds == row.Seconds // the row is the same
	if same || checked && c.weight() <= known.weight() {
		return nil
	}
	return j.AddCheck(c)
}
