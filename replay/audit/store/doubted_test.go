package store_test

import (
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// TestDoubted: a run is in doubt once an audit of it failed, or an alert says that a tick differs; another verdict, another alert, and
// those of another run cast none.
func TestDoubted(t *testing.T) {
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		for i, of := range []struct {
			verdict, alert string
			want           bool
		}{
			{"PASS", "", false}, {"FAIL", "", true}, {"PASS", audit.EvidenceFault, false},
			{"EVIDENCE", audit.Divergence, true}, {"ERROR", "", false},
		} {
			r := newRun(uint64(1 + i))
			create(t, d, r)
			if err := d.Audit(ctx, &store.Audit{ID: r.ID, Run: r.ID, Started: time.Now(), Finished: time.Now(), Verdict: of.verdict}); err != nil {
				t.Fatal(err)
			}
			if of.alert != "" {
				if _, err := d.Alert(ctx, &store.Alert{Run: r.ID, Code: of.alert, Severity: "critical", At: time.Now()}); err != nil {
					t.Fatal(err)
				}
			}
			if doubted, err := d.Doubted(ctx, r.ID); err != nil || doubted != of.want {
				t.Errorf("%+v: %t, %v", of, doubted, err)
			}
		}
	})
}
