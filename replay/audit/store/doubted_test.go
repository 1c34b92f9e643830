package store_test

import (
	"errors"
	"strings"
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
				if err := d.Alert(ctx, &store.Alert{Run: r.ID, Code: of.alert, Severity: "critical", At: time.Now()}); err != nil {
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
			err := d.Alert(ctx, &of.alert)
			if err = errors.Join(err, d.Audit(ctx, &of.audit), d.Halt(ctx, r.ID, of.halt)); err != nil {
				t.Fatal(err)
			}
			if tick, wrong, err := d.Wrong(ctx, r.ID); err != nil || tick != of.tick || wrong != of.wrong {
				t.Errorf("%+v: %d, %t, %v", of, tick, wrong, err)
			}
		}
	})
}

// TestRecord: a verdict and what comes with it are added together or not at all; a run that is halted already gets the others.
func TestRecord(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r, now := newRun(1), time.Now()
		create(t, d, r)
		record := func(number byte) error {
			v := store.Audit{ID: audit.ID{number}, Run: r.ID, Started: now, Finished: now, Verdict: "FAIL"}
			return d.Record(ctx, r.ID, &v, &store.Alert{Run: r.ID, Code: audit.Divergence, Severity: "critical", At: now, Audit: v.ID}, &audit.Halt{Code: audit.Divergence, At: now})
		}
		there := func(want int, halted bool) {
			t.Helper()
			audits, err := d.Audits(ctx, r.ID)
			alerts, unread := d.Alerts(ctx, r.ID)
			halt, unknown := d.Halted(ctx, r.ID)
			if err = errors.Join(err, unread, unknown); err != nil || len(audits) != want || len(alerts) != want || (halt != nil) != halted {
				t.Errorf("%d verdicts, %d alerts, halt %v, %v; want %d of each, %t", len(audits), len(alerts), halt, err, want, halted)
			}
		}
		raw := on.direct(t, dsn)
		for _, s := range droppers[on.name] {
			if _, err := raw.Exec(strings.ReplaceAll(s, "TABLE_", "audits")); err != nil {
				t.Fatal(err)
			}
		}
		if err := record(1); !errors.Is(err, store.ErrDropped) || errors.Is(err, store.ErrNoAlert) {
			t.Errorf("without the verdict: %v, want %q", err, store.ErrDropped)
		}
		there(0, false)
		drop := "DROP TRIGGER drops"
		if on.name == "postgres" {
			drop += " ON audits"
		}
		if _, err := raw.Exec(drop); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if err := record(byte(2 + i)); err != nil {
				t.Error(err)
			}
			there(1+i, true)
		}
	})
}

// TestRecordWithoutAlert: where somebody has taken the numbers of the next alerts, a verdict and a halt are there without one.
func TestRecordWithoutAlert(t *testing.T) {
	on(t, func(t *testing.T, on database, dsn string) {
		d := open(t, dsn)
		r, now := newRun(1), time.Now()
		create(t, d, r)
		takes := "INSERT INTO alerts (alert_id, run_id, tick, code, severity, raised_at) VALUES (9223372036854775807, '" + r.ID.String() + "', 1, 'X', 'warning', 1)"
		if on.name == "postgres" {
			takes = "INSERT INTO alerts (alert_id, run_id, tick, code, severity) OVERRIDING SYSTEM VALUE SELECT n, '" + r.ID.String() + "', 1, 'X', 'warning' FROM generate_series(1, 9) n"
		}
		if _, err := on.direct(t, dsn).Exec(takes); err != nil {
			t.Fatal(err)
		}
		alert := store.Alert{Run: r.ID, Tick: 1, Code: audit.Divergence, Severity: "critical", At: now}
		if err := d.Alert(ctx, &alert); err == nil || errors.Is(err, store.ErrNoAlert) {
			t.Errorf("an alert alone: %v", err)
		}
		err := d.Record(ctx, r.ID, &store.Audit{ID: r.ID, Run: r.ID, Started: now, Finished: now, To: 1, Verdict: "FAIL", Divergent: 1}, &alert, &audit.Halt{Tick: 1, Code: audit.Divergence, At: now})
		if !errors.Is(err, store.ErrNoAlert) {
			t.Errorf("a verdict, an alert and a halt: %v, want %q", err, store.ErrNoAlert)
		}
		if tick, wrong, err := d.Wrong(ctx, r.ID); tick != 1 || !wrong || err != nil {
			t.Errorf("after that: %d, %t, %v", tick, wrong, err)
		}
		if halt, err := d.Halted(ctx, r.ID); halt == nil || err != nil {
			t.Errorf("its halt: %v, %v", halt, err)
		}
	})
}
