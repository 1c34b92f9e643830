package metrics_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/metrics"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

func start(t testing.TB) *metrics.Server {
	t.Helper()
	s, err := metrics.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// scrape returns what is served.
func scrape(t testing.TB, s *metrics.Server) (text string) {
	t.Helper()
	r, err := http.Get("http://" + s.Addr().String() + metrics.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", r.Status, err, b)
	}
	return string(b)
}

// samples returns the values that are served, by name and labels.
func samples(t testing.TB, s *metrics.Server) map[string]float64 {
	t.Helper()
	m := map[string]float64{}
	for _, line := range regexp.MustCompile(`(?m)^(murksim_\w+(?:\{.*\})?) (\S+)$`).FindAllStringSubmatch(scrape(t, s), -1) {
		v, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		m[line[1]] = v
	}
	return m
}

// A sink takes the chain of a world, and keeps nothing.
type sink struct{}

func (sink) Commit(context.Context, *audit.Batch) error { return nil }

// newRun returns a run of a scenario that is recorded, with its chain if the store is not nil, and the metrics of it.
func newRun(t testing.TB, s *metrics.Server, name string, store audit.Store) (*runner.Run, *replay.Recorder, *audit.Recorder, *metrics.Run) {
	t.Helper()
	sc, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sc.World(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.NewRecorder(io.Discard, w, sc.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	recorders := []engine.Settler{rec}
	var chain *audit.Recorder
	if store != nil {
		if chain, err = audit.NewRecorder(store, w, sc.Descriptor(), 0); err != nil {
			t.Fatal(err)
		}
		recorders = append(recorders, chain)
	}
	r := &runner.Run{Scenario: sc, World: w}
	var m *metrics.Run
	if s != nil {
		m = s.Run(sc.Name, w, sc.Ticks)
		r.Timed = m.Ticks
		r.Receipts = func(list []commands.Receipt) error {
			m.Receipts(list)
			return nil
		}
		m.Recorder(rec)
		if chain != nil {
			m.Audit(chain)
		}
	}
	w.Record(engine.Recorders(recorders...))
	return r, rec, chain, m
}

// What is served while a run goes never goes back, and at its end is what happened in it.
func TestRun(t *testing.T) {
	s := start(t)
	run, rec, chain, m := newRun(t, s, "predators", sink{})
	const ticks = 100
	stop, scrapes := make(chan struct{}), sync.WaitGroup{}
	scrapes.Go(func() {
		for before := 0.0; ; {
			got := samples(t, s)
			if now := got["murksim_ticks_total"]; now < before || now > ticks || got["murksim_tick"] > ticks {
				t.Errorf("%v ticks after %v, of %d; at tick %v", now, before, ticks, got["murksim_tick"])
			} else {
				before = now
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	err := run.To(t.Context(), ticks)
	m.End()
	if err := errors.Join(err, rec.Flush(), chain.Close()); err != nil {
		t.Fatal(err)
	}
	close(stop)
	scrapes.Wait()
	got := samples(t, s)
	for name, want := range map[string]float64{
		"murksim_ticks_total": ticks, "murksim_tick_duration_seconds_count": ticks, `murksim_tick_duration_seconds_bucket{le="+Inf"}`: ticks, "murksim_tick": ticks,
		"murksim_planned_tick": float64(run.Scenario.Ticks), "murksim_cells": float64(run.World.Lattice().Cells()), "murksim_entities": float64(run.World.Population()),
		`murksim_hash_duration_seconds_count{hash="fnv1a"}`: ticks, `murksim_hash_duration_seconds_count{hash="sha256"}`: ticks,
		`murksim_recorder_lag_ticks{stage="hash"}`: 0, `murksim_recorder_lag_ticks{stage="write"}`: 0,
		`murksim_audit_lag_ticks{stage="hash"}`: 0, `murksim_audit_lag_ticks{stage="commit"}`: 0, "murksim_audit_committed_tick": ticks,
		`murksim_run_info{scenario="predators",seed="` + strconv.FormatUint(run.Scenario.Seed, 10) + `"}`: 1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	for _, name := range []string{"murksim_tick_duration_seconds_sum", `murksim_hash_duration_seconds_sum{hash="fnv1a"}`, `murksim_hash_duration_seconds_sum{hash="sha256"}`} {
		if got[name] <= 0 {
			t.Errorf("%s is %v, want some time", name, got[name])
		}
	}
}

// Commands count by their reasons, also by one that has no name; events of the world's own do not count.
func TestReceipts(t *testing.T) {
	s := start(t)
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Run("ring", w, 1)
	m.Receipts([]commands.Receipt{
		{Reason: commands.Applied}, {Reason: commands.StaticField}, {Reason: commands.StaticField}, {Reason: commands.UnknownEvent}, {Reason: commands.Refused + 1}, {Reason: 255},
		{Reason: commands.Expired, Event: true}, {Event: true},
	})
	got, total := samples(t, s), 0.0
	for name, v := range got {
		if strings.HasPrefix(name, "murksim_commands_refused_total{") {
			total += v
		}
	}
	if got["murksim_commands_total"] != 6 || total != 5 || got[`murksim_commands_refused_total{reason="static field"}`] != 2 ||
		got[`murksim_commands_refused_total{reason="unknown event"}`] != 1 || got[`murksim_commands_refused_total{reason="unknown reason"}`] != 2 {
		t.Errorf("of 6 commands, 5 of which were refused, there are %v, %v refused: %v", got["murksim_commands_total"], total, got)
	}
}

// Verdicts and halts count, those of each kind from 0 on; a code that somebody has made up is no new series.
func TestAudit(t *testing.T) {
	s := start(t)
	a := s.Audit()
	for _, v := range []string{"PASS", "FAIL", "PASS"} {
		a.Verdict(v)
	}
	a.Expect(10)
	a.Expect(5)
	for range 11 {
		a.Tick()
	}
	a.Forget(3)
	for _, code := range []string{audit.Divergence, "", "mine", "yours"} {
		s.Halted(code)
	}
	got := samples(t, s)
	maps.DeleteFunc(got, func(name string, _ float64) bool { return strings.HasPrefix(name, "murksim_build_info") })
	want := map[string]float64{
		"murksim_audit_ticks_total": 11, "murksim_audit_remaining_ticks": 1, `murksim_audit_verdicts_total{verdict="PASS"}`: 2, `murksim_audit_verdicts_total{verdict="FAIL"}`: 1,
		`murksim_audit_verdicts_total{verdict="EVIDENCE"}`: 0, `murksim_audit_verdicts_total{verdict="ERROR"}`: 0,
		`murksim_halts_total{code="DETERMINISM_DIVERGENCE"}`: 1, `murksim_halts_total{code="OTHER"}`: 2, `murksim_halts_total{code="PANIC"}`: 0,
		`murksim_halts_total{code="ARITHMETIC_FAULT"}`: 0, `murksim_halts_total{code="CHAIN_CONFLICT"}`: 0, `murksim_halts_total{code="EVIDENCE_FAULT"}`: 0,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// Without a Server everything may be called, and nothing is measured.
func TestNothing(*testing.T) {
	var s *metrics.Server
	s.Halted(audit.Panic)
	var r *metrics.Run
	r.Receipts(make([]commands.Receipt, 1))
	r.Recorder(nil)
	r.Audit(nil)
	r.End()
	var a *metrics.Audit
	a.Verdict("PASS")
	a.Expect(1)
	a.Tick()
	a.Forget(1)
}

// Only GET and HEAD of one path are served, and after Close nothing is.
func TestServer(t *testing.T) {
	s := start(t)
	url := "http://" + s.Addr().String()
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/metrics", 200}, {"HEAD", "/metrics", 200}, {"POST", "/metrics", 405}, {"DELETE", "/metrics", 405},
		{"GET", "/", 404}, {"GET", "/metrics/", 404}, {"GET", "/debug/pprof/", 404},
	} {
		q, err := http.NewRequest(tt.method, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, r.StatusCode, tt.status)
		}
	}
	if _, err := metrics.Start(s.Addr().String()); err == nil {
		t.Error("a second server has the same address")
	}
	s.Close()
	if c, err := net.Dial("tcp", s.Addr().String()); err == nil {
		c.Close()
		t.Error("it listens after Close")
	}
}

// A client that connects and says nothing keeps Close waiting for a second at most. It would be five or more without
// that; the shortest of several times counts.
func TestCloseIsBounded(t *testing.T) {
	for range 50 {
		if closing(t) < 4*time.Second {
			return
		}
	}
	t.Error("Close takes 4 s and more")
}

// closing returns how long Close takes beside a client that says nothing.
func closing(t *testing.T) time.Duration {
	s := start(t)
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.Close()
	return time.Since(began)
}

// Names, types and texts are as Prometheus wants them.
func TestLint(t *testing.T) {
	s := start(t)
	newRun(t, s, "heat", nil)
	s.Audit()
	ours := regexp.MustCompile(`(?m)^(# (HELP|TYPE) )?murksim_.*\n`).FindAllString(scrape(t, s), -1)
	problems, err := promlint.New(strings.NewReader(strings.Join(ours, ""))).Lint()
	if err != nil || len(problems) > 0 || len(ours) < 50 {
		t.Errorf("%d lines: %v, %v", len(ours), problems, err)
	}
}

// tickOf returns what computes one more tick of a run.
func tickOf(t testing.TB, run *runner.Run) func() {
	return func() {
		if err := run.To(t.Context(), run.World.Tick()+1); err != nil {
			t.Fatal(err)
		}
	}
}

// Measuring a tick allocates nothing, and changes no bit.
func TestMeasuringAllocatesNothing(t *testing.T) {
	for _, name := range []string{"heat", "predators"} {
		plain, _, _, _ := newRun(t, nil, name, nil)
		measured, _, _, _ := newRun(t, start(t), name, nil)
		var allocations []float64
		for _, run := range []*runner.Run{plain, measured} {
			tick := tickOf(t, run)
			for range 100 { // buffers, tables
				tick()
			}
			allocations = append(allocations, testing.AllocsPerRun(200, tick))
		}
		if allocations[1] > allocations[0] {
			t.Errorf("%s: %v allocations a tick with metrics, %v without", name, allocations[1], allocations[0])
		}
		if a, b := plain.World.Hash(), measured.World.Hash(); a != b || plain.World.Tick() != measured.World.Tick() {
			t.Errorf("%s: hash %016x with metrics, %016x without", name, b, a)
		}
	}
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		t.Fatal(err)
	}
	m := start(t).Run("ring", w, 1)
	list := slices.Repeat([]commands.Receipt{{Reason: commands.StaticField}}, 5)
	if n := testing.AllocsPerRun(1000, func() {
		m.Ticks(12, time.Millisecond)
		m.Receipts(list)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// BenchmarkTicks says what metrics cost a tick, with the clock that the run reads for them.
func BenchmarkTicks(b *testing.B) {
	w, err := engine.New(engine.Config{Space: space.Ring{Length: 3}})
	if err != nil {
		b.Fatal(err)
	}
	m := start(b).Run("ring", w, 1)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		m.Ticks(1, time.Since(began))
	}
}
