package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/sweep"
)

// A Worker says how Work takes jobs.
type Worker struct {
	Options  Options
	Registry *scenarios.Registry
	Cores    int    // jobs that run at the same time
	Memory   uint64 // bytes that all their worlds may take; 0: any
	Build    string
	Name     string            // of this process
	Say      func(text string) // tells people what happens
	Done     func(rows int)    // counts jobs; may be called by several goroutines
	Idle     time.Duration     // end when there was nothing to do for so long; 0: never
}

// ackWait is how long the server waits for a sign of a worker before it gives its jobs to another one.
const ackWait = 5 * time.Second

// A labour is a running worker.
type labour struct {
	Worker
	*link

	mu     sync.Mutex
	sweeps []*served
	last   atomic.Int64 // when there was something to do
	busy   atomic.Int64 // cores

	recording chan struct{} // has an element while a recording is made that was asked for
}

// A served is a sweep that the worker takes jobs of.
type served struct {
	id    string
	info  Info
	queue jetstream.Consumer
}

// Work takes jobs of all sweeps whose components this program has, until ctx ends, or the worker has been idle
// for the given time.
func Work(ctx context.Context, w Worker) error {
	w.Name = sweep.ProcessName(w.Name)
	l, err := connect(ctx, w.Options, w.Name, w.Idle, w.Say)
	if err != nil {
		return err
	}
	defer l.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	b := &labour{Worker: w, link: l, recording: make(chan struct{}, 1)}
	b.last.Store(time.Now().UnixNano())
	sub, err := l.conn.Subscribe(workerSubject+address(w.Name), func(m *nats.Msg) { go b.record(ctx, m) })
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	w.Say("ready, at " + Redacted(l.conn.ConnectedUrl()))
	var pulling sync.WaitGroup
	pulling.Go(func() { b.pull(ctx) })
	for again := true; again && err == nil; {
		again, err = b.follow(ctx)
	}
	stop()
	pulling.Wait()
	return err
}

// follow keeps the list of sweeps up to date. It returns true, to be called again, if the list can no longer be read, as after the loss
// of servers.
func (b *labour) follow(ctx context.Context) (again bool, err error) {
	var watch jetstream.KeyWatcher
	err = retry(ctx, 0, func() (err error) {
		watch, err = b.infos.WatchAll(ctx)
		return err
	})
	if err != nil {
		return false, err
	}
	defer watch.Stop()
	idle := time.NewTicker(200 * time.Millisecond)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-idle.C:
			if b.Idle > 0 && b.busy.Load() == 0 && time.Since(time.Unix(0, b.last.Load())) > b.Idle {
				return false, nil
			}
		case e, ok := <-watch.Updates():
			if !ok {
				pause(ctx, 250*time.Millisecond)
				return true, nil
			}
			if e != nil {
				b.update(ctx, e)
			}
		}
	}
}

// update handles that a sweep began, changed or ended.
func (b *labour) update(ctx context.Context, e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, s := range b.sweeps {
		if s.id == e.Key() {
			b.sweeps = append(b.sweeps[:i:i], b.sweeps[i+1:]...)
			break
		}
	}
	if e.Operation() != jetstream.KeyValuePut {
		return
	}
	s := &served{id: e.Key()}
	if err := json.Unmarshal(e.Value(), &s.info); err != nil {
		b.Say(fmt.Sprintf("sweep %s is of another version of this program: %v", s.id, err))
		return
	}
	s.info.Scenario = sweep.Printable(s.info.Scenario)
	if _, err := b.Registry.FromDescriptor([]byte(s.info.Base)); err != nil {
		b.Say(fmt.Sprintf("sweep %s of %s is left to others: %v", s.id, s.info.Scenario, err))
		_ = b.conn.Publish(noteSubject+s.id, fmt.Appendf(nil, "worker %s takes no jobs: %v", b.Name, err))
		return
	}
	b.sweeps = append(b.sweeps, s)
	b.Say(fmt.Sprintf("takes jobs of sweep %s, of %s", s.id, s.info.Scenario))
}

// all lists the sweeps to take jobs of, each time beginning with another one.
func (b *labour) all(turn int) []*served {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sweeps) == 0 {
		return nil
	}
	at := turn % len(b.sweeps)
	return slices.Concat(b.sweeps[at:], b.sweeps[:at])
}

// pull takes messages for the free cores. A worker has one request under way, not one per core, so that servers can
// serve thousands of cores.
func (b *labour) pull(ctx context.Context) {
	free := make(chan int, b.Cores)
	for core := range b.Cores {
		free <- core
	}
	var working sync.WaitGroup
	defer working.Wait()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case core := <-free:
			free <- core
		}
		sweeps := b.all(turn)
		if len(sweeps) == 0 {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		s, messages, err := b.fetch(ctx, sweeps, len(free))
		if err != nil {
			pause(ctx, 250*time.Millisecond)
		}
		for _, m := range messages {
			core := <-free // there are as many as were asked for
			working.Go(func() {
				b.busy.Add(1)
				b.do(ctx, core, s, m)
				b.last.Store(time.Now().UnixNano())
				b.busy.Add(-1)
				free <- core
			})
		}
	}
}

// fetch takes up to n messages of the first sweep that has some. If none has, it waits for one sweep's, only for a second if there are others.
func (b *labour) fetch(ctx context.Context, sweeps []*served, n int) (s *served, messages []jetstream.Msg, err error) {
	for _, s := range sweeps {
		messages, err := b.from(ctx, s, func(queue jetstream.Consumer) (jetstream.MessageBatch, error) { return queue.FetchNoWait(n) })
		if len(messages) > 0 || err != nil && len(sweeps) == 1 {
			return s, messages, err
		}
	}
	wait := time.Second
	if len(sweeps) > 1 { // another one may have jobs
		wait = 100 * time.Millisecond
	}
	messages, err = b.from(ctx, sweeps[0], func(queue jetstream.Consumer) (jetstream.MessageBatch, error) {
		return queue.Fetch(1, jetstream.FetchMaxWait(wait))
	})
	return sweeps[0], messages, err
}

// from asks for messages of a sweep.
func (b *labour) from(ctx context.Context, s *served, ask func(queue jetstream.Consumer) (jetstream.MessageBatch, error)) ([]jetstream.Msg, error) {
	b.mu.Lock()
	queue := s.queue
	b.mu.Unlock()
	var err error
	if queue == nil {
		if queue, err = b.js.Consumer(ctx, jobStream, s.id); err != nil {
			return nil, err
		}
	}
	messages, err := received(ask(queue))
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.queue = queue; err != nil { // it may be another one after its servers were away
		s.queue = nil
	}
	return messages, err
}

// received waits for the messages of a request. That there are none is no error.
func received(batch jetstream.MessageBatch, err error) (messages []jetstream.Msg, _ error) {
	if err != nil {
		return nil, err
	}
	for m := range batch.Messages() {
		messages = append(messages, m)
	}
	if err = batch.Error(); len(messages) > 0 || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) {
		err = nil
	}
	return messages, err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// do runs the jobs of a message, and acknowledges it when their rows are stored.
func (b *labour) do(ctx context.Context, core int, s *served, m jetstream.Msg) {
	var t task
	if err := decode(m.Data(), &t); err != nil {
		b.Say(fmt.Sprintf("sweep %s: %v", s.id, err))
		_ = m.TermWithReason(err.Error())
		return
	}
	delivered := uint64(1)
	if meta, err := m.Metadata(); err == nil {
		delivered = meta.NumDelivered
	}
	const others = 80 // times that it is left to other workers
	if t.Not == b.Name && delivered < others {
		_ = m.NakWithDelay(250 * time.Millisecond)
		return
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	go alive(within, m.InProgress)
	r := result{Process: b.Name, Again: t.Again}
	for i := range t.Jobs {
		row, again, err := b.perform(ctx, core, s, &t.Jobs[i], t.Again)
		if incompatible, ok := errors.AsType[*scenarios.IncompatibleError](err); ok {
			b.Say(fmt.Sprintf("a job of sweep %s is left to others: %v", s.id, incompatible))
			_ = m.NakWithDelay(2 * time.Second)
			return
		}
		if err != nil { // the end of ctx
			_ = m.Nak()
			return
		}
		if r.Rows = append(r.Rows, row); again != nil {
			r.Recorded = append(r.Recorded, *again)
		}
	}
	b.report(ctx, s, m, &r)
}

// report stores the rows, then acknowledges the jobs.
func (b *labour) report(ctx context.Context, s *served, m jetstream.Msg, r *result) {
	id := ""
	if meta, err := m.Metadata(); err == nil {
		id = fmt.Sprintf("%s-%d-%s", s.id, meta.Sequence.Stream, address(b.Name))
	}
	if err := b.store(ctx, s, id, r); err != nil {
		if ctx.Err() == nil {
			b.Say(fmt.Sprintf("sweep %s: %v", s.id, err))
			_ = m.TermWithReason(err.Error())
		}
		return
	}
	if b.Done != nil {
		b.Done(max(len(r.Rows), 1))
	}
	_ = retry(ctx, ackWait, func() error {
		within, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return m.DoubleAck(within)
	})
}

// store stores a result, in several messages if its rows are too long for one. A single row that is too long is replaced by one that says so.
func (b *labour) store(ctx context.Context, s *served, id string, r *result) error {
	data, err := encode(r)
	switch {
	case errors.Is(err, errTooLong) && len(r.Rows) > 1:
		half := len(r.Rows) / 2
		first, second := r.of(r.Rows[:half]), r.of(r.Rows[half:])
		if err := b.store(ctx, s, id+"a", first); err != nil {
			return err
		}
		return b.store(ctx, s, id+"b", second)
	case errors.Is(err, errTooLong) && len(r.Rows) == 1 && r.Rows[0].Stats != nil:
		row := r.Rows[0]
		row.Kept = "" // as of any world that is not one
		row.Status, row.Reason, row.Stats = sweep.Broken, fmt.Sprintf("its %d statistics are too long for a message of %d bytes", len(row.Stats), maxMessage), nil
		return b.store(ctx, s, id, &result{Process: r.Process, Again: r.Again, Rows: []sweep.Row{row}})
	case err != nil:
		return err
	}
	return b.publish(ctx, resultSubject+s.id, id, data)
}

// alive tells those who wait that a message is being worked on, until ctx ends.
func alive(ctx context.Context, tell func() error) {
	each := time.NewTicker(ackWait / 4)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
			_ = tell()
		}
	}
}

// perform runs one job. If the job then comes to another end when it is recorded, perform also returns the row of that end.
func (b *labour) perform(ctx context.Context, core int, s *served, j *job, again bool) (row sweep.Row, other *sweep.Row, err error) {
	world, err := j.scenario(b.Registry)
	row.Status = sweep.Broken
	if _, ok := errors.AsType[*scenarios.IncompatibleError](err); ok {
		return row, nil, err
	} else if err != nil {
		row.Reason = err.Error() // cut by Sign
	} else {
		limits := sweep.Limits{Memory: s.info.Memory, Time: s.info.Time}
		keep := s.info.Keep
		if again { // the first worker may be a faster one, and has kept what is to be kept
			limits.Time, keep = 0, Keep{}
		}
		if own := b.Memory / uint64(b.Cores); own > 0 && (limits.Memory == 0 || own < limits.Memory) {
			limits.Memory = own
		}
		if row, other, err = b.run(ctx, s, j, world, limits, &keep); err != nil {
			return row, nil, err
		}
	}
	row.Sign(j.Job, fmt.Sprintf("%s#%d", b.Name, core+1), b.Build)
	if other != nil {
		other.Sign(row.Job, row.Worker, row.Build)
		other.Stats = nil
	}
	return row, other, nil
}

// run runs the world of a job, and keeps what is to be kept of it, see perform: each time under another name, since another worker may
// bring the same job to another end, or have been told of another design.
func (b *labour) run(
	ctx context.Context, s *served, j *job, world *scenarios.Scenario, l sweep.Limits, keep *Keep,
) (row sweep.Row, other *sweep.Row, err error) {
	wants := func(*sweep.Row) bool { return false }
	if keep.States {
		wants = keep.Wants
	}
	row, state, err := sweep.PerformSaving(ctx, world, s.info.Wanted, l, wants)
	switch {
	case err != nil:
		return row, nil, err
	case state != nil:
		row.Kept = fmt.Sprintf("%s/job-%d-%s.state", s.id, j.Job, rng.FreshID())
		return row, nil, b.put(ctx, row.Kept, func(to io.Writer) error {
			_, err := to.Write(state)
			return err
		})
	case !keep.States && row.Ran() && keep.Wants(&row):
		row.Kept = fmt.Sprintf("%s/job-%d-%s.murk", s.id, j.Job, rng.FreshID())
		var again sweep.Row
		err := b.put(ctx, row.Kept, func(to io.Writer) (err error) {
			again, err = sweep.RecordAgain(ctx, world, &row, to)
			return err
		})
		if !row.EndsLike(&again) {
			other = &again
		}
		return row, other, err
	}
	return row, nil, nil
}

// put puts what is written into the bucket of files, and returns when all writing is over.
func (b *labour) put(ctx context.Context, name string, write func(to io.Writer) error) error {
	return retry(ctx, 0, func() error {
		from, to := io.Pipe()
		var writing sync.WaitGroup
		writing.Go(func() { to.CloseWithError(write(to)) })
		_, err := b.files.Put(ctx, jetstream.ObjectMeta{Name: name}, from)
		from.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		writing.Wait()
		return err
	})
}

// record answers a request to record a job.
func (b *labour) record(ctx context.Context, m *nats.Msg) {
	var r recordRequest
	err := decode(m.Data, &r)
	if err == nil {
		within, stop := context.WithCancel(ctx)
		defer stop()
		if r.Alive {
			go alive(within, func() error { return m.Respond([]byte(stillAlive)) })
		}
		err = b.recordJob(ctx, &r)
	}
	answer := "ok"
	if ctx.Err() != nil {
		answer = "it was ended"
	} else if err != nil {
		answer = err.Error()
	}
	_ = m.Respond([]byte(answer))
}

// recordJob records a job, one after another, and puts the recording into the bucket of files.
func (b *labour) recordJob(ctx context.Context, r *recordRequest) error {
	select {
	case b.recording <- struct{}{}:
		defer func() { <-b.recording }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s, err := r.Job.scenario(b.Registry)
	if err != nil {
		return err
	}
	return b.put(ctx, r.Name, func(to io.Writer) error {
		row, err := sweep.Record(ctx, s, cmp.Or(r.Until, s.Ticks), to, sweep.Limits{Memory: b.Memory / uint64(b.Cores)})
		if err == nil && row.Status == sweep.Memory {
			err = permanent{errors.New(row.Reason)}
		}
		return err
	})
}
