package sweep_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/sweep"
)

// head is that of a sweep of some jobs, one a seed.
func head(jobs int) sweep.Head {
	return sweep.Head{
		Form: 1, Jobs: jobs, Pick: "00", Stats: []string{"heat_mean"},
		Design: sweep.Design{Scenario: "tiny", Seeds: []sweep.Span{{From: 1, To: uint64(jobs), Step: 1}}},
	}
}

// row is a row of a job.
func row(job int) sweep.Row {
	return sweep.Row{Job: job, ID: sweep.ID{byte(job), 1}, Status: sweep.OK, Ticks: 10, Hash: fmt.Sprintf("%016x", job), Stats: []sweep.Number{sweep.Number(job)}, Worker: "w", Build: "b"}
}

// journalOf writes a journal with rows of some jobs.
func journalOf(t testing.TB, path string, h sweep.Head, jobs ...int) {
	t.Helper()
	j, err := sweep.CreateJournal(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range jobs {
		if err := j.Add(row(job)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// forge appends a line to a journal that no journal writes itself.
func forge(t testing.TB, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = fmt.Appendf(b, "%08x %s\n", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)), text)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// done lists the jobs of a journal that have a row, which must be the right one.
func done(t testing.TB, j *sweep.Journal) (list []int) {
	t.Helper()
	for job := range j.Head.Jobs {
		if !j.Has(job) {
			continue
		}
		r, err := j.Row(job)
		if want := row(job); err != nil || r.Job != job || r.Hash != want.Hash || r.Stats[0] != want.Stats[0] {
			t.Errorf("the row of job %d is %+v, %v, want %+v", job, r, err, want)
		}
		list = append(list, job)
	}
	return list
}

// A journal has its name when it has its head: what a process leaves that was killed before, or had no room, does no harm.
func TestJournalBeginsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	bad := head(3)
	bad.Jobs = 4
	if _, err := sweep.CreateJournal(path, bad); err == nil || sweep.Exists(path) || sweep.Exists(path+".new") {
		t.Errorf("CreateJournal with a wrong head = %v, and leaves a file", err)
	}
	if err := os.WriteFile(path+".new", []byte("0123456"), 0o666); err != nil {
		t.Fatal(err)
	}
	journalOf(t, path, head(3), 1)
	if sweep.Exists(path + ".new") {
		t.Error("the draft is still there")
	}
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got := done(t, j); !slices.Equal(got, []int{1}) {
		t.Errorf("jobs %v are done, want job 1", got)
	}
	if _, err := sweep.CreateJournal(path, head(3)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateJournal of a file that exists = %v, want %v", err, fs.ErrExist)
	}
}

// A journal that is cut anywhere has the rows of its whole lines, and goes on from there.
func TestJournalIsCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3, 0, 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		lines, torn := bytes.Count(whole[:n], []byte{'\n'}), n > 0 && whole[n-1] != '\n'
		j, err := sweep.OpenJournal(path, false)
		if lines == 0 {
			if err == nil {
				t.Fatalf("cut at byte %d, within the head, the journal opens", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if err := j.Add(row(7)); err != nil {
			t.Fatal(err)
		}
		j.Close()
		if j, err = sweep.OpenJournal(path, true); err != nil {
			t.Fatalf("cut at byte %d and written on: %v", n, err)
		}
		if torn && whole[n] == '\n' { // nothing but the end of the line is missing
			lines++
		}
		want := append([]int{3, 0, 5}[:lines-1:lines-1], 7)
		slices.Sort(want)
		if got := done(t, j); !slices.Equal(got, want) || j.Done() != len(want) {
			t.Errorf("cut at byte %d it has the jobs %v (%d), want %v", n, got, j.Done(), want)
		}
		if j.Bad != 0 {
			t.Errorf("cut at byte %d and mended it has %d damaged lines", n, j.Bad)
		}
		j.Close()
	}
}

// Forgotten jobs run again; the later row counts, also when the journal is read again.
// TestForgetSettled: a retry that ran out of time or memory leaves the end that the job had, and a panic that does not come back is a difference; nothing of
// an earlier design stands for a retry.
func TestForgetSettled(t *testing.T) {
	for _, tt := range []struct {
		first, again, want sweep.Status
		build              string
		differs            int
	}{
		{sweep.Halted, sweep.Time, sweep.Halted, "", 0}, {sweep.OK, sweep.Memory, sweep.OK, "", 0}, {sweep.Time, sweep.OK, sweep.OK, "", 0},
		{sweep.Panic, sweep.OK, sweep.Panic, "", 1}, {sweep.Panic, sweep.Panic, sweep.Panic, "", 0}, {sweep.Halted, sweep.OK, sweep.Halted, "", 1},
		{sweep.Halted, sweep.OK, sweep.OK, "another", 0},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		j, err := sweep.CreateJournal(path, head(4))
		if err != nil {
			t.Fatal(err)
		}
		first, again := row(0), row(0)
		first.Status, again.Status = tt.first, tt.again
		if again.Build = first.Build; tt.build != "" {
			again.Build = tt.build
		}
		if err := j.Add(first); err != nil {
			t.Fatal(err)
		}
		j.Forget(tt.first)
		if err := j.Add(again); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := j.Row(0); err != nil || r.Status != tt.want || len(j.Differing()) != tt.differs {
				t.Errorf("%s, then %s by %q: %+v, %v; %d differ, want %s and %d", tt.first, tt.again, tt.build, r, err, len(j.Differing()), tt.want, tt.differs)
			}
			j.Close()
			if j, err = sweep.OpenJournal(path, false); err != nil {
				t.Fatal(err)
			}
		}
		j.Close()
	}
}

func TestLinkedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // links need a right there
	}
	for _, name := range []string{"results.csv", "recordings"} {
		folder := t.TempDir()
		path := filepath.Join(folder, "journal")
		if err := os.Symlink(t.TempDir(), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		if j, err := sweep.CreateJournal(path, head(1)); err == nil || !strings.Contains(err.Error(), name+" in it is a symbolic link") {
			t.Errorf("%s is a link: %v, %v", name, j, err)
		}
	}
}

func TestForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3, 0)
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	late := row(5)
	late.Status = sweep.Time
	if err := j.Add(late); err != nil {
		t.Fatal(err)
	}
	if err := j.AddCheck(sweep.Check{Job: 3, Equal: true, Row: row(3)}); err != nil {
		t.Fatal(err)
	}
	if n := j.Forget(sweep.Time, sweep.Panic); n != 1 || j.Done() != 2 || j.Has(5) || j.Counts[sweep.Time] != 0 || j.Counts[sweep.OK] != 2 {
		t.Errorf("%d jobs are forgotten, of %d that are done, %v", n, j.Done(), j.Counts)
	}
	if _, ok := j.Twin(row(5).ID); ok {
		t.Error("a job that is forgotten is the twin of another one")
	}
	if err := j.Add(row(5)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if j.Done() != 3 || j.Counts[sweep.OK] != 3 || j.Counts[sweep.Time] != 0 || len(j.Checks) != 1 {
			t.Errorf("%d jobs are done, %v, %d were run again", j.Done(), j.Counts, len(j.Checks))
		}
		if r, err := j.Row(5); err != nil || r.Status != sweep.OK {
			t.Errorf("the row of job 5 is %+v, %v", r, err)
		}
		j.Close()
		if j, err = sweep.OpenJournal(path, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := j.Forget(sweep.OK); n != 3 || j.Done() != 0 || j.Rechecked() != 0 {
		t.Errorf("%d jobs are forgotten, %d are done, %d were run again", n, j.Done(), j.Rechecked())
	}
	if err := j.Add(row(3)); err != nil || len(j.Checks) != 0 {
		t.Errorf("Add = %v; the check of another row is left", err)
	}
	if n, err := j.Restore(); n != 2 || err != nil || !slices.Equal(done(t, j), []int{0, 3, 5}) {
		t.Errorf("Restore = %d, %v; the jobs %v are done", n, err, done(t, j))
	}
	j.Close()
}

// TestForgetKeepsDifferences: a job that the same program brings to another end when it runs once more has the row that it had, and a
// check that differs, which outlives the next time, too; another program takes back both. It is so when the journal is read again.
func TestForgetKeepsDifferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 0, 1)
	other := row(0)
	other.Hash, other.Worker = "fedcba9876543210", "again"
	program := other
	program.Build = "another"
	late := row(1)
	late.Status = sweep.Time
	for _, tt := range []struct {
		what    string
		row     sweep.Row
		hash    string // of the job's row
		differs int
	}{
		{"the same end", row(0), row(0).Hash, 0},
		{"another end", other, row(0).Hash, 1},
		{"the first end again", row(0), row(0).Hash, 1},
		{"another program", program, program.Hash, 0},
		{"too late, which may be", late, "", 0},
	} {
		j, err := sweep.OpenJournal(path, false)
		if err != nil {
			t.Fatal(err)
		}
		j.Forget(sweep.OK)
		if err := j.Add(tt.row); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Restore(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c := j.Differing()
			if len(c) != tt.differs || len(c) == 1 && (c[0].Row.Worker != "again" || c[0].Differ == "") || j.Done() != 2 {
				t.Errorf("%s: of %d jobs differ %+v, want %d", tt.what, j.Done(), c, tt.differs)
			}
			if r, err := j.Row(0); err != nil || tt.hash != "" && r.Hash != tt.hash {
				t.Errorf("%s: the row is %+v, %v, want the hash %s", tt.what, r, err, tt.hash)
			}
			j.Close()
			if j, err = sweep.OpenJournal(path, false); err != nil {
				t.Fatal(err)
			}
		}
		j.Close()
	}
}

// TestEvidenceOutlivesRetries: a later retry, of which both recordings are equal, leaves the check that shows the first differing
// tick, also where the journal is read again and where it is merged into one with a check that shows none.
func TestEvidenceOutlivesRetries(t *testing.T) {
	dir := t.TempDir()
	one, all := folderOf(t, filepath.Join(dir, "one"), head(8)), folderOf(t, filepath.Join(dir, "all"), head(8))
	other := row(0)
	other.Hash = "fedcba9876543210"
	shows, equal := sweep.Check{Job: 0, Differ: "its hash", Row: other, Tick: 7}, sweep.Check{Job: 0, Differ: "its hash", Row: other}
	if err := errors.Join(one.Add(row(0)), one.AddCheck(equal), one.AddCheck(shows), all.Add(row(0)), all.AddCheck(equal)); err != nil {
		t.Fatal(err)
	}
	one.Forget(sweep.OK)
	if err := errors.Join(one.Add(other), one.AddCheck(equal)); err != nil {
		t.Fatal(err)
	}
	is := func(what string, j *sweep.Journal) {
		t.Helper()
		if c := j.Differing(); len(c) != 1 || c[0].Tick != 7 {
			t.Errorf("%s: of %d jobs differ %+v, want job 0 at tick 7", what, j.Done(), c)
		}
	}
	is("the retry", one)
	again, err := sweep.OpenJournal(filepath.Join(dir, "one", "journal"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	is("read again", again)
	m := sweep.Merge{Folder: filepath.Join(dir, "all"), To: all, Parts: []sweep.Part{{Folder: filepath.Join(dir, "one"), Journal: again}}}
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	is("merged", all)
}

// No flipped bit makes a row another.
func TestJournalIsFlipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3, 0, 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for n := range whole {
		flipped := bytes.Clone(whole)
		flipped[n] ^= 1
		if err := os.WriteFile(path, flipped, 0o666); err != nil {
			t.Fatal(err)
		}
		j, err := sweep.OpenJournal(path, true)
		if n < first {
			if err == nil {
				t.Fatalf("flipped in the head, byte %d, the journal opens", n)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n == len(whole)-1 { // the line has no end, and so may be being written
			continue
		}
		upper := whole[n] != flipped[n] && bytes.EqualFold(whole, flipped) // a digit of the checksum, in capitals
		if got := done(t, j); j.Bad == 0 && !upper || len(got) == 3 && !upper {
			t.Errorf("flipped at byte %d it has the jobs %v and %d damaged lines", n, got, j.Bad)
		}
		j.Close()
	}
}

func TestJournalExtends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3, 0, 5)
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	more := head(12)
	if got := j.Head.Change(&more); got != "other seeds" {
		t.Errorf("the change is %q, want other seeds", got)
	}
	taken, err := j.Extend(more, func(job int) (sweep.ID, bool) { return row(job).ID, job != 5 })
	if err != nil || taken != 2 {
		t.Fatalf("Extend = %d, %v, want 2 jobs taken over", taken, err)
	}
	if err := j.Add(row(11)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, want := done(t, j), []int{0, 3, 11}; !slices.Equal(got, want) {
			t.Errorf("it has the jobs %v, want %v", got, want)
		}
		var missing []int
		for job := range j.Missing() {
			missing = append(missing, job)
		}
		if want := []int{1, 2, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(missing, want) {
			t.Errorf("it misses %v, want %v", missing, want)
		}
		j.Close()
		if j, err = sweep.OpenJournal(path, true); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
}

// TestExtendDiffers: a job that gave another result when it was run again has done so in another design, too, also if the process that extends it
// is killed, and its check keeps the names of its files.
func TestExtendDiffers(t *testing.T) {
	for _, killed := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "journal")
		journalOf(t, path, head(8), 0, 3)
		j, err := sweep.OpenJournal(path, false)
		if err != nil {
			t.Fatal(err)
		}
		files := []string{sweep.EvidenceName(3, 5), sweep.EvidenceName(3, 6)}
		if err := j.AddCheck(sweep.Check{Job: 3, Differ: "heat", Tick: 7, Row: row(3), Files: files}); err != nil {
			t.Fatal(err)
		}
		h := head(9)
		h.Pick = j.Head.Pick
		id := func(job int) (sweep.ID, bool) { return row((job + 8) % 9).ID, !killed } // each has the next number
		if _, err := j.Extend(h, id); err != nil {
			t.Fatal(err)
		}
		if killed {
			h = head(10)
			killed = false
			if _, err := j.Extend(h, id); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if c := j.Differing(); len(c) != 1 || c[0].Job != 4 || c[0].Tick != 7 || !slices.Equal(c[0].Files, files) || j.Done() != 2 {
				t.Errorf("of %d jobs differ %+v, want job 4", j.Done(), c)
			}
			j.Close()
			if j, err = sweep.OpenJournal(path, false); err != nil {
				t.Fatal(err)
			}
		}
		if j.Forget(sweep.OK); len(j.Differing()) != 0 {
			t.Errorf("a job that is to run once more differs: %+v", j.Differing())
		}
		j.Close()
	}
}

// TestExtendKept: what was kept of a job of another design is not that of the job that has its number now.
func TestExtendKept(t *testing.T) {
	folder := t.TempDir()
	j := folderOf(t, filepath.Join(folder, "one"), head(2))
	if err := j.Add(keeping(0, false)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder, sweep.KeptName(0, false)), "")
	if got := j.KeptName(folder, 0, false); got != sweep.KeptName(0, false) {
		t.Errorf("at first the recording of job 0 is %s", got)
	}
	if taken, err := j.Extend(head(3), func(job int) (sweep.ID, bool) { return row(2 - job).ID, true }); err != nil || taken != 1 {
		t.Fatalf("Extend = %d, %v", taken, err)
	}
	if r, err := j.Row(2); err != nil || r.Kept != sweep.KeptName(0, false) {
		t.Errorf("job 2, which was job 0, has kept %q, %v", r.Kept, err)
	}
	if got := [...]string{j.KeptName(folder, 0, false), j.KeptName(folder, 0, true), j.KeptName(folder, 1, false)}; got != [...]string{"recordings/job-0-2.murk", "states/job-0.state", "recordings/job-1.murk"} {
		t.Errorf("new files are %q", got)
	}
}

// TestEvidenceOfEarlierVersions: a check without names has those that there were.
func TestEvidenceOfEarlierVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3)
	forge(t, path, `{"check":{"job":3,"equal":false,"differ":"heat","row":{"job":3,"status":"ok"}}}`)
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if want := []string{"differences/job-3-1.murk", "differences/job-3-2.murk"}; !slices.Equal(j.Checks[3].Files, want) {
		t.Errorf("the recordings are %q, want %q", j.Checks[3].Files, want)
	}
	if err := j.AddCheck(sweep.Check{Job: 3, Differ: "heat", Row: row(3)}); err != nil || len(j.Checks[3].Files) != 0 {
		t.Errorf("a check of this version has the recordings %q, %v, want none", j.Checks[3].Files, err)
	}
	again, err := sweep.OpenJournal(path, true)
	if err != nil || len(again.Checks[3].Files) != 0 {
		t.Fatalf("read again it has %q, %v, want none", again.Checks[3].Files, err)
	}
	again.Close()
}

func FuzzJournal(f *testing.F) {
	path := filepath.Join(f.TempDir(), "journal")
	journalOf(f, path, head(8), 3, 0, 5)
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { // whatever it holds: no panic
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		j, err := sweep.OpenJournal(path, true)
		if err != nil {
			return
		}
		for range j.Rows() {
		}
		j.Close()
	})
}

// What an --extend had no time to take over is taken over when the sweep goes on; a journal line that cannot be is damaged.
func TestExtendIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	journalOf(t, path, head(8), 3, 0)
	j, err := sweep.OpenJournal(path, false)
	if err != nil {
		t.Fatal(err)
	}
	h := head(9)
	h.Pick = j.Head.Pick
	if _, err := j.Extend(h, func(int) (sweep.ID, bool) { return sweep.ID{}, false }); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Without the end of its line the new design is none.
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if j, err = sweep.OpenJournal(path, false); err != nil {
		t.Fatal(err)
	}
	if got := done(t, j); !slices.Equal(got, []int{0, 3}) || j.Head.Jobs != 8 {
		t.Errorf("cut in the new design it has the jobs %v of %d, want 0 and 3 of 8", got, j.Head.Jobs)
	}
	equal := sweep.Row{Job: 1, ID: row(1).ID, Status: sweep.Equal, As: 1e9}
	if err := j.Add(equal); err != nil || j.Has(1) {
		t.Errorf("a row that equals a job that is none: %v", err)
	}
	j.Close()
}
