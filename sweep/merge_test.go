package sweep_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/sweep"
)

// TestMerge joins shards: what two of them have is compared.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	one, two := head(8), head(8)
	one.Shard, two.Shard = sweep.Shard{Index: 1, Of: 2}, sweep.Shard{Index: 2, Of: 2}
	part := func(name string, h sweep.Head, jobs ...int) sweep.Part {
		return sweep.Part{Folder: filepath.Join(dir, name), Journal: folderOf(t, filepath.Join(dir, name), h, jobs...)}
	}
	all := folderOf(t, filepath.Join(dir, "all"), head(8))
	lie := row(2)
	lie.Hash, lie.Worker = "0123456789abcdef", "liar"
	liar := part("again", one, 4)
	if err := liar.Journal.Add(lie, row(3)); err != nil { // the latter is of the other shard, and none
		t.Fatal(err)
	}
	if liar.Journal.Done() != 2 || liar.Journal.Has(3) {
		t.Errorf("a shard has the row of a job of another one")
	}
	m := sweep.Merge{Folder: filepath.Join(dir, "all"), To: all, Parts: []sweep.Part{part("one", one, 0, 2, 4), part("other", head(9), 1)}}
	if err := m.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "other: it is of another sweep, with other seeds") || all.Done() != 0 {
		t.Errorf("a shard of another sweep gives %v, and %d rows", err, all.Done())
	}
	m.Parts = []sweep.Part{m.Parts[0], part("two", two, 1, 3), liar}
	if err := liar.Journal.Add(panicked(0)); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context()); err != nil || m.Added != 5 {
		t.Errorf("it adds %d, %v, want 5 rows", m.Added, err)
	}
	if got, want := done(t, all), []int{0, 1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("it has the jobs %v, want %v", got, want)
	}
	if c := all.Differing(); len(c) != 2 || c[0].Job != 0 || c[0].Differ != "one is ok, one panic" || c[1].Job != 2 || c[1].Row.Worker != "liar" {
		t.Errorf("the jobs that differ are %+v, want 0 and 2", c)
	}
}

// panicked is a row of a job that panicked.
func panicked(job int) sweep.Row {
	r := row(job)
	r.Status, r.Reason = sweep.Panic, "no"
	return r
}

// TestMergeForged: of rows that say to be the same one, and of a check that says to equal the row, nothing is believed: they are compared.
func TestMergeForged(t *testing.T) {
	dir := t.TempDir()
	lie := row(2)
	lie.Hash = "deadbeefdeadbeef"
	honest, forged := folderOf(t, filepath.Join(dir, "honest"), head(8), 0, 2), folderOf(t, filepath.Join(dir, "forged"), head(8), 0)
	if err := forged.Add(lie); err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]*sweep.Journal{{honest, forged}, {forged, honest}} {
		folder := t.TempDir()
		m := sweep.Merge{Folder: folder, To: folderOf(t, filepath.Join(folder, "all"), head(8))}
		for _, j := range order {
			m.Parts = append(m.Parts, sweep.Part{Folder: folder, Journal: j})
		}
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := m.To.Differing(); len(c) != 1 || c[0].Job != 2 || m.To.Recheck(0) != "" {
			t.Errorf("the jobs that differ are %+v, want job 2; job 0 is %q", c, m.To.Recheck(0))
		}
	}
	if err := honest.AddCheck(sweep.Check{Job: 2, Equal: true, Row: lie}); err != nil {
		t.Fatal(err)
	}
	again, err := sweep.OpenJournal(filepath.Join(dir, "honest", "journal"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, j := range []*sweep.Journal{honest, again} {
		if got := j.Recheck(2); !strings.Contains(got, "deadbeefdeadbeef") {
			t.Errorf("job 2 is %q", got)
		}
	}
}

// folderOf makes a folder with a journal, and opens it.
func folderOf(t *testing.T, folder string, h sweep.Head, jobs ...int) *sweep.Journal {
	t.Helper()
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	journalOf(t, filepath.Join(folder, "journal"), h, jobs...)
	j, err := sweep.OpenJournal(filepath.Join(folder, "journal"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// put writes a file, and makes its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// keeping is a row whose recording or state is kept.
func keeping(job int, state bool) sweep.Row {
	r := row(job)
	r.Kept = sweep.KeptName(job, state)
	return r
}

// kept is a row whose recording or state is kept, and that file.
func kept(t *testing.T, job int, state bool) (r sweep.Row, file string) {
	t.Helper()
	x := newTiny(t, sweep.Design{Seeds: []sweep.Span{{From: uint64(job), To: uint64(job), Step: 1}}})
	var recording bytes.Buffer
	ran, saved, err := sweep.PerformSaving(t.Context(), x.scenario(0), sweep.Wanted{}, sweep.Limits{}, func(*sweep.Row) bool { return true })
	if err == nil {
		_, err = sweep.RecordAgain(t.Context(), x.scenario(0), &ran, &recording)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, file = keeping(job, state), recording.String(); state {
		file = string(saved)
	}
	r.ID, r.Ticks, r.Hash = sweep.IDOf(x.scenario(0)), ran.Ticks, ran.Hash
	return r, file
}

// TestMergeCompares: a file that does not end as the row that names it, or is the recording of another job, is left where it is, but for a job that differs, of which it may show
// the other end.
func TestMergeCompares(t *testing.T) {
	dir := t.TempDir()
	one, all := filepath.Join(dir, "one"), filepath.Join(dir, "all")
	from, to := folderOf(t, one, head(8)), folderOf(t, all, head(8))
	for job := range 5 {
		r, file := kept(t, job, job == 1)
		if job == 4 {
			_, file = kept(t, 5, false)
		}
		put(t, filepath.Join(one, r.Kept), file)
		switch job {
		case 0, 3:
			r.Hash = "0123456789abcdef"
		case 1:
			r.Ticks++
		}
		if err := from.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.AddCheck(sweep.Check{Job: 3, Differ: "final hashes", Row: row(3)}); err != nil {
		t.Fatal(err)
	}
	m := sweep.Merge{Folder: all, To: to, Parts: []sweep.Part{{Folder: one, Journal: from}}}
	if err := m.Run(t.Context()); err != nil || m.Added != 5 || m.Kept != 2 || m.Other != 3 || m.Gone != 0 {
		t.Errorf("merge adds %d, %d kept, %d gone, %d with another end, %v", m.Added, m.Kept, m.Gone, m.Other, err)
	}
	for job, want := range []string{"", "", sweep.KeptName(2, false), sweep.KeptName(3, false), ""} {
		if r, err := to.Row(job); err != nil || r.Kept != want || sweep.Exists(filepath.Join(all, sweep.KeptName(job, job == 1))) != (want != "") {
			t.Errorf("job %d has kept %q, %v, want %q", job, r.Kept, err, want)
		}
	}
}

// TestMergeKept brings what was kept into the folder of the whole sweep, as often as it is asked to. Recordings of an earlier difference that are
// there stay.
func TestMergeKept(t *testing.T) {
	dir := t.TempDir()
	one, all := filepath.Join(dir, "one"), filepath.Join(dir, "all")
	from, to := folderOf(t, one, head(8), 3), folderOf(t, all, head(8))
	differs := sweep.Check{Job: 3, Differ: "heat", Row: keeping(3, false), Files: []string{sweep.EvidenceName(3, 5), sweep.EvidenceName(3, 6)}}
	recorded, recording := kept(t, 0, false)
	saved, state := kept(t, 1, true)
	if err := errors.Join(from.Add(recorded, saved, keeping(2, false)), from.AddCheck(differs)); err != nil {
		t.Fatal(err)
	}
	files := []string{sweep.KeptName(0, false), sweep.KeptName(1, true), sweep.EvidenceName(3, 1), sweep.EvidenceName(3, 2), sweep.EvidenceName(3, 3), sweep.EvidenceName(3, 4)}
	brought := map[string]string{files[4]: differs.Files[0], files[5]: differs.Files[1]}
	texts := map[string]string{files[0]: recording, files[1]: state} // else a file's name
	for i, name := range files {
		folder := one
		if i == 2 || i == 3 {
			folder = all
		}
		from := cmp.Or(brought[name], name)
		put(t, filepath.Join(folder, from), cmp.Or(texts[from], from))
	}
	put(t, filepath.Join(all, files[0]+".part"), "of a merge that was killed")
	for again := range 2 {
		m := sweep.Merge{Folder: all, To: to, Parts: []sweep.Part{{Folder: one, Journal: from}}}
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again == 0 && (m.Added != 4 || m.Kept != 2 || m.Gone != 1) || again == 1 && m.Added+m.Kept+m.Gone != 0 {
			t.Errorf("merge %d adds %d, %d kept, %d gone", again+1, m.Added, m.Kept, m.Gone)
		}
		for _, name := range files {
			if b, err := os.ReadFile(filepath.Join(all, name)); err != nil || string(b) != cmp.Or(texts[name], brought[name], name) {
				t.Errorf("%s holds %q, %v", name, b, err)
			}
		}
	}
	for job, want := range []string{files[0], files[1], "", ""} {
		if r, err := to.Row(job); err != nil || r.Kept != want {
			t.Errorf("job %d has kept %q, %v, want %q", job, r.Kept, err, want)
		}
	}
	if c := to.Checks[3]; c.Equal || c.Row.Kept != "" || !slices.Equal(c.Files, files[4:]) {
		t.Errorf("the check is %+v", c)
	}
}

// TestMergeInside: no link in a folder leads to a file elsewhere, to be read or to be written.
func TestMergeInside(t *testing.T) {
	for _, where := range []string{"from", "from-folder", "to-folder", "no-file"} {
		t.Run(where, func(t *testing.T) {
			dir := t.TempDir()
			one, all, name := filepath.Join(dir, "one"), filepath.Join(dir, "all"), sweep.KeptName(0, false)
			from, to := folderOf(t, one, head(8)), folderOf(t, all, head(8))
			recorded, recording := kept(t, 0, false)
			if err := from.Add(recorded); err != nil {
				t.Fatal(err)
			}
			secret := filepath.Join(dir, "recordings", "job-0.murk")
			put(t, secret, "secret")
			var err error
			switch where {
			case "from":
				err = errors.Join(os.Mkdir(filepath.Join(one, "recordings"), 0o777), os.Symlink(secret, filepath.Join(one, name)))
			case "from-folder":
				err = os.Symlink(filepath.Dir(secret), filepath.Join(one, "recordings"))
			case "to-folder":
				put(t, filepath.Join(one, name), recording)
				err = os.Symlink(filepath.Dir(secret), filepath.Join(all, "recordings"))
			case "no-file":
				err = os.MkdirAll(filepath.Join(one, name), 0o777)
			}
			if err != nil {
				t.Fatal(err)
			}
			m := sweep.Merge{Folder: all, To: to, Parts: []sweep.Part{{Folder: one, Journal: from}}}
			if err := m.Run(t.Context()); err == nil || m.Added != 0 {
				t.Errorf("it adds %d rows, %v", m.Added, err)
			}
			if _, err := os.Stat(filepath.Join(all, name)); where != "to-folder" && err == nil {
				t.Errorf("%s is there", name)
			}
			left, err := os.ReadDir(filepath.Dir(secret))
			if b, err2 := os.ReadFile(secret); err != nil || err2 != nil || string(b) != "secret" || len(left) != 1 {
				t.Errorf("the other folder has %v, with %q: %v, %v", left, b, err, err2)
			}
			if _, err := sweep.FindKept(one, name); err == nil && where != "to-folder" {
				t.Errorf("%s is found", name)
			}
		})
	}
}

// TestForgedKept: a journal whose rows name files elsewhere is refused, with the line.
func TestForgedKept(t *testing.T) {
	for _, name := range []string{"../one/recordings/job-1.murk", "/etc/passwd", "recordings/job-2.murk", "recordings/job-01.murk", "recordings//job-1.murk", "states/job-1.murk", " recordings/job-1.murk"} {
		path := filepath.Join(t.TempDir(), "journal")
		journalOf(t, path, head(8), 0)
		forge(t, path, fmt.Sprintf(`{"row":{"job":1,"status":"ok","kept":%q}}`, name))
		want := fmt.Sprintf("line 3 says that %q is kept of job 1", name)
		if _, err := sweep.OpenJournal(path, true); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
		f, err := sweep.FollowJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Next(1<<20, func(*sweep.Row) {}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("followed, %q: %v, want %s", name, err, want)
		}
		f.Close()
	}
}

// TestForgedEvidence: a journal whose checks name files elsewhere is refused, with the line.
func TestForgedEvidence(t *testing.T) {
	for _, name := range []string{"../one/differences/job-1-1.murk", "/etc/passwd", "differences/../journal", "differences//job-1-1.murk", "recordings/job-1.murk", "differences/job-1-1.murk\n", ""} {
		path := filepath.Join(t.TempDir(), "journal")
		journalOf(t, path, head(8), 1)
		forge(t, path, fmt.Sprintf(`{"check":{"job":1,"row":{"job":1,"status":"ok"},"files":[%q,%q]}}`, sweep.EvidenceName(1, 1), name))
		if _, err := sweep.OpenJournal(path, true); err == nil || !strings.HasPrefix(err.Error(), "line 3 says that recordings of job 1 are ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
