package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/waiting"
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
	b.work("one", registry(t, false, 1))
	const seeds = 40
	c, j := b.sweep(seeds)
	c.Keep = cluster.Keep{Share: 1}
	c.Added = func([]sweep.Row, []sweep.Check) error { return errors.New("enough") }
	if err := cluster.Run(t.Context(), c); err == nil {
		t.Fatal("the sweep goes on")
	}
	jobs, err := b.jetStream().Stream(t.Context(), "MURKSIM_JOBS")
	if err != nil {
		t.Fatal(err)
	}
	waiting.For(t, "the worker has done all that there is", func() bool {
		info, err := jobs.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
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
	c.Added = nil
	if err := cluster.Run(t.Context(), c); err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if !b.heard("is gone from the servers; the job runs again") {
		t.Errorf("the sweep said nothing:\n%s", b.said.String())
	}
	checkKept(t, j, c.Folder)
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
