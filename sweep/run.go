package sweep

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
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

	// KeepGoing goes on after a job that gave another result when it was run again.
	KeepGoing bool

	// Keep, unless nil, reports whether the recording of a job is to lie in Folder, for which it runs a second time; or its
	// last state.
	Keep       func(*Row) bool
	KeepStates bool // instead of recordings
	Folder     string

	// Running, unless nil, is called with how many jobs have begun and have no row yet; the rules of Added hold.
	Running func(jobs int)

	// Added is called with rows and checks once they are in the journal, never by two goroutines at
	// the same time. Its error ends the sweep.
	Added func(rows []Row, checks []Check) error
}

// A DifferError reports jobs that gave different results.
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

// batchTime is about how long the jobs take that a worker takes at once, so that jobs of small
// worlds cost little overhead.
const batchTime = 5 * time.Millisecond

const maxBatch = 256

// A pool runs jobs.
type pool struct {
	Config
	ctx  context.Context
	stop context.CancelCauseFunc

	mu      sync.Mutex // of what follows, and of the journal
	ledger  *Ledger
	missing func() (int, bool) // the next job that has no row and no worker
	running int                // batches
	wake    *sync.Cond         // something of the above has changed
}

// Run runs the jobs of the journal's shard that have no row yet. After ctx has ended it returns its error;
// jobs that were running are not in the journal then. Jobs that gave different results are a
// [*DifferError].
func Run(ctx context.Context, c Config) error {
	p := &pool{Config: c}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	p.wake = sync.NewCond(&p.mu)
	missing, end := iter.Pull(c.Journal.Missing())
	defer end()
	p.missing = missing
	var err error
	if p.ledger, err = NewLedger(&c); err != nil {
		return err
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
	return p.ledger.Verdict()
}

// work is a worker.
func (p *pool) work(worker int) {
	each := batchTime // that a job takes, about
	for {
		jobs, again := p.take(worker, int(min(max(batchTime/max(each, 1), 1), maxBatch)))
		if jobs == nil && again == nil {
			return
		}
		began := time.Now()
		var err error
		if again != nil {
			err = p.recheck(worker, again)
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

// take returns jobs that have no row, no more than most, or the row of a job to be run again. If it returns neither, there is
// no more to do.
func (p *pool) take(worker, most int) (jobs []int, again *Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ctx.Err() == nil {
		for i := range p.ledger.Again {
			if row := p.ledger.Again[i]; row.Worker != p.worker(worker) || p.Workers == 1 {
				p.ledger.Again = append(p.ledger.Again[:i], p.ledger.Again[i+1:]...)
				p.running++
				return nil, &row
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
		if p.running == 0 && len(p.ledger.Again) == 0 {
			return nil, nil
		}
		p.wake.Wait()
	}
	return nil, nil
}

// batch runs some jobs.
func (p *pool) batch(worker int, jobs []int) error {
	rows := make([]Row, 0, len(jobs))
	var checks []Check
	for _, job := range jobs {
		row, check, err := p.perform(worker, job)
		if err != nil {
			break // interrupted; those before it count
		}
		if rows = append(rows, row); check != nil {
			checks = append(checks, *check)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger.Add(rows, checks...)
}

// perform returns the row of a job, which it runs if it must, and a check if the job then came to another end.
func (p *pool) perform(worker, job int) (Row, *Check, error) {
	s, err := p.Make(p.Journal.Plan.Sets(p.Journal.Plan.Point(job)))
	p.mu.Lock()
	known := p.ledger.Begin(job, s, err)
	p.mu.Unlock()
	if known != nil {
		return *known, nil, nil
	}
	var wants func(*Row) bool
	if p.KeepStates {
		wants = p.Keep
	}
	row, state, err := PerformSaving(p.ctx, s, p.Journal.Head.Wanted, p.Limits, wants)
	if err != nil {
		return row, nil, err
	}
	row.Sign(job, p.worker(worker), p.Build)
	p.mu.Lock()
	first, other := p.ledger.Stays(&row)
	p.mu.Unlock()
	switch {
	case other != nil && p.Folder != "":
		return row, other, p.failed(p.evidence(other, s))
	case first != nil:
		return row, other, nil
	case state != nil:
		return row, nil, p.keep(&row, func(to io.Writer) error {
			_, err := to.Write(state)
			return err
		})
	case p.Keep != nil && !p.KeepStates && row.Ran() && p.Keep(&row):
		var again Row
		err := p.keep(&row, func(to io.Writer) (err error) {
			again, err = RecordAgain(p.ctx, s, &row, to)
			return err
		})
		if err != nil {
			return row, nil, err
		}
		check, err := p.compare(&row, &again, s)
		if check.Equal {
			return row, nil, err
		}
		return row, &check, err
	}
	return row, nil, nil
}

// compare compares two rows of a job. If they differ, it records the job twice.
func (p *pool) compare(first, second *Row, s *scenarios.Scenario) (c Check, err error) {
	if c = p.ledger.Compare(first, second); !c.Equal && p.Folder != "" {
		err = p.failed(p.evidence(&c, s))
	}
	return c, err
}

// keep writes the recording or the last state of a job, if it is to be kept.
func (p *pool) keep(row *Row, write func(to io.Writer) error) error {
	p.mu.Lock()
	row.Kept = p.Journal.KeptName(p.Folder, row.Job, p.KeepStates)
	p.mu.Unlock()
	return p.failed(Put(p.Folder, row.Kept, write))
}

// failed ends the sweep if there is an error, unless it is ending anyway.
func (p *pool) failed(err error) error {
	if err != nil && p.ctx.Err() == nil {
		p.stop(err)
	}
	return err
}

func (p *pool) worker(i int) string { return fmt.Sprintf("%s#%d", p.Name, i+1) }

// recheck runs a job again.
func (p *pool) recheck(worker int, first *Row) error {
	s, err := p.Make(p.Journal.Plan.Sets(p.Journal.Plan.Point(first.Job)))
	if err != nil {
		return err
	}
	row, err := Perform(p.ctx, s, p.Journal.Head.Wanted, Limits{Memory: p.Limits.Memory})
	if err != nil {
		return nil // interrupted
	}
	row.Sign(first.Job, p.worker(worker), p.Build)
	c, err := p.compare(first, &row, s)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger.Add(nil, c)
}

// Name returns a name for this process: its host and its number.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return ProcessName(fmt.Sprintf("%.64s/%d", host, os.Getpid()))
}
