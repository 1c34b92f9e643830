package engine

import (
	"context"
	"time"
)

// A Pacer spaces ticks evenly in real time. It stands outside the world: no result
// depends on it. When a tick comes late the ones after it come later too; none is
// skipped, and lost time is not caught up.
type Pacer struct {
	interval time.Duration
	next     time.Time
}

// NewPacer returns a pacer for ticks of dt seconds.
func NewPacer(dt float64) *Pacer {
	return &Pacer{interval: time.Duration(dt * float64(time.Second))}
}

// Wait returns when the next tick is due: at once the first time and when it is
// late. It returns early with the context's error.
func (p *Pacer) Wait(ctx context.Context) error {
	now := time.Now()
	if !p.next.After(now) {
		p.next = now.Add(p.interval)
		return ctx.Err()
	}
	timer := time.NewTimer(p.next.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		p.next = p.next.Add(p.interval)
		return nil
	}
}
