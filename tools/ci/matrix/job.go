package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A job runs one scenario. Its folder holds tables of hashes and the state halfway.
type job struct {
	scenario string
	ticks    uint64
	planted  bool
	dir      string
}

// A result is the outcome of a run, and how it compares.
type result struct {
	table         *table // of all ticks
	state         string // SHA-256 of the state at the end
	ticks, hashes uint64 // compared
	problem       string // the first difference, or why it does not run
	differs       bool   // it ran, and differs
}

func failed(err error) result { return result{problem: err.Error()} }

// half returns the tick at which the state is saved.
func (j *job) half() uint64 { return j.ticks / 2 }

func (j *job) statePath() string { return filepath.Join(j.dir, "half.state") }

// reference runs the scenario where all others are compared with, and saves the state
// halfway. It goes on from that state, too.
func (j *job) reference(e *environment) result {
	if err := os.MkdirAll(j.dir, 0o777); err != nil {
		return failed(err)
	}
	if !j.planted {
		if _, _, err := j.execute(e, "half", "--until", fmt.Sprint(j.half()), "--save-state", j.statePath()); err != nil {
			return failed(err)
		}
	}
	t, state, err := j.execute(e, "whole")
	if err != nil {
		return failed(err)
	}
	want := result{table: t, state: state}
	again := j.run(e, &want)
	again.table, again.state = t, state
	return again
}

// run runs the scenario in an environment, from genesis and from the state halfway, and
// compares.
func (j *job) run(e *environment, want *result) result {
	if e.left != "" {
		return result{}
	}
	var r result
	starts := []struct {
		name string
		from uint64
		args []string
	}{{"genesis", 0, nil}, {"the state of tick " + fmt.Sprint(j.half()), j.half(), []string{"--state", j.statePath()}}}
	if j.planted {
		starts = starts[:1]
	}
	for _, start := range starts {
		t, state, err := j.execute(e, fmt.Sprint(start.from), start.args...)
		if err != nil {
			return failed(fmt.Errorf("from %s: %w", start.name, err))
		}
		if different := compare(want.table, t, start.from); different != "" {
			return result{table: t, problem: fmt.Sprintf("from %s: %s", start.name, different), differs: true}
		}
		if state != want.state {
			return result{table: t, problem: fmt.Sprintf("from %s: the hashes are equal, but the state at the end is not", start.name), differs: true}
		}
		if start.from == 0 {
			r.table, r.state = t, state
		}
		r.ticks += uint64(len(t.rows))
		r.hashes += t.hashes()
	}
	return r
}

// execute runs the scenario once. The name tells its files from those of other runs.
func (j *job) execute(e *environment, name string, args ...string) (*table, string, error) {
	path := filepath.Join(j.dir, e.name+"."+name+".tsv")
	common := []string{"run", j.scenario, "--ticks", strconv.FormatUint(j.ticks, 10), "--workers", strconv.Itoa(e.workers),
		"--hashes", path, "--no-record", "--json", "--state-hash"}
	if j.planted {
		common = []string{"-fault", "fused", "-scenario", j.scenario, "-ticks", strconv.FormatUint(j.ticks, 10),
			"-workers", strconv.Itoa(e.workers), "-hashes", path}
	}
	var out, errs bytes.Buffer
	c := e.command(append(common, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, "", fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	var end struct {
		StateHash string `json:"state_hash"`
	}
	if !j.planted {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if err := parse(lines[len(lines)-1], &end); err != nil {
			return nil, "", err
		}
	}
	t, err := readTable(path)
	return t, end.StateHash, err
}
