package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestFollowTampered holds that evidence which is changed behind a --follow that has read it already keeps its verdict from being PASS.
func TestFollowTampered(t *testing.T) {
	for _, tt := range []struct{ what, sql, want string }{
		{"nothing", "SELECT 1", "PASS ticks=0..100 "},
		{"the inputs", "DROP TRIGGER input_events_delete; DELETE FROM input_events", "EVIDENCE table=chain_hashes row=100 reason=its last input is 25; "},
		{"a link", "DROP TRIGGER chain_hashes_update; UPDATE chain_hashes SET state_len = state_len + 1 WHERE tick = 10", "EVIDENCE table=chain_hashes row=10 "},
		{"the seed", "DROP TRIGGER runs_update; UPDATE runs SET master_seed = '77'", "EVIDENCE table=runs "},
		{"the genesis", "DROP TRIGGER runs_update; UPDATE runs SET genesis = x'00'", "EVIDENCE table=runs "},
		{"the run", `PRAGMA foreign_keys = 0; DROP TRIGGER runs_delete; DELETE FROM runs`, "EVIDENCE table=runs "},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Chdir(t.TempDir())
			done(t, "run", "heat", "--until", "100", "--no-record", "--audit", "f.db")
			want := report.StatusEvidence
			if tt.what == "nothing" {
				want = report.StatusOK
			}
			if status, line, errs := followed(t, runIDs(t, "f.db")[0], 100, strings.Split(tt.sql, "; ")); status != want || !strings.HasPrefix(line, tt.want) {
				t.Errorf("%d, %s, %s, want %d, %s", status, line, errs, want, tt.want)
			}
		})
	}
}

// TestFollowTamperedParent holds that a fork whose parent is changed behind a --follow is not called PASS.
func TestFollowTamperedParent(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--until", "60", "--no-record", "--audit", "f.db", "--audit-every", "10")
	parent := runIDs(t, "f.db")[0]
	done(t, "audit", "fork", "f.db", "--tick", "50")
	fork := runIDs(t, "f.db")[1]
	done(t, "run", "--resume", "f.db", "--audit-run", fork, "--until", "100", "--no-record")
	sql := "DROP TRIGGER chain_hashes_update; UPDATE chain_hashes SET state_len = state_len + 1 WHERE tick = 40 AND run_id = '" + parent + "'"
	status, line, errs := followed(t, fork, 50, strings.Split(sql, "; "))
	want := fmt.Sprintf("EVIDENCE table=runs row=%s reason=the evidence of its parent %s is broken: chain_hashes, tick 40: ", fork, parent)
	if status != report.StatusEvidence || !strings.HasPrefix(line, want) {
		t.Errorf("%d, %s, %s, want %d, %s", status, line, errs, report.StatusEvidence, want)
	}
}

// followed follows a run of f.db that seems to go on, changes the database when all its ticks are audited, and then ends the run. It
// returns what the audit came to, and what it said.
func followed(t *testing.T, run string, ticks int, sql []string) (status int, line, said string) {
	t.Helper()
	id, err := audit.ParseID(run)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "f.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Writer(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs saidText
	ended := make(chan int)
	go func() {
		args := []string{"audit", "--no-verdict", "f.db", "--run", run, "--follow", "--metrics", "127.0.0.1:0"}
		ended <- Program{}.run(t.Context(), args, nil, &out, &errs)
	}()
	waiting.For(t, "all ticks are audited", func() bool {
		return strings.Contains(metricsOf(out.String()), fmt.Sprintf("\nmurksim_audit_ticks_total %d\n", ticks))
	})
	tamper(t, "f.db", sql...)
	time.Sleep(2 * evidence.PollEvery) // it may look once more, or not
	w.Close()
	status = <-ended
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return status, lines[len(lines)-1], errs.String()
}

// metricsOf returns the metrics that a program serves where it says, or nothing if it does not yet.
func metricsOf(said string) string {
	_, rest, _ := strings.Cut(said, "metrics   ")
	url, _, whole := strings.Cut(rest, "\n")
	if !whole {
		return ""
	}
	r, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return string(text)
}
