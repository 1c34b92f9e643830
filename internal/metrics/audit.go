package metrics

import "github.com/prometheus/client_golang/prometheus"

// An Audit is the metrics of the audits of a process. It is safe for use by any goroutines. A nil Audit measures nothing.
type Audit struct {
	ticks     prometheus.Counter
	remaining prometheus.Gauge
	verdicts  map[string]prometheus.Counter
}

// Audit adds the metrics of audits.
func (s *Server) Audit() *Audit {
	return &Audit{
		ticks: register(s, prometheus.NewCounter(prometheus.CounterOpts{Name: "murksim_audit_ticks_total", Help: "Ticks that audits have computed again."})),
		remaining: register(s, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "murksim_audit_remaining_ticks", Help: "Committed ticks that audits have looked at and not computed again yet.",
		})),
		verdicts: s.counters("murksim_audit_verdicts_total", "Verdicts of audits.", "verdict", "PASS", "FAIL", "EVIDENCE", "ERROR"),
	}
}

// Verdict counts a verdict: PASS, FAIL, EVIDENCE or ERROR.
func (a *Audit) Verdict(verdict string) {
	if a != nil {
		a.verdicts[verdict].Inc()
	}
}

// Expect adds ticks that are to be computed again.
func (a *Audit) Expect(ticks uint64) {
	if a != nil {
		a.remaining.Add(float64(ticks))
	}
}

// Tick counts one of them that was.
func (a *Audit) Tick() {
	if a != nil {
		a.ticks.Inc()
		a.remaining.Dec()
	}
}

// Forget takes back ticks that will not be computed again, because an audit has ended.
func (a *Audit) Forget(ticks uint64) {
	if a != nil {
		a.remaining.Sub(float64(ticks))
	}
}
