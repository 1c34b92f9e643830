package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/murksim/murksim/sweep"
)

// print prints the table of faults, and what memory the processes had.
func (r *rig) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nfault\ttimes\tjobs done of %d\tlongest without a row\tresult\tnoticed\n", r.jobs)
	for _, o := range r.outcomes {
		var done []string
		for _, n := range o.done {
			done = append(done, fmt.Sprint(n))
		}
		result, noticed := "NOT MADE", ""
		switch {
		case o.failed:
			result = "FAILED"
		case len(o.noticed) > 0:
			result, noticed = "went on", o.noticed[len(o.noticed)-1]
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.1f s\t%s\t%s\n", o.what, len(o.done), strings.Join(done, ", "), o.pause.Seconds(), result, noticed)
	}
	w.Flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.processes {
		r.note(p)
	}
	fmt.Println()
	for _, kind := range []string{"coordinator", "worker", "server"} {
		fmt.Printf("a %s had %.0f MB of memory at most\n", kind, float64(r.peaks[kind])/1e6)
	}
}

// judge compares the sweep with the one on this host alone.
func (r *rig) judge() error {
	here, err := countRows(r.journal(), r.jobs)
	if err != nil {
		return err
	}
	fmt.Printf("the journal has %d rows of %d jobs, %d lines that were cut, %d jobs run again, all equal\n", here.rows, r.jobs, here.bad, here.checks)
	got, err := readTable(r.out(), r.jobs)
	if err != nil {
		return err
	}
	want, err := readTable(r.local(), r.jobs)
	if err != nil {
		return err
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			return fmt.Errorf("line %d of the table is\n%q, that of a run on one host is\n%q", i+1, got[i], want[i])
		}
	}
	return r.sameFiles()
}

// counts are those of the lines of a journal.
type counts struct{ rows, checks, bad int }

// countRows reads a journal line by line: every job must have one row, and no check may differ.
func countRows(path string, jobs int) (c counts, err error) {
	j, err := sweep.OpenJournal(path, true)
	if err != nil {
		return c, err
	}
	defer j.Close()
	c.checks, c.bad = len(j.Checks), j.Bad
	if j.Done() != jobs || len(j.Differing()) > 0 || c.checks == 0 {
		return c, fmt.Errorf("the journal has rows of %d jobs, want %d; %d of %d checks differ", j.Done(), jobs, len(j.Differing()), c.checks)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	seen := make([]int, jobs)
	for line := range bytes.Lines(b) {
		var l struct{ Row *struct{ Job int } }
		if len(line) < 9 || json.Unmarshal(line[9:], &l) != nil || l.Row == nil {
			continue
		}
		c.rows++
		if seen[l.Row.Job]++; seen[l.Row.Job] > 1 {
			err = errors.Join(err, fmt.Errorf("job %d has %d rows in the journal", l.Row.Job, seen[l.Row.Job]))
		}
	}
	return c, err
}

// differing are the columns that may differ from run to run.
var differing = []string{"recheck", "seconds", "worker", "build"}

// readTable reads a table without the columns that may differ.
func readTable(folder string, jobs int) ([][]string, error) {
	f, err := os.Open(filepath.Join(folder, "results.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) != jobs+1 {
		return nil, fmt.Errorf("%s has %d rows, want %d", f.Name(), len(lines)-1, jobs)
	}
	head := slices.Clone(lines[0])
	recheck := slices.Index(head, "recheck")
	for i, line := range lines {
		if text := line[recheck]; i > 0 && text != "" && text != "equal" {
			return nil, fmt.Errorf("row %d of %s: %s", i, f.Name(), text)
		}
		for at := len(line) - 1; at >= 0; at-- {
			if slices.Contains(differing, head[at]) {
				line = slices.Delete(line, at, at+1)
			}
		}
		lines[i] = line
	}
	return lines, nil
}

// sameFiles compares the recordings that both sweeps kept.
func (r *rig) sameFiles() error {
	names, err := filepath.Glob(filepath.Join(r.local(), "recordings", "*.murk"))
	if err != nil {
		return err
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(r.out(), "recordings", filepath.Base(name)))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("the recording %s has other bytes than that of a run on one host", filepath.Base(name))
		}
	}
	fmt.Printf("%d recordings that are kept have the same bytes\n", len(names))
	if len(names) == 0 {
		return errors.New("no recording is kept")
	}
	return nil
}
