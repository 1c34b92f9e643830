package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"
)

// What a sweep of a million jobs may take. docs/SWEEP.md says the numbers, too.
const (
	millionJobs   = 1_000_000
	millionMemory = 1 << 30 // bytes, of each process
)

// ring is an empty world: a job costs no more than being one.
const ring = `murksim: 1
name: ring
ticks: 1
space: {kind: ring, length: 1}
fields:
  - {name: heat, initial: 0}
`

// millions sweeps a million empty worlds, on the cores of this host and over a server.
func (s *settings) millions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	r := &rig{settings: s, processes: map[string]*process{}, peaks: map[string]uint64{}}
	defer r.end()
	if err := r.command(ctx, "ip", "link", "set", "lo", "up"); err != nil {
		return err
	}
	scenario := filepath.Join(r.dir, "ring.yaml")
	if err := os.WriteFile(scenario, []byte(ring), 0o666); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "\tjobs\tjobs/s\tof a core per job\tmemory of the sweep\tof the worker\tjournal per job\n")
	design := []string{"sweep", scenario, "--seeds", fmt.Sprint("1..", millionJobs), "--stats", "none", "--json", "-o"}
	err := r.million(ctx, w, "on one host", nil, append(append([]string{s.murksim}, design...), s.local()))
	if err != nil {
		return r.explain(err)
	}
	const address = "127.0.0.1:4222"
	worker := []string{s.murksim, "worker", "--nats", "nats://" + address}
	if err := r.million(ctx, w, "over a server", worker, append(append([]string{s.server}, design...), r.out(), "--serve", address)); err != nil {
		return r.explain(err)
	}
	return nil
}

// million carries out one sweep, with a worker unless that is nil, and prints a line about it.
func (r *rig) million(ctx context.Context, w *tabwriter.Writer, what string, worker, sweep []string) error {
	p, err := r.begin("sweep "+what, "coordinator", sweep)
	if err != nil {
		return err
	}
	remote := &process{}
	if worker != nil {
		if remote, err = r.begin("worker", "worker", worker); err != nil {
			return err
		}
	}
	if err := p.wait(ctx, time.Hour); err != nil {
		return fmt.Errorf("the sweep %s: %w", what, err)
	}
	if worker != nil {
		if err := remote.stop(ctx); err != nil {
			return fmt.Errorf("the worker: %w", err)
		}
	}
	var end struct {
		Done      int
		Rechecked int
		Statuses  map[string]int
		Seconds   float64
	}
	if err := json.Unmarshal([]byte(p.said(0, `"event":"end"`)), &end); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(sweep[len(sweep)-1], "journal"))
	if worker != nil {
		info, err = os.Stat(r.journal())
	}
	if err != nil {
		return err
	}
	memory := "none"
	if worker != nil {
		memory = fmt.Sprintf("%.0f MB", float64(remote.peak)/1e6)
	}
	fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f µs\t%.0f MB\t%s\t%d bytes\n", what, end.Done, float64(end.Done)/end.Seconds,
		end.Seconds/float64(end.Done)*1e6*float64(runtime.NumCPU()), float64(p.peak)/1e6, memory, info.Size()/millionJobs)
	switch {
	case end.Done != millionJobs || end.Statuses["ok"] != millionJobs || end.Rechecked == 0:
		return fmt.Errorf("the sweep %s: %d of %d jobs are done, %v, %d run again", what, end.Done, millionJobs, end.Statuses, end.Rechecked)
	case p.peak > millionMemory || remote.peak > millionMemory:
		return fmt.Errorf("the sweep %s takes more than %d MiB of memory", what, millionMemory>>20)
	}
	return nil
}
