package store_test

import (
	"errors"
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

// TestWrong: the first tick at which a run is known to be wrong is that of a failed audit, an alert or a halt for it, whichever is
// earliest. What was as committed when it was computed again does not count.
func TestWrong(t *testing.T) {
	const unconfirmed = `{"unconfirmed":true}`
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		for i, of := range []struct {
			audit store.Audit
			alert store.Alert
			halt  audit.Halt
			tick  uint64
			wrong bool
		}{
			{audit: store.Audit{Verdict: "PASS"}, alert: store.Alert{Code: audit.EvidenceFault},
				halt: audit.Halt{Code: audit.Panic}},
			{audit: store.Audit{Verdict: "FAIL", Divergent: 7}, alert: store.Alert{Code: audit.Divergence, Tick: 9},
				halt: audit.Halt{Code: audit.Panic}, tick: 7, wrong: true},
			{audit: store.Audit{Verdict: "PASS"}, alert: store.Alert{Code: audit.Divergence, Tick: 9},
				halt: audit.Halt{Code: audit.Divergence, Tick: 8}, tick: 8, wrong: true},
			{audit: store.Audit{Verdict: "FAIL", Divergent: 7, Report: unconfirmed}, alert: store.Alert{Code: audit.Divergence, Tick: 9},
				halt: audit.Halt{Code: "operator"}, tick: 9, wrong: true},
			{audit: store.Audit{Verdict: "FAIL", Divergent: 7, Report: unconfirmed}, alert: store.Alert{Code: audit.Divergence, Detail: unconfirmed},
				halt: audit.Halt{Code: "operator"}},
		} {
			r := newRun(uint64(1 + i))
			create(t, d, r)
			of.audit.ID, of.audit.Run, of.audit.Started, of.audit.Finished, of.audit.To = r.ID, r.ID, time.Now(), time.Now(), 10
			of.alert.Run, of.alert.Severity, of.alert.At, of.halt.At = r.ID, "critical", time.Now(), time.Now()
			_, err := d.Alert(ctx, &of.alert)
			if err = errors.Join(err, d.Audit(ctx, &of.audit), d.Halt(ctx, r.ID, of.halt)); err != nil {
				t.Fatal(err)
			}
			if tick, wrong, err := d.Wrong(ctx, r.ID); err != nil || tick != of.tick || wrong != of.wrong {
				t.Errorf("%+v: %d, %t, %v", of, tick, wrong, err)
			}
		}
	})
}
