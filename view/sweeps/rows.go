package sweeps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/view"
)

// Filters besides the statuses.
const (
	notOK   = "not ok"
	differs = "differs" // another result when it was run again
)

// MaxRows is how many rows a page can ask for at once.
const MaxRows = 500

// A Rows holds some rows of the table.
type Rows struct {
	Version uint64 `json:"version"` // the sweep's version when they were read
	From    int    `json:"from"`    // number of the first row in this answer
	All     int    `json:"all"`     // number of rows that pass the filter
	Rows    []Row  `json:"rows"`
}

// A Row is the result of a job.
type Row struct {
	Job        int   `json:"job"`
	Cells      []any `json:"cells"`                // in the order of the columns
	Recordings int   `json:"recordings,omitempty"` // how many recordings can be opened
	Bad        bool  `json:"bad,omitempty"`        // its status is not ok
	Differs    bool  `json:"differs,omitempty"`    // it gave another result when it was run again
}

// An order holds the jobs that pass a filter, sorted.
type order struct {
	sort, status string
	down         bool
	plan         *sweep.Plan
	version      uint64
	jobs         []int32
	took         time.Duration
	made         time.Time
}

// quick is the number of jobs up to which they are sorted again for every new row.
const quick = 10_000

// share limits the time spent on redoing one thing while a sweep grows, to one part in so many.
const share = 20

// rows returns the requested rows.
func (s *Sweep) rows(q *view.SweepQuery) (*Rows, error) {
	columns := s.columns()
	o, err := s.ordered(columns, q)
	if err != nil {
		return nil, err
	}
	r := &Rows{Version: o.version, All: len(o.jobs), Rows: []Row{}}
	r.From = max(0, min(q.From, len(o.jobs)-1))
	for _, job := range o.jobs[r.From:min(len(o.jobs), r.From+max(0, min(q.Count, MaxRows)))] {
		r.Rows = append(r.Rows, s.rowOf(columns, int(job)))
	}
	return r, nil
}

// rowOf returns what the table shows for a job.
func (s *Sweep) rowOf(columns []column, job int) Row {
	at, ok := s.table.of(job)
	if !ok {
		at = job
	}
	r := Row{Job: job, Cells: make([]any, len(columns)), Bad: s.table.statuses[at] != fine && s.table.statuses[at] != equal}
	for i := range columns {
		r.Cells[i] = columns[i].cell(job, at)
	}
	if c, checked := s.journal.Checks[job]; checked {
		r.Differs = !c.Equal
	}
	r.Recordings = len(s.files(job))
	return r
}

// files returns the names, in the folder, of a job's recordings: the two of a job with two different results, if they differ, or the one
// that was kept.
func (s *Sweep) files(job int) []string {
	if c, checked := s.journal.Checks[job]; checked && !c.Equal && c.Tick > 0 && c.Evidence(s.folder) != nil {
		return c.Files
	}
	at, ok := s.table.of(job)
	if !ok || s.table.kept[at] == "" {
		return nil
	}
	return []string{s.table.kept[at]}
}

// ordered returns the jobs that a query asks for. While a large sweep grows, it sorts again only as often as the cost of sorting allows.
func (s *Sweep) ordered(columns []column, q *view.SweepQuery) (*order, error) {
	o := &s.order
	if o.jobs != nil && o.sort == q.Sort && o.status == q.Status && o.down == q.Down && o.plan == s.journal.Plan &&
		(o.version == s.version || len(s.table.statuses) > quick && time.Since(o.made) < share*o.took) {
		return o, nil
	}
	began := time.Now()
	by := slices.IndexFunc(columns, func(c column) bool { return c.Name == cmp.Or(q.Sort, "job") })
	if by < 0 {
		var names []string
		for i := range columns {
			names = append(names, columns[i].Name)
		}
		return nil, fmt.Errorf("there is no column %q%s", q.Sort, document.Suggestion(q.Sort, names))
	}
	fits, err := s.filter(q.Status)
	if err != nil {
		return nil, err
	}
	jobs := []int32{}
	for job := range s.table.statuses {
		if row, ok := s.table.of(job); ok && fits(job, row) {
			jobs = append(jobs, int32(job))
		}
	}
	if by > 0 || q.Down {
		jobs = s.sorted(jobs, &columns[by], q.Down)
	}
	*o = order{sort: q.Sort, status: q.Status, down: q.Down, plan: s.journal.Plan, version: s.version, jobs: jobs, took: time.Since(began), made: time.Now()}
	return o, nil
}

// filter returns a function that says whether a job is shown.
func (s *Sweep) filter(status string) (func(job, row int) bool, error) {
	switch status {
	case "":
		return func(int, int) bool { return true }, nil
	case notOK:
		return func(_, row int) bool { return s.table.statuses[row] != fine }, nil
	case differs:
		return func(job, _ int) bool {
			c, checked := s.journal.Checks[job]
			return checked && !c.Equal
		}, nil
	}
	want := code(sweep.Status(status))
	if want == 0 || want == equal {
		return nil, fmt.Errorf("no row has the status %q", status)
	}
	return func(_, row int) bool { return s.table.statuses[row] == want }, nil
}

// sorted sorts jobs by a column, then by number. Jobs without a value come last in both directions.
func (s *Sweep) sorted(jobs []int32, by *column, down bool) []int32 {
	type keyed struct {
		number float64
		text   string
		job    int32
	}
	list := make([]keyed, len(jobs))
	for i, job := range jobs {
		row, _ := s.table.of(int(job))
		list[i].job = job
		if by.number != nil {
			list[i].number = by.number(int(job), row)
		} else {
			list[i].text = by.text(int(job), row)
		}
	}
	sign := 1
	if down {
		sign = -1
	}
	slices.SortFunc(list, func(a, b keyed) int {
		x, y := math.IsNaN(a.number) || by.number == nil && a.text == "", math.IsNaN(b.number) || by.number == nil && b.text == ""
		switch {
		case x != y && x:
			return 1
		case x != y:
			return -1
		}
		if c := cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text)); c != 0 {
			return sign * c
		}
		return cmp.Compare(a.job, b.job)
	})
	for i := range list {
		jobs[i] = list[i].job
	}
	return jobs
}
