package cli

import (
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
			id, err := audit.ParseID(runIDs(t, "f.db")[0])
			if err != nil {
				t.Fatal(err)
			}
			db, err := store.Open(t.Context(), "f.db")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			w, err := db.Writer(t.Context(), id) // of a run that goes on
			if err != nil {
				t.Fatal(err)
			}
			var out, errs saidText
			status := make(chan int)
			go func() {
				args := []string{"audit", "--no-verdict", "f.db", "--follow", "--metrics", "127.0.0.1:0"}
				status <- Program{}.run(t.Context(), args, nil, &out, &errs)
			}()
			waiting.For(t, "all ticks are audited", func() bool { return strings.Contains(metricsOf(out.String()), "\nmurksim_audit_ticks_total 100\n") })
			tamper(t, "f.db", strings.Split(tt.sql, "; ")...)
			time.Sleep(2 * evidence.PollEvery) // it may look once more, or not
			w.Close()
			want := report.StatusEvidence
			if tt.what == "nothing" {
				want = report.StatusOK
			}
			got := <-status
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if line := lines[len(lines)-1]; got != want || !strings.HasPrefix(line, tt.want) {
				t.Errorf("%d, %s, %s, want %d, %s", got, line, errs.String(), want, tt.want)
			}
		})
	}
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
