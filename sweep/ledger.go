package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios"
)

// A Ledger decides about jobs and rows: which jobs need not run, which run again, and what differs.
// The caller that carries out a sweep lets one goroutine at a time use the ledger and the journal.
type Ledger struct {
	Again []Row // jobs to be run again; the caller that takes one removes it

	config *Config
	begun  map[ID]int // jobs that have no row yet
	differ []Check
}

// NewLedger returns a ledger that begins with the jobs that an earlier process had to run again but
// did not.
func NewLedger(c *Config) (*Ledger, error) {
	l := &Ledger{config: c, begun: map[ID]int{}}
	if c.Recheck == 0 {
		return l, nil
	}
	rows, err := c.Journal.Unchecked(c.Recheck)
	for _, row := range rows {
		l.Again = append(l.Again, *row)
	}
	if err == nil && c.Make != nil {
		err = l.earlier()
	}
	if err == nil && !c.KeepGoing {
		err = l.Verdict()
	}
	return l, err
}

// earlier checks the rows that are already there, since another program may have written them: among the rows to be checked, one with the
// id of another job must equal that job. If jobs are missing, at least one finished job is run again.
func (l *Ledger) earlier() error {
	c := l.config
	one := false
	for range c.Journal.Missing() {
		one = len(l.Again) == 0
		break
	}
	for job := range c.Journal.places {
		if !c.Journal.Has(job) {
			continue
		}
		row, err := c.Journal.Row(job)
		if err != nil {
			return err
		}
		if one && row.Repeats() && !c.Journal.differs(job) {
			l.Again, one = append(l.Again, *row), false
		}
		check := Check{Job: job, Row: *row}
		switch twin, known := c.Journal.Twin(row.ID); {
		case row.Status == Equal && !c.Journal.hasID(row.As, row.ID):
			check.Differ = fmt.Sprintf("it does not equal job %d", row.As)
		case known && twin == job || !Chosen(c.Journal.Head.Pick, row.ID, c.Recheck):
			continue
		default:
			if s, err := c.Make(c.Journal.Plan.Sets(c.Journal.Plan.Point(job))); err == nil && IDOf(s) == row.ID {
				continue
			}
			check.Differ = "its row has the id of a job with other values"
		}
		if err := c.Journal.AddCheck(check); err != nil {
			return err
		}
		l.differ = append(l.differ, check)
	}
	return nil
}

// Begin returns the row of a job that need not run: because it equals another job, or because err says that its scenario
// makes no world. For a job that must run it returns nil.
func (l *Ledger) Begin(job int, s *scenarios.Scenario, err error) *Row {
	row := &Row{}
	if err == nil {
		err = l.comparable(s)
	}
	if err != nil {
		row.Status, row.Reason = Broken, firstLine(err.Error())
	}
	row.Sign(job, l.config.Name, l.config.Build)
	if err != nil {
		row.ID = sha256.Sum256(fmt.Appendf(nil, "job %d", job)) // it is like no other
		return row
	}
	row.ID = IDOf(s)
	twin, ok := l.config.Journal.Twin(row.ID)
	if !ok {
		twin, ok = l.begun[row.ID]
	}
	if ok && twin != job {
		return row.equal(twin)
	}
	if before, err := l.config.Journal.earlier(job, row.ID); before != nil && err == nil { // an earlier process was killed before it took the row over
		return before
	}
	l.begun[row.ID] = job
	l.running()
	return nil
}

// comparable returns an error unless a job has the same statistics as the others, since they share columns.
func (l *Ledger) comparable(s *scenarios.Scenario) error {
	names, err := statsNames(s, l.config.Journal.Head.Fields)
	if err == nil && !slices.Equal(names, l.config.Journal.Head.Stats) {
		err = errors.New("its statistics are not those of the other jobs: it has other fields, kinds of entities or probes")
	}
	return err
}

func (l *Ledger) running() {
	if l.config.Running != nil {
		l.config.Running(len(l.begun))
	}
}

// Begun reports whether a row belongs to a job that had to run and has no row yet.
func (l *Ledger) Begun(row *Row) bool {
	job, ok := l.begun[row.ID]
	return ok && job == row.Job
}

// Stays compares a row of a job that ran once more with the one that it had, see [Journal.Forget]. If that one stays, with what was kept
// of it, Stays returns it; and if the two differ, the check that says so.
func (l *Ledger) Stays(row *Row) (first *Row, other *Check) { return l.config.Journal.stays(row) }

// Add writes rows, and checks of jobs that ran again, to the journal, and lets some of the jobs be run again. If a check differs, Add
// returns an error unless the sweep keeps going.
func (l *Ledger) Add(rows []Row, checks ...Check) error {
	if len(rows)+len(checks) == 0 {
		return nil
	}
	older := make([]string, len(rows))
	for i := range rows {
		older[i] = l.config.Journal.keptBefore(rows[i].Job)
		if rows[i].Kept == "" && l.config.Journal.endsAsBefore(&rows[i]) && Exists(filepath.Join(l.config.Folder, older[i])) {
			rows[i].Kept = older[i]
		}
	}
	if err := l.config.Journal.add(rows, checks); err != nil {
		return err
	}
	for i, name := range older {
		if kept := rows[i].Kept; name != "" && kept != "" && kept != name { // no row names it any more
			_ = os.Remove(filepath.Join(l.config.Folder, name))
		}
	}
	for i := range rows {
		row := &rows[i]
		delete(l.begun, row.ID)
		if l.config.Recheck > 0 && row.Repeats() && !l.config.Journal.differs(row.Job) && Chosen(l.config.Journal.Head.Pick, row.ID, l.config.Recheck) {
			l.Again = append(l.Again, *row)
		}
	}
	l.running()
	if l.config.Added != nil {
		if err := l.config.Added(rows, checks); err != nil {
			return err
		}
	}
	for _, c := range checks {
		if !c.Equal {
			l.differ = append(l.differ, c)
		}
	}
	if len(checks) == 0 || l.config.KeepGoing {
		return nil
	}
	return l.Verdict()
}

// Compare returns the result of running a job a second time.
func (l *Ledger) Compare(first, second *Row) Check {
	c := Check{Job: first.Job, Row: *second, Differ: differs(first, second, l.config.Journal.Head.Stats)}
	if first.ID != second.ID {
		c.Differ = "its row has the id of a job with other values"
	}
	c.Equal = c.Differ == ""
	return c
}

// Verdict returns a [*DifferError] if jobs gave different results.
func (l *Ledger) Verdict() error {
	if len(l.differ) == 0 {
		return nil
	}
	return &DifferError{slices.Clone(l.differ)}
}

// Repeats reports whether a second run must end the same way. A run that hit a time limit, for example, need
// not.
func (row *Row) Repeats() bool {
	return row.Status == OK || row.Status == Failed || row.Status == Halted
}

// Comparable reports whether two rows of one job must be equal: both of their runs came to an end by themselves. Of two that panicked that is
// not known: the text of a panic may have addresses.
func (row *Row) Comparable(other *Row) bool {
	ended := func(r *Row) bool { return r.Repeats() || r.Status == Panic }
	return ended(row) && ended(other) && (row.Repeats() || other.Repeats())
}

// Ran reports whether the job's world was made and began to run.
func (row *Row) Ran() bool {
	return row.Status != Equal && row.Status != Broken && row.Status != Memory
}

// Until returns the tick up to which a job must run to end as it did.
func (row *Row) Until() uint64 {
	if row.Status == Halted || row.Status == Panic {
		return row.Ticks + 1 // the tick that failed
	}
	return row.Ticks
}

// Process returns the process of a worker: the worker's name without the number of its core.
func Process(worker string) string {
	process, _, _ := strings.Cut(worker, "#")
	return process
}

// Chosen reports whether a job belongs to a share of all. Only a process that knows pick can tell.
func Chosen(pick string, id ID, share float64) bool {
	sum := sha256.Sum256(append([]byte(pick), id[:]...))
	return float64(binary.LittleEndian.Uint64(sum[:])>>11)*0x1p-53 < share
}
