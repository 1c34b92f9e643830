package sweep_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/sweep"
)

// next reads what there is, and returns the jobs whose rows were taken in.
func next(t *testing.T, f *sweep.Follower, most int64) (jobs []int) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = f.Next(most, func(r *sweep.Row) {
			if want := row(r.Job); r.Hash != want.Hash || r.Worker != want.Worker || r.Stats[0] != want.Stats[0] {
				t.Errorf("the row of job %d is %+v", r.Job, r)
			}
			jobs = append(jobs, r.Job)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return jobs
}

// A journal that grows byte by byte gives each row once, when its line is whole, whatever is read at a time.
func TestFollowerReadsOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole")
	journalOf(t, path, head(8), 3, 0, 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Index(whole, '\n') + 1
	path += "-grows"
	if err := os.WriteFile(path, whole[:first], 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := sweep.FollowJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var got []int
	for n := first; n < len(whole); n++ {
		if _, err := to.Write(whole[n : n+1]); err != nil {
			t.Fatal(err)
		}
		jobs := next(t, f, 1)
		if (len(jobs) == 1) != (whole[n] == '\n') {
			t.Errorf("after byte %d there are the jobs %v", n, jobs)
		}
		got = append(got, jobs...)
	}
	if want := []int{3, 0, 5}; !slices.Equal(got, want) || !slices.Equal(done(t, f.Journal), []int{0, 3, 5}) || f.Done() != 3 || f.Read() != int64(len(whole)) {
		t.Errorf("the jobs %v come, want %v; %d are done", got, want, f.Done())
	}
}

// What another process appends is taken in: rows, rows again, checks, damaged lines, and another design.
func TestFollowerTakesAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3)
	f, err := sweep.FollowJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := next(t, f, 1<<20); !slices.Equal(got, []int{3}) {
		t.Errorf("at first there are the jobs %v", got)
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.WriteString("00000000 {\"row\":{}}\nhalf"); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if got := next(t, f, 1<<20); got != nil || f.Bad != 1 {
		t.Errorf("a damaged line gives the jobs %v, %d damaged", got, f.Bad)
	}
	j, err := sweep.OpenJournal(path, false) // which removes the half line
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	check := sweep.Check{Job: 3, Differ: "final hashes", Row: row(3)}
	if err := errors.Join(j.Add(row(4), row(3)), j.AddCheck(check)); err != nil {
		t.Fatal(err)
	}
	if got := next(t, f, 1<<20); !slices.Equal(got, []int{4, 3}) || f.Bad != 1 || f.Done() != 2 || f.Recheck(3) != "differs: final hashes" || f.Recheck(4) != "" {
		t.Errorf("then come the jobs %v, %d damaged, %d done, recheck %q", got, f.Bad, f.Done(), f.Recheck(3))
	}
	plan := f.Plan
	h := head(9)
	h.Pick = j.Head.Pick
	if _, err := j.Extend(h, func(job int) (sweep.ID, bool) { return row(job).ID, true }); err != nil {
		t.Fatal(err)
	}
	if got := next(t, f, 1<<20); !slices.Equal(got, []int{3, 4}) || f.Plan == plan || f.Head.Jobs != 9 || f.Done() != 2 {
		t.Errorf("an extended sweep has the jobs %v of %d", got, f.Head.Jobs)
	}
}

// A journal that is another one by now, or was cut, says so.
func TestFollowerIsReplaced(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "journal")
	for name, change := range map[string]func() error{
		"another file": func() error {
			journalOf(t, path+".new", head(8), 3, 0, 5, 7)
			return os.Rename(path+".new", path)
		},
		"cut": func() error { return os.Truncate(path, 700) },
		"another sweep in the file": func() error {
			journalOf(t, path+".new", head(7), 3, 0, 5, 6, 1, 2, 4)
			b, err := os.ReadFile(path + ".new")
			return errors.Join(err, os.WriteFile(path, b, 0o666), os.Remove(path+".new"))
		},
	} {
		os.Remove(path)
		journalOf(t, path, head(8), 3, 0, 5)
		f, err := sweep.FollowJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		next(t, f, 1<<20)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if more, err := f.Next(1<<20, nil); more || !errors.Is(err, sweep.ErrReplaced) {
			t.Errorf("%s: %v, %v", name, more, err)
		}
		os.Remove(path)
		if _, err := f.Next(1<<20, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removed: %v", err)
		}
		f.Close()
	}
}

// What is no journal, or not yet, is not followed.
func TestFollowerNeedsAHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if _, err := sweep.FollowJournal(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for _, text := range []string{"", "x", "\n", "00000000 {}\n", "seven\tx\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := sweep.FollowJournal(path); !errors.Is(err, sweep.ErrNoJournal) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
