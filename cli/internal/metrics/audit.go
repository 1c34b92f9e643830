package metrics

import "github.com/prometheus/client_golang/prometheus"

// An Audit is the metrics of the audits of a process. It is safe for use by any goroutines. A nil Audit measures nothing.
type Audit struct {
	ticks    prometheus.Counter
	verdicts map[string]prometheus.Counter
}

// Audit adds the metrics of audits.
func (s *Server) Audit() *Audit {
	return &Audit{
		ticks:    register(s, prometheus.NewCounter(prometheus.CounterOpts{Name: "murksim_audit_ticks_total", Help: "Ticks that audits have computed again."})),
		verdicts: s.counters("murksim_audit_verdicts_total", "Verdicts of audits.", "verdict", "PASS", "FAIL", "EVIDENCE", "ERROR"),
	}
}

// Verdict counts a verdict: PASS, FAIL, EVIDENCE or ERROR.
func (a *Audit) Verdict(verdict string) {
	if a != nil {
		a.verdicts[verdict].Inc()
	}
}

// After returns a function that is told ticks as an audit comes to them, the first one after the given tick.
func (a *Audit) After(tick uint64) (passed func(tick uint64)) {
	return func(now uint64) {
		if a != nil {
			a.ticks.Add(float64(now - tick))
			tick = now
		}
	}
}
