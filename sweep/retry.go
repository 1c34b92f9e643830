package sweep

import "slices"

// Forget removes the rows of jobs that ended with one of the statuses, so that these jobs run once more. The journal then has both rows,
// and the later one counts, unless the same program came to another end, see stays. Forget returns the number of these jobs.
func (j *Journal) Forget(statuses ...Status) (jobs int) {
	for job := range j.places {
		if j.Has(job) && slices.Contains(statuses, Statuses()[j.codes[job]]) {
			j.drop(job)
			jobs++
		}
	}
	for id, job := range j.ids {
		if !j.Has(int(job)) {
			delete(j.ids, id)
		}
	}
	return jobs
}

// drop removes the row of a job, which is to run once more. Its check stays until the job has another row.
func (j *Journal) drop(job int) {
	j.before[job] = lines{j.places[job], j.lengths[job]}
	j.Counts[Statuses()[j.codes[job]]]--
	j.done--
	j.places[job] = 0
}

// Restore gives jobs that were to run once more, and have not, their rows back. It returns the number of these jobs.
func (j *Journal) Restore() (jobs int, err error) {
	for job := range j.places {
		before, again := j.before[job]
		if !again {
			continue
		}
		row, err := j.rowAt(before)
		if err != nil {
			return jobs, err
		}
		delete(j.before, job)
		j.enter(&record{Row: row}, before.at, int(before.length))
		jobs++
	}
	return jobs, nil
}

// stays returns the row that a job had before it ran once more, if that row stays: the same program came to another end, which other
// tells, or had done so before; or this time its time or memory was not enough. Else first is nil.
func (j *Journal) stays(row *Row) (first *Row, other *Check) {
	before, again := j.before[row.Job]
	if !again {
		return nil, nil
	}
	first, err := j.rowAt(before)
	if err != nil || first.Build != row.Build || first.ID != row.ID {
		return nil, nil
	}
	c := Check{Job: row.Job, Row: *row, Differ: differs(first, row, j.Head.Stats)}
	switch ends := first.Repeats() || first.Status == Panic; {
	case ends && !row.Repeats() && row.Status != Panic: // the limits of this retry tell nothing about that end
		return first, nil
	case first.Comparable(row) && c.Differ != "":
		return first, &c
	}
	if known, checked := j.Checks[row.Job]; checked && !known.Equal {
		return first, nil
	}
	return nil, nil
}

// endsAsBefore reports whether a job that ran once more came to the same end as before, so that what was kept of it is still true.
func (j *Journal) endsAsBefore(row *Row) bool {
	before, again := j.before[row.Job]
	if !again {
		return false
	}
	first, err := j.rowAt(before)
	return err == nil && first.ID == row.ID && first.Kept != "" && first.Comparable(row) && differs(first, row, j.Head.Stats) == ""
}

// once decides about a row of a job that ran once more, which stands at a line. If the one before it stays, once puts that in its place
// and returns true. A row that another program came to takes no check over.
func (j *Journal) once(row *Row, at lines) bool {
	if full, err := j.rowAt(at); err == nil {
		if first, other := j.stays(full); first != nil {
			if other != nil {
				j.note(*other)
			}
			*row = *first
			return true
		}
	}
	delete(j.Checks, row.Job)
	return false
}
