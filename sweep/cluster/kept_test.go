package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// Rows whose recordings were fetched, and that found no room in the journal, come again, and the recordings are still there.
func TestRecordingsOutliveAFullDisk(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("one", registry(t, false, 1))
	const seeds = 100
	c, j := b.sweep(seeds)
	c.Keep = cluster.Keep{Share: 1}
	for range 3 {
		journal := j
		c.Added = func([]sweep.Row, []sweep.Check) error { return journal.Close() } // nothing can be written to it any more
		if err := cluster.Run(t.Context(), c); err == nil {
			t.Fatal("the sweep goes on without a journal")
		}
		var err error
		if j, err = sweep.OpenJournal(filepath.Join(c.Folder, "journal"), false); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		c.Journal = j
	}
	c.Added = nil
	time.Sleep(5500 * time.Millisecond) // until the servers send them again, before their jobs run again
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	checkKept(t, j, c.Folder)
	if parts, _ := filepath.Glob(filepath.Join(c.Folder, "recordings", "*.part")); len(parts) > 0 {
		t.Errorf("drafts are left: %q", parts)
	}
}

// Jobs whose recordings the servers have no longer run again.
func TestRecordingsThatAreGone(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	c, j := b.sweep(40)
	c.Keep = cluster.Keep{Share: 1}
	b.without(c, registry(t, false, 1))
	time.Sleep(6 * time.Second) // until it is old
	files, err := b.jetStream().Stream(t.Context(), "OBJ_murksim_files")
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for job := range j.Missing() { // of an earlier run, such as before --retry
		leave(t, filepath.Join(c.Folder, sweep.KeptName(job, false)))
	}
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if !b.heard("is gone from the servers; the job runs again") {
		t.Errorf("the sweep said nothing:\n%s", b.said.String())
	}
	checkKept(t, j, c.Folder)
}

// without begins a sweep that ends when all of its jobs are in the queue, and waits until a worker has done them.
func (b *bench) without(c cluster.Config, r *scenarios.Registry) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- cluster.Run(ctx, c) }()
	b.queued(c.Journal.Head.Jobs)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.Fatalf("Run = %v, want that it was interrupted", err)
	}
	b.work("one", r)
	b.queued(0)
}

// queued waits until so many jobs are in the queue or under way, each in a message of its own.
func (b *bench) queued(jobs int) {
	b.Helper()
	js := b.jetStream()
	waiting.For(b, fmt.Sprintf("there are %d jobs in the queue", jobs), func() bool {
		stream, err := js.Stream(b.Context(), "MURKSIM_JOBS")
		if err != nil {
			return false
		}
		info, err := stream.Info(b.Context())
		return err == nil && info.State.Msgs == uint64(jobs)
	})
}

// files are the names of the files on the server.
func (b *bench) files() (store jetstream.ObjectStore, names []string) {
	b.Helper()
	store, err := b.jetStream().ObjectStore(b.Context(), "murksim_files")
	if err != nil {
		b.Fatal(err)
	}
	list, err := store.List(b.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		b.Fatal(err)
	}
	for _, info := range list {
		names = append(names, info.Name)
	}
	return store, names
}

// TestKeptIsOfItsRow: what lies on the servers is compared with the row, and if it is of another job, the job runs again.
func TestKeptIsOfItsRow(t *testing.T) {
	for _, states := range []bool{false, true} {
		b := newBench(t, cluster.ServerConfig{})
		c, j := b.sweep(20)
		c.Keep = cluster.Keep{Share: 1, States: states}
		b.without(c, registry(t, false, 1))
		store, names := b.files()
		if len(names) != 20 {
			t.Fatalf("there are %d files, want those of 20 jobs", len(names))
		}
		first, err := store.GetBytes(t.Context(), names[0])
		for _, name := range names[1:] {
			if err == nil {
				_, err = store.PutBytes(t.Context(), name, first)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.Run(t.Context(), c); err != nil {
			t.Fatalf("%v\n%s", err, b.said.String())
		}
		if !b.heard(" is not of its row: it is the " + map[bool]string{false: "recording", true: "state"}[states] + " of another job; the job runs again") {
			t.Errorf("the sweep said nothing:\n%s", b.said.String())
		}
		b.checkFits(&c, j)
	}
}

// TestKeptIsNeverOfItsRow: a job whose file is another one each time has a row in the end, which keeps nothing.
func TestKeptIsNeverOfItsRow(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	c, j := b.sweep(5)
	c.Keep = cluster.Keep{Share: 1}
	done, js, id := b.begin(c)
	row := b.honest(&c, 2)
	row.Worker, row.Kept = "evil#1", id+"/job-2.murk"
	store, _ := b.files()
	if _, err := store.PutBytes(t.Context(), row.Kept, []byte("nothing")); err != nil {
		t.Fatal(err)
	}
	post(b, js, "murksim.results."+id, map[string]any{"process": "evil", "rows": []sweep.Row{row, row}})
	waiting.For(t, "the row is taken", func() bool { return b.heard("its row keeps nothing") })
	b.work("one", registry(t, false, 1))
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if got, err := j.Row(2); err != nil || got.Kept != "" || got.Hash != row.Hash {
		t.Errorf("the row is %+v, %v", got, err)
	}
	if _, names := b.files(); len(names) != 0 {
		t.Errorf("%q are left on the servers", names)
	}
}

// TestKeptIsOfNoStrangersEnd: what was kept of a job is held against another end than its row only if the worker that sent it can have found that end.
func TestKeptIsOfNoStrangersEnd(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	c, j := b.sweep(5)
	c.Keep = cluster.Keep{Share: 1}
	done, js, id := b.begin(c)
	other := b.honest(&c, 2)
	recording := b.recorded(&c, 2)
	other.Worker = "somebody#1"
	row := other
	row.Hash, row.Worker, row.Kept = "0123456789abcdef", "evil#1", id+"/job-2.murk"
	store, _ := b.files()
	for range 2 {
		if _, err := store.PutBytes(t.Context(), row.Kept, recording); err != nil {
			t.Fatal(err)
		}
		post(b, js, "murksim.results."+id, map[string]any{"process": "evil", "rows": []sweep.Row{row}, "recorded": []sweep.Row{other}})
		waiting.For(t, "the file is compared", func() bool { return b.heard("what was kept of job 2 is not of its row") })
	}
	waiting.For(t, "the row is taken", func() bool { return b.heard("its row keeps nothing") })
	b.work("one", registry(t, false, 1))
	if e, ok := errors.AsType[*sweep.DifferError](<-done); !ok || len(e.Checks) != 1 || e.Checks[0].Job != 2 { // the honest worker came to another end
		t.Fatalf("%v\n%s", e, b.said.String())
	}
	if got, err := j.Row(2); err != nil || got.Kept != "" {
		t.Errorf("the row is %+v, %v; want one that keeps nothing", got, err)
	}
	if !b.heard(`its worker is "somebody#1"`) {
		t.Errorf("the sweep did not refuse the other end:\n%s", b.said.String())
	}
}

// recorded is the recording of a job.
func (b *bench) recorded(c *cluster.Config, job int) []byte {
	b.Helper()
	s := b.scenario(c, job)
	w, err := s.World(1)
	if err != nil {
		b.Fatal(err)
	}
	var sink bytes.Buffer
	r, err := replay.NewRecorder(&sink, w, s.Descriptor())
	if err != nil {
		b.Fatal(err)
	}
	w.Record(r)
	if err := errors.Join((&runner.Run{Scenario: s, World: w}).To(b.Context(), s.Ticks), r.Flush()); err != nil {
		b.Fatal(err)
	}
	return sink.Bytes()
}

// TestAttemptsHaveFilesOfTheirOwn: a worker that does a job a second time does not replace what it kept the first time.
func TestAttemptsHaveFilesOfTheirOwn(t *testing.T) {
	for _, states := range []bool{false, true} {
		b := newBench(t, cluster.ServerConfig{})
		c, j := b.sweep(3)
		c.Keep = cluster.Keep{Share: 1, States: states}
		b.without(c, registry(t, false, 1))
		_, before := b.files()
		s, js := b.scenario(&c, 0), b.jetStream()
		job := map[string]any{"job": 0, "descriptor": string(s.Descriptor()), "probes": string(s.EncodeProbes())}
		post(b, js, "murksim.jobs."+sweepID(b, js), map[string]any{"jobs": []any{job}})
		b.queued(0)
		if _, after := b.files(); len(after) != len(before)+1 {
			t.Errorf("after another attempt there are %q, before %q", after, before)
		}
		if err := cluster.Run(t.Context(), c); err != nil {
			t.Fatalf("%v\n%s", err, b.said.String())
		}
		b.checkFits(&c, j)
	}
}

// TestRechecksKeepNothing: a job that is run again to be compared leaves no file on the servers.
func TestRechecksKeepNothing(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("one", registry(t, false, 1))
	c, j := b.sweep(3)
	c.Keep, c.Recheck = cluster.Keep{Share: 1}, 1
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	b.checkFits(&c, j)
	if _, names := b.files(); len(names) != 0 || len(j.Checks) != 3 {
		t.Errorf("%q are left on the servers, and %d jobs of 3 were run again", names, len(j.Checks))
	}
}

// scenario makes the scenario of a job.
func (b *bench) scenario(c *cluster.Config, job int) *scenarios.Scenario {
	b.Helper()
	s, err := c.Make(c.Journal.Plan.Sets(c.Journal.Plan.Point(job)))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// honest is the row of a job.
func (b *bench) honest(c *cluster.Config, job int) sweep.Row {
	b.Helper()
	row, err := sweep.Perform(b.Context(), b.scenario(c, job), sweep.Wanted{}, sweep.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	row.Job = job
	return row
}

// checkFits holds that something is kept of each job, and fits its row.
func (b *bench) checkFits(c *cluster.Config, j *sweep.Journal) {
	b.Helper()
	for job := range j.Head.Jobs {
		row, err := j.Row(job)
		if err != nil {
			b.Fatal(err)
		}
		if err := row.Fits(b.scenario(c, job), filepath.Join(c.Folder, row.Kept)); err != nil {
			b.Errorf("job %d keeps %q, with status %s: %v", job, row.Kept, row.Status, err)
		}
	}
}

// checkKept holds that a recording of each job lies in a folder.
func checkKept(t *testing.T, j *sweep.Journal, folder string) {
	t.Helper()
	for job := range j.Head.Jobs {
		row, err := j.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(folder, row.Kept)); err != nil || len(text) == 0 || string(text) == earlier {
			t.Errorf("job %d has no recording: %.20q, %v", job, text, err)
		}
	}
}

// TestKeptIsCompared: a worker compares the row of a job with that of its recording, and the sweep learns of another end.
func TestKeptIsCompared(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("fickle", registryOf(t, truth{fickle: true}, 1))
	c, j := b.sweep(20)
	c.KeepGoing, c.Keep = true, cluster.Keep{Share: 1}
	err := cluster.Run(t.Context(), c)
	e, ok := errors.AsType[*sweep.DifferError](err)
	if !ok || len(e.Checks) != 20 {
		t.Fatalf("Run = %v, want that 20 jobs differ\n%s", err, b.said.String())
	}
	for _, check := range e.Checks {
		if row, err := j.Row(check.Job); err != nil || check.Tick != 7 || check.Evidence(c.Folder) == nil || row.Kept == "" {
			t.Errorf("job %d, %+v, %v, differs at tick %d, with %q; want tick 7", check.Job, row, err, check.Tick, check.Files)
		}
	}
}

// TestRowsOfOtherFlags: a sweep that goes on with other flags, of what is to be kept, takes the rows of before with what they have kept,
// and learns of another end that a worker found meanwhile.
func TestRowsOfOtherFlags(t *testing.T) {
	for _, keep := range []cluster.Keep{{}, {Share: 1, States: true}} {
		b := newBench(t, cluster.ServerConfig{})
		c, j := b.sweep(20)
		c.Keep = cluster.Keep{Share: 1}
		b.without(c, registryOf(t, truth{fickle: true}, 1))
		c.KeepGoing, c.Keep = true, keep
		err := cluster.Run(t.Context(), c)
		if e, ok := errors.AsType[*sweep.DifferError](err); !ok || len(e.Checks) != 20 {
			t.Fatalf("Run = %v, want that 20 jobs differ\n%s", err, b.said.String())
		}
		for job := range j.Head.Jobs {
			row, err := j.Row(job)
			if err != nil || row.Kept != sweep.KeptName(job, false) {
				t.Fatalf("job %d keeps %q, %v", job, row.Kept, err)
			}
			ends := j.Checks[job].Row // as it was recorded
			if err := ends.Fits(b.scenario(&c, job), filepath.Join(c.Folder, row.Kept)); err != nil {
				t.Errorf("job %d: %v", job, err)
			}
		}
	}
}

// TestRetryKeepsDifferences: the row of a job that a worker brings to another end when it runs once more stays, with what was kept.
func TestRetryKeepsDifferences(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("fickle", registryOf(t, truth{fickle: true}, 1))
	c, j := b.sweep(20)
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	before := table(t, j)
	for job := range j.Head.Jobs {
		leave(t, filepath.Join(c.Folder, sweep.KeptName(job, true)))
	}
	if n := j.Forget(sweep.OK); n != 20 {
		t.Fatalf("%d jobs are to run once more, want 20", n)
	}
	c.KeepGoing, c.Keep = true, cluster.Keep{Share: 1, States: true}
	err := cluster.Run(t.Context(), c)
	e, ok := errors.AsType[*sweep.DifferError](err)
	if !ok || len(e.Checks) != 20 || len(j.Differing()) != 20 {
		t.Fatalf("Run = %v, %d jobs differ, of %d with a row; want 20\n%s", err, len(j.Differing()), j.Done(), b.said.String())
	}
	for _, check := range e.Checks {
		text, err := os.ReadFile(filepath.Join(c.Folder, sweep.KeptName(check.Job, true)))
		if err != nil || string(text) != earlier || check.Evidence(c.Folder) == nil {
			t.Errorf("of job %d %.20q is kept, %v, and the recordings are %q", check.Job, text, err, check.Files)
		}
	}
	clear(j.Checks)
	if after := table(t, j); after != before {
		t.Errorf("the table is\n%s, want\n%s", after, before)
	}
}

// earlier is what is left of earlier runs.
const earlier = "of an earlier run"

func leave(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(earlier), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// Recordings of a job that gave different results take names that are free, and those of a worker that is gone are not taken from an
// earlier difference.
func TestEvidenceStays(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.start(cluster.Worker{Registry: registryOf(t, truth{takes: 100 * time.Millisecond}, 1), Cores: 1, Name: "one"})
	c, _ := b.sweep(20)
	old := []string{filepath.Join(c.Folder, sweep.EvidenceName(2, 1)), filepath.Join(c.Folder, sweep.EvidenceName(2, 2))}
	leave(t, old...)
	js, forged := b.jetStream(), forgery(b, &c)
	c.Added = func(rows []sweep.Row, _ []sweep.Check) error {
		if slices.ContainsFunc(rows, func(r sweep.Row) bool { return r.Job == 2 }) {
			post(b, js, "murksim.results."+sweepID(b, js), map[string]any{"process": "evil", "rows": []sweep.Row{forged}})
		}
		return nil
	}
	err := cluster.Run(t.Context(), c)
	e, ok := errors.AsType[*sweep.DifferError](err)
	if !ok || e.Checks[0].Job != 2 || !slices.Equal(e.Checks[0].Files, []string{sweep.EvidenceName(2, 3)}) || e.Checks[0].Tick != 0 {
		t.Fatalf("Run = %v, %+v, want job 2 to differ, and one recording", err, e)
	}
	if files, err := filepath.Glob(filepath.Join(c.Folder, "differences", "*")); err != nil || len(files) != 3 {
		t.Errorf("there are %q, %v", files, err)
	}
	for _, path := range old {
		if text, err := os.ReadFile(path); err != nil || string(text) != earlier {
			t.Errorf("%s holds %.20q, %v", path, text, err)
		}
	}
}

// TestFetchFollowsNoLink: where a link lies in the place of a file or its draft, what it leads to stays. Files that come from
// the servers have the mode of all others.
func TestFetchFollowsNoLink(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("one", registry(t, false, 1))
	c, j := b.sweep(3)
	c.Keep = cluster.Keep{Share: 1}
	notes := filepath.Join(t.TempDir(), "notes")
	leave(t, notes, filepath.Join(c.Folder, "recordings", "job-2.murk"))
	for _, name := range []string{"job-0.murk.part", "job-1.murk"} {
		if err := os.Symlink(notes, filepath.Join(c.Folder, "recordings", name)); err != nil {
			return // this system has no links
		}
	}
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	checkKept(t, j, c.Folder)
	other, err := os.Stat(notes)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != earlier {
		t.Errorf("the notes are %.20q, %v", text, err)
	}
	for job := range 3 {
		if info, err := os.Lstat(filepath.Join(c.Folder, sweep.KeptName(job, false))); err != nil || info.Mode() != other.Mode() {
			t.Errorf("the recording of job %d has mode %v, %v; want %v", job, info.Mode(), err, other.Mode())
		}
	}
}
