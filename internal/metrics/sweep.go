package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// A Sweep is the metrics of a sweep. One goroutine at a time calls its methods, others scrape. A nil Sweep measures nothing.
type Sweep struct {
	planned, done float64
	under         float64

	queued, running prometheus.Gauge
	jobs            map[string]prometheus.Counter
	checked         map[bool]prometheus.Counter
	ticks           *prometheus.CounterVec
	workers         []string // that have a counter of ticks
}

// mostWorkers is how many workers have a counter of their own; the others share one.
const mostWorkers = 1000

// Sweep adds the metrics of a sweep of so many jobs, some of which are done; statuses are those that a job can end with.
func (s *Server) Sweep(scenario string, jobs, done int, statuses []string) *Sweep {
	gauge := func(name, help string) prometheus.Gauge {
		return register(s, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
	}
	s.registry.MustRegister(constant("murksim_sweep_info", "The sweep; always 1.", prometheus.Labels{"scenario": scenario}))
	gauge("murksim_sweep_planned_jobs", "Jobs of the sweep.").Set(float64(jobs))
	checks := s.counters("murksim_sweep_rechecked_total", "Jobs that were run again.", "result", "equal", "differs")
	x := &Sweep{
		planned: float64(jobs), done: float64(done),
		queued:  gauge("murksim_sweep_queued_jobs", "Jobs that nobody has begun."),
		running: gauge("murksim_sweep_running_jobs", "Jobs that are running, or in the queue of workers on other machines."),
		jobs:    s.counters("murksim_sweep_jobs_total", "Jobs that this process has got to an end.", "status", statuses...),
		checked: map[bool]prometheus.Counter{true: checks["equal"], false: checks["differs"]},
		ticks:   register(s, prometheus.NewCounterVec(prometheus.CounterOpts{Name: "murksim_sweep_ticks_total", Help: "Ticks of these jobs, by the process that computed them."}, []string{"worker"})),
	}
	x.Running(0)
	return x
}

// Job counts a job that has ended.
func (x *Sweep) Job(status, worker string, ticks uint64) {
	if x == nil {
		return
	}
	if !slices.Contains(x.workers, worker) {
		if len(x.workers) == mostWorkers {
			worker = "others"
		} else {
			x.workers = append(x.workers, worker)
		}
	}
	x.jobs[status].Inc()
	x.ticks.WithLabelValues(worker).Add(float64(ticks))
	x.done++
	x.queued.Set(max(0, x.planned-x.done-x.under))
}

// Running notes how many jobs have begun and not ended.
func (x *Sweep) Running(jobs int) {
	if x == nil {
		return
	}
	x.under = float64(jobs)
	x.running.Set(x.under)
	x.queued.Set(max(0, x.planned-x.done-x.under))
}

// Recheck counts a job that was run again.
func (x *Sweep) Recheck(equal bool) {
	if x != nil {
		x.checked[equal].Inc()
	}
}
