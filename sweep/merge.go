package sweep

import (
	"fmt"
	"path/filepath"
)

// A Part is a shard that Merge takes rows from.
type Part struct {
	Folder  string
	Journal *Journal
}

// Merge adds the rows of shards to the journal of a whole sweep, which lies in a folder. Jobs that two of them
// have are compared: what differs becomes a check. Shards of other sweeps are an error, before
// anything is added.
func Merge(folder string, to *Journal, parts []Part) (added int, err error) {
	for _, p := range parts {
		h := p.Journal.Head
		h.Shard = to.Head.Shard
		if change := to.Head.Change(&h); change != "" {
			return 0, fmt.Errorf("%s: it is of another sweep, with %s", p.Folder, h.Change(&to.Head))
		}
	}
	for _, p := range parts {
		n, err := to.merge(folder, p)
		if added += n; err != nil {
			return added, fmt.Errorf("%s: %w", p.Folder, err)
		}
	}
	return added, nil
}

// merge adds the rows of one shard.
func (j *Journal) merge(folder string, p Part) (added int, err error) {
	for job := range p.Journal.places {
		if !p.Journal.Has(job) {
			continue
		}
		row, err := p.Journal.Row(job)
		if err != nil {
			return added, err
		}
		if row.Kept != "" {
			row.Kept = moved(folder, filepath.Join(p.Folder, row.Kept))
		}
		if twin, known := j.Twin(row.ID); known {
			if err := j.compare(twin, row); err != nil {
				return added, err
			}
			if twin != job {
				row = row.equal(twin)
			}
		}
		if !j.Has(job) {
			if err := j.Add(*row); err != nil {
				return added, err
			}
			added++
		}
		if c, ok := p.Journal.Checks[job]; ok {
			if err := j.AddCheck(c); err != nil {
				return added, err
			}
		}
	}
	return added, nil
}

// compare notes whether a job of the journal came to the same end elsewhere.
func (j *Journal) compare(job int, row *Row) error {
	mine, err := j.Row(job)
	if err != nil || !mine.Repeats() || !row.Repeats() || mine.Worker == row.Worker && mine.Seconds == row.Seconds { // the very same row
		return err
	}
	if _, checked := j.Checks[job]; checked {
		return nil
	}
	c := Check{Job: job, Row: *row, Differ: differs(mine, row, j.Head.Stats)}
	c.Equal = c.Differ == ""
	return j.AddCheck(c)
}

// moved returns the path of a file as it is seen from a folder.
func moved(folder, file string) string {
	if rel, err := filepath.Rel(folder, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return file
}
