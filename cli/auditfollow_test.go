package cli

import (
	"strings"
	"testing"
	"time"

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
			type result struct {
				status int
				line   string
			}
			followed := make(chan result)
			go func() {
				status, line := audited(t, "f.db", "--follow")
				followed <- result{status, line}
			}()
			time.Sleep(3 * pollEvery) // if that is too short, it sees the change at its first look
			tamper(t, "f.db", strings.Split(tt.sql, "; ")...)
			time.Sleep(2 * pollEvery)
			w.Close()
			want := statusEvidence
			if tt.what == "nothing" {
				want = statusOK
			}
			if r := <-followed; r.status != want || !strings.HasPrefix(r.line, tt.want) {
				t.Errorf("%d, %s, want %d, %s", r.status, r.line, want, tt.want)
			}
		})
	}
}
