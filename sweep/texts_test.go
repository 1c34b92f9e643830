package sweep_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/murksim/murksim/sweep"
)

// TestSign: whatever the texts of a row are, once it is signed a coordinator takes it.
func TestSign(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("ö", 1<<16), strings.Repeat("\xff", 5000), strings.Repeat("a\x00", 3000), "= @+-x"} {
		r := sweep.Row{Status: sweep.Failed, Reason: text, Hash: "0123456789abcdef", Kept: text}
		r.Sign(3, text+"#1", text)
		again := r
		again.Clean()
		if wrong := again.Wrong(); wrong != "" || r.Reason != again.Reason || !utf8.ValidString(r.Reason) {
			t.Errorf("%.20q: %s", text, wrong)
		}
		if len(again.Reason) > 4090 && !strings.HasSuffix(r.Reason, "…") {
			t.Errorf("a reason that was cut ends with %q", r.Reason[len(r.Reason)-5:])
		}
		if name := sweep.ProcessName(text); len(text) < 4096 && sweep.Process(r.Worker) != name || sweep.ProcessName(name) != name {
			t.Errorf("the process of %.20q is %.20q", r.Worker, name)
		}
	}
}

// TestWrong: no text of a row that is taken is longer than what programs write.
func TestWrong(t *testing.T) {
	huge := strings.Repeat("0", 1<<20)
	for i, change := range []func(r *sweep.Row){
		func(r *sweep.Row) { r.Reason = huge }, func(r *sweep.Row) { r.Hash = huge }, func(r *sweep.Row) { r.Digest = huge },
		func(r *sweep.Row) { r.Worker = huge }, func(r *sweep.Row) { r.Build = huge }, func(r *sweep.Row) { r.Kept = huge },
		func(r *sweep.Row) { r.Status = sweep.Status(huge) }, func(r *sweep.Row) { r.Hash = "0123456789ABCDEF" },
	} {
		r := row(1)
		if wrong := r.Wrong(); wrong != "" {
			t.Fatalf("an honest row: %s", wrong)
		}
		change(&r)
		if wrong := r.Wrong(); wrong == "" || len(wrong) > 200 {
			t.Errorf("change %d: %.200q", i, wrong)
		}
	}
}

// TestNoUnreadableLine: a journal writes no line that it would not read, alone or beside others, and none of those beside it.
func TestNoUnreadableLine(t *testing.T) {
	huge, odd, check := row(1), row(1), sweep.Check{Job: 1, Row: row(1), Files: []string{"../x.murk"}}
	huge.Build, odd.Kept = strings.Repeat("x", 17<<20), "recordings/job-2.murk"
	for i, add := range []func(j *sweep.Journal) error{
		func(j *sweep.Journal) error { return j.Add(huge) },
		func(j *sweep.Journal) error { return j.Add(row(2), huge) },
		func(j *sweep.Journal) error { return j.Add(huge, row(2)) },
		func(j *sweep.Journal) error { return j.Add(row(2), odd) },
		func(j *sweep.Journal) error { return j.AddCheck(check) },
	} {
		path := filepath.Join(t.TempDir(), "journal")
		journalOf(t, path, head(3), 0)
		j, err := sweep.OpenJournal(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := add(j); err == nil {
			t.Errorf("record %d was written", i)
		}
		if err := j.Add(row(2)); err != nil {
			t.Error(err)
		}
		j.Close()
		if j, err = sweep.OpenJournal(path, true); err != nil {
			t.Errorf("after record %d: %v", i, err)
			continue
		}
		if list := done(t, j); len(list) != 2 || j.Bad != 0 {
			t.Errorf("after record %d the journal has rows of %v and %d damaged lines", i, list, j.Bad)
		}
		j.Close()
	}
}
