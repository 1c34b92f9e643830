package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/murksim/murksim/scenarios"
)

// A Config says how Run carries out the jobs of a journal.
type Config struct {
	Journal *Journal // belongs to Run until it returns

	// Make makes the scenario of a job. Several goroutines call it.
	Make func(sets []string) (*scenarios.Scenario, error)

	Workers int     // jobs that run at the same time, each on one core
	Limits  Limits  // of each job
	Recheck float64 // share of the jobs that are run again, by another worker if there is one; 0 to 1
	Build   string  // of this program, for the rows
	Name    string  // of this process; worker 2 of it is Name#2

	// KeepGoing goes on after a job that came to another end when it was run again.
	KeepGoing bool

	// Keep, unless nil, reports whether the recording of a job is to lie in Folder. Jobs that are kept run twice.
	Keep   func(*Row) bool
	Folder string

	// Added is called with rows that stand in the journal now, and with checks. It is never called by two goroutines at
	// the same time. An error ends the sweep.
	Added func(rows []Row, checks []Check) error
}

// A DifferError reports jobs that came to different ends.
type DifferError struct{ Checks []Check }

// Error implements error.
func (e *DifferError) Error() string {
	c := &e.Checks[0]
	text := fmt.Sprintf("job %d came to another end when it was run again: %s", c.Job, c.Differ)
	if more := len(e.Checks) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// batchTime is about how long a worker works on the jobs that it takes at once, so that those of small
// worlds cost little more than themselves.
const batchTime = 5 * time.Millisecond

const maxBatch = 256

// A pool runs jobs.
type pool struct {
	Config
	ctx  context.Context
	stop context.CancelCauseFunc

	mu      sync.Mutex         // of what follows, and of the journal
	missing func() (int, bool) // the next job that has no row and no worker
	again   []again            // jobs to be run again
	running int                // batches
	wake    *sync.Cond         // something of the above has changed
	differ  []Check
}

// An again is a job to be run again, after a first worker has.
type again struct {
	first Row
	by    int // worker
}

// Run runs the jobs of the journal's shard that have no row yet. After ctx has ended it returns its error;
// jobs that were running are not in the journal then. Jobs that came to different ends are a
// [*DifferError].
func Run(ctx context.Context, c Config) error {
	p := &pool{Config: c}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	p.wake = sync.NewCond(&p.mu)
	missing, end := iter.Pull(c.Journal.Missing())
	defer end()
	p.missing = missing
	if c.Recheck > 0 {
		rows, err := c.Journal.Unchecked(c.Recheck) // of a process that was killed
		if err != nil {
			return err
		}
		for _, row := range rows {
			p.again = append(p.again, again{*row, -1})
		}
	}
	defer context.AfterFunc(p.ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wake.Broadcast()
	})()
	var all sync.WaitGroup
	for i := range c.Workers {
		all.Go(func() { p.work(i) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	if len(p.differ) > 0 {
		return &DifferError{p.differ}
	}
	return nil
}

// work is a worker.
func (p *pool) work(worker int) {
	each := batchTime // that a job takes, about
	for {
		jobs, check := p.take(worker, int(min(max(batchTime/max(each, 1), 1), maxBatch)))
		if jobs == nil && check == nil {
			return
		}
		began := time.Now()
		var err error
		if check != nil {
			err = p.recheck(worker, check)
		} else {
			err = p.batch(worker, jobs)
			each = (time.Since(began) + each*time.Duration(len(jobs))) / time.Duration(2*len(jobs))
		}
		p.mu.Lock()
		p.running--
		p.wake.Broadcast()
		p.mu.Unlock()
		if err != nil {
			p.stop(err)
			return
		}
	}
}

// take returns jobs that have no row, at most so many, or one to be run again. Without either there is
// no more to do.
func (p *pool) take(worker, most int) (jobs []int, check *again) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ctx.Err() == nil {
		for i := range p.again {
			if a := p.again[i]; a.by != worker || p.Workers == 1 {
				p.again = append(p.again[:i], p.again[i+1:]...)
				p.running++
				return nil, &a
			}
		}
		for len(jobs) < most {
			job, ok := p.missing()
			if !ok {
				break
			}
			jobs = append(jobs, job)
		}
		if len(jobs) > 0 {
			p.running++
			return jobs, nil
		}
		if p.running == 0 && len(p.again) == 0 {
			return nil, nil
		}
		p.wake.Wait()
	}
	return nil, nil
}

// batch runs some jobs.
func (p *pool) batch(worker int, jobs []int) error {
	rows := make([]Row, 0, len(jobs))
	for _, job := range jobs {
		row, err := p.perform(worker, job)
		if err != nil {
			break // interrupted; those before it count
		}
		rows = append(rows, row)
	}
	return p.add(worker, rows)
}

// perform runs one job, unless it equals one that was run before.
func (p *pool) perform(worker, job int) (Row, error) {
	row := Row{Status: Broken}
	s, err := p.Make(p.Journal.Plan.Sets(p.Journal.Plan.Point(job)))
	if err != nil {
		row.Reason = firstLine(err.Error())
		row.ID = sha256.Sum256(fmt.Appendf(nil, "job %d", job)) // it is like no other
	} else {
		id := IDOf(s)
		p.mu.Lock()
		twin, ok := p.Journal.Twin(id)
		p.mu.Unlock()
		if ok {
			row = *(&Row{ID: id}).equal(twin)
		} else if row, err = Perform(p.ctx, s, p.Journal.Head.Fields, p.Limits); err != nil {
			return row, err
		}
	}
	row.Job, row.Worker, row.Build = job, p.worker(worker), p.Build
	if p.Keep != nil && row.ran() && p.Keep(&row) {
		return row, p.keep(s, &row)
	}
	return row, nil
}

// keep records a job that has run.
func (p *pool) keep(s *scenarios.Scenario, row *Row) error {
	if err := os.MkdirAll(filepath.Join(p.Folder, recordings), 0o777); err != nil {
		return p.failed(err)
	}
	row.Kept = fmt.Sprintf("%s/job-%d.murk", recordings, row.Job)
	until := row.Ticks
	if row.Status == Halted || row.Status == Panic {
		until++ // the tick that failed
	}
	return p.failed(recordTo(p.ctx, filepath.Join(p.Folder, row.Kept), s, until))
}

// failed ends the sweep if there is an error, unless it is ending anyway.
func (p *pool) failed(err error) error {
	if err != nil && p.ctx.Err() == nil {
		p.stop(err)
	}
	return err
}

// recordings is the folder of the recordings that are kept.
const recordings = "recordings"

// ran reports whether a job has a world that began.
func (row *Row) ran() bool {
	return row.Status != Equal && row.Status != Broken && row.Status != Memory
}

func (p *pool) worker(i int) string { return fmt.Sprintf("%s#%d", p.Name, i+1) }

// add writes rows to the journal, and lets some jobs be run again.
func (p *pool) add(worker int, rows []Row) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range rows {
		row := &rows[i]
		twin, ok := p.Journal.Twin(row.ID) // that ran at the same time
		if before := slices.IndexFunc(rows[:i], func(r Row) bool { return r.ID == row.ID }); before >= 0 && !ok {
			twin, ok = rows[before].Job, true
		}
		if ok && row.Status != Equal {
			*row = *row.equal(twin)
		}
		if p.chosen(row) {
			p.again = append(p.again, again{*row, worker})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if err := p.Journal.Add(rows...); err != nil {
		return err
	}
	return p.added(rows, nil)
}

func (p *pool) added(rows []Row, checks []Check) error {
	if p.Added == nil {
		return nil
	}
	return p.Added(rows, checks)
}

// chosen reports whether a job is to be run again.
func (p *pool) chosen(row *Row) bool {
	return p.Recheck > 0 && row.repeats() && Chosen(p.Journal.Head.Pick, row.ID, p.Recheck)
}

// repeats reports whether a job comes to the same end again: a limit of time may be met or not, and what was never built has none.
func (row *Row) repeats() bool {
	return row.Status == OK || row.Status == Failed || row.Status == Halted
}

// Chosen reports whether a job belongs to a share of all. Whoever does not know pick cannot tell.
func Chosen(pick string, id ID, share float64) bool {
	sum := sha256.Sum256(append([]byte(pick), id[:]...))
	return float64(binary.LittleEndian.Uint64(sum[:])>>11)*0x1p-53 < share
}

// recheck runs a job again.
func (p *pool) recheck(worker int, a *again) error {
	s, err := p.Make(p.Journal.Plan.Sets(p.Journal.Plan.Point(a.first.Job)))
	if err != nil {
		return err
	}
	row, err := Perform(p.ctx, s, p.Journal.Head.Fields, Limits{Memory: p.Limits.Memory})
	if err != nil {
		return nil // interrupted
	}
	row.Job, row.Worker, row.Build = a.first.Job, p.worker(worker), p.Build
	c := Check{Job: row.Job, Row: row, Differ: differs(&a.first, &row, p.Journal.Head.Stats)}
	if c.Equal = c.Differ == ""; !c.Equal && p.Folder != "" {
		if err := p.evidence(&c, s); err != nil {
			return p.failed(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.Journal.AddCheck(c); err != nil {
		return err
	}
	if !c.Equal {
		if p.differ = append(p.differ, c); !p.KeepGoing {
			p.stop(&DifferError{p.differ})
		}
	}
	return p.added(nil, []Check{c})
}

// Name returns a name for this process: its host and its number.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%.64s/%d", host, os.Getpid())
}
