package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say how to reach the servers.
type Options struct {
	URL         string // one or more, with commas between them
	Token       string // that the servers ask for; one in the URL counts before it
	Credentials string // a file; "": none but those in the URL
	CA          string // a file with the certificates of authorities; "": the system's
	Cert, Key   string // files: this client's certificate and its key; "": none
}

// A link is a connection, and the streams and buckets that a sweep uses.
type link struct {
	conn  *nats.Conn
	js    jetstream.JetStream
	files jetstream.ObjectStore
	infos jetstream.KeyValue
	say   func(string)
}

// connect connects to the servers, and makes the streams if they are not there yet. It tries a server that does not
// answer again for at most that time; 0: forever.
func connect(ctx context.Context, o Options, name string, most time.Duration, say func(string)) (*link, error) {
	options := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(2 * time.Second),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2), // a server that is cut off does not say so
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say("the connection is lost; trying again")
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { say("connected again, to " + Redacted(c.ConnectedUrl())) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if o.Token != "" {
		options = append(options, nats.Token(o.Token))
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		options = append(options, nats.ClientCert(o.Cert, o.Key))
	}
	l, said := &link{say: say}, false
	err := retry(ctx, most, func() (err error) {
		l.conn, err = nats.Connect(o.URL, options...)
		if _, away := errors.AsType[net.Error](err); err != nil && !away && !errors.Is(err, nats.ErrNoServers) {
			return permanent{err}
		}
		if err != nil && !said && most == 0 {
			said = true
			say(fmt.Sprintf("no server at %s yet (%v); trying again", Redacted(o.URL), withoutURL(err)))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", Redacted(o.URL), withoutURL(err))
	}
	if l.js, err = jetstream.New(l.conn); err == nil {
		err = l.prepareWithin(ctx, most)
	}
	if err != nil {
		l.conn.Close()
		return nil, fmt.Errorf("%s: %w", Redacted(o.URL), err)
	}
	return l, nil
}

// A permanent error cannot be cured by trying again.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Redacted returns URLs without user and password, which stand before an @.
func Redacted(urls string) string {
	var list []string
	for piece := range strings.SplitSeq(urls, ",") {
		if n := len(list); n > 0 && !strings.Contains(piece, "://") && strings.Contains(piece, "@") {
			list[n-1] += "," + piece // a comma within a password
			continue
		}
		list = append(list, piece)
	}
	for i, u := range list {
		if at := strings.LastIndexByte(u, '@'); at >= 0 {
			scheme, _, ok := strings.Cut(u, "://")
			if !ok {
				scheme = "nats"
			}
			list[i] = scheme + "://…@" + u[at+1:]
		}
	}
	return strings.Join(list, ",")
}

// withoutURL is an error that may name a URL, without it.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// prepareWithin calls prepare until it succeeds: for some seconds, a cluster that has just been started or has just
// lost a server has no leader. It gives up after half a minute, or never if most is 0.
func (l *link) prepareWithin(ctx context.Context, most time.Duration) error {
	if most > 0 {
		most = patience
	}
	began, said := time.Now(), false
	return retry(ctx, most, func() error {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err := l.prepare(within)
		if err != nil && ctx.Err() == nil && !said && time.Since(began) > 5*time.Second {
			said = true
			l.say(fmt.Sprintf("the servers are not ready (%v); trying again", err))
		}
		return err
	})
}

// prepare makes the streams and buckets, on three servers of a cluster. The list of servers that the client knows
// does not say how many there are: it may not know the others yet.
func (l *link) prepare(ctx context.Context) error {
	replicas := 1
	if l.conn.ConnectedClusterName() != "" {
		replicas = 3
	}
	within, cancel := context.WithTimeout(ctx, time.Second) // without a leader no server answers
	defer cancel()
	_, err := l.js.AccountInfo(within)
	off := errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
	switch {
	case off && replicas == 1:
		return permanent{errors.New("the server has no JetStream: it was started without -js, or its disk is full")}
	case err != nil:
		return err
	}
	return l.make(ctx, replicas)
}

func (l *link) make(ctx context.Context, replicas int) (err error) {
	for _, c := range []jetstream.StreamConfig{
		{Name: jobStream, Description: "jobs of sweeps, until a worker has done them", Subjects: []string{jobSubject + "*"}},
		{Name: resultStream, Description: "rows of sweeps, until their coordinator has them", Subjects: []string{resultSubject + "*"}},
	} {
		c.Retention, c.Replicas, c.Duplicates = jetstream.WorkQueuePolicy, replicas, 2*time.Minute
		if _, err := l.js.Stream(ctx, c.Name); err == nil {
			continue // keep an existing stream as its owner configured it
		}
		if _, err := l.js.CreateStream(ctx, c); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err
		}
	}
	if l.infos, err = l.js.KeyValue(ctx, sweepBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
		l.infos, err = l.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: sweepBucket, Replicas: replicas})
	}
	if err != nil {
		return err
	}
	if l.files, err = l.js.ObjectStore(ctx, fileBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
		l.files, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: fileBucket, Replicas: replicas, TTL: 24 * time.Hour})
	}
	return err
}

// retry calls f until it succeeds, ctx ends, or the time is over; 0: no limit.
func retry(ctx context.Context, most time.Duration, f func() error) error {
	began, wait := time.Now(), 50*time.Millisecond
	for {
		err := f()
		if _, vain := errors.AsType[permanent](err); err == nil || vain || ctx.Err() != nil || most > 0 && time.Since(began) > most {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// publish stores a message, however long that takes. Messages with the same id are stored once within some
// minutes.
func (l *link) publish(ctx context.Context, subject, id string, data []byte) error {
	began, said := time.Now(), false
	return retry(ctx, 0, func() error {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := l.js.Publish(within, subject, data, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		const passing = 10 * time.Second // there may be no leader for so long
		if err != nil && ctx.Err() == nil && !said && time.Since(began) > passing {
			said = true
			l.say(fmt.Sprintf("a message cannot be stored (%v); trying again", err))
		}
		return err
	})
}

func (l *link) close() { l.conn.Close() }

// Check says whether the servers can be reached, and returns the URL of the one that answered.
func Check(ctx context.Context, o Options) (url string, err error) {
	l, err := connect(ctx, o, "check", time.Second, func(string) {})
	if err != nil {
		return "", err
	}
	defer l.close()
	return Redacted(l.conn.ConnectedUrl()), nil
}
