package sweep_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/sweep"
)

const tinyText = `murksim: 1
name: tiny
ticks: 10
space: {kind: ring, length: 16}
fields:
  - {name: heat, initial: {noise: {from: 0, to: 1}}, min: 0, max: 100}
propagators:
  - noise: {field: heat, scale: 0.5}
  - faulty: {field: heat}
expect:
  - {field: heat, range: [0, 50]}
`

// A faulty component does as it is told: its job of a seed panics, fails, or sleeps; and it lies at times.
type faulty struct {
	Field scenarios.FieldRef `yaml:"field,required" is:"a scalar field" doc:"What it changes."`
	Does  string             `yaml:"does" doc:"What it does."`
}

// lies counts the worlds that were to lie: half of them do, without a pattern.
var lies atomic.Uint32

func (f *faulty) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	if f.Does == "refuses" {
		return nil, errors.New("there is no such world")
	}
	if f.Does == "lies" && lies.Add(1)*2654435761>>31 == 0 {
		return &fault{name, b.Field(f.Field), "lie"}, nil
	}
	return &fault{name, b.Field(f.Field), f.Does}, nil
}

type fault struct {
	name  string
	field fields.ID
	does  string
}

func (f *fault) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: f.name, Incremental: engine.Fields(f.field)}
}

func (f *fault) Step(c *engine.Context) error {
	if c.Tick() != 7 {
		return nil
	}
	switch f.does {
	case "panics":
		panic("out of cheese")
	case "fails":
		return c.Fail(3, "no more")
	case "sleeps":
		time.Sleep(6 * time.Second)
	case "lie":
		c.Next(f.field)[0]++
	case "rises":
		c.Next(f.field)[0] = 60
	}
	return nil
}

func registry(t testing.TB) *scenarios.Registry {
	t.Helper()
	r, err := scenarios.NewRegistry(append(worlds.Components(), scenarios.Component{
		Name: "faulty", Version: 1, About: "Does as it is told.", Params: func() any { return new(faulty) },
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A tiny sweep, in a folder of its own.
type tiny struct {
	t       testing.TB
	dir     string
	journal *sweep.Journal
	config  sweep.Config
}

func newTiny(t testing.TB, d sweep.Design) *tiny {
	t.Helper()
	template, err := yaml.NewTemplate(registry(t), "tiny", nil, []byte(tinyText))
	if err != nil {
		t.Fatal(err)
	}
	s, err := template.With()
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	values, err := export.NewValues(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &tiny{t: t, dir: t.TempDir()}
	x.journal, err = sweep.CreateJournal(filepath.Join(x.dir, "journal"), sweep.Head{
		Form: 1, Design: d, Base: sweep.IDOf(s), Jobs: p.Jobs(), Stats: values.Names(), Pick: "0123",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.journal.Close() })
	x.config = sweep.Config{
		Journal: x.journal, Workers: 2, Build: "this", Name: "here", Folder: x.dir,
		Make: func(sets []string) (*scenarios.Scenario, error) { return template.With(sets...) },
	}
	return x
}

// reopen reads the journal from its file.
func (x *tiny) reopen() {
	x.t.Helper()
	x.journal.Close()
	j, err := sweep.OpenJournal(filepath.Join(x.dir, "journal"), false)
	if err != nil {
		x.t.Fatal(err)
	}
	x.journal, x.config.Journal = j, j
	x.t.Cleanup(func() { j.Close() })
}

// table is the table without what differs from run to run.
func (x *tiny) table() string {
	x.t.Helper()
	var b bytes.Buffer
	format, err := export.StatsFormatOf("-")
	if err != nil {
		x.t.Fatal(err)
	}
	if err := x.journal.Table(sweep.Output{To: &b, Format: format}); err != nil {
		x.t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		n := len(columns)
		out.WriteString(strings.Join(append(columns[:n-4], columns[n-1]), ",") + "\n") // without seconds, worker and build
	}
	return out.String()
}

var seeds = []sweep.Span{{From: 1, To: 40, Step: 1}}

// The table is the same for any number of workers, and after a sweep that was interrupted again and again.
func TestTableIsTheSame(t *testing.T) {
	d := sweep.Design{Seeds: seeds, Axes: axes(t, "propagators.noise.scale=0.5,1,1.0")}
	var want string
	for _, workers := range []int{1, 2, 8} {
		x := newTiny(t, d)
		x.config.Workers = workers
		if err := sweep.Run(t.Context(), x.config); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = x.table()
			if n := strings.Count(want, "\n"); n != 81 { // scale 1.0 is scale 1
				t.Fatalf("the table has %d lines, want 81:\n%s", n, want)
			}
		}
		if got := x.table(); got != want {
			t.Errorf("%d workers give\n%s, want\n%s", workers, got, want)
		}
	}
	x := newTiny(t, d)
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		before := x.journal.Done()
		x.config.Added = func(rows []sweep.Row, _ []sweep.Check) error {
			cancel()
			return nil
		}
		err := sweep.Run(ctx, x.config)
		cancel()
		if x.journal.Done() == x.journal.Head.Jobs {
			break
		}
		if !errors.Is(err, context.Canceled) || x.journal.Done() <= before {
			t.Fatalf("interrupted it gives %v with %d rows, %d before", err, x.journal.Done(), before)
		}
		x.reopen()
	}
	if got := x.table(); got != want {
		t.Errorf("interrupted it gives\n%s, want\n%s", got, want)
	}
	for _, c := range x.journal.Counts {
		if c > x.journal.Head.Jobs {
			t.Errorf("more rows than jobs: %v", x.journal.Counts)
		}
	}
}

// No finished job runs again.
func TestFinishedJobsDoNotRun(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: seeds})
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	x.reopen()
	x.config.Make = func(sets []string) (*scenarios.Scenario, error) {
		t.Errorf("job %q is made again", sets)
		return nil, errors.New("again")
	}
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
}

func TestHowJobsEnd(t *testing.T) {
	t.Parallel() // a job sleeps
	x := newTiny(t, sweep.Design{Seeds: []sweep.Span{{From: 5, To: 5, Step: 1}}, Axes: axes(t, "propagators.faulty.does=nothing,panics,fails,sleeps,refuses,rises")})
	x.config.Limits = sweep.Limits{Time: 5 * time.Second, Memory: 1 << 30}
	x.config.Keep = func(r *sweep.Row) bool { return r.Status != sweep.OK }
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	for job, want := range []struct {
		status sweep.Status
		ticks  uint64
		reason string
		kept   uint64 // ticks of the recording; 0: there is none
	}{
		{sweep.OK, 10, "", 0},
		{sweep.Panic, 6, "out of cheese at ", 6},
		{sweep.Halted, 6, "no more", 6},
		{sweep.Time, 7, "tick 7 after 5s", 7},
		{sweep.Broken, 0, "there is no such world", 0},
		{sweep.Failed, 10, "heat", 10},
	} {
		r, err := x.journal.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != want.status || r.Ticks != want.ticks || !strings.Contains(r.Reason, want.reason) {
			t.Errorf("job %d is %s after %d ticks: %q; want %s after %d: %q", job, r.Status, r.Ticks, r.Reason, want.status, want.ticks, want.reason)
		}
		if got := ticksOf(t, x.dir, r.Kept); got != want.kept {
			t.Errorf("the recording of job %d, %q, has %d ticks, want %d", job, r.Kept, got, want.kept)
		}
	}
	testStates(t)
	x = newTiny(t, sweep.Design{})
	x.config.Limits.Memory = 1000
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	if r, err := x.journal.Row(0); err != nil || r.Status != sweep.Memory || !strings.Contains(r.Reason, "it may take 0.001 MB, its part") {
		t.Errorf("a job without memory is %+v, %v", r, err)
	}
}

// testStates keeps last states: of a job whose tick failed it is that of the tick before.
func testStates(t *testing.T) {
	t.Helper()
	x := newTiny(t, sweep.Design{Axes: axes(t, "propagators.faulty.does=nothing,fails,panics")})
	x.config.Keep, x.config.KeepStates = func(*sweep.Row) bool { return true }, true
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	for job := range 2 {
		r, err := x.journal.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		state, err := os.ReadFile(filepath.Join(x.dir, "states", fmt.Sprintf("job-%d.state", job)))
		if err != nil || r.Kept != fmt.Sprintf("states/job-%d.state", job) {
			t.Fatalf("job %d has kept %q, %v", job, r.Kept, err)
		}
		s, err := x.config.Make(x.journal.Plan.Sets(x.journal.Plan.Point(job)))
		if err != nil {
			t.Fatal(err)
		}
		unsealed, err := engine.Unseal(state)
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Restore(1, unsealed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%016x", w.Hash()); got != r.Hash || w.Tick() != r.Ticks {
			t.Errorf("the state of job %d is of tick %d and has the hash %s, want tick %d and %s", job, w.Tick(), got, r.Ticks, r.Hash)
		}
	}
	if r, err := x.journal.Row(2); err != nil || r.Kept != "" {
		t.Errorf("the job that panicked has kept %q, %v", r.Kept, err)
	}
}

// ticksOf counts the ticks of a recording.
func ticksOf(t *testing.T, dir, name string) (n uint64) {
	t.Helper()
	if name == "" {
		return 0
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var frame replay.Frame
	for r.Next(&frame) == nil {
		n = frame.Tick
	}
	return n
}

// A component that is not deterministic is found out, and where.
func TestRecheckFindsLies(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: seeds, Axes: axes(t, "propagators.faulty.does=lies")})
	x.config.Workers, x.config.Recheck, x.config.KeepGoing = 1, 1, true
	err := sweep.Run(t.Context(), x.config)
	e, ok := errors.AsType[*sweep.DifferError](err)
	if !ok || len(e.Checks) < 5 {
		t.Fatalf("Run = %v, want many jobs that differ", err)
	}
	located := 0
	for _, c := range e.Checks {
		if c.Tick == 7 {
			located++
		} else if c.Tick != 0 || !strings.HasPrefix(c.Differ, "final hashes ") { // 0: it did not lie when it was recorded, or lied twice
			t.Errorf("job %d differs at tick %d: %s; want tick 7", c.Job, c.Tick, c.Differ)
		}
	}
	if located == 0 {
		t.Errorf("of %d jobs that differ the tick of none was found", len(e.Checks))
	}
	if len(x.journal.Checks) != 40 {
		t.Errorf("%d jobs were run again, want 40", len(x.journal.Checks))
	}
	// Without KeepGoing the first one ends the sweep.
	const many = 5000
	x = newTiny(t, sweep.Design{Seeds: []sweep.Span{{From: 1, To: many, Step: 1}}, Axes: axes(t, "propagators.faulty.does=lies")})
	x.config.Recheck = 1
	if err := sweep.Run(t.Context(), x.config); x.journal.Done() == many || err == nil {
		t.Errorf("Run = %v with %d jobs, want fewer", err, x.journal.Done())
	}
	// Worlds that tell the truth are equal.
	x = newTiny(t, sweep.Design{Seeds: seeds})
	x.config.Recheck = 0.5
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	if n := len(x.journal.Checks); n < 10 || n > 30 || len(x.journal.Differing()) != 0 {
		t.Errorf("%d of 40 were run again, %d differ; want about 20 and none", n, len(x.journal.Differing()))
	}
}

// What a killed process has not checked the next one does.
func TestRecheckGoesOn(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: seeds})
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	x.reopen()
	x.config.Recheck = 1
	var mu sync.Mutex
	var checked []int
	x.config.Added = func(_ []sweep.Row, checks []sweep.Check) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range checks {
			checked = append(checked, c.Job)
		}
		return nil
	}
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	slices.Sort(checked)
	if len(checked) != 40 || checked[0] != 0 || checked[39] != 39 {
		t.Errorf("the jobs %v were run again, want all 40", checked)
	}
}

// TestEarlierRows: what another program may have written into the journal is looked at by a sweep that goes on: rows with the ids of other jobs, and
// where jobs are missing one that ran, whatever is to be run again.
func TestEarlierRows(t *testing.T) {
	d := sweep.Design{Seeds: []sweep.Span{{From: 1, To: 4, Step: 1}}}
	x := newTiny(t, d)
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	row := func(job int) sweep.Row {
		r, err := x.journal.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		return *r
	}
	equal := row(1)
	equal.Status, equal.As, equal.Hash, equal.Stats = sweep.Equal, 0, "", nil
	other := row(2)
	other.ID = row(0).ID
	wrong := row(0)
	wrong.Hash = "deadbeefdeadbeef"
	for _, tt := range []struct {
		what  string
		rows  []sweep.Row
		share float64
		want  map[int]string
	}{
		{"true rows", []sweep.Row{row(0), row(1), row(2)}, 1, nil},
		{"ids of others", []sweep.Row{row(0), equal, other, row(3)}, 1, map[int]string{1: "it does not equal job 0", 2: "its row has the id of a job with other values"}},
		{"a wrong hash, and hardly any is to be run again", []sweep.Row{wrong}, 1e-15, map[int]string{0: "final hashes deadbeefdeadbeef and " + row(0).Hash}},
	} {
		y := newTiny(t, d)
		if err := y.journal.Add(tt.rows...); err != nil {
			t.Fatal(err)
		}
		y.config.Recheck, y.config.KeepGoing = tt.share, true
		err := sweep.Run(t.Context(), y.config)
		got := map[int]string{}
		if e, ok := errors.AsType[*sweep.DifferError](err); ok {
			for _, c := range e.Checks {
				got[c.Job] = c.Differ
			}
		} else if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
}

// TestDifferenceOutlivesAKilledExtend: a job that gave another result when it was run again is taken over with that, also by a sweep that goes on
// after its --extend was killed. It is not run again, which might give the same result by chance.
func TestDifferenceOutlivesAKilledExtend(t *testing.T) {
	d := sweep.Design{Seeds: []sweep.Span{{From: 1, To: 2, Step: 1}}}
	x := newTiny(t, d)
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	first, err := x.journal.Row(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.journal.AddCheck(sweep.Check{Job: 0, Differ: "heat", Row: *first}); err != nil {
		t.Fatal(err)
	}
	h := x.journal.Head
	h.Design.Seeds, h.Jobs = []sweep.Span{{From: 0, To: 2, Step: 1}}, 3
	if _, err := x.journal.Extend(h, func(int) (sweep.ID, bool) { return sweep.ID{}, false }); err != nil {
		t.Fatal(err)
	}
	x.reopen()
	x.config.Recheck = 1
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	if err := x.journal.AddCheck(sweep.Check{Job: 1, Equal: true, Row: *first}); err != nil { // such as one that was on its way
		t.Fatal(err)
	}
	if c := x.journal.Differing(); len(c) != 1 || c[0].Job != 1 || x.journal.Recheck(0) != "equal" {
		t.Errorf("the jobs that differ are %+v, want job 1; job 0 is %q", c, x.journal.Recheck(0))
	}
}

// The id of a job is promised: equal jobs are one job, today and next year.
func TestID(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "heat", "seed=7", "ticks=100")
	if err != nil {
		t.Fatal(err)
	}
	const want = "3f95904f54416ca0f07d87459e704ed70e8c675b1d2b690434ca66054e3fd609"
	id := sweep.IDOf(s)
	if got := hex.EncodeToString(id[:]); got != want {
		t.Errorf("the id of heat with seed 7 and 100 ticks is %s, want %s", got, want)
	}
}

// BenchmarkRun runs jobs of ten ticks of 16 cells: nearly all of their time is that of making and ending a job.
func BenchmarkRun(b *testing.B) {
	const jobs = 2000
	for b.Loop() {
		x := newTiny(b, sweep.Design{Seeds: []sweep.Span{{From: 1, To: jobs, Step: 1}}})
		if err := sweep.Run(b.Context(), x.config); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*jobs), "µs/job")
}

// BenchmarkWorkers runs jobs of some milliseconds on one core and on two, in turn, and says how much faster two are.
func BenchmarkWorkers(b *testing.B) {
	var took [3]time.Duration
	for b.Loop() {
		for workers := 1; workers <= 2; workers++ {
			x := newTiny(b, sweep.Design{Seeds: []sweep.Span{{From: 1, To: 200, Step: 1}}, Ticks: 5000})
			x.config.Workers = workers
			began := time.Now()
			if err := sweep.Run(b.Context(), x.config); err != nil {
				b.Fatal(err)
			}
			took[workers] += time.Since(began)
		}
	}
	b.ReportMetric(took[1].Seconds()/took[2].Seconds(), "times")
}

// BenchmarkFinished opens the journal of 100,000 jobs that are done, and finds that nothing is to be done.
func BenchmarkFinished(b *testing.B) {
	const jobs = 100_000
	x := newTiny(b, sweep.Design{Seeds: []sweep.Span{{From: 1, To: jobs, Step: 1}}})
	rows := make([]sweep.Row, jobs)
	for i := range rows {
		binary.LittleEndian.PutUint64(rows[i].ID[:], uint64(i))
		rows[i].Job, rows[i].Status, rows[i].Ticks, rows[i].Hash, rows[i].Worker, rows[i].Build = i, sweep.OK, 10, "0123456789abcdef", "host/1#1", "this"
	}
	if err := x.journal.Add(rows...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x.reopen()
		if err := sweep.Run(b.Context(), x.config); err != nil {
			b.Fatal(err)
		}
	}
}

// A job that another one equals runs although the process was killed before it did.
func TestTwinOfAKilledJob(t *testing.T) {
	x := newTiny(t, sweep.Design{Axes: axes(t, "propagators.noise.scale=0.5,0.50")})
	s, err := x.config.Make(x.journal.Plan.Sets(x.journal.Plan.Point(1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.journal.Add(sweep.Row{Job: 1, ID: sweep.IDOf(s), Status: sweep.Equal, As: 0, Worker: "killed#1"}); err != nil {
		t.Fatal(err)
	}
	x.reopen()
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	if r, err := x.journal.Row(0); err != nil || r.Status != sweep.OK || x.journal.Counts[sweep.Equal] != 1 {
		t.Errorf("the job is %+v, %v; want ok", r, err)
	}
}
