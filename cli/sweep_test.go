package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sweepTable reads the table of a sweep, without what differs from run to run.
func sweepTable(t *testing.T, folder string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, csvName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seconds", "worker", "recheck"} {
		at := slices.Index(rows[0], name)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], at, at+1)
		}
	}
	return rows
}

// A sweep that is killed again and again loses nothing, runs no finished job again, and comes to the table of one that
// was not.
func TestSweepIsKilled(t *testing.T) {
	t.Parallel()
	p := build(t)
	args := []string{"sweep", "predators", "--ticks", "60", "--seeds", "1..60", "--recheck", "5%", "-o"}
	if out, err := exec.Command(p.path, append(args, filepath.Join(p.dir, "whole"))...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder := filepath.Join(p.dir, "killed")
	kills := 0
	for ; ; kills++ { // each time it may work longer, so it gets on
		c := exec.Command(p.path, append(args, folder)...)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		works(t, c, time.Duration(40+20*kills)*time.Millisecond)
		c.Process.Kill()
		err := c.Wait()
		if err == nil {
			break
		}
		if out.Len() > 0 && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out.Bytes())
		}
	}
	if kills == 0 {
		t.Error("the sweep was never killed")
	}
	got, want := sweepTable(t, folder), sweepTable(t, filepath.Join(p.dir, "whole"))
	if len(got) != len(want) {
		t.Fatalf("killed %d times it has %d rows, want %d", kills, len(got), len(want))
	}
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("killed %d times it has the row\n%q, want\n%q", kills, got[i], want[i])
		}
	}
	b, err := os.ReadFile(filepath.Join(folder, journalName))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^[0-9a-f]{8} \{"row":\{"job":([0-9]+),.*\}\}$`).FindAllSubmatch(b, -1) {
		if job := string(m[1]); seen[job] {
			t.Errorf("job %s ran twice", job)
		} else {
			seen[job] = true
		}
	}
	if len(seen) != 60 {
		t.Errorf("the journal has %d jobs, want 60", len(seen))
	}
}

// What a sweep measures is what its table says.
func TestSweepIsMeasured(t *testing.T) {
	t.Parallel()
	p := build(t)
	c := p.measure(t, "sweep", "heat", "--ticks", "20", "--seeds", "1..30", "--recheck", "1", "-o", "out", "--metrics-linger", "1m")
	var end sweepEnd
	c.until(t, "end", &end)
	got := c.scrape(t)
	for name, want := range map[string]float64{
		`murksim_sweep_planned_jobs`:                      30,
		`murksim_sweep_queued_jobs`:                       0,
		`murksim_sweep_running_jobs`:                      0,
		`murksim_sweep_jobs_total{status="ok"}`:           30,
		`murksim_sweep_jobs_total{status="failed"}`:       0,
		`murksim_sweep_rechecked_total{result="equal"}`:   30,
		`murksim_sweep_rechecked_total{result="differs"}`: 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v (%v), want %v", name, value, ok, want)
		}
	}
	ticks := 0.0
	for name, value := range got {
		if strings.HasPrefix(name, "murksim_sweep_ticks_total{") {
			ticks += value
		}
	}
	if ticks != 30*20 || end.Done != 30 {
		t.Errorf("%v ticks of %d jobs were measured, want 600 of 30", ticks, end.Done)
	}
}
