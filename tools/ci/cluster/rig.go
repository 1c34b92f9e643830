package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A rig is the three hosts, and what runs on them.
type rig struct {
	*settings
	rng   *rand.Rand
	ticks int // of each job

	mu        sync.Mutex
	processes map[string]*process // by name, the last of each
	peaks     map[string]uint64   // memory of those before, by kind

	conn     *nats.Conn
	js       jetstream.JetStream
	progress *progress
	pace     pace
	began    time.Time
	over     chan struct{} // closed at the end
	outcomes []*outcome
}

// process returns the one of a name.
func (r *rig) process(name string) *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.processes[name]
}

// start starts servers, workers and the coordinator, and the same sweep on this host alone.
func (r *rig) start(ctx context.Context) (err error) {
	r.began = time.Now()
	for h := 1; h <= hosts; h++ {
		if err := r.startServer(h); err != nil {
			return err
		}
		for i := range workerNames { // they wait for the servers
			if err := r.startWorker(h, i); err != nil {
				return err
			}
		}
	}
	if err := r.startCoordinator(); err != nil {
		return err
	}
	if _, err := r.begin("local run", "local run", append([]string{"nice", "-n", "5", r.murksim, "sweep"}, r.design(r.local())...)); err != nil {
		return err
	}
	r.progress, r.over = newProgress(r.journal(), r.jobs), make(chan struct{})
	go r.progress.follow(r.over)
	if r.conn, err = nats.Connect(urls(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.PingInterval(time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})); err != nil {
		return err
	}
	if r.js, err = jetstream.New(r.conn, jetstream.WithDefaultTimeout(time.Second)); err != nil {
		return err
	}
	return until(ctx, time.Minute, "no job is done yet", func() bool { return r.progress.done() > 0 })
}

func (r *rig) startServer(h int) error {
	args := []string{r.server, "nats", "--listen", hostAddress(h) + ":4222", "--store", filepath.Join(r.store(h), "nats"), "--cluster", hostAddress(h) + ":6222", "--peers"}
	peers := ""
	for other := 1; other <= hosts; other++ {
		if other != h {
			peers += "," + hostAddress(other) + ":6222"
		}
	}
	_, err := r.launch(h, serverName(h), "server", append(args, peers[1:])...)
	return err
}

func (r *rig) startWorker(h, i int) error {
	name := workerName(h, i)
	_, err := r.launch(h, name, "worker", r.murksim, "worker", "--nats", urls(), "--name", name, "--workers", "1")
	return err
}

func (r *rig) startCoordinator() error {
	_, err := r.launch(1, "coordinator", "coordinator", append([]string{r.murksim, "sweep", "--nats", urls(), "--json"}, r.design(r.out())...)...)
	return err
}

// design is what both sweeps have in common, and their folder.
func (r *rig) design(folder string) []string {
	return []string{r.scenario(), "--seeds", fmt.Sprint("1..", r.jobs), "--ticks", fmt.Sprint(r.ticks), "--recheck", "2%", "--keep", "1%", "-o", folder}
}

// until waits until something is so.
func until(ctx context.Context, most time.Duration, otherwise string, so func() bool) error {
	deadline := time.Now().Add(most)
	for !so() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s after %v", otherwise, most)
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil
}

// finish waits for the end of the sweep, and ends the others.
func (r *rig) finish(ctx context.Context) error {
	coordinator := r.process("coordinator")
	if err := coordinator.wait(ctx, 30*time.Minute); err != nil {
		return fmt.Errorf("the coordinator at the end: %w", err)
	}
	if err := r.process("local run").wait(ctx, 30*time.Minute); err != nil {
		return fmt.Errorf("the run on one host: %w", err)
	}
	for h := 1; h <= hosts; h++ {
		for i := range workerNames {
			if err := r.process(workerName(h, i)).stop(ctx); err != nil {
				return fmt.Errorf("%s at the end: %w", workerName(h, i), err)
			}
		}
	}
	for h := 1; h <= hosts; h++ {
		if err := r.process(serverName(h)).stop(ctx); err != nil {
			return fmt.Errorf("%s at the end: %w", serverName(h), err)
		}
	}
	return nil
}

// end ends whatever runs.
func (r *rig) end() {
	if r.over != nil {
		close(r.over)
	}
	if r.conn != nil {
		r.conn.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.processes {
		p.kill()
	}
}

// explain adds what the processes said last.
func (r *rig) explain(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []error
	for _, p := range r.processes {
		p.mu.Lock()
		text := fmt.Sprintf("%s:", p.name)
		for _, line := range p.lines[max(0, len(p.lines)-12):] {
			text += "\n\t" + line
		}
		p.mu.Unlock()
		if !p.running() {
			text += fmt.Sprintf("\n\tended: %v", p.err)
		}
		list = append(list, errors.New(text))
	}
	slices.SortFunc(list, func(a, b error) int {
		if a.Error() < b.Error() {
			return -1
		}
		return 1
	})
	fmt.Fprintln(os.Stderr, errors.Join(list...))
	return err
}
