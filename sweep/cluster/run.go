package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	Workers func(n int) // is told how many processes have sent rows
}

// A coordinator is a sweep that is going on.
type coordinator struct {
	Config
	*link
	id string

	mu        sync.Mutex // of what follows, and of the journal
	ledger    *sweep.Ledger
	wake      *sync.Cond
	waiting   int             // jobs that are published and have no row
	messages  int             // that they stand in
	each      time.Duration   // that a job takes, about
	processes map[string]bool // that have sent rows
	again     map[int]bool    // jobs that are being run again
	received  int             // results
	looked    int             // of them when the queue was looked at last
	lost      bool            // jobs wait that are not in the queue
	err       error
}

// How much is in the queue at most.
const (
	maxMessages = 4096
	maxWaiting  = 200_000
	messageTime = 200 * time.Millisecond // that the jobs of a message take, about
)

// Run carries out the jobs of the journal's shard that have no row, by workers that are connected to the same
// servers. It returns as [sweep.Run] does; killed, it goes on where it was when it is called again.
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
	x := &coordinator{Config: c, link: l, id: hex.EncodeToString(sum[:6]), ledger: ledger, processes: map[string]bool{}, again: map[int]bool{}}
	x.wake = sync.NewCond(&x.mu)
	results, err := x.begin(ctx, patience)
	if err != nil {
		return err
	}
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
		x.retire()
		return x.ledger.Verdict()
	}
	return x.err
}

// patience is how long a sweep waits at its beginning for servers that can be reached and do not answer, as they do when
// they elect a leader. Later it waits for ever.
const patience = 30 * time.Second

// begin tells workers of the sweep, and makes its queues.
func (x *coordinator) begin(ctx context.Context, most time.Duration) (results jetstream.Consumer, err error) {
	info, err := json.Marshal(Info{
		Scenario: x.Base.Name, Base: string(x.Base.Descriptor()), Fields: x.Journal.Head.Fields,
		Memory: x.Limits.Memory, Time: x.Limits.Time, Keep: x.Keep,
	})
	if err != nil {
		return nil, err
	}
	err = retry(ctx, most, func() error {
		jobs, err := x.js.Stream(ctx, jobStream)
		if err != nil {
			return err
		}
		if err := jobs.Purge(ctx, jetstream.WithPurgeSubject(jobSubject+x.id)); err != nil { // of an earlier process: those without rows are published anew
			return err
		}
		if _, err := jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: x.id, FilterSubject: jobSubject + x.id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 100_000, MaxWaiting: 16384,
		}); err != nil {
			return err
		}
		results, err = x.js.CreateOrUpdateConsumer(ctx, resultStream, jetstream.ConsumerConfig{
			Durable: x.id, FilterSubject: resultSubject + x.id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 4096,
		})
		if err != nil {
			return err
		}
		_, err = x.infos.Put(ctx, x.id, info)
		return err
	})
	if err != nil {
		err = fmt.Errorf("the servers cannot make the queues of the sweep: %w", err)
	}
	return results, err
}

// retire takes the sweep from the servers.
func (x *coordinator) retire() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = x.infos.Delete(ctx, x.id)
	_ = x.js.DeleteConsumer(ctx, jobStream, x.id)
	_ = x.js.DeleteConsumer(ctx, resultStream, x.id)
	for stream, subject := range map[string]string{jobStream: jobSubject, resultStream: resultSubject} {
		if s, err := x.js.Stream(ctx, stream); err == nil {
			_ = s.Purge(ctx, jetstream.WithPurgeSubject(subject+x.id))
		}
	}
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
		if err != errLost {
			return err
		}
		x.Say("jobs are gone from the queue; they are published again")
		if _, err := x.begin(ctx, 0); err != nil {
			return err
		}
		x.mu.Lock()
		x.waiting, x.messages = 0, 0
		for job := range x.again {
			if row, err := x.Journal.Row(job); err == nil {
				x.ledger.Again = append(x.ledger.Again, *row)
			}
		}
		clear(x.again)
		x.mu.Unlock()
	}
}

// errLost reports that jobs that have no row are not in the queue any more.
var errLost = errors.New("jobs are lost")

// watch looks now and then whether there are jobs that wait for a row, and neither they nor their rows are in a queue: a server
// that was killed may have lost what another one would have had.
func (x *coordinator) watch(ctx context.Context) {
	const every, patience = 2 * time.Second, 4 // times in succession
	empty := 0
	for ctx.Err() == nil && !x.complete() {
		pause(ctx, every)
		gone := x.empty(ctx, jobStream) && x.empty(ctx, resultStream)
		x.mu.Lock()
		if empty++; !gone || x.waiting == 0 || x.received != x.looked {
			empty = 0
		}
		x.looked = x.received
		if empty >= patience {
			x.lost, empty = true, 0
			x.wake.Broadcast()
		}
		x.mu.Unlock()
	}
}

// empty reports whether a queue of the sweep certainly holds nothing.
func (x *coordinator) empty(ctx context.Context, stream string) bool {
	queue, err := x.js.Consumer(ctx, stream, x.id)
	if err != nil {
		return errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)
	}
	i := queue.CachedInfo()
	return i.NumPending == 0 && i.NumAckPending == 0
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
	for (x.messages >= maxMessages || x.waiting >= maxWaiting) && !x.lost && ctx.Err() == nil {
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
	left := x.Journal.Head.Shard.Jobs(x.Journal.Head.Jobs) - x.Journal.Done() - x.waiting
	return max(1, min(n, left/64)), ctx.Err() // the last ones are to end at the same time
}

// send publishes a task. One that is too long goes in parts.
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
	x.messages++
	x.waiting += len(t.Jobs)
	x.mu.Unlock()
	kind := "j"
	if t.Again {
		kind = "a"
	}
	return x.publish(ctx, jobSubject+x.id, fmt.Sprintf("%s-%s%d-%d", x.id, kind, t.Jobs[0].Job, time.Now().UnixNano()), data)
}

// recheckAll publishes the jobs that are to be run again, as they come, until nothing is under way.
func (x *coordinator) recheckAll(ctx context.Context) error {
	for {
		x.mu.Lock()
		for x.waiting > 0 && len(x.ledger.Again) == 0 && !x.lost && ctx.Err() == nil {
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
		if x.several() { // else nobody could take it
			t.Not = sweep.Process(first.Worker)
		}
		if err := x.send(ctx, &t); err != nil {
			return err
		}
	}
}

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
