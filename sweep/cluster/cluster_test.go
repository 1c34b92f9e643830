package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
	"github.com/murksim/murksim/sweep/cluster/server"
)

const tinyText = `murksim: 1
name: tiny
ticks: 10
space: {kind: ring, length: 16}
fields:
  - {name: heat, initial: {noise: {from: 0, to: 1}}, min: 0, max: 100}
propagators:
  - noise: {field: heat, scale: 0.5}
  - truth: {field: heat}
probes:
  - {name: first, field: heat, cell: [0]}
`

// A truth is a component that tells the truth, or lies in a share of the worlds.
type truth struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it changes."`
	lies  bool
	takes time.Duration

	fickle bool // it says another thing each time

	until <-chan struct{} // it waits for that; nil: for nothing
}

// told counts the worlds of fickle truths.
var told atomic.Uint32

func (p *truth) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	t := &teller{name: name, field: b.Field(p.Field), lies: p.lies, takes: p.takes, until: p.until}
	if p.fickle {
		t.adds = float32(told.Add(1) % 50)
	}
	return t, nil
}

type teller struct {
	name  string
	field fields.ID
	lies  bool
	takes time.Duration
	until <-chan struct{}
	adds  float32
}

func (t *teller) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: t.name, Incremental: engine.Fields(t.field)}
}

// Step changes one bit of one value at tick 7, in one of ten worlds. It takes its time.
func (t *teller) Step(c *engine.Context) error {
	if c.Tick() == 7 {
		time.Sleep(t.takes)
		if t.until != nil {
			<-t.until
		}
	}
	next := c.Next(t.field)
	if t.lies && c.Tick() == 7 && math.Float32bits(next[3])%10 == 0 {
		next[3] = math.Float32frombits(math.Float32bits(next[3]) ^ 1)
	}
	if t.adds > 0 && c.Tick() == 7 {
		next[3] += t.adds
	}
	return nil
}

func registry(t testing.TB, lies bool, version int) *scenarios.Registry {
	t.Helper()
	return registryOf(t, truth{lies: lies}, version)
}

func registryOf(t testing.TB, p truth, version int) *scenarios.Registry {
	t.Helper()
	r, err := scenarios.NewRegistry(append(worlds.Components(), scenarios.Component{
		Name: "truth", Version: version, About: "Tells the truth.", Params: func() any { c := p; return &c },
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A field is what a test runs on: a server, and the words that everybody says.
type bench struct {
	testing.TB
	server cluster.Server
	mu     sync.Mutex
	said   strings.Builder
}

func newBench(t testing.TB, c cluster.ServerConfig) *bench {
	t.Helper()
	b := &bench{TB: t}
	c.Listen, c.Store, c.Say = "127.0.0.1:0", t.TempDir(), b.say("server")
	var err error
	if b.server, err = server.Start(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.server.Stop)
	return b
}

func (b *bench) say(who string) func(string) {
	return func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		fmt.Fprintf(&b.said, "%s: %s\n", who, text)
	}
}

// jetStream connects to the server.
func (b *bench) jetStream() jetstream.JetStream {
	b.Helper()
	conn, err := nats.Connect(b.server.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	return js
}

func (b *bench) heard(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.said.String(), text)
}

// work starts a worker, and returns what ends it.
func (b *bench) work(name string, r *scenarios.Registry) (stop func()) {
	return b.start(cluster.Worker{Registry: r, Cores: 2, Name: name})
}

func (b *bench) start(w cluster.Worker) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	w.Options, w.Build, w.Say = cluster.Options{URL: b.server.URL()}, "test", b.say(w.Name)
	go func() { done <- cluster.Work(ctx, w) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			b.Errorf("worker %s: %v", w.Name, err)
		}
	})
	b.Cleanup(stop)
	return stop
}

// sweep makes a sweep of some seeds, whose journal is in a folder of its own.
func (b *bench) sweep(seeds uint64, sets ...string) (cluster.Config, *sweep.Journal) {
	b.Helper()
	template, err := yaml.NewTemplate(registry(b, false, 1), "tiny", nil, []byte(tinyText))
	if err != nil {
		b.Fatal(err)
	}
	s, err := template.With(sets...)
	if err != nil {
		b.Fatal(err)
	}
	d := sweep.Design{Scenario: "tiny", Seeds: []sweep.Span{{From: 1, To: seeds, Step: 1}}}
	values, err := export.NewValues(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	j, err := sweep.CreateJournal(filepath.Join(dir, "journal"), sweep.Head{Form: 1, Design: d, Base: sweep.IDOf(s), Jobs: int(seeds), Stats: values.Names(), Pick: b.Name()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	return cluster.Config{
		Config: sweep.Config{
			Journal: j, Workers: 2, Build: "test", Name: "coordinator", Folder: dir,
			Make: func(more []string) (*scenarios.Scenario, error) { return template.With(slices.Concat(sets, more)...) },
		},
		Options: cluster.Options{URL: b.server.URL()}, Base: s, Say: b.say("coordinator"),
	}, j
}

// table is the table of a journal, without what differs from run to run.
func table(t testing.TB, j *sweep.Journal) string {
	t.Helper()
	var b bytes.Buffer
	format, err := export.StatsFormatOf("-")
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Table(sweep.Output{To: &b, Format: format}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		n := len(columns)
		out.WriteString(strings.Join(append(columns[:n-6], columns[n-1]), ",") + "\n") // without recheck, kept, seconds, worker and build
	}
	return out.String()
}

// local is the table of the same sweep on this machine alone.
func (b *bench) local(seeds uint64) string {
	b.Helper()
	c, j := b.sweep(seeds)
	if err := sweep.Run(b.Context(), c.Config); err != nil {
		b.Fatal(err)
	}
	return table(b, j)
}

func TestTableIsThatOfOneMachine(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{Token: "secret"})
	want := b.local(500)
	b.work("one", registry(t, false, 1))
	b.work("two", registry(t, false, 1))
	c, j := b.sweep(500)
	c.Recheck, c.Keep = 0.1, cluster.Keep{Share: 0.02}
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
	if n := len(j.Checks); n < 25 || n > 80 || len(j.Differing()) != 0 {
		t.Errorf("%d of 500 jobs were run again, %d differ; want about 50 and none", n, len(j.Differing()))
	}
	kept, _ := filepath.Glob(filepath.Join(c.Folder, "recordings", "job-*.murk"))
	if len(kept) < 2 {
		t.Errorf("%d recordings are kept, want about 10", len(kept))
	}
	if _, err := cluster.Check(t.Context(), cluster.Options{URL: strings.Replace(b.server.URL(), "secret", "guess", 1)}); err == nil || strings.Contains(err.Error(), "guess") {
		t.Errorf("with a wrong token the error is %v", err)
	}
}

// Last states come from workers, too, and are those of one machine.
func TestStatesAreKept(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("one", registry(t, false, 1))
	here, _ := b.sweep(20)
	here.Config.Keep, here.KeepStates = func(*sweep.Row) bool { return true }, true
	if err := sweep.Run(t.Context(), here.Config); err != nil {
		t.Fatal(err)
	}
	there, _ := b.sweep(20)
	there.Keep = cluster.Keep{Share: 1, States: true}
	if err := cluster.Run(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	for job := range 20 {
		name := filepath.Join("states", fmt.Sprintf("job-%d.state", job))
		want, err1 := os.ReadFile(filepath.Join(here.Folder, name))
		got, err2 := os.ReadFile(filepath.Join(there.Folder, name))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("the state of job %d has %d bytes, want the %d of one machine: %v, %v", job, len(got), len(want), err1, err2)
		}
	}
}

// A worker that is ended in the middle loses no job; one without the components, or with others, takes none.
func TestWorkersComeAndGo(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	want := b.local(3000)
	b.work("other", registry(t, false, 2))
	c, j := b.sweep(3000)
	c.Recheck = 0.01
	var rows atomic.Int64
	c.Added = func(list []sweep.Row, _ []sweep.Check) error { rows.Add(int64(len(list))); return nil }
	done := make(chan error, 1)
	go func() { done <- cluster.Run(t.Context(), c) }()
	for i := range 6 {
		before := rows.Load()
		stop := b.work(fmt.Sprintf("worker-%d", i), registry(t, false, 1))
		waiting.For(t, "a worker has done some jobs", func() bool { return rows.Load() >= before+50 || rows.Load() == 3000 })
		stop()
	}
	b.work("last", registry(t, false, 1))
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
	if !b.heard(`other: sweep `) || !b.heard("truth@1") || !b.heard("coordinator: worker other takes no jobs: ") {
		t.Errorf("the worker with another component said nothing:\n%s", b.said.String())
	}
	for job := range 3000 {
		if row, err := j.Row(job); err != nil || strings.HasPrefix(row.Worker, "other#") {
			t.Fatalf("job %d was run by %s, %v", job, row.Worker, err)
		}
	}
}

// A coordinator that ends in the middle continues where it was.
func TestCoordinatorComesBack(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	want := b.local(2000)
	b.work("one", registry(t, false, 1))
	c, j := b.sweep(2000)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		rows := 0
		c.Added = func(list []sweep.Row, _ []sweep.Check) error {
			if rows += len(list); rows > 300 {
				cancel()
			}
			return nil
		}
		err := cluster.Run(ctx, c)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v\n%s", err, b.said.String())
		}
		j.Close()
		if j, err = sweep.OpenJournal(filepath.Join(c.Folder, "journal"), false); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		c.Journal = j
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
}

// lie reports whether a job is one in which a liar lies.
func (b *bench) lie(c *cluster.Config, job int) bool {
	b.Helper()
	var hashes [2]string
	for i, lies := range []bool{false, true} {
		s, err := c.Make(c.Journal.Plan.Sets(c.Journal.Plan.Point(job)))
		if err != nil {
			b.Fatal(err)
		}
		if s, err = registry(b, lies, 1).FromDescriptor(s.Descriptor()); err != nil {
			b.Fatal(err)
		}
		row, err := sweep.Perform(b.Context(), s, sweep.Wanted{}, sweep.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		hashes[i] = row.Hash
	}
	return hashes[0] != hashes[1]
}

// A worker that lies is found by jobs that are run again, and where it lies: all lies with a share of 1, a tenth of them with 0.1.
func TestLiesAreFound(t *testing.T) {
	for _, test := range []struct {
		jobs  uint64
		share float64
	}{{400, 1}, {4000, 0.1}} {
		if testing.Short() {
			test.jobs /= 2
		}
		t.Run(fmt.Sprint(test.share), func(t *testing.T) {
			b := newBench(t, cluster.ServerConfig{})
			b.work("honest", registry(t, false, 1))
			b.work("liar", registry(t, true, 1))
			c, j := b.sweep(test.jobs)
			c.Recheck, c.KeepGoing = test.share, true
			err := cluster.Run(t.Context(), c)
			e, ok := errors.AsType[*sweep.DifferError](err)
			if !ok {
				t.Fatalf("Run = %v, want jobs that differ\n%s", err, b.said.String())
			}
			for _, check := range e.Checks {
				if check.Tick != 7 || check.Evidence(c.Folder) == nil {
					t.Errorf("job %d differs at tick %d: %s, with %q; want tick 7", check.Job, check.Tick, check.Differ, check.Files)
				}
			}
			b.countLies(&c, j, len(e.Checks))
		})
	}
}

// countLies holds that so many lies are found as were told in jobs that ran twice, and that these are a fair share of all that were
// told.
func (b *bench) countLies(c *cluster.Config, j *sweep.Journal, found int) {
	b.Helper()
	told, within := 0, 0
	for job := range j.Head.Jobs {
		first, err := j.Row(job)
		if err != nil {
			b.Fatal(err)
		}
		again, checked := j.Checks[job]
		liar := strings.HasPrefix(first.Worker, "liar#")
		if !b.lie(c, job) || !liar && !checked {
			continue
		}
		if liar {
			told++
		}
		if checked && liar != strings.HasPrefix(again.Row.Worker, "liar#") {
			within++
		}
	}
	if within == 0 || found != within {
		b.Errorf("%d jobs differ, want %d", found, within)
	}
	caught := 0
	for job, check := range j.Checks {
		if first, err := j.Row(job); err == nil && !check.Equal && strings.HasPrefix(first.Worker, "liar#") {
			caught++
		}
	}
	mean := float64(told) * c.Recheck
	if off := math.Abs(float64(caught) - mean); c.Recheck < 1 && off > 6*math.Sqrt(mean*(1-c.Recheck)) {
		b.Errorf("of %d lies %d are found, want about %.0f", told, caught, mean)
	}
	b.Logf("%d lies told, %d found; a share of %v says %.0f", told, caught, c.Recheck, mean)
}
