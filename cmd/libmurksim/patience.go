package main

import (
	"context"
	"time"
)

// patience is how long a poll function is not called.
const patience = 50 * time.Millisecond

// interruptible calls work in a goroutine, while it asks this one's thread whether to go on. A nil poll asks nothing. After a poll that
// does not want to go on the context of work ends, and the error is [context.Canceled], unless the work has another one.
func interruptible(poll func() (stop bool), work func(context.Context) error) error {
	if poll == nil {
		return work(context.Background())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- guarded(func() error { return work(ctx) }) }()
	ticks := time.NewTicker(patience)
	defer ticks.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticks.C:
			if ctx.Err() == nil && poll() {
				cancel()
			}
		}
	}
}
