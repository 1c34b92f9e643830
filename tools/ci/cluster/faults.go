package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A fault does harm, and returns when it is over and how it was noticed.
type fault struct {
	what string
	do   func(context.Context) (noticed string, err error)
}

// An outcome is what came of the faults of a kind.
type outcome struct {
	what    string
	done    []int // jobs, when each came
	pause   time.Duration
	noticed []string
	failed  bool
}

// errIdle reports a fault that hit nothing that was under way.
var errIdle = errors.New("nothing was under way")

const patience = 3 * time.Minute // until work must go on

// torment makes all faults, in random order, spread over the sweep.
func (r *rig) torment(ctx context.Context) error {
	list := r.faults()
	r.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	after := func(i int) int { return r.jobs * 9 / 10 * (i + 1) / (len(list) + 1) }
	go r.pace.keep(r, r.over)
	for i, f := range list {
		r.pace.set(after(i), after(i+1))
		if err := until(ctx, 5*time.Minute, "the sweep does not go on", func() bool { return r.progress.done() >= after(i) || !r.process("coordinator").running() }); err != nil {
			return err
		}
		if err := r.inject(ctx, f); err != nil {
			r.outcome(f.what).failed = true
			return fmt.Errorf("%s (%d of %d jobs done): %w", f.what, r.progress.done(), r.jobs, err)
		}
	}
	r.pace.set(r.jobs, r.jobs)
	return nil
}

// faults lists those that are to come.
func (r *rig) faults() (list []fault) {
	kinds := []struct {
		times int
		fault
	}{
		{2*r.rounds - 1, fault{"two workers are killed", r.killWorkers}},
		{r.rounds, fault{"the leader of the jobs is killed", func(ctx context.Context) (string, error) { return r.killLeader(ctx, "MURKSIM_JOBS") }}},
		{r.rounds, fault{"the leader of the results is killed", func(ctx context.Context) (string, error) { return r.killLeader(ctx, "MURKSIM_RESULTS") }}},
		{1, fault{"all servers are killed", r.killServers}},
		{(r.rounds + 1) / 2, fault{fmt.Sprintf("a host is cut off for %v", r.cut), r.cutOff}},
		{r.rounds + 1, fault{"the coordinator is killed", r.killCoordinator}},
		{(r.rounds + 1) / 2, fault{"the coordinator's disk is full", r.fillFolder}},
		{(r.rounds + 1) / 2, fault{"a server's disk is full", r.fillStore}},
	}
	for _, k := range kinds {
		if !strings.Contains(k.what, r.only) {
			continue
		}
		r.outcomes = append(r.outcomes, &outcome{what: k.what})
		for range k.times {
			list = append(list, k.fault)
		}
	}
	return list
}

// inject makes a fault while work is under way, and waits until it goes on.
func (r *rig) inject(ctx context.Context, f fault) error {
	var err error
	for range 5 {
		if err := until(ctx, patience, "no job is done", func() bool {
			return r.progress.since(time.Now().Add(-2*time.Second)) > 0 || r.progress.done() == r.jobs
		}); err != nil {
			return err
		}
		began, done := time.Now(), r.progress.done()
		if done == r.jobs || !r.process("coordinator").running() {
			return errIdle
		}
		var noticed string
		if noticed, err = f.do(ctx); errors.Is(err, errIdle) {
			fmt.Printf("%4.0f s  %5d of %d done: %s: %v\n", time.Since(r.began).Seconds(), done, r.jobs, f.what, err)
			continue
		} else if err != nil {
			return err
		}
		over := time.Now()
		err = until(ctx, patience, "work does not go on", func() bool { return r.progress.since(over) > 0 || r.progress.done() == r.jobs })
		r.record(f.what, done, r.progress.pause(began), noticed)
		return err
	}
	return err
}

func (r *rig) record(what string, done int, pause time.Duration, noticed string) {
	fmt.Printf("%4.0f s  %5d of %d done: %s: %s (%.1f s without a row)\n", time.Since(r.began).Seconds(), done, r.jobs, what, noticed, pause.Seconds())
	o := r.outcome(what)
	o.done, o.pause, o.noticed = append(o.done, done), max(o.pause, pause), append(o.noticed, noticed)
}

// outcome is that of the faults of a kind.
func (r *rig) outcome(what string) *outcome {
	at := slices.IndexFunc(r.outcomes, func(o *outcome) bool { return o.what == what })
	return r.outcomes[at]
}

// killWorkers kills two workers that have the processor, and starts others in their place.
func (r *rig) killWorkers(ctx context.Context) (string, error) {
	killed, again := 0, r.redelivers(ctx)
	for range 50 {
		h, i := 1+r.rng.IntN(hosts), r.rng.IntN(len(workerNames))
		p := r.process(workerName(h, i))
		if !p.busy() {
			continue
		}
		p.kill()
		if err := r.startWorker(h, i); err != nil {
			return "", err
		}
		if killed++; killed == 2 {
			break
		}
	}
	if killed < 2 {
		return "", errIdle
	}
	began := time.Now()
	if until(ctx, 15*time.Second, "", again) != nil {
		return "", errors.Join(errIdle, ctx.Err()) // they were between two messages
	}
	return fmt.Sprintf("their jobs went to others after %.1f s", time.Since(began).Seconds()), nil
}

// redelivered returns how many messages a worker has now that another one had before.
func (r *rig) redelivered(ctx context.Context) (n int) {
	r.consumers(ctx, func(c *jetstream.ConsumerInfo) { n += c.NumRedelivered })
	return n
}

// redelivers returns a function that tells whether a message has gone to a second worker since. What consumers have
// given away in all, less the place in the stream that they have come to, grows with such a message and with no other.
func (r *rig) redelivers(ctx context.Context) func() bool {
	count := func() (n int, known bool) {
		r.consumers(ctx, func(c *jetstream.ConsumerInfo) { n, known = n+int(c.Delivered.Consumer)-int(c.Delivered.Stream), true })
		return n, known
	}
	before, answered := count()
	return func() bool {
		n, known := count()
		if !answered {
			before, answered = n, known
		}
		return known && n > before
	}
}

func (r *rig) consumers(ctx context.Context, each func(*jetstream.ConsumerInfo)) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := r.js.Stream(ctx, "MURKSIM_JOBS")
	if err != nil {
		return
	}
	for c := range stream.ListConsumers(ctx).Info() {
		each(c)
	}
}

// info asks for the state of a stream.
func (r *rig) info(ctx context.Context, stream string) *jetstream.ClusterInfo {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := r.js.Stream(ctx, stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return &jetstream.ClusterInfo{}
	}
	return s.CachedInfo().Cluster
}

// leader returns the host whose server leads a stream.
func (r *rig) leader(ctx context.Context, stream string) (host int) {
	_ = until(ctx, patience, "no leader", func() bool {
		leader := r.info(ctx, stream).Leader
		for h := 1; h <= hosts; h++ {
			if leader == serverID(h) {
				host = h
			}
		}
		return host > 0
	})
	return host
}

// whole waits until each stream is on all three servers again.
func (r *rig) whole(ctx context.Context) error {
	for _, stream := range []string{"MURKSIM_JOBS", "MURKSIM_RESULTS", "KV_murksim_sweeps", "OBJ_murksim_files"} {
		err := until(ctx, patience, "the stream "+stream+" is not whole", func() bool {
			c := r.info(ctx, stream)
			n := 0
			for _, replica := range c.Replicas {
				if replica.Current && !replica.Offline {
					n++
				}
			}
			return c.Leader != "" && n == hosts-1
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// killLeader kills the server that leads a stream, and starts it again when another one leads.
func (r *rig) killLeader(ctx context.Context, stream string) (string, error) {
	if err := r.whole(ctx); err != nil {
		return "", err
	}
	h := r.leader(ctx, stream)
	if h == 0 {
		return "", errors.New("the stream has no leader")
	}
	began := time.Now()
	r.process(serverName(h)).kill()
	if err := until(ctx, patience, "no other server leads", func() bool {
		leader := r.info(ctx, stream).Leader
		return leader != "" && leader != serverID(h)
	}); err != nil {
		return "", err
	}
	noticed := fmt.Sprintf("another one leads after %.1f s", time.Since(began).Seconds())
	if err := r.startServer(h); err != nil {
		return "", err
	}
	return noticed, r.whole(ctx)
}

// killServers kills all servers and starts them again.
func (r *rig) killServers(ctx context.Context) (string, error) {
	coordinator := r.process("coordinator")
	place := coordinator.place()
	for h := 1; h <= hosts; h++ {
		r.process(serverName(h)).kill()
	}
	if err := until(ctx, patience, "the coordinator does not notice", func() bool { return coordinator.said(place, "connection is lost") != "" }); err != nil {
		return "", err
	}
	for h := 1; h <= hosts; h++ {
		if err := r.startServer(h); err != nil {
			return "", err
		}
	}
	return r.quoted(coordinator.said(place, "connection is lost")), r.whole(ctx)
}

// cutOff takes the cable from a host, and puts it back.
func (r *rig) cutOff(ctx context.Context) (string, error) {
	h := 2 + r.rng.IntN(hosts-1) // the coordinator is on the first
	ready := func() bool {       // also, nothing is left of what an earlier fault gave to others
		return r.process(workerName(h, 0)).busy() && r.process(workerName(h, 1)).busy() && r.redelivered(ctx) == 0
	}
	if err := until(ctx, patience/2, "its workers do nothing", ready); err != nil {
		return "", err
	}
	again := r.redelivers(ctx)
	if err := r.command(ctx, "ip", "link", "set", hostLink(h), "down"); err != nil {
		return "", err
	}
	began, others, meanwhile := time.Now(), 0.0, 0
	_ = until(ctx, r.cut+2*time.Minute, "", func() bool {
		if others == 0 && again() { // after an election and the wait for a sign of life
			others = time.Since(began).Seconds()
		}
		meanwhile = r.progress.since(began.Add(time.Second))
		return others > 0 && meanwhile > 0 && time.Since(began) > r.cut
	})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err := r.command(ctx, "ip", "link", "set", hostLink(h), "up"); err != nil {
		return "", err
	}
	back := time.Now()
	switch {
	case others == 0:
		if err := r.whole(ctx); err != nil {
			return "", err
		}
		return "", errIdle // its workers were between two messages
	case meanwhile == 0:
		return "", errors.New("the others did nothing meanwhile")
	}
	if err := until(ctx, patience, "its workers do not come back", func() bool { return r.progress.last(hostName(h)).After(back) || r.progress.done() == r.jobs }); err != nil {
		return "", err
	}
	return fmt.Sprintf("its jobs went to others after %.1f s; it worked again %.1f s after its return", others, time.Since(back).Seconds()), r.whole(ctx)
}

// killCoordinator kills the coordinator and starts it again.
func (r *rig) killCoordinator(ctx context.Context) (string, error) {
	r.process("coordinator").kill()
	began := time.Now()
	if err := r.startCoordinator(); err != nil {
		return "", err
	}
	err := until(ctx, patience, "it does not go on", func() bool { return r.progress.since(began) > 0 || r.progress.done() == r.jobs })
	return fmt.Sprintf("went on %.1f s after its start", time.Since(began).Seconds()), err
}

const diskFull = "no space left on device"

// fillFolder fills the disk of the sweep's folder, tries in vain to go on there, frees it and goes on.
func (r *rig) fillFolder(ctx context.Context) (string, error) {
	p := r.process("coordinator")
	place := p.place()
	free, err := fill(ctx, r.out(), func() bool { return !p.running() })
	if err != nil {
		return "", errors.Join(err, free())
	}
	said := p.said(place, diskFull)
	if p.err == nil || said == "" {
		return "", errors.Join(fmt.Errorf("the coordinator ended (%v) and did not say that its disk is full", p.err), free())
	}
	if err := r.startCoordinator(); err != nil {
		return "", errors.Join(err, free())
	}
	p = r.process("coordinator") // it may find room for a row or two before it sees it
	if err := until(ctx, 20*time.Second, "the coordinator goes on without a disk", func() bool { return !p.running() }); err != nil {
		return "", errors.Join(err, free())
	}
	if p.said(0, diskFull) == "" {
		return "", errors.Join(errors.New("started again, the coordinator does not say that its disk is full"), free())
	}
	if err := free(); err != nil {
		return "", err
	}
	return r.quoted(said), r.startCoordinator()
}

// fillStore fills the disk of a server, frees it, and waits until the server has all again.
func (r *rig) fillStore(ctx context.Context) (string, error) {
	if err := r.whole(ctx); err != nil {
		return "", err
	}
	h := r.leader(ctx, "MURKSIM_JOBS")
	if h == 0 {
		return "", errors.New("the stream has no leader")
	}
	p := r.process(serverName(h))
	place := p.place()
	free, err := fill(ctx, r.store(h), func() bool { return p.said(place, "nothing can be stored") != "" || !p.running() })
	if err != nil {
		return "", errors.Join(err, free())
	}
	began := time.Now()
	err = until(ctx, patience, "the others do not go on", func() bool { return r.progress.since(began) > 0 || r.progress.done() == r.jobs })
	if err = errors.Join(err, free()); err != nil {
		return "", err
	}
	if !p.running() {
		if err := r.startServer(h); err != nil {
			return "", err
		}
	}
	return r.quoted(p.said(place, "nothing can be stored")), r.whole(ctx)
}

// quoted cuts what a process said to what a table bears.
func (r *rig) quoted(line string) string {
	const most = 90
	line = strings.ReplaceAll(strings.TrimSpace(line), r.dir+"/", "")
	if len(line) > most {
		line = line[:most] + "…"
	}
	return "“" + line + "”"
}
