package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
)

// Recorder adds the metrics of the run's recorder, which has no tick yet.
func (r *Run) Recorder(rec *replay.Recorder) {
	if r == nil {
		return
	}
	rec.Measure(clock())
	lag := lagOf("murksim_recorder_lag_ticks", "Ticks that were recorded and wait for their hash, or to be written.")
	hash := hashTime("fnv1a")
	r.server.registry.MustRegister(collector{[]*prometheus.Desc{lag, hash}, func(send func(prometheus.Metric)) {
		p := rec.Progress()
		send(waiting(lag, "hash", p.Unhashed))
		send(waiting(lag, "write", p.Unwritten))
		send(spent(hash, p.Hashed, p.HashNanos))
	}})
}

// Audit adds the metrics of the run's chain, which has no tick yet.
func (r *Run) Audit(rec *audit.Recorder) {
	if r == nil {
		return
	}
	rec.Measure(clock())
	lag := lagOf("murksim_audit_lag_ticks", "Ticks that wait for their SHA-256, or to be committed.")
	committed := prometheus.NewDesc("murksim_audit_committed_tick", "The last tick that is committed; none before the first.", nil, nil)
	hash := hashTime("sha256")
	r.server.registry.MustRegister(collector{[]*prometheus.Desc{lag, committed, hash}, func(send func(prometheus.Metric)) {
		p := rec.Progress()
		send(waiting(lag, "hash", p.Unhashed))
		send(waiting(lag, "commit", p.Uncommitted))
		if p.Committed >= 0 {
			send(prometheus.MustNewConstMetric(committed, prometheus.GaugeValue, float64(p.Committed)))
		}
		send(spent(hash, p.Hashed, p.HashNanos))
	}})
}

// clock returns a clock of nanoseconds that never goes back.
func clock() func() int64 {
	began := time.Now()
	return func() int64 { return int64(time.Since(began)) }
}

// A collector asks for values when they are scraped, so that nothing is done every tick.
type collector struct {
	descriptions []*prometheus.Desc
	collect      func(send func(prometheus.Metric))
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(to chan<- prometheus.Metric) {
	c.collect(func(m prometheus.Metric) { to <- m })
}

func lagOf(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"stage"}, nil)
}

func waiting(d *prometheus.Desc, stage string, ticks uint64) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(ticks), stage)
}

func hashTime(hash string) *prometheus.Desc {
	return prometheus.NewDesc("murksim_hash_duration_seconds", "How long hashing the state of a tick took, beside the world.", nil, prometheus.Labels{"hash": hash})
}

func spent(d *prometheus.Desc, ticks uint64, nanos int64) prometheus.Metric {
	return prometheus.MustNewConstSummary(d, ticks, time.Duration(nanos).Seconds(), nil)
}
