// Package metrics measures a run or an audit, and serves what it finds to Prometheus.
//
// A [Server] listens from [Start] to [Server.Close]. [Server.Run] adds the metrics of a run, [Server.Audit] those of audits;
// docs/METRICS.md lists all. Everything here is called from outside of the engine: it reads the clock, and no bit of a state
// depends on it. What is called every tick allocates nothing.
package metrics

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
)

// Path is where the metrics are.
const Path = "/metrics"

// The most that scrapes may take.
const (
	maxScrapes = 16               // at a time; more are refused
	maxScrape  = 10 * time.Second // one
)

// A Server serves metrics by HTTP. It is safe for use by any goroutines.
type Server struct {
	registry *prometheus.Registry
	halts    map[string]prometheus.Counter // by code
	socket   net.Listener
	http     *http.Server
	served   chan struct{} // closed when nothing is served any more
}

// Start takes an address and serves the metrics of the process there, until Close.
func Start(address string) (*Server, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{registry: prometheus.NewRegistry(), socket: socket, served: make(chan struct{})}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo())
	s.halts = s.counters("murksim_halts_total", "Runs that this process has halted, or found halted.", "code",
		audit.ArithmeticFault, audit.ChainConflict, audit.Divergence, audit.EvidenceFault, audit.Panic, otherCode)
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: maxScrape}))
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: maxScrape, ReadTimeout: maxScrape, WriteTimeout: 2 * maxScrape, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 1 << 14, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(socket) // until Close: a listener of TCP has no other lasting error
	}()
	return s, nil
}

// Addr returns where it listens.
func (s *Server) Addr() net.Addr { return s.socket.Addr() }

// Close ends the serving. A scrape that is under way has a second to end.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil { // a client is slow
		s.http.Close()
	}
	<-s.served
}

// otherCode stands for all codes of halts that are not murksim's own, so that there are not any number of series.
const otherCode = "OTHER"

// Halted counts a run that is halted, with a code of package audit; any other counts as OTHER, none not at all. A nil Server counts nothing.
func (s *Server) Halted(code string) {
	if s == nil || code == "" {
		return
	}
	if _, known := s.halts[code]; !known {
		code = otherCode
	}
	s.halts[code].Inc()
}

// counters registers a counter for each value of a label, so that all are there, and 0, from the beginning: the first one that is counted is an increase then.
func (s *Server) counters(name, help, label string, values ...string) map[string]prometheus.Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	s.registry.MustRegister(vec)
	m := make(map[string]prometheus.Counter, len(values))
	for _, v := range values {
		m[v] = vec.WithLabelValues(v)
	}
	return m
}

// constant returns a metric that is always 1, for its labels.
func constant(name, help string, labels prometheus.Labels) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels})
	g.Set(1)
	return g
}

func buildInfo() prometheus.Collector {
	b := replay.ThisBuild()
	return constant("murksim_build_info", "The build of murksim; always 1.", prometheus.Labels{
		"version": b.Version, "rules": strconv.FormatUint(uint64(engine.RulesVersion), 10), "toolchain": b.Toolchain, "target": b.Target,
	})
}
