package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// post publishes a value as what workers or the coordinator send.
func post(b *bench, js jetstream.JetStream, subject string, v any) {
	b.Helper()
	if _, err := js.Publish(b.Context(), subject, pack(b, v)); err != nil {
		b.Fatal(err)
	}
}

// pack makes a message of a value.
func pack(b *bench, v any) []byte {
	b.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	return w.EncodeAll(text, nil)
}

// sweepID waits until a sweep is on the server, and returns its id.
func sweepID(b *bench, js jetstream.JetStream) string {
	b.Helper()
	var keys []string
	waiting.For(b, "there is a sweep on the server", func() bool {
		bucket, err := js.KeyValue(b.Context(), "murksim_sweeps")
		if err == nil {
			keys, err = bucket.Keys(b.Context())
		}
		return err == nil && len(keys) == 1
	})
	return keys[0]
}

// begin starts a sweep, without workers.
func (b *bench) begin(c cluster.Config) (done chan error, js jetstream.JetStream, id string) {
	b.Helper()
	done = make(chan error, 1)
	go func() { done <- cluster.Run(b.Context(), c) }()
	js = b.jetStream()
	return done, js, sweepID(b, js)
}

// forgery is a row of job 2 with a false hash.
func forgery(b *bench, c *cluster.Config) sweep.Row {
	b.Helper()
	s, err := c.Make([]string{"seed=3"})
	if err != nil {
		b.Fatal(err)
	}
	return sweep.Row{Job: 2, ID: sweep.IDOf(s), Status: sweep.OK, Ticks: 10, Hash: "0123456789abcdef", Worker: "evil#1"}
}

// A sweep takes no row that none of its workers can have made, and ends with the table of one machine.
func TestForgedRowsAreRefused(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	const seeds = 20
	want := b.local(seeds)
	c, j := b.sweep(seeds)
	done, js, id := b.begin(c)
	forged := forgery(b, &c)
	row := func(change func(r *sweep.Row)) map[string]any {
		r := forged
		change(&r)
		return map[string]any{"process": "evil", "rows": []sweep.Row{r}}
	}
	for _, message := range []map[string]any{
		row(func(r *sweep.Row) { r.Status = sweep.Equal }),
		row(func(r *sweep.Row) { r.Status, r.As = sweep.Equal, 1e9 }),
		row(func(r *sweep.Row) { r.Status = "fine" }),
		row(func(r *sweep.Row) { r.Stats = make([]sweep.Number, 50) }),
		row(func(r *sweep.Row) { r.Worker = "somebody#1" }),
		row(func(r *sweep.Row) { r.Kept = "../../etc/passwd" }),
		row(func(r *sweep.Row) { r.Seconds = -1 }),
		row(func(r *sweep.Row) { r.Hash = strings.Repeat("0", 17<<20) }),
		row(func(r *sweep.Row) { r.Digest = strings.Repeat("0", 1<<20) }),
		row(func(r *sweep.Row) { r.Build = strings.Repeat("0", 1<<20) }),
		{"process": strings.Repeat("e", 1<<20), "rows": []sweep.Row{forged, forged}},
		row(func(r *sweep.Row) { r.Job = seeds }),
		row(func(r *sweep.Row) { r.Job = -1 }),
		row(func(r *sweep.Row) { r.Job = 3 }), // whose id is another one
		{"process": "evil", "rows": make([]sweep.Row, 257)},
	} {
		post(b, js, "murksim.results."+id, message)
	}
	post(b, js, "murksim.jobs."+id, map[string]any{"errand": map[string]any{"number": 1, "file": "x"}}) // what it has of something else is no job
	b.work("one", registry(t, false, 1))
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
	said := b.said.String()
	if n, others := strings.Count(said, "is not taken"), strings.Count(said, "is of another sweep"); n != 12 || others != 3 || !b.heard("more than 256 jobs") {
		t.Errorf("%d rows were refused for what they say, want 12, and %d as those of another sweep, want 3:\n%s", n, others, said)
	}
}

// A row that an honest worker makes is taken, however long its reason is, and whatever its host is called.
func TestLongReasonsAreTaken(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	var expect strings.Builder
	for i := range 64 {
		fmt.Fprintf(&expect, "{field: heat, cell: [%d], value: %d.5, tolerance: 0.001, tick: %d},", i%16, 30+i, 1+i/16)
	}
	c, j := b.sweep(4, "expect=["+expect.String()+"]")
	b.work("= @+-one", registry(t, false, 1))
	if err := cluster.Run(b.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if r, err := j.Row(3); err != nil || r.Status != sweep.Failed || !strings.HasSuffix(r.Reason, "…") || sweep.Process(r.Worker) != "one" {
		t.Errorf("the row is %+v, %v", r, err)
	}
	if b.heard("is not taken") {
		t.Error(b.said.String())
	}
}

// Two rows of one job in one result are compared like any two.
func TestTwoRowsOfOneJob(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	c, _ := b.sweep(5)
	done, js, id := b.begin(c)
	r := forgery(b, &c)
	other := r
	other.Hash = "fedcba9876543210"
	post(b, js, "murksim.results."+id, map[string]any{"process": "evil", "rows": []sweep.Row{r, other}})
	err := <-done
	if e, ok := errors.AsType[*sweep.DifferError](err); !ok || e.Checks[0].Job != 2 {
		t.Errorf("Run = %v, want job 2 to differ", err)
	}
}

// TestRechecksNotAskedFor: a row of a job that was run again counts also if an earlier process asked for it, if it differs; if it is equal,
// any worker could send it, so it proves nothing.
func TestRechecksNotAskedFor(t *testing.T) {
	for _, differs := range []bool{false, true} {
		b := newBench(t, cluster.ServerConfig{})
		b.start(cluster.Worker{Registry: registryOf(t, truth{takes: 100 * time.Millisecond}, 1), Cores: 1, Name: "one"})
		c, j := b.sweep(20)
		js, again := b.jetStream(), b.honest(&c, 2)
		if again.Worker = "evil#1"; differs {
			again.Hash = "0123456789abcdef"
		}
		c.Added = func(rows []sweep.Row, _ []sweep.Check) error {
			if slices.ContainsFunc(rows, func(r sweep.Row) bool { return r.Job == 2 }) {
				post(b, js, "murksim.results."+sweepID(b, js), map[string]any{"process": "evil", "again": true, "rows": []sweep.Row{again, again}})
			}
			return nil
		}
		err := cluster.Run(t.Context(), c)
		if e, ok := errors.AsType[*sweep.DifferError](err); ok != differs || ok && len(e.Checks) != 1 || !differs && (err != nil || len(j.Checks) != 0) {
			t.Errorf("differs %v: Run = %v, and the checks are %+v", differs, err, j.Checks)
		}
	}
}

// Sweeps that nobody goes on with do not slow down the one that somebody does. The quickest of several counts.
func TestAbandonedSweeps(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("one", registry(t, false, 1))
	took := func() time.Duration {
		c, _ := b.sweep(300)
		c.Journal.Head.Pick = fmt.Sprint(time.Now().UnixNano())
		began := time.Now()
		if err := cluster.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	alone := took()
	for i := range 12 {
		c, _ := b.sweep(1)
		c.Journal.Head.Pick = fmt.Sprint("abandoned ", i)
		c.Added = func([]sweep.Row, []sweep.Check) error { return errors.New("enough") }
		if err := cluster.Run(t.Context(), c); err == nil {
			t.Fatal("the sweep goes on")
		}
	}
	beside := took()
	for range 20 {
		if beside <= 20*alone+5*time.Second {
			return
		}
		beside = min(beside, took())
	}
	t.Errorf("300 jobs take %v, and %v beside 12 sweeps that were abandoned", alone, beside)
}
