package engine

import (
	"context"
	"time"
)

// A Pacer spaces ticks evenly in real time. It stands outside the world: no result
// depends on it. After a late tick the later ones are late too: none is skipped, and lost
// time is not made up.
type Pacer struct {
	interval time.Duration
	next     time.Time
	late     time.Duration
}

// NewPacer returns a pacer for ticks of dt seconds, or of 30 years if dt is more than that.
func NewPacer(dt float64) *Pacer {
	const most = 30 * 365 * 24 * 3600 // a Duration holds ten times as much
	return &Pacer{interval: time.Duration(min(dt, most) * float64(time.Second))}
}

// Wait returns when the next tick is due: at once the first time and when it is
// late. If the context ends, it returns the context's error within a few milliseconds.
func (p *Pacer) Wait(ctx context.Context) error {
	//detcheck:allow clock real time decides when a tick is run, never what it does
	now := time.Now()
	if !p.next.After(now) {
		p.lag(now)
		p.next = now.Add(p.interval)
		return ctx.Err()
	}
	if early := p.next.Sub(now) - ending; early > 0 {
		if err := wait(ctx, early); err != nil {
			return err
		}
	}
	for {
		//detcheck:allow clock real time decides when a tick is run, never what it does
		now = time.Now()
		if !p.next.After(now) {
			break
		}
		sleep(p.next.Sub(now))
	}
	p.lag(now)
	p.next = p.next.Add(p.interval)
	return ctx.Err()
}

// ending is the length of the end of a wait, in which the context is not checked.
const ending = 3 * time.Millisecond

// wait waits for d, or until the context ends.
func wait(ctx context.Context, d time.Duration) error {
	//detcheck:allow clock real time decides when a tick is run, never what it does
	timer := time.NewTimer(d)
	defer timer.Stop()
	//detcheck:allow goroutine whichever comes first, nothing of the world depends on it
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (p *Pacer) lag(now time.Time) {
	p.late = 0
	if !p.next.IsZero() {
		p.late = now.Sub(p.next)
	}
}

// Late returns how much later than due the last Wait returned.
func (p *Pacer) Late() time.Duration { return p.late }
