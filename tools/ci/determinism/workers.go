package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// A workersCheck runs every scenario three times by the command line, and once in sweeps of
// several ticks, and compares these runs, their recordings and the committed final hash.
type workersCheck struct {
	builder
	scenarios []string
	ticks     uint64
	golden    *golden
	update    bool // write the final hashes instead

	murksim string
	rows    []workersRow
}

// A trial is a run with other goroutines, on other processors, in other code.
type trial struct {
	processors, workers int
	kernels             string
}

var trials = [...]trial{{1, 1, "plain"}, {4, 2, ""}, {8, 8, ""}}

// A workersRow is what is found of a scenario.
type workersRow struct {
	ticks  int
	hashes [len(trials)]string // final ones, of the trials
	swept  string
	result string
	more   []string // lines below the row
}

func (w *workersCheck) run() (err error) {
	if w.murksim, err = w.build("murksim", commandLine, nil); err != nil {
		return err
	}
	width := widthOf(w.scenarios, 16)
	fmt.Printf("%-*s %7s  %-16s  %-16s  %-16s  %-16s  %s\n", width, "scenario", "ticks", "1 worker", "2 workers", "8 workers", "in sweeps", "result")
	w.rows = make([]workersRow, len(w.scenarios))
	failed := false
	inOrder(len(w.rows), w.check, func(i int) {
		r := &w.rows[i]
		fmt.Printf("%-*s %7d  %-16s  %-16s  %-16s  %-16s  %s\n", width, w.scenarios[i], r.ticks, r.hashes[0], r.hashes[1], r.hashes[2], r.swept, r.result)
		for _, line := range r.more {
			fmt.Printf("  %s: %s\n", w.scenarios[i], line)
		}
		failed = failed || r.result != equal
	})
	if w.update {
		if err := w.write(failed); err != nil {
			return err
		}
	}
	if failed {
		fmt.Println("FAIL: see above")
		return errShown
	}
	fmt.Printf("%d of %d scenarios are equal at every tick, in every field\n", len(w.rows), len(w.rows))
	return nil
}

// equal is the result of a scenario in which nothing differs.
const equal = "equal"

// check fills the row of a scenario.
func (w *workersCheck) check(i int) {
	scenario, row, tables := w.scenarios[i], &w.rows[i], [len(trials)]*table{}
	row.result = equal
	for k, t := range trials {
		var err error
		defer os.Remove(w.path(i, k, "murk"))
		if tables[k], err = w.try(i, k, t); err != nil {
			row.fail("DOES NOT RUN", err.Error())
			return
		}
		row.hashes[k] = tables[k].final()
		row.ticks = max(row.ticks, len(tables[k].rows))
	}
	swept, err := askSelf(request{Scenario: scenario, Ticks: w.ticks, Workers: 1, Sweeps: true})
	if row.swept = swept.Hash; err != nil {
		row.fail("DOES NOT RUN IN SWEEPS", err.Error())
	}
	if row.result == equal {
		w.judge(i, tables[:])
	}
	if row.result == equal && w.ticks == 1000 && !w.update {
		row.promised(scenario, w.golden)
	}
}

// fail notes the first thing that is wrong, and a line about each.
func (r *workersRow) fail(result, line string) {
	if r.result == equal {
		r.result = result
	}
	if line != "" {
		r.more = append(r.more, line)
	}
}

// path names a file of a trial.
func (w *workersCheck) path(scenario, trial int, kind string) string {
	return filepath.Join(w.dir, fmt.Sprintf("%d.%d.%s", scenario, trial, kind))
}

// try runs a scenario in a process of its own, which leaves a recording.
func (w *workersCheck) try(i, k int, t trial) (*table, error) {
	hashes := w.path(i, k, "tsv")
	defer os.Remove(hashes)
	c := exec.Command(w.murksim, "run", w.scenarios[i], "--ticks", strconv.FormatUint(w.ticks, 10), "--workers", strconv.Itoa(t.workers),
		"--quiet", "-o", w.path(i, k, "murk"), "--hashes", hashes)
	c.Env = append(os.Environ(), "MURKSIM_KERNELS="+t.kernels, "GOMAXPROCS="+strconv.Itoa(t.processors))
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return readTable(hashes)
}

// judge compares the trials of a scenario.
func (w *workersCheck) judge(i int, tables []*table) {
	row := &w.rows[i]
	first, err := os.ReadFile(w.path(i, 0, "murk"))
	for k := 1; k < len(trials) && err == nil; k++ {
		if different := compare(tables[0], tables[k], 0); different != "" {
			row.fail("DIFFERENT", fmt.Sprintf("%d workers: %s", trials[k].workers, different))
		}
		var other []byte
		if other, err = os.ReadFile(w.path(i, k, "murk")); err == nil && !bytes.Equal(first, other) {
			row.fail("DIFFERENT", fmt.Sprintf("%d workers: the recording is another", trials[k].workers))
		}
	}
	switch {
	case err != nil:
		row.fail("DOES NOT RUN", err.Error())
	case uint64(row.ticks) != w.ticks:
		row.fail(fmt.Sprintf("RAN %d TICKS", row.ticks), "")
	case row.swept != row.hashes[0]:
		row.fail("DIFFERENT IN SWEEPS", "")
	}
	if out, err := exec.Command(w.murksim, "verify", "--quiet", "--complete", w.path(i, 0, "murk")).CombinedOutput(); err != nil {
		row.fail("DOES NOT VERIFY", string(bytes.TrimSpace(out)))
	}
}

// promised compares with the committed hash, which all scenarios but those of users have.
func (r *workersRow) promised(scenario string, g *golden) {
	want, ok := g.hashes[scenario]
	switch {
	case !ok && isFile(scenario):
	case !ok:
		r.fail("NO GOLDEN HASH", "")
	case want != r.hashes[0]:
		r.fail("GOLDEN HASH IS "+want, "")
	}
}

// write writes the final hashes. A scenario that was not run keeps its own.
func (w *workersCheck) write(failed bool) error {
	if failed || w.ticks != 1000 {
		return errors.New("golden hashes are written after 1000 equal ticks only")
	}
	for i, scenario := range w.scenarios {
		if !isFile(scenario) {
			w.golden.set(scenario, w.rows[i].hashes[0])
		}
	}
	if err := w.golden.write(); err != nil {
		return err
	}
	fmt.Println("wrote", goldenPath)
	return nil
}

// catchOrder is the self-test: two runs with a sum in the order of a map must differ.
func catchOrder() error {
	names := []string{"heat", "predators"}
	for _, name := range names {
		var tables [2]*table
		for i, t := range []trial{{1, 1, ""}, {4, 3, ""}} {
			a, err := askSelf(request{Scenario: name, Ticks: 60, Workers: t.workers, Fault: "order"}, "GOMAXPROCS="+strconv.Itoa(t.processors))
			if err == nil {
				tables[i], err = parseTable(a.Table)
			}
			if err != nil {
				return err
			}
		}
		different := compare(tables[0], tables[1], 0)
		if different == "" {
			return fmt.Errorf("the fault planted in %s was not caught", name)
		}
		fmt.Printf("  %s: %s\n", name, different)
	}
	fmt.Printf("self-test: the planted fault was caught in %d of %d scenarios\n", len(names), len(names))
	return nil
}

// widthOf returns how wide a column of scenarios is, at least.
func widthOf(scenarios []string, least int) int {
	for _, s := range scenarios {
		least = max(least, len([]rune(s)))
	}
	return least
}
