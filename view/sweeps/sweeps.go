package sweeps

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/view"
)

// A Config says which sweep to open.
type Config struct {
	Folder  string // the sweep's folder
	Journal string // the journal file
	Name    string // the folder's name, for people
	Memory  uint64 // limit in bytes for the table; 0: none

	// Open opens a kept recording.
	Open func(path string) (*view.Recording, error)
}

// A Sweep answers a page's questions about a sweep. It is a [view.Sweep]. One goroutine at a time may use
// it.
type Sweep struct {
	config  Config
	folder  string
	journal *sweep.Follower
	plan    *sweep.Plan // the plan that the table was made for
	table   *table
	version uint64 // increases when there is something new to see
	checks  int
	bad     int
	problem error // why reading of the journal stopped

	samples []sample // recent progress, for the rate
	order   order
	varying []string // the parameters that vary in plan
	picture picture
}

// A sample says how many jobs were done at some time.
type sample struct {
	at   time.Time
	done int
}

// Open opens a sweep. The journal is read later, as requests need it.
func Open(c Config) (*Sweep, error) {
	s := &Sweep{config: c, folder: c.Folder}
	return s, s.open()
}

// open opens or reopens the journal.
func (s *Sweep) open() error {
	j, err := sweep.FollowJournal(s.config.Journal)
	if err != nil {
		return err
	}
	before := s.journal
	if s.journal = j; before != nil {
		before.Close()
	}
	s.plan = nil
	return s.begin()
}

// begin makes a table for the journal's design, unless there is one.
func (s *Sweep) begin() error {
	if s.plan == s.journal.Plan {
		return nil
	}
	h := &s.journal.Head
	if need := uint64(h.Jobs) * jobBytes(len(h.Stats)); s.config.Memory > 0 && need > s.config.Memory {
		return fmt.Errorf("the table of %d jobs would take %d KiB of memory, the limit is %d KiB; raise it with --max-memory", h.Jobs, need>>10, s.config.Memory>>10)
	}
	s.plan, s.table, s.varying = s.journal.Plan, newTable(h.Jobs, len(h.Stats)), s.journal.Plan.Varying()
	s.samples, s.picture = nil, picture{}
	s.version++
	return nil
}

// Close closes the journal.
func (s *Sweep) Close() error { return s.journal.Close() }

// patience is how long an answer may spend on reading the journal.
const patience = 50 * time.Millisecond

// follow reads more of the journal. It reports whether there is more to read right away.
func (s *Sweep) follow() (more bool) {
	const most = 1 << 18 // bytes read between two looks at the clock
	for began := time.Now(); ; {
		var err error
		more, err = s.journal.Next(most, func(row *sweep.Row) {
			if s.begin() == nil {
				s.table.take(row)
				s.version++
			}
		})
		if errors.Is(err, sweep.ErrReplaced) {
			err = s.open()
			more = err == nil
		}
		if s.problem = cmp.Or(err, s.begin()); s.problem != nil || !more || time.Since(began) > patience {
			break
		}
	}
	if s.problem != nil {
		return false
	}
	if s.checks != len(s.journal.Checks) || s.bad != s.journal.Bad {
		s.checks, s.bad = len(s.journal.Checks), s.journal.Bad
		s.version++
	}
	if !more {
		s.sample(time.Now())
	}
	return more
}

// sample records how many jobs are done.
func (s *Sweep) sample(now time.Time) {
	const every, keep = 500 * time.Millisecond, 30 * time.Second
	if n := len(s.samples); n > 0 && now.Sub(s.samples[n-1].at) < every {
		return
	}
	s.samples = append(s.samples, sample{now, s.journal.Done()})
	for len(s.samples) > 2 && now.Sub(s.samples[1].at) > keep {
		s.samples = s.samples[1:]
	}
}

// rate returns how many jobs per second were done recently; 0 if none, or if that is not known yet.
func (s *Sweep) rate() float64 {
	if len(s.samples) < 2 {
		return 0
	}
	a, b := s.samples[0], s.samples[len(s.samples)-1]
	return float64(b.done-a.done) / b.at.Sub(a.at).Seconds()
}

// AnswerSweep implements [view.Sweep].
func (s *Sweep) AnswerSweep(op string, q *view.SweepQuery) (head any, data []byte, err error) {
	more := op == "sweep" && s.follow()
	if s.plan != s.journal.Plan { // no table fits into memory
		return nil, nil, s.problem
	}
	switch op {
	case "sweep":
		head = s.about(more)
	case "rows":
		head, err = s.rows(q)
	case "plot":
		head, data, err = s.plot(q)
	default:
		err = fmt.Errorf("there is no operation %q", op)
	}
	return head, data, err
}

// Recordings implements [view.Sweep].
func (s *Sweep) Recordings(job int) (list []*view.Recording, err error) {
	if job < 0 || job >= len(s.table.statuses) || s.table.statuses[job] == 0 {
		return nil, fmt.Errorf("there is no row of job %d", job)
	}
	files := s.files(job)
	if len(files) == 0 {
		return nil, fmt.Errorf("no recording of job %d was kept", job)
	}
	for _, name := range files {
		path, err := sweep.FindKept(s.folder, name)
		if err != nil {
			return nil, err
		}
		r, err := s.config.Open(path)
		if err != nil {
			return nil, err
		}
		if err := s.fits(job, r, len(files) == 1); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// fits returns an error if a recording does not belong to a job: because its values differ, or, for a kept one, because it does not end as
// the row does.
func (s *Sweep) fits(job int, r *view.Recording, kept bool) error {
	if at, ok := s.table.of(job); ok {
		job = at
	}
	row, err := s.journal.Row(job)
	if err != nil {
		return err
	}
	id := sweep.IDOf(r.Scenario())
	if !kept {
		return row.FitsJob(id)
	}
	hash, err := r.LastHash()
	if err != nil {
		return err
	}
	return row.FitsEnd(id, r.LastTick(), fmt.Sprintf("%016x", hash))
}

// A picture is the last picture drawn.
type picture struct {
	stats, by []string
	version   uint64
	drawn     *sweep.Plotted
	svg       []byte
	err       error
	took      time.Duration
	made      time.Time
}

// A Plot describes a picture.
type Plot struct {
	Version uint64   `json:"version"` // the sweep's version when it was drawn
	Kind    string   `json:"kind,omitempty"`
	Stats   []string `json:"stats,omitempty"`
	By      []string `json:"by,omitempty"`
	None    string   `json:"none,omitempty"` // why there is no picture
}

// plot draws the sweep. While the sweep grows, it draws again at most every two seconds, and less often if drawing is
// slow.
func (s *Sweep) plot(q *view.SweepQuery) (*Plot, []byte, error) {
	const least = 2 * time.Second
	p := &s.picture
	same := !p.made.IsZero() && slices.Equal(p.stats, q.Stats) && slices.Equal(p.by, q.By)
	if !same || p.version != s.version && time.Since(p.made) > max(least, share*p.took) {
		began := time.Now()
		var b bytes.Buffer
		drawn, err := sweep.Plot(&b, s.journal.Journal, sweep.PlotOptions{Stats: q.Stats, By: q.By, Row: s.table.row})
		*p = picture{stats: q.Stats, by: q.By, version: s.version, drawn: drawn, svg: b.Bytes(), err: err, took: time.Since(began), made: time.Now()}
	}
	if p.err != nil {
		return &Plot{Version: p.version, None: p.err.Error()}, nil, nil
	}
	return &Plot{p.version, string(p.drawn.Kind), p.drawn.Stats, p.drawn.By, ""}, p.svg, nil
}
