package sweeps

import (
	"math"
	"slices"
	"strconv"

	"github.com/murksim/murksim/sweep"
)

// A table holds the rows of a sweep in memory, column by column, indexed by job.
type table struct {
	statuses []uint8 // 0: no row; otherwise the position in sweep.Statuses, from 1
	ticks    []uint64
	hashes   []uint64 // 0: none
	ids      []uint64 // the first 8 bytes of each
	seconds  []float64
	stats    [][]float64 // by statistic, then job
	reasons  []string
	workers  []string
	builds   []string
	kept     []string

	as      map[int]int // for a job that equals another: that other job
	first   map[int]int // for a job that others equal: the first of those others
	known   map[string]string
	least   map[uint8]int32 // for each status, the first job that ever had it
	reason  int             // number of rows with a reason
	has     int             // number of rows with a recording
	scratch sweep.Row
}

// jobBytes estimates the memory of a job with so many statistics: its columns, and what the journal keeps
// about it.
func jobBytes(stats int) uint64 { return 192 + 8*uint64(stats) }

var (
	statuses = sweep.Statuses()
	equal    = code(sweep.Equal)
	fine     = code(sweep.OK)
)

// code returns a status as the table stores it; 0 if the status is unknown.
func code(s sweep.Status) uint8 { return uint8(slices.Index(statuses, s) + 1) }

func newTable(jobs, stats int) *table {
	t := &table{
		statuses: make([]uint8, jobs), ticks: make([]uint64, jobs), hashes: make([]uint64, jobs), ids: make([]uint64, jobs), seconds: make([]float64, jobs),
		reasons: make([]string, jobs), workers: make([]string, jobs), builds: make([]string, jobs), kept: make([]string, jobs),
		as: map[int]int{}, first: map[int]int{}, least: map[uint8]int32{}, known: map[string]string{},
	}
	for range stats {
		t.stats = append(t.stats, make([]float64, jobs))
	}
	return t
}

// take stores a row.
func (t *table) take(row *sweep.Row) {
	job := row.Job
	if t.statuses[job] != 0 {
		t.reason -= count(t.reasons[job])
		t.has -= count(t.kept[job])
	}
	t.statuses[job] = code(row.Status)
	if t.statuses[job] == 0 { // from a later version
		t.statuses[job] = code(sweep.Broken)
	}
	if least, ok := t.least[t.statuses[job]]; !ok || int32(job) < least {
		t.least[t.statuses[job]] = int32(job)
	}
	t.ticks[job], t.seconds[job] = row.Ticks, row.Seconds
	t.hashes[job], _ = strconv.ParseUint(row.Hash, 16, 64)
	t.ids[job], _ = strconv.ParseUint(row.ID.String(), 16, 64)
	t.reasons[job], t.kept[job] = t.one(row.Reason), row.Kept
	t.workers[job], t.builds[job] = t.one(row.Worker), t.one(row.Build)
	for i := range t.stats {
		t.stats[i][job] = math.NaN()
		if i < len(row.Stats) {
			t.stats[i][job] = float64(row.Stats[i])
		}
	}
	t.reason += count(row.Reason)
	t.has += count(row.Kept)
	delete(t.as, job)
	if row.Status == sweep.Equal {
		t.as[job] = row.As
		if first, known := t.first[row.As]; !known || job < first {
			t.first[row.As] = job
		}
	}
}

// example returns the first job with a status.
func (t *table) example(s sweep.Status) (job int, ok bool) {
	least, ok := t.least[code(s)]
	return int(least), ok && t.statuses[least] == code(s) // it may have been run again
}

func count(text string) int {
	if text == "" {
		return 0
	}
	return 1
}

// one returns a text as a string that all rows with that text share.
func (t *table) one(text string) string {
	const most = 10_000
	if s, ok := t.known[text]; ok {
		return s
	}
	if len(t.known) < most {
		t.known[text] = text
	}
	return text
}

// of returns the row that the table shows for a job. That is the job's own, but for jobs equal to another it is the row
// of the job that ran, shown at the first of them. For the other jobs, of reports false, and sweep.Journal.Rows omits
// them too.
func (t *table) of(job int) (row int, ok bool) {
	switch t.statuses[job] {
	case 0:
		return 0, false
	case equal:
		as := t.as[job]
		return as, t.first[as] == job && job < as && as < len(t.statuses) && t.statuses[as] != 0
	}
	first, others := t.first[job]
	return job, !others || first > job
}

// row returns a job's row as a picture needs it. The row is valid until the next call.
func (t *table) row(job int) (*sweep.Row, error) {
	r := &t.scratch
	*r = sweep.Row{Job: job, Status: statuses[t.statuses[job]-1], As: t.as[job], Ticks: t.ticks[job], Seconds: t.seconds[job], Stats: r.Stats[:0]}
	for i := range t.stats {
		r.Stats = append(r.Stats, sweep.Number(t.stats[i][job]))
	}
	return r, nil
}
