package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
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
		if info, err := os.Stat(filepath.Join(folder, row.Kept)); err != nil || info.Size() == 0 {
			t.Errorf("job %d has no recording: %v", job, err)
		}
	}
}
