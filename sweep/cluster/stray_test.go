package cluster_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/sweep/cluster"
)

// stray takes some results from a sweep's queue and does nothing with them, as a coordinator does whose connection breaks
// when they are on the way.
func stray(b *bench) (n int) {
	b.Helper()
	js := b.jetStream()
	for deadline := time.Now().Add(waiting.Hang); n < 3 && time.Now().Before(deadline); {
		stream, err := js.Stream(b.Context(), "MURKSIM_RESULTS")
		if err != nil {
			continue // the coordinator has not made it yet
		}
		for name := range stream.ConsumerNames(b.Context()).Name() {
			queue, err := stream.Consumer(b.Context(), name)
			if err != nil {
				b.Fatal(err)
			}
			batch, err := queue.Fetch(10, jetstream.FetchMaxWait(100*time.Millisecond))
			if err != nil {
				b.Fatal(err)
			}
			for range batch.Messages() {
				n++
			}
		}
	}
	return n
}

// Results that went astray come again, soon, and nobody takes their jobs for lost.
func TestResultsThatGoAstrayComeAgain(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	const seeds = 3000
	want := b.local(seeds)
	c, j := b.sweep(seeds)
	done := make(chan error, 1)
	go func() { done <- cluster.Run(t.Context(), c) }()
	b.work("one", registry(t, false, 1))
	n := stray(b)
	began := time.Now()
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, b.said.String())
	}
	if n == 0 {
		t.Fatal("no result went astray")
	}
	if took := time.Since(began); took > waiting.Hang || b.heard("are gone") {
		t.Errorf("the sweep took %v after %d results went astray\n%s", took, n, b.said.String())
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
}
