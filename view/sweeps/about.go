package sweeps

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/murksim/murksim/sweep"
)

// An About says how far a sweep is.
type About struct {
	Version  uint64 `json:"version"` // grows with what there is to see
	Folder   string `json:"folder"`
	Scenario string `json:"scenario"`
	Text     string `json:"text"` // what the jobs differ in
	Shard    string `json:"shard,omitempty"`

	Jobs     int           `json:"jobs"` // of the sweep, or its shard
	Done     int           `json:"done"`
	Statuses []StatusAbout `json:"statuses"` // those that jobs have
	Bad      int           `json:"bad"`      // jobs that are not ok

	Rechecked int               `json:"rechecked"`
	Differ    int               `json:"differ"`              // jobs that came to another end when they were run again
	Differing []DifferenceAbout `json:"differing,omitempty"` // the first of them

	Reading float64 `json:"reading,omitempty"` // what share of the journal is read; none: all
	Rate    float64 `json:"rate"`              // jobs a second, lately
	Left    float64 `json:"left,omitempty"`    // seconds, if it goes on so
	Idle    float64 `json:"idle"`              // seconds since the journal was written
	Damaged int     `json:"damaged,omitempty"` // lines of the journal
	Problem string  `json:"problem,omitempty"` // why the journal is not read on

	Columns []ColumnAbout `json:"columns"`
	Stats   []string      `json:"stats"`   // that a picture can show
	Varying []string      `json:"varying"` // what a picture can be over
}

// A StatusAbout is a status and how many jobs have it.
type StatusAbout struct {
	Status string `json:"status"`
	Jobs   int    `json:"jobs"`
	Job    int    `json:"job"`              // the first of them
	Reason string `json:"reason,omitempty"` // of that one
}

// A DifferenceAbout is a job that came to another end when it was run again.
type DifferenceAbout struct {
	Job        int       `json:"job"`
	Differ     string    `json:"differ"`
	Tick       uint64    `json:"tick,omitempty"`
	Workers    [2]string `json:"workers"`
	Recordings int       `json:"recordings,omitempty"`
}

// about says how far the sweep is. There may be more of the journal to read at once.
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

// scenarioName is the name of a scenario, of which a file may be given.
func scenarioName(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}
