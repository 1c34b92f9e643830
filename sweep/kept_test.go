package sweep_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/sweep"
)

// TestKeptIsCompared: a job runs a second time to be recorded, and that recording shows another end than the row only if a check says so.
func TestKeptIsCompared(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: seeds, Axes: axes(t, "propagators.faulty.does=lies")})
	x.config.Workers, x.config.KeepGoing, x.config.Keep = 1, true, func(*sweep.Row) bool { return true }
	err := sweep.Run(t.Context(), x.config)
	e, ok := errors.AsType[*sweep.DifferError](err)
	if !ok || len(e.Checks) < 5 {
		t.Fatalf("Run = %v, want many jobs that differ", err)
	}
	x.reopen()
	if n := len(x.journal.Differing()); n != len(e.Checks) {
		t.Errorf("the journal says that %d jobs differ, want %d", n, len(e.Checks))
	}
	for job := range x.journal.Head.Jobs {
		row, err := x.journal.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		check, checked := x.journal.Checks[job]
		kept := lastHash(t, filepath.Join(x.dir, row.Kept))
		if checked != (kept != row.Hash) || checked && (kept != check.Row.Hash || check.Evidence(x.dir) == nil) {
			t.Errorf("job %d ends with %s, and %s in its recording; the check is %+v", job, row.Hash, kept, check)
		}
	}
	// A disk that is full is no other end.
	s, err := x.config.Make(nil)
	if err != nil {
		t.Fatal(err)
	}
	if row, err := sweep.Record(t.Context(), s, s.Ticks, fullDisk{}, sweep.Limits{}); err != (fullDisk{}) {
		t.Errorf("Record on a full disk = %+v, %v", row, err)
	}
}

// TestRetryKeepsDifferences: a job that the same program brings to another end when it runs once more is told, and has the row and the
// recording that it had. Another program replaces both.
func TestRetryKeepsDifferences(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: seeds, Axes: axes(t, "propagators.faulty.does=lies")})
	x.config.Workers, x.config.KeepGoing, x.config.Keep = 1, true, func(*sweep.Row) bool { return true }
	_ = sweep.Run(t.Context(), x.config)
	before := map[int]sweep.Row{}
	for job := range x.journal.Head.Jobs {
		row, err := x.journal.Row(job)
		if err != nil {
			t.Fatal(err)
		}
		before[job] = *row
		if err := os.WriteFile(filepath.Join(x.dir, row.Kept), []byte("kept"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, build := range []string{"this", "another"} {
		x.reopen()
		known := len(x.journal.Differing())
		x.config.Build = build
		if n := x.journal.Forget(sweep.OK); n != 40 {
			t.Fatalf("%d jobs are to run once more, want 40", n)
		}
		err := sweep.Run(t.Context(), x.config)
		if e, ok := errors.AsType[*sweep.DifferError](err); !ok || build == "this" && len(x.journal.Differing()) <= known {
			t.Errorf("%s: Run = %v; %d jobs differ, %+v; %d before", build, err, len(x.journal.Differing()), e, known)
		}
		for job := range x.journal.Head.Jobs {
			row, err := x.journal.Row(job)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(x.dir, row.Kept))
			_, differs := x.journal.Checks[job]
			stays := build == "this" && differs && string(text) == "kept"
			if replaced := string(text) != "kept"; err != nil || stays == replaced || build == "this" && row.Hash != before[job].Hash {
				t.Errorf("%s: the row of job %d is %+v, and was %+v; kept is %.20q, %v", build, job, row, before[job], text, err)
			}
		}
	}
}

// A fullDisk takes no bytes, and is the error that says so.
type fullDisk struct{}

func (fullDisk) Error() string               { return "the disk is full" }
func (d fullDisk) Write([]byte) (int, error) { return 0, d }

// lastHash returns the hash of the last tick of a recording.
func lastHash(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	hash := uint64(0)
	for r.Next(&f) == nil {
		hash = f.Hash
	}
	return fmt.Sprintf("%016x", hash)
}
