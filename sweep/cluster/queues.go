package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/sweep"
)

// open makes the queues of an id, with an empty job queue, and tells workers about them. It tries for so long; 0: forever.
func (l *link) open(ctx context.Context, most time.Duration, id string, i *Info) (results jetstream.Consumer, err error) {
	info, err := json.Marshal(i)
	if err != nil {
		return nil, err
	}
	err = retry(ctx, most, func() error {
		jobs, err := l.js.Stream(ctx, jobStream)
		if err != nil {
			return err
		}
		if err := jobs.Purge(ctx, jetstream.WithPurgeSubject(jobSubject+id)); err != nil { // of an earlier process: those without rows are published anew
			return err
		}
		if _, err := jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: id, FilterSubject: jobSubject + id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 100_000, MaxWaiting: 16384,
		}); err != nil {
			return err
		}
		results, err = l.js.CreateOrUpdateConsumer(ctx, resultStream, jetstream.ConsumerConfig{
			Durable: id, FilterSubject: resultSubject + id, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 4096,
		})
		if err != nil {
			return err
		}
		_, err = l.infos.Put(ctx, id, info)
		return err
	})
	if err != nil {
		err = fmt.Errorf("the servers cannot make the queues: %w", err)
	}
	return results, err
}

// How often the coordinator looks at the queue, and how many times in a row it must find it empty although jobs are waiting: a
// server that was killed may have lost jobs that another server still has.
const (
	lookEvery    = 2 * time.Second
	lookPatience = 4
)

// empty reports whether the queues of an id certainly hold neither jobs nor results.
func (l *link) empty(ctx context.Context, id string) bool {
	for _, stream := range [...]string{jobStream, resultStream} {
		queue, err := l.js.Consumer(ctx, stream, id)
		switch {
		case errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound):
		case err != nil:
			return false
		default:
			if i := queue.CachedInfo(); i.NumPending > 0 || i.NumAckPending > 0 {
				return false
			}
		}
	}
	return true
}

// notes passes on what workers tell people who wait for an id, the first twenty of them.
func (l *link) notes(id string) (*nats.Subscription, error) {
	const most = 20
	var heard atomic.Int64
	return l.conn.Subscribe(noteSubject+id, func(m *nats.Msg) {
		if heard.Add(1) <= most {
			l.say(fmt.Sprintf("%.300s", sweep.Printable(string(m.Data))))
		}
	})
}

// retire removes the queues of an id from the servers.
func (l *link) retire(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = l.infos.Delete(ctx, id)
	_ = l.js.DeleteConsumer(ctx, jobStream, id)
	_ = l.js.DeleteConsumer(ctx, resultStream, id)
	for stream, subject := range map[string]string{jobStream: jobSubject, resultStream: resultSubject} {
		if s, err := l.js.Stream(ctx, stream); err == nil {
			_ = s.Purge(ctx, jetstream.WithPurgeSubject(subject+id))
		}
	}
}
