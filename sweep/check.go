package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A Check is the result of running a job again.
type Check struct {
	Job    int    `json:"job"`
	Equal  bool   `json:"equal"`
	Differ string `json:"differ,omitempty"` // in what
	Tick   uint64 `json:"tick,omitempty"`   // the first that differs; 0: none was found
	Row    Row    `json:"row"`              // of the second run

	// Files are the recordings of both ends in the sweep's folder, as far as there are, see [FreeEvidence].
	Files []string `json:"files,omitzero"`
}

// AddCheck adds the result of running a job again.
func (j *Journal) AddCheck(c Check) error { return j.add(nil, []Check{c}) }

// judged compares a check that says Equal with the job's row, and returns it corrected.
func (j *Journal) judged(c Check) Check {
	c.Differ = Printable(c.Differ)
	if !c.Equal || !j.Has(c.Job) {
		return c
	}
	row, err := j.Row(c.Job)
	if err != nil {
		c.Differ = Printable(err.Error())
	} else {
		c.Differ = differs(row, &c.Row, j.Head.Stats)
	}
	c.Equal = c.Differ == ""
	return c
}

// note notes a check, unless that which the job has says more: a job that gave another result once stays one, and recordings
// that differ are evidence that two equal ones are not.
func (j *Journal) note(c Check) {
	if known, checked := j.Checks[c.Job]; !checked || c.weight() >= known.weight() {
		j.Checks[c.Job] = c
	}
}

// weight orders checks of one job by how much they say.
func (c *Check) weight() int {
	switch {
	case c.Equal:
		return 0
	case c.Tick == 0:
		return 1
	}
	return 2
}

// differs reports whether a job gave another result when it was run again.
func (j *Journal) differs(job int) bool {
	c, checked := j.Checks[job]
	return checked && !c.Equal && j.Has(job) // after a damaged line the job has no row
}

// Differing lists the checks of jobs that gave another result when they were run again.
func (j *Journal) Differing() (list []Check) {
	for job, c := range j.Checks {
		if j.differs(job) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Check) int { return cmp.Compare(a.Job, b.Job) })
	return list
}

// Rechecked returns how many of the jobs that have a row were run again.
func (j *Journal) Rechecked() (jobs int) {
	for job := range j.Checks {
		if j.Has(job) {
			jobs++
		}
	}
	return jobs
}

// Recheck returns the result of running a job again, in the table's words; "": it was not run again.
func (j *Journal) Recheck(job int) string {
	switch c, ok := j.Checks[job]; {
	case !ok:
		return ""
	case c.Equal:
		return "equal"
	default:
		return "differs: " + c.Differ
	}
}

// EvidenceName returns the name of a recording of a job that gave different results: the first or the second, or with higher numbers,
// those of later differences.
func EvidenceName(job, which int) string {
	return fmt.Sprintf("differences/job-%d-%d.murk", job, which)
}

// FreeEvidence returns the next two free names for recordings of a job that gave different results. Existing recordings stay,
// whatever happens to the job later.
func FreeEvidence(folder string, job int) (names [2]string, err error) {
	for which := 1; ; which += 2 {
		free := 0
		for i := range names {
			names[i] = EvidenceName(job, which+i)
			_, err := os.Lstat(filepath.Join(folder, names[i]))
			if errors.Is(err, fs.ErrNotExist) {
				free++
			} else if err != nil {
				return names, err
			}
		}
		if free == len(names) {
			return names, nil
		}
	}
}

// Evidence returns the paths of the two recordings of a job that gave different results; nil unless both exist.
func (c *Check) Evidence(folder string) (paths []string) {
	for _, name := range c.Files {
		if path, err := FindKept(folder, name); err == nil {
			paths = append(paths, path)
		}
	}
	if len(paths) < 2 {
		return nil
	}
	return paths
}

// plainEvidence is what a check may name.
var plainEvidence = regexp.MustCompile(`^differences/job-[0-9]{1,9}-[0-9]{1,9}\.murk$`)

// plain reports whether all files that a check names have the names of recordings.
func (c *Check) plain() bool {
	return len(c.Files) <= 2 && !slices.ContainsFunc(c.Files, func(name string) bool { return !plainEvidence.MatchString(name) })
}
