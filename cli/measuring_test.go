package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
)

// A measuredCommand is a command that serves metrics, and what it says.
type measuredCommand struct {
	*exec.Cmd
	lines *bufio.Scanner
	url   string
}

// measure starts a command that serves metrics, and reads what it says up to where.
func (p program) measure(t *testing.T, args ...string) *measuredCommand {
	t.Helper()
	c := &measuredCommand{Cmd: p.command(append(args, "--json", "--metrics", "127.0.0.1:0")...)}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	c.lines = bufio.NewScanner(out)
	var o metricsObject
	c.until(t, "metrics", &o)
	c.url = o.URL
	return c
}

// until reads what a command says up to an object.
func (c *measuredCommand) until(t *testing.T, event string, object any) {
	t.Helper()
	for c.lines.Scan() {
		if strings.HasPrefix(c.lines.Text(), `{"event":"`+event+`"`) {
			if err := json.Unmarshal(c.lines.Bytes(), object); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%v says no %s", c.Args, event)
}

// scrape returns the metrics that are served now.
func (c *measuredCommand) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	r, err := http.Get(c.url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", r.Status, err)
	}
	values := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+(?:\{.*\})?) (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		if values[m[1]], err = strconv.ParseFloat(m[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// refused returns how many commands were refused, for each reason for which some were.
func refused(values map[string]float64) map[string]uint64 {
	m := map[string]uint64{}
	for name, v := range values {
		if reason, ok := strings.CutPrefix(name, `murksim_commands_refused_total{reason="`); ok && v > 0 {
			m[strings.TrimSuffix(reason, `"}`)] = uint64(v)
		}
	}
	return m
}

// ends ends a command that lingers. Its status is that of what it did.
func (c *measuredCommand) ends(t *testing.T, status int) {
	t.Helper()
	if runtime.GOOS == "windows" { // it cannot send signals
		return
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for c.lines.Scan() {
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != status {
		t.Errorf("%v ended with %v, want status %d", c.Args, err, status)
	}
}

// measured: while a run goes its metrics grow, and at its end they are what the run says of itself.
func (p program) measured(t *testing.T) {
	if !slower(func(rate int) bool { return p.measuredAt(t, rate) > 0 }) {
		t.Error("nothing was served while the run went")
	}
}

// slower tries rates, each a quarter of the one before it, until one gives a busy machine enough time.
func slower(enough func(rate int) bool) bool {
	for rate := 256; rate > 0; rate /= 4 {
		if enough(rate) {
			return true
		}
	}
	return false
}

// measuredAt returns how often metrics were served while the run went.
func (p program) measuredAt(t *testing.T, rate int) (between int) {
	const ticks = 150
	name := fmt.Sprintf("measured%d", rate)
	c := p.measure(t, "run", "heat", "--set", "expect=[]", "--set", fmt.Sprintf("tick_rate=%d", rate), "--ticks", fmt.Sprint(ticks), "--realtime", "-o", name+".murk", "--audit", name+".db", "--metrics-linger", "1h",
		"--set", "commands=[{every: 1, set: {field: heat, cell: [24, 24], value: 200}}, {tick: 20, set: {field: wall, cell: [63, 10], value: open}}, {every: 50, despawn: {entity: 9}}]")
	for tick := -1.0; tick < ticks; {
		now := c.scrape(t)
		if now["murksim_tick"] < tick || now["murksim_ticks_total"] > ticks {
			t.Fatalf("tick %v after tick %v, %v ticks in all", now["murksim_tick"], tick, now["murksim_ticks_total"])
		}
		if tick = now["murksim_tick"]; tick > 0 && tick < ticks {
			between++
		}
	}
	var end runResult
	c.until(t, "end", &end)
	got := c.scrape(t)
	for name, want := range map[string]float64{
		"murksim_ticks_total": float64(end.Ticks), "murksim_tick_duration_seconds_count": ticks, "murksim_planned_tick": float64(end.PlannedTicks),
		"murksim_commands_total": ticks + 1 + ticks/50, "murksim_audit_committed_tick": float64(end.Audited.Last), "murksim_cells": 128 * 128, `murksim_run_info{scenario="heat",seed="42"}`: 1,
		`murksim_recorder_lag_ticks{stage="hash"}`: 0, `murksim_recorder_lag_ticks{stage="write"}`: 0, `murksim_audit_lag_ticks{stage="commit"}`: 0, `murksim_hash_duration_seconds_count{hash="sha256"}`: ticks,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v at the end, want %v", name, v, want)
		}
	}
	if end.Ticks != ticks || len(end.Refused) != 2 || !maps.Equal(refused(got), end.Refused) {
		t.Errorf("%d ticks, refused %v; the metrics say %v", end.Ticks, end.Refused, refused(got))
	}
	if got["process_cpu_seconds_total"] <= 0 && runtime.GOOS == "linux" || got["go_goroutines"] <= 0 {
		t.Error("the process and Go are not measured")
	}
	c.ends(t, report.StatusOK)
	return between
}

// measuredHalt: a run that halts counts, and is there to be seen after its error; so does an audit that finds it.
func (p program) measuredHalt(t *testing.T) {
	script, err := txtar.ParseFile("testdata/script/fault.txtar")
	if err != nil || len(script.Files) != 1 || os.WriteFile(filepath.Join(p.dir, "rocket.yaml"), script.Files[0].Data, 0o666) != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		event   string
		verdict float64
		args    []string
	}{
		{"error", 0, []string{"run", "rocket.yaml", "--no-record", "--audit", "halted.db"}},
		{"audit", 1, []string{"audit", "halted.db"}},
	} {
		c := p.measure(t, append(tt.args, "--metrics-linger", "1h")...)
		c.until(t, tt.event, new(errorObject))
		if got := c.scrape(t); got[`murksim_halts_total{code="ARITHMETIC_FAULT"}`] != 1 || got[`murksim_halts_total{code="OTHER"}`] != 0 || got[`murksim_audit_verdicts_total{verdict="PASS"}`] != tt.verdict {
			t.Errorf("%v: %v", tt.args, got)
		}
		c.ends(t, report.StatusHalted)
	}
}

// measuredAudit: the verdicts of audits and the ticks that they compute count.
func (p program) measuredAudit(t *testing.T) {
	p.must(t, "run", "heat", "-q", "--set", "expect=[]", "--ticks", "50", "--no-record", "--audit", "verdicts.db")
	p.must(t, "run", "heat", "-q", "--set", "expect=[]", "--ticks", "30", "--no-record", "--audit", "verdicts.db")
	c := p.measure(t, "audit", "verdicts.db", "--all", "--metrics-linger", "1h")
	for range 2 {
		c.until(t, "audit", new(evidence.Report))
	}
	if got := c.scrape(t); got[`murksim_audit_verdicts_total{verdict="PASS"}`] != 2 || got[`murksim_audit_verdicts_total{verdict="FAIL"}`] != 0 || got["murksim_audit_ticks_total"] != 80 || got["murksim_audit_remaining_ticks"] != 0 {
		t.Errorf("after two audits: %v", got)
	}
	c.ends(t, report.StatusOK)
}

// measuredFollow: an audit that follows a run counts the ticks while they come, and has none left at the end.
func (p program) measuredFollow(t *testing.T) {
	if !slower(func(rate int) bool { return p.measuredFollowAt(t, rate) > 0 }) {
		t.Error("no tick was counted while the run went")
	}
}

// measuredFollowAt returns how often the metrics of the audit were served while the run went.
func (p program) measuredFollowAt(t *testing.T, rate int) (between int) {
	const ticks = 200
	name := fmt.Sprintf("followed%d.db", rate)
	run := p.measure(t, "run", "heat", "--set", "expect=[]", "--set", fmt.Sprintf("tick_rate=%d", rate), "--ticks", fmt.Sprint(ticks), "--realtime", "--no-record", "--audit", name)
	c := p.measure(t, "audit", name, "--follow", "--metrics-linger", "1h")
	for n := 0.0; n < ticks; {
		now := c.scrape(t)
		if n = now["murksim_audit_ticks_total"]; n > 0 && n < ticks {
			between++
		}
		if left := now["murksim_audit_remaining_ticks"]; left < 0 || left > ticks {
			t.Fatalf("%v ticks are left of %d", left, ticks)
		}
	}
	var audited evidence.Report
	c.until(t, "audit", &audited)
	if got := c.scrape(t); audited.Verdict != "PASS" || got[`murksim_audit_verdicts_total{verdict="PASS"}`] != 1 || got["murksim_audit_ticks_total"] != ticks || got["murksim_audit_remaining_ticks"] != 0 {
		t.Errorf("%s %s after %d scrapes; %v", audited.Verdict, audited.Reason, between, got)
	}
	c.ends(t, report.StatusOK)
	run.until(t, "end", new(runResult))
	if err := run.Wait(); err != nil {
		t.Error(err)
	}
	return between
}

// With metrics a run has the bytes that it has without them.
func TestMeasuredBytes(t *testing.T) {
	dir := t.TempDir()
	for _, scenario := range []string{"heat", "predators"} {
		var recordings [][]byte
		for _, flags := range [][]string{nil, {"--metrics", "127.0.0.1:0"}} {
			name := filepath.Join(dir, "x.murk")
			if status, out, errs := murksim(t, nil, append([]string{"run", scenario, "--ticks", "100", "--set", "expect=[]", "-o", name}, flags...)...); status != 0 {
				t.Fatal(out + errs)
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			recordings = append(recordings, b)
		}
		if !bytes.Equal(recordings[0], recordings[1]) {
			t.Errorf("%s: another recording with --metrics", scenario)
		}
	}
}

// An address that is taken is said, before anything is written.
func TestMetricsAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	name := filepath.Join(t.TempDir(), "x.murk")
	status, out, errs := murksim(t, nil, "run", "heat", "--metrics", taken.Addr().String(), "--metrics-linger", "1h", "-o", name)
	if want := "cannot listen on " + taken.Addr().String() + ": "; status != report.StatusError || out != "" || !strings.HasPrefix(errs, want) {
		t.Errorf("status %d, %s%s\nwant %d and %q", status, out, errs, report.StatusError, want)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("there is a recording")
	}
}
