package sweeps

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/murksim/murksim/sweep"
)

// An About describes a sweep's progress.
type About struct {
	Version  uint64 `json:"version"` // increases when there is something new to see
	Folder   string `json:"folder"`
	Scenario string `json:"scenario"`
	Text     string `json:"text"` // what varies between the jobs
	Shard    string `json:"shard,omitempty"`

	Jobs     int           `json:"jobs"` // in the sweep, or in its shard
	Done     int           `json:"done"`
	Statuses []StatusAbout `json:"statuses"` // only those that jobs have
	Bad      int           `json:"bad"`      // jobs that are not ok

	Rechecked int               `json:"rechecked"`
	Differ    int               `json:"differ"`              // jobs that gave another result when they were run again
	Differing []DifferenceAbout `json:"differing,omitempty"` // the first 10 of them

	Reading float64 `json:"reading,omitempty"` // the share of the journal read so far; none: all of it
	Rate    float64 `json:"rate"`              // jobs per second, recently
	Left    float64 `json:"left,omitempty"`    // estimated seconds left, at this rate
	Idle    float64 `json:"idle"`              // seconds since the last write to the journal
	Damaged int     `json:"damaged,omitempty"` // damaged lines of the journal
	Problem string  `json:"problem,omitempty"` // why reading of the journal stopped

	Columns []ColumnAbout `json:"columns"`
	Stats   []string      `json:"stats"`   // the statistics that a picture can show
	Varying []string      `json:"varying"` // the parameters that a picture can be drawn over
}

// A StatusAbout says how many jobs have a status.
type StatusAbout struct {
	Status string `json:"status"`
	Jobs   int    `json:"jobs"`
	Job    int    `json:"job"`              // the first of these jobs
	Reason string `json:"reason,omitempty"` // of that first job
}

// A DifferenceAbout is a job that gave another result when it was run again.
type DifferenceAbout struct {
	Job        int       `json:"job"`
	Differ     string    `json:"differ"`
	Tick       uint64    `json:"tick,omitempty"`
	Workers    [2]string `json:"workers"`
	Recordings int       `json:"recordings,omitempty"` // that can be opened: two that differ, or the one that was kept
}

// about describes the sweep's progress. More says whether there is more of the journal to read
// right away.
func (s *Sweep) about(more bool) *About {
	h := &s.journal.Head
	a := &About{
		Version: s.version, Folder: s.config.Name, Scenario: scenarioName(h.Design.Scenario), Text: s.plan.Describe(),
		Jobs: h.Shard.Jobs(h.Jobs), Done: s.journal.Done(), Rechecked: len(s.journal.Checks), Damaged: s.journal.Bad, Statuses: []StatusAbout{},
		Rate: s.rate(), Varying: append([]string{}, s.varying...), Stats: append([]string{}, h.Stats...),
	}
	if h.Shard.Of > 0 {
		a.Shard = h.Shard.String()
	}
	if a.Rate > 0 {
		a.Left = float64(a.Jobs-a.Done) / a.Rate
	}
	a.Stats = append(a.Stats, "seconds")
	a.count(s)
	a.differences(s)
	if info, err := s.journal.Stat(); err == nil {
		if a.Idle = max(0, time.Since(info.ModTime()).Seconds()); more && info.Size() > 0 {
			a.Reading = float64(s.journal.Read()) / float64(info.Size())
		}
	}
	if s.problem != nil {
		a.Problem = s.problem.Error()
	}
	for _, c := range s.columns() {
		a.Columns = append(a.Columns, c.ColumnAbout)
	}
	return a
}

// count counts the jobs by status.
func (a *About) count(s *Sweep) {
	for _, status := range sweep.Statuses() {
		n := s.journal.Counts[status]
		if n == 0 {
			continue
		}
		x := StatusAbout{Status: string(status), Jobs: n}
		if job, ok := s.table.example(status); ok {
			x.Job, x.Reason = job, s.table.reasons[job]
		}
		if status != sweep.OK && status != sweep.Equal {
			a.Bad += n
		}
		a.Statuses = append(a.Statuses, x)
	}
}

// differences lists the jobs that differ.
func (a *About) differences(s *Sweep) {
	const most = 10
	list := s.journal.Differing()
	a.Differ = len(list)
	for _, c := range list[:min(len(list), most)] {
		d := DifferenceAbout{Job: c.Job, Differ: c.Differ, Tick: c.Tick, Workers: [2]string{1: c.Row.Worker}}
		if s.table.statuses[c.Job] != 0 {
			d.Workers[0], d.Recordings = s.table.workers[c.Job], len(s.files(c.Job))
		}
		a.Differing = append(a.Differing, d)
	}
}

// scenarioName returns the name of a scenario, which may be given as a file.
func scenarioName(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}
