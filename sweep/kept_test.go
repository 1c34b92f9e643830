package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
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

// TestRetryEnds: where a retry ends before the row of a job is written, whether it is interrupted or the journal takes no row, the
// row that stays has what was kept of it. Once the row is written, there is the new file alone.
func TestRetryEnds(t *testing.T) {
	x := newTiny(t, sweep.Design{Seeds: []sweep.Span{{From: 1, To: 1, Step: 1}}})
	x.config.Workers, x.config.Keep = 1, func(*sweep.Row) bool { return true }
	if err := sweep.Run(t.Context(), x.config); err != nil {
		t.Fatal(err)
	}
	is := func(name, want string) {
		t.Helper()
		row, err := x.journal.Row(0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(x.dir, row.Kept))
		if want == "" { // the recording of the row
			want = string(text)
			if hash := lastHash(t, filepath.Join(x.dir, row.Kept)); hash != row.Hash {
				t.Errorf("the recording ends with %s, the row with %s", hash, row.Hash)
			}
		}
		if err != nil || row.Kept != name || string(text) != want {
			t.Errorf("of the job %q is kept, want %q: %.20q, %v", row.Kept, name, text, err)
		}
	}
	is("recordings/job-0.murk", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ends := cancel
	x.config.Build = "another"
	for _, full := range []bool{false, true} {
		if err := os.WriteFile(filepath.Join(x.dir, "recordings/job-0.murk"), []byte("kept"), 0o666); err != nil {
			t.Fatal(err)
		}
		if full {
			j, err := sweep.OpenJournal(filepath.Join(x.dir, "journal"), true)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			x.config.Journal, ctx, ends = j, t.Context(), func() {}
		}
		x.config.Journal.Forget(sweep.OK)
		x.config.Keep = func(*sweep.Row) bool { ends(); return true }
		if err := sweep.Run(ctx, x.config); err == nil {
			t.Error("the retry goes on")
		}
		x.reopen()
		is("recordings/job-0.murk", "kept")
	}
	x.config.Keep = func(*sweep.Row) bool { return true }
	for _, name := range []string{"recordings/job-0-2.murk", "recordings/job-0.murk"} {
		x.journal.Forget(sweep.OK)
		if err := sweep.Run(t.Context(), x.config); err != nil {
			t.Fatal(err)
		}
		is(name, "")
		x.reopen()
		is(name, "")
		if files, err := filepath.Glob(filepath.Join(x.dir, "recordings", "*")); err != nil || len(files) != 1 {
			t.Errorf("there are %q, %v; want one file", files, err)
		}
	}
}

// TestPutFollowsNoLink: a link in the place of a file or its draft is replaced, and what it leads to stays.
func TestPutFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	notes, plain := filepath.Join(dir, "notes"), filepath.Join(dir, "plain")
	for _, path := range []string{notes, plain} {
		if err := os.WriteFile(path, []byte("my notes"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "recordings"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"", ".part"} {
		if err := os.Symlink(notes, filepath.Join(dir, "recordings", "job-0.murk"+ending)); err != nil {
			return // this system has no links
		}
	}
	write := func(to io.Writer) error { _, err := io.WriteString(to, "kept"); return err }
	if err := sweep.Put(dir, "recordings/job-0.murk", write); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "recordings", "job-0.murk"))
	other, failed := os.Lstat(plain)
	text, unread := os.ReadFile(notes)
	if err := errors.Join(err, failed, unread); err != nil || string(text) != "my notes" || info.Mode() != other.Mode() {
		t.Errorf("the notes are %q; the file has mode %v, want %v; %v", text, info.Mode(), other.Mode(), err)
	}
	if err := sweep.Put(dir, "../out/x", write); err == nil {
		t.Error("Put writes outside of the folder")
	}
}

// TestFits: what is kept of a job fits its row, however the job ended, and no other row.
func TestFits(t *testing.T) {
	for _, states := range []bool{false, true} {
		x := newTiny(t, sweep.Design{Seeds: []sweep.Span{{From: 1, To: 2, Step: 1}}, Axes: axes(t, "propagators.faulty.does=well,panics,fails,rises")})
		x.config.Keep, x.config.KeepStates = func(*sweep.Row) bool { return true }, states
		if err := sweep.Run(t.Context(), x.config); err != nil {
			t.Fatal(err)
		}
		for job := range x.journal.Head.Jobs {
			row, err := x.journal.Row(job)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(x.dir, row.Kept)
			if row.Kept == "" && states && row.Status == sweep.Panic {
				continue
			}
			if err := row.Fits(x.scenario(job), path); err != nil {
				t.Errorf("job %d, %s: %v", job, row.Status, err)
			}
			longer, other := *row, *row
			longer.Ticks, other.Hash = row.Ticks+1, "0123456789abcdef"
			renamed := filepath.Join(x.dir, map[bool]string{false: "renamed.state", true: "renamed.murk"}[states])
			if err := os.Rename(path, renamed); err != nil {
				t.Fatal(err)
			}
			if err := row.Fits(x.scenario(job), renamed); err == nil {
				t.Errorf("job %d: a file of the other kind fits", job)
			}
			if err := os.Rename(renamed, path); err != nil {
				t.Fatal(err)
			}
			if row.Fits(x.scenario(job^1), path) == nil || longer.Fits(x.scenario(job), path) == nil || !states && other.Fits(x.scenario(job), path) == nil {
				t.Errorf("job %d: its file fits another job, a row with more ticks, or one with another hash", job)
			}
		}
	}
}

// scenario makes the scenario of a job.
func (x *tiny) scenario(job int) *scenarios.Scenario {
	x.t.Helper()
	s, err := x.config.Make(x.journal.Plan.Sets(x.journal.Plan.Point(job)))
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}
