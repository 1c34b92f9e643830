package cli

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/audit"
)

// TestNoteOfAnotherProgram: what another program noted of a chain, this one does not believe.
func TestNoteOfAnotherProgram(t *testing.T) {
	note := noted(3, audit.Hash{}, audit.Hash{})
	defer func(id func() [sha256.Size]byte) { session.ProgramID = id }(session.ProgramID)
	session.ProgramID = func() [sha256.Size]byte { return [sha256.Size]byte{1} }
	if noted(3, audit.Hash{}, audit.Hash{}) == note {
		t.Error("a note does not tell which program made it")
	}
}

// TestNoNote: where nothing can be noted of a chain, or its note cannot be read, a line says so.
func TestNoNote(t *testing.T) {
	t.Chdir(t.TempDir())
	config := func(folder string) {
		for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData", "home"} {
			t.Setenv(name, folder)
		}
	}
	config("")
	const none = "note      none: there is no folder for your configuration; if somebody removes ticks from the end"
	if out := done(t, "run", "heat", "--ticks", "12", "--until", "4", "--audit", "run.db", "--no-record"); !strings.Contains(out, none) {
		t.Errorf("a run of which nothing can be noted says\n%s", out)
	}
	if out := done(t, "run", "--resume", "run.db", "--until", "5", "--no-record"); !strings.Contains(out, none) {
		t.Errorf("one that goes on says\n%s", out)
	}
	config(os.DevNull) // the home of those who have none
	if out := done(t, "run", "--resume", "run.db", "--until", "6", "--no-record"); !strings.Contains(out, none) {
		t.Errorf("one of a user whose home is no folder says\n%s", out)
	}
	config(t.TempDir())
	if out := done(t, "run", "--resume", "run.db", "--until", "7", "--no-record"); strings.Contains(out, "note ") {
		t.Errorf("one of which nothing is noted yet says\n%s", out)
	}
	id, err := audit.ParseID(runIDs(t, "run.db")[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(string(memoryOf(id)), []byte("6 "), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "--resume", "run.db", "--until", "8", "--no-record"}, {"audit", "fork", "run.db", "--tick", "4"}} {
		if status, out, errs := murksim(t, nil, args...); status != report.StatusEvidence || !strings.Contains(errs, "is no note: what your programs committed is not known") {
			t.Errorf("%q of one whose note is cut: %d\n%s%s", args, status, out, errs)
		}
	}
	done(t, "run", "--resume", "run.db", "--until", "8", "--no-record", "--force")
	runs := filepath.Dir(string(memoryOf(id)))
	if err := errors.Join(os.RemoveAll(runs), os.WriteFile(runs, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	const unwritten = "note      none: "
	if status, out, errs := murksim(t, nil, "run", "heat", "--ticks", "9", "--until", "4", "--audit", "other.db", "--no-record"); status != 0 || !strings.Contains(out+errs, unwritten) {
		t.Errorf("a run whose note cannot be written: %d\n%s%s", status, out, errs)
	}
	done(t, "audit", "key", "mine.key")
	for _, args := range [][]string{
		{"run", "--resume", "run.db", "--until", "9", "--no-record"}, {"audit", "fork", "run.db"},
		{"audit", "sign", "run.db", "--key", "mine.key", "-o", "a.sig"},
	} {
		status, out, errs := murksim(t, nil, args...)
		if status != report.StatusEvidence || !strings.Contains(errs, "what your programs committed is not known") {
			t.Errorf("%q where no note can be looked for: %d\n%s%s", args, status, out, errs)
		}
	}
	if out := done(t, "run", "--resume", "run.db", "--until", "9", "--no-record", "--force"); !strings.Contains(out, unwritten) {
		t.Errorf("one that goes on says\n%s", out)
	}
}
