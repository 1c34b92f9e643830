package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/metrics"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/audit/store"
)

// A measuring serves the metrics of a command to Prometheus. Without an address it does nothing.
type measuring struct {
	address string
	linger  time.Duration

	run   *metrics.Run   // nil: there is none
	audit *metrics.Audit // likewise
	sweep *metrics.Sweep // likewise
}

func (m *measuring) flags(f *pflag.FlagSet) {
	f.StringVar(&m.address, "metrics", "", "serve metrics to Prometheus at an `address` and port; without an address, as in :9090, only this computer can connect; port 0 is any free port")
	f.DurationVar(&m.linger, "metrics-linger", 0, "with --metrics: keep serving them for this long after the end, unless Ctrl-C ends it")
}

// check looks at the flags.
func (m *measuring) check(given func(flag string) bool) error {
	switch {
	case given("metrics-linger") && !given("metrics"):
		return report.Usage("--metrics-linger needs --metrics")
	case m.linger < 0:
		return report.Usage("--metrics-linger must not be below 0")
	case !given("metrics"):
		return nil
	}
	return listenAddress("metrics", "127.0.0.1:9090", &m.address)
}

// start takes the address, before anything is written, and serves what there is from then on.
func (m *measuring) start(a *app) (err error) {
	if m.address == "" {
		return nil
	}
	if a.metrics, err = metrics.Start(m.address); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", m.address, listenProblem(err))
	}
	return nil
}

// measure adds the metrics of the run.
func (m *measuring) measure(j *runJob) {
	if j.metrics == nil {
		return
	}
	m.run = j.metrics.Run(j.Scenario.Name, j.World, j.last())
	j.Timed = m.run.Ticks
	if j.recorder != nil {
		m.run.Recorder(j.recorder)
	}
	if j.auditing.recorder != nil {
		m.run.Audit(j.auditing.recorder)
	}
}

// A metricsObject says where the metrics are, with --json.
type metricsObject struct {
	Event string `json:"event"` // "metrics"
	URL   string `json:"url"`
}

// announce says where the metrics are. From then on they linger.
func (m *measuring) announce(a *app) error {
	if a.metrics == nil {
		return nil
	}
	a.metricsLinger = m.linger
	url := "http://" + networkAddress(a.metrics.Addr()) + metrics.Path
	return cmp.Or(a.Emit(metricsObject{"metrics", url}), a.Say("%-9s %s", "metrics", url))
}

// noteHalt counts a run that has failed, if it is halted.
func (a *app) noteHalt(err error) {
	code := haltCode(err)
	if code == "" && errors.Is(err, store.ErrHalted) {
		code = store.ErrHalted.Error() // for a reason that its row says
	}
	a.metrics.Halted(code)
}

// endMetrics ends the serving of metrics, at once after an interrupt, else when it has lingered.
func (a *app) endMetrics() {
	if a.metrics == nil {
		return
	}
	if a.metricsLinger > 0 && !a.interrupted.Load() {
		if a.lingering == nil {
			a.lingering = a.listen()
		}
		select {
		case <-a.lingering:
		case <-time.After(a.metricsLinger):
		}
		signal.Stop(a.lingering)
	}
	a.metrics.Close()
}

// audits serves the metrics of audits, and says where.
func (m *measuring) audits(a *app) error {
	if err := m.start(a); err != nil || a.metrics == nil {
		return err
	}
	m.audit = a.metrics.Audit()
	return m.announce(a)
}
