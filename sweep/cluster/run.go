package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/sweep"
)

// A Config says how Run carries out a sweep. Of its sweep.Config it uses Journal, Make, Limits, Recheck,
// KeepGoing, Folder, Build, Name and Added.
type Config struct {
	sweep.Config
	Options Options
	Base    *scenarios.Scenario // without the design's values
	Keep    Keep
	Say     func(text string)
	Workers func(n int) // is called with how many processes have sent rows
}

// A coordinator carries out a sweep.
type coordinator struct {
	Config
	*link
	id string

	mu        sync.Mutex // of what follows, and of the journal
	ledger    *sweep.Ledger
	wake      *sync.Cond
	out       map[int]bool    // jobs that are published and have no row
	each      time.Duration   // that a job takes, about
	processes map[string]bool // that have sent rows
	again     map[int]bool    // jobs that are being run again
	unkept    map[int]bool    // jobs that ran again because what was kept of them was not there
	received  int             // results
	looked    int             // value of received at the last look at the queue
	lost      bool            // jobs wait that are not in the queue
	err       error

	flight     chan struct{} // has an element for each message that is being published
	publishing sync.WaitGroup
}

// How much is in the queue at most.
const (
	maxFlight   = 64 // messages that are being published
	maxWaiting  = 200_000
	messageTime = 200 * time.Millisecond // that the jobs of a message take, about
)

// Run carries out the jobs of the journal's shard that have no row, by workers connected to the same servers.
// It returns like [sweep.Run]. If it was killed, calling it again continues.
func Run(ctx context.Context, c Config) error {
	l, err := connect(ctx, c.Options, c.Name, 10*time.Second, c.Say)
	if err != nil {
		return err
	}
	defer l.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sum := sha256.Sum256([]byte("sweep " + c.Journal.Head.Pick))
	ledger, err := sweep.NewLedger(&c.Config)
	if err != nil {
		return err
	}
	x := &coordinator{Config: c, link: l, id: hex.EncodeToString(sum[:6]), ledger: ledger, processes: map[string]bool{}, again: map[int]bool{}, unkept: map[int]bool{}, out: map[int]bool{}, flight: make(chan struct{}, maxFlight)}
	for i := range ledger.Again { // of an earlier process
		x.processes[sweep.Process(ledger.Again[i].Worker)] = true
	}
	x.wake = sync.NewCond(&x.mu)
	notes, err := x.notes(x.id)
	if err != nil {
		return err
	}
	defer notes.Unsubscribe()
	results, err := x.begin(ctx, patience)
	if err != nil {
		return err
	}
	defer time.AfterFunc(sayWaiting, x.sayWaiting).Stop()
	defer context.AfterFunc(ctx, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.wake.Broadcast()
	})()
	if err := x.drain(ctx, results); err != nil { // what earlier workers have done
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { x.end(x.publishAll(ctx), stop) })
	looking, enough := context.WithCancel(ctx)
	all.Go(func() {
		defer enough()
		x.end(x.collect(ctx, results), stop)
	})
	all.Go(func() { x.watch(looking) })
	all.Wait()
	if x.err == nil {
		x.retire(x.id)
		return x.ledger.Verdict()
	}
	return x.err
}

// patience is how long a sweep waits at its beginning for servers that can be reached but do not answer, as while
// they elect a leader. Later it waits forever.
const patience = 30 * time.Second

// sayWaiting is after how long a sweep without a row says that it waits.
const sayWaiting = 3 * time.Second

func (x *coordinator) sayWaiting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.processes) == 0 && x.waiting() {
		x.Say("waiting for workers, which connect to " + Redacted(x.conn.ConnectedUrl()))
	}
}

// begin makes the sweep's queues, and announces it to workers.
func (x *coordinator) begin(ctx context.Context, most time.Duration) (results jetstream.Consumer, err error) {
	return x.open(ctx, most, x.id, &Info{
		Scenario: x.Base.Name, Base: string(x.Base.Descriptor()), Wanted: x.Journal.Head.Wanted,
		Memory: x.Limits.Memory, Time: x.Limits.Time, Keep: x.Keep,
	})
}

// end notes the first error, which ends the others.
func (x *coordinator) end(err error, stop context.CancelFunc) {
	if err == nil {
		return
	}
	x.mu.Lock()
	if x.err == nil || errors.Is(x.err, context.Canceled) {
		x.err = err
	}
	x.mu.Unlock()
	stop()
}

// publishAll publishes the jobs that have no row, not too many at a time, and waits until all have one.
func (x *coordinator) publishAll(ctx context.Context) error {
	for {
		err := x.publishMissing(ctx)
		if err == nil {
			err = x.recheckAll(ctx)
		}
		x.publishing.Wait()
		if err != errLost {
			return err
		}
		x.Say("jobs are gone from the queue; they are published again")
		if _, err := x.begin(ctx, 0); err != nil {
			return err
		}
		x.mu.Lock()
		clear(x.out)
		for job := range x.again {
			if row, err := x.Journal.Row(job); err == nil {
				x.ledger.Again = append(x.ledger.Again, *row)
			}
		}
		clear(x.again)
		x.mu.Unlock()
	}
}

// errLost reports that jobs without a row are no longer in the queue.
var errLost = errors.New("jobs are lost")

// watch looks now and then for jobs that are waiting for a row but are not in the queue.
func (x *coordinator) watch(ctx context.Context) {
	quiet := 0
	for ctx.Err() == nil && !x.complete() {
		pause(ctx, lookEvery)
		empty := x.empty(ctx, x.id)
		x.mu.Lock()
		if quiet++; !empty || !x.waiting() || x.received != x.looked {
			quiet = 0
		}
		x.looked = x.received
		if quiet >= lookPatience {
			x.lost, quiet = true, 0
			x.wake.Broadcast()
		}
		x.mu.Unlock()
	}
}

// publishMissing publishes the jobs that have no row.
func (x *coordinator) publishMissing(ctx context.Context) error {
	next, end := iter.Pull(x.Journal.Missing())
	defer end()
	var rows []sweep.Row // of jobs that need not run
	for more := true; more; {
		n, err := x.room(ctx)
		if err != nil {
			return err
		}
		var t task
		for len(t.Jobs) < n {
			x.mu.Lock()
			job, ok := next()
			x.mu.Unlock()
			if !ok {
				more = false
				break
			}
			s, row := x.prepareJob(job)
			if row != nil {
				rows = append(rows, *row)
				break
			}
			t.Jobs = append(t.Jobs, jobOf(job, s))
		}
		if len(rows) > 0 {
			if err := x.add(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
		if err := x.send(ctx, &t); err != nil {
			return err
		}
	}
	return nil
}

// prepareJob makes the scenario of a job, or its row if it need not run.
func (x *coordinator) prepareJob(job int) (*scenarios.Scenario, *sweep.Row) {
	s, err := x.Make(x.Journal.Plan.Sets(x.Journal.Plan.Point(job)))
	x.mu.Lock()
	defer x.mu.Unlock()
	return s, x.ledger.Begin(job, s, err)
}

// room waits until more jobs may be published, and returns how many.
func (x *coordinator) room(ctx context.Context) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.out) >= maxWaiting && !x.lost && ctx.Err() == nil {
		x.wake.Wait()
	}
	if x.lost {
		x.lost = false
		return 0, errLost
	}
	n := 1
	if x.each > 0 {
		n = int(min(max(messageTime/x.each, 1), maxBatch))
	}
	left := x.Journal.Head.Shard.Jobs(x.Journal.Head.Jobs) - x.Journal.Done() - len(x.out)
	return max(1, min(n, left/64)), ctx.Err() // the last ones are to end at the same time
}

// send publishes a task in the background, in parts if it is too long.
func (x *coordinator) send(ctx context.Context, t *task) error {
	if len(t.Jobs) == 0 {
		return nil
	}
	data, err := encode(t)
	if errors.Is(err, errTooLong) && len(t.Jobs) > 1 {
		half := len(t.Jobs) / 2
		first, second := *t, *t
		first.Jobs, second.Jobs = t.Jobs[:half], t.Jobs[half:]
		return errors.Join(x.send(ctx, &first), x.send(ctx, &second))
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	for i := range t.Jobs {
		if job := t.Jobs[i].Job; !t.Again && !x.Journal.Has(job) { // a row of an earlier process may have come meanwhile
			x.out[job] = true
		}
	}
	x.mu.Unlock()
	kind := "j"
	if t.Again {
		kind = "a"
	}
	id := fmt.Sprintf("%s-%s%d-%d", x.id, kind, t.Jobs[0].Job, time.Now().UnixNano())
	x.flight <- struct{}{}
	x.publishing.Go(func() {
		_ = x.publish(ctx, jobSubject+x.id, id, data) // it tries until ctx ends
		<-x.flight
	})
	return nil
}

// recheckAll publishes the jobs to be run again, as they come, until no job is out.
func (x *coordinator) recheckAll(ctx context.Context) error {
	for {
		x.mu.Lock()
		for x.waiting() && len(x.ledger.Again) == 0 && !x.lost && ctx.Err() == nil {
			x.wake.Wait()
		}
		if x.lost {
			x.lost = false
			x.mu.Unlock()
			return errLost
		}
		if err := ctx.Err(); err != nil || len(x.ledger.Again) == 0 {
			x.mu.Unlock()
			return err
		}
		first := x.ledger.Again[0]
		x.ledger.Again = x.ledger.Again[1:]
		x.again[first.Job] = true
		x.mu.Unlock()
		s, err := x.Make(x.Journal.Plan.Sets(x.Journal.Plan.Point(first.Job)))
		if err != nil {
			return err
		}
		t := task{Jobs: []job{jobOf(first.Job, s)}, Again: true}
		if x.several() { // else no process could take it
			t.Not = sweep.Process(first.Worker)
		}
		if err := x.send(ctx, &t); err != nil {
			return err
		}
	}
}

// waiting reports whether jobs are published that have no row, or were not run again.
func (x *coordinator) waiting() bool { return len(x.out)+len(x.again) > 0 }

// several reports whether more than one process has sent rows.
func (x *coordinator) several() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.processes) > 1
}

// add writes rows to the journal.
func (x *coordinator) add(rows []sweep.Row) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ledger.Add(rows)
}
