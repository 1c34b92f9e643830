package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A Run is the metrics of a run. The goroutine that computes the run calls its methods, others scrape. A nil Run measures nothing.
type Run struct {
	server *Server
	world  *engine.World

	ticks    prometheus.Counter
	took     prometheus.Histogram
	tick     prometheus.Gauge
	entities prometheus.Gauge
	looked   time.Time // at the entities
	taken    prometheus.Counter
	refused  []prometheus.Counter // by reason
}

// lookEvery is how long the number of entities may be out of date: counting them takes longer the more there may be.
const lookEvery = 100 * time.Millisecond

// tickBuckets go from 10 µs to 10 s, in seconds.
var tickBuckets = []float64{
	10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// Run adds the metrics of the run of a world that is to end with a tick. There is one run a Server.
func (s *Server) Run(scenario string, w *engine.World, planned uint64) *Run {
	r := &Run{server: s, world: w}
	gauge := func(name, help string) prometheus.Gauge {
		return register(s, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
	}
	counter := func(name, help string) prometheus.Counter {
		return register(s, prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help}))
	}
	s.registry.MustRegister(constant("murksim_run_info", "The run; always 1.", prometheus.Labels{"scenario": scenario, "seed": strconv.FormatUint(w.Seed(), 10)}))
	r.ticks = counter("murksim_ticks_total", "Ticks that this process has computed.")
	r.took = register(s, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "murksim_tick_duration_seconds", Help: "How long computing a tick took, recorders included.", Buckets: tickBuckets,
	}))
	r.tick = gauge("murksim_tick", "The last tick of the world.")
	gauge("murksim_planned_tick", "The tick with which the run is to end.").Set(float64(planned))
	gauge("murksim_cells", "Cells of the world.").Set(float64(w.Lattice().Cells()))
	r.entities = gauge("murksim_entities", "Entities that are alive.")
	r.taken = counter("murksim_commands_total", "Commands that ticks have taken, applied or refused.")
	var reasons []string
	for reason := commands.Applied + 1; reason.String() != unknownReason; reason++ {
		reasons = append(reasons, reason.String())
	}
	reasons = append(reasons, unknownReason) // of a handler
	counters := s.counters("murksim_commands_refused_total", "Commands that were refused.", "reason", reasons...)
	for _, reason := range reasons {
		r.refused = append(r.refused, counters[reason])
	}
	r.look(time.Now())
	return r
}

// unknownReason is what the numbers of reasons that commands has no name for are called.
const unknownReason = "unknown reason"

// register registers a metric.
func register[C prometheus.Collector](s *Server, c C) C {
	s.registry.MustRegister(c)
	return c
}

// Ticks notes ticks that were computed, and how long that took in all; see [runner.Run.Timed].
func (r *Run) Ticks(n uint64, took time.Duration) {
	each := took.Seconds() / float64(n)
	for range n {
		r.took.Observe(each)
	}
	r.ticks.Add(float64(n))
	r.tick.Set(float64(r.world.Tick()))
	if now := time.Now(); now.Sub(r.looked) >= lookEvery {
		r.look(now)
	}
}

// Receipts counts the commands of a tick; events of the world's own are none.
func (r *Run) Receipts(list []commands.Receipt) {
	if r == nil {
		return
	}
	taken := 0
	for i := range list {
		x := &list[i]
		if x.Event {
			continue
		}
		taken++
		if x.Reason != commands.Applied {
			r.refused[min(int(x.Reason), len(r.refused))-1].Inc()
		}
	}
	r.taken.Add(float64(taken))
}

// End notes how the world is after the last tick.
func (r *Run) End() {
	if r != nil {
		r.look(time.Now())
	}
}

// look looks at the world.
func (r *Run) look(now time.Time) {
	alive := 0
	for _, id := range r.world.Entities().ID {
		if id != 0 {
			alive++
		}
	}
	r.looked = now
	r.tick.Set(float64(r.world.Tick()))
	r.entities.Set(float64(alive))
}
