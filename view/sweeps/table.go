package sweeps

import (
	"math"
	"slices"
	"strconv"

	"github.com/murksim/murksim/sweep"
)

// A table has the rows of a sweep in memory, column by column, each by job.
type table struct {
	statuses []uint8 // 0: there is no row; else which of sweep.Statuses it is, from 1
	ticks    []uint64
	hashes   []uint64 // 0: there is none
	ids      []uint64 // their first 8 bytes
	seconds  []float64
	stats    [][]float64 // of each statistic
	reasons  []string
	workers  []string
	builds   []string
	kept     []string

	as      map[int]int // of jobs that equal another: which one
	first   map[int]int // of jobs that others equal: the first of those others
	known   map[string]string
	least   map[uint8]int32 // of each status the first job that has had it
	reason  int             // rows that have a reason
	has     int             // rows that have a recording
	scratch sweep.Row
}

// jobBytes is about what a job takes, with so many statistics: the columns, and what the journal knows of it.
func jobBytes(stats int) uint64 { return 192 + 8*uint64(stats) }

var (
	statuses = sweep.Statuses()
	equal    = code(sweep.Equal)
	fine     = code(sweep.OK)
)

// code returns a status as the table has it; 0: there is no such.
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

// take takes in a row.
func (t *table) take(row *sweep.Row) {
	job := row.Job
	if t.statuses[job] != 0 {
		t.reason -= count(t.reasons[job])
		t.has -= count(t.kept[job])
	}
	t.statuses[job] = code(row.Status)
	if t.statuses[job] == 0 { // of a later version
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
	return int(least), ok && t.statuses[least] == code(s) // it may have run again
}

func count(text string) int {
	if text == "" {
		return 0
	}
	return 1
}

// one returns a text that many rows have as one string.
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

// of returns which row stands in the table for a job: its own, or of jobs that are the same the one that has run, at the
// first of them. It reports false for the others, as sweep.Journal.Rows leaves them out.
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

// row returns the row of a job as a picture needs it. It is good until the next call.
func (t *table) row(job int) (*sweep.Row, error) {
	r := &t.scratch
	*r = sweep.Row{Job: job, Status: statuses[t.statuses[job]-1], As: t.as[job], Ticks: t.ticks[job], Seconds: t.seconds[job], Stats: r.Stats[:0]}
	for i := range t.stats {
		r.Stats = append(r.Stats, sweep.Number(t.stats[i][job]))
	}
	return r, nil
}
