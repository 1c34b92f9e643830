package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/sweep"
)

// An Errand is a piece of work on a file, such as verifying a recording.
type Errand struct {
	Path string // of the file, here; a worker gets a copy of it
	Ask  []byte // what the worker is to do with it
}

// An Answer is what a worker says of an errand.
type Answer struct {
	Worker string // its process
	Text   []byte
	err    error // there is no text
}

// A Doer carries out errands of one kind. It returns an error only if ctx ended, or if it cannot carry out errands at
// present; then another worker is asked. What is wrong with the file is an answer.
type Doer func(ctx context.Context, path string, ask []byte) (answer []byte, err error)

// Errands sends errands of one kind to workers that are connected to the same servers.
type Errands struct {
	*link
	id, kind string
	ctx      context.Context
	stop     context.CancelFunc
	ended    sync.WaitGroup

	mu      sync.Mutex // of what follows
	wake    *sync.Cond // an errand has ended, or ctx has
	next    int
	waiting map[int]*waitingErrand
	bytes   int64 // of the files of those
	heard   bool  // a worker has answered
	news    int   // answers, and errands sent
}

type waitingErrand struct {
	Errand
	answer chan Answer
	sent   bool // it is in the queue
}

const (
	maxErrandBytes = 1 << 30          // that lie on the servers at a time, if it is more than one file
	errandBeat     = 10 * time.Second // how often workers are told that the sender is alive
	errandSilence  = time.Minute      // after which workers drop errands whose sender is silent
)

// OpenErrands connects to servers to send errands. The workers that take them have a [Doer] of this kind.
func OpenErrands(ctx context.Context, o Options, kind, name string, say func(string)) (*Errands, error) {
	l, err := connect(ctx, o, name, 10*time.Second, say)
	if err != nil {
		return nil, err
	}
	e := &Errands{link: l, id: kind + "-" + rng.FreshID()[:8], kind: kind, waiting: map[int]*waitingErrand{}}
	e.wake = sync.NewCond(&e.mu)
	e.ctx, e.stop = context.WithCancel(ctx)
	var results jetstream.Consumer
	if _, err = e.notes(e.id); err == nil {
		results, err = e.open(e.ctx, patience, e.id, &Info{Kind: kind})
	}
	if err != nil {
		e.stop()
		l.close()
		return nil, fmt.Errorf("%s: %w", Redacted(o.URL), err)
	}
	context.AfterFunc(e.ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.wake.Broadcast()
	})
	e.ended.Go(func() { e.collect(results) })
	e.ended.Go(e.watch)
	e.ended.Go(e.beat)
	waits := time.AfterFunc(errandBeat, e.sayWaiting)
	context.AfterFunc(e.ctx, func() { waits.Stop() })
	return e, nil
}

// Close takes the errands from the servers. Those that wait for an answer end with an error.
func (e *Errands) Close() {
	e.stop()
	e.ended.Wait()
	e.retire(e.id)
	e.close()
}

func (e *Errands) sayWaiting() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.heard && len(e.waiting) > 0 {
		e.say("waiting for workers, which connect to " + Redacted(e.conn.ConnectedUrl()))
	}
}

// Do has a worker carry out an errand, and returns its answer. Several goroutines may call it.
func (e *Errands) Do(ctx context.Context, errand Errand) (Answer, error) {
	info, err := os.Stat(errand.Path)
	if err != nil {
		return Answer{}, err
	}
	if !info.Mode().IsRegular() {
		return Answer{}, errors.New("it is not a regular file, which alone can be sent to workers")
	}
	number, w, err := e.room(errand, info.Size())
	if err != nil {
		return Answer{}, err
	}
	defer e.forget(number, info.Size())
	if err := e.send(ctx, number, w); err != nil {
		return Answer{}, err
	}
	select {
	case a := <-w.answer:
		return a, a.err
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case <-e.ctx.Done():
		return Answer{}, e.ctx.Err()
	}
}

// room waits until the servers have room for a file.
func (e *Errands) room(errand Errand, size int64) (number int, w *waitingErrand, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 && e.bytes+size > maxErrandBytes && e.ctx.Err() == nil {
		e.wake.Wait()
	}
	e.bytes += size
	w = &waitingErrand{Errand: errand, answer: make(chan Answer, 1)}
	number, e.next = e.next, e.next+1
	e.waiting[number] = w
	return number, w, e.ctx.Err()
}

// forget ends an errand.
func (e *Errands) forget(number int, size int64) {
	e.mu.Lock()
	delete(e.waiting, number)
	e.bytes -= size
	e.wake.Broadcast()
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 5*time.Second)
	defer cancel()
	_ = e.files.Delete(ctx, e.object(number)) // else it goes with its age
}

func (e *Errands) object(number int) string { return e.id + "/" + strconv.Itoa(number) }

// send stores the file, then what is to be done with it.
func (e *Errands) send(ctx context.Context, number int, w *waitingErrand) error {
	err := retry(ctx, 0, func() error {
		f, err := os.Open(w.Path)
		if err != nil {
			return permanent{err}
		}
		defer f.Close()
		_, err = e.files.Put(ctx, jetstream.ObjectMeta{Name: e.object(number)}, f)
		return err
	})
	if err != nil {
		return err
	}
	data, err := encode(&task{Errand: &errandTask{Number: number, File: e.object(number), Ask: w.Ask}})
	if err != nil {
		return err
	}
	if err := e.publish(ctx, jobSubject+e.id, fmt.Sprintf("%s-%d-%d", e.id, number, time.Now().UnixNano()), data); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.news++
	w.sent = true
	return nil
}

// collect takes in answers.
func (e *Errands) collect(results jetstream.Consumer) {
	for e.ctx.Err() == nil {
		batch, err := results.Fetch(64, jetstream.FetchMaxWait(250*time.Millisecond))
		if err != nil {
			pause(e.ctx, 250*time.Millisecond)
			continue
		}
		for m := range batch.Messages() {
			var r result
			if err := decode(m.Data(), &r); err != nil || r.Errand == nil {
				e.say("an answer cannot be read")
				_ = m.Term()
				continue
			}
			e.take(&r)
			_ = m.Ack()
		}
	}
}

// take passes on an answer. A second one to the same errand is dropped.
func (e *Errands) take(r *result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = true
	e.news++
	var err error
	if r.Errand.Error != "" {
		err = fmt.Errorf("worker %s: %.200s", r.Process, sweep.Printable(r.Errand.Error))
	}
	if w := e.waiting[r.Errand.Number]; w != nil {
		select {
		case w.answer <- Answer{r.Process, r.Errand.Answer, err}:
		default:
		}
	}
}

// watch sends errands again that the queue has lost.
func (e *Errands) watch() {
	seen, quiet := -1, 0
	for pause(e.ctx, lookEvery); e.ctx.Err() == nil; pause(e.ctx, lookEvery) {
		empty := e.empty(e.ctx, e.id)
		e.mu.Lock()
		if quiet++; !empty || len(e.sent()) == 0 || e.news != seen {
			quiet = 0
		}
		seen = e.news
		e.mu.Unlock()
		if quiet >= lookPatience {
			quiet = 0
			e.sendAgain()
		}
	}
}

// sent lists the errands that are in the queue, or were. The caller holds mu.
func (e *Errands) sent() map[int]*waitingErrand {
	list := map[int]*waitingErrand{}
	for number, w := range e.waiting {
		if w.sent {
			list[number] = w
		}
	}
	return list
}

// beat tells workers that the sender is alive.
func (e *Errands) beat() {
	for pause(e.ctx, errandBeat); e.ctx.Err() == nil; pause(e.ctx, errandBeat) {
		ctx, cancel := context.WithTimeout(e.ctx, errandBeat)
		if entry, err := e.infos.Get(ctx, e.id); err == nil {
			_, _ = e.infos.Put(ctx, e.id, entry.Value())
		}
		cancel()
	}
}

// sendAgain sends what waits for an answer once more.
func (e *Errands) sendAgain() {
	e.say("files are gone from the queue; they are sent again")
	if _, err := e.open(e.ctx, lookEvery, e.id, &Info{Kind: e.kind}); err != nil {
		return // the next look tries again
	}
	e.mu.Lock()
	waiting := e.sent()
	e.mu.Unlock()
	for number, w := range waiting {
		if err := e.send(e.ctx, number, w); err != nil {
			return
		}
	}
}

// errandTask is an errand as it is sent.
type errandTask struct {
	Number int    `json:"number"`
	File   string `json:"file"` // in the bucket of files
	Ask    []byte `json:"ask"`
}

// errandResult is an answer as it is sent.
type errandResult struct {
	Number int    `json:"number"`
	Answer []byte `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"` // there is no answer
}

// errand carries out an errand, and acknowledges it when the answer is stored.
func (b *labour) errand(ctx context.Context, s *served, m jetstream.Msg, t *errandTask) {
	do := b.Errands[s.info.Kind]
	if do == nil {
		_ = m.TermWithReason("a sweep has no errands")
		return
	}
	path, err := b.download(ctx, t.File)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		if meta, err := m.Metadata(); err == nil && time.Since(meta.Timestamp) < behind {
			_ = m.NakWithDelay(behind / 10)
			return
		}
		_ = m.TermWithReason("it has an answer") // and if not it is sent again
		return
	}
	if err == nil {
		defer os.Remove(path)
		var answer []byte
		if answer, err = do(ctx, path, t.Ask); err == nil {
			r := errandResult{Number: t.Number, Answer: answer}
			if len(answer) > maxMessage/2 {
				r = errandResult{Number: t.Number, Error: fmt.Sprintf("its answer of %d bytes is too long", len(answer))}
			}
			b.report(ctx, s, m, &result{Process: b.Name, Errand: &r})
			return
		}
	}
	if ctx.Err() == nil {
		b.Say(fmt.Sprintf("%s: %v; it is left to others", s.id, err))
		_ = b.conn.Publish(noteSubject+s.id, fmt.Appendf(nil, "worker %s leaves a file to others: %v", b.Name, err))
	}
	_ = m.NakWithDelay(time.Second)
	pause(ctx, 2*time.Second) // so that others have it first
}

// download copies a file of the servers into a temporary one.
func (b *labour) download(ctx context.Context, name string) (path string, err error) {
	info, err := b.files.GetInfo(ctx, name)
	if err != nil {
		return "", err
	}
	const slow = 64 << 10 // bytes a second, with which it must come
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(info.Size/slow)*time.Second)
	defer cancel()
	object, err := b.files.Get(ctx, name)
	if err != nil {
		return "", err
	}
	defer object.Close()
	f, err := os.CreateTemp("", "murksim-worker-*")
	if err != nil {
		return "", err
	}
	if _, err = io.Copy(f, object); err == nil {
		err = object.Error() // of its digest
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}
