package clock

import (
	"context"
	"time"
)

func now() time.Time { return time.Now() } // want `clock: time.Now reads real time`

var later = time.Since // want `clock: time.Since`

func waits(ctx context.Context) {
	time.Sleep(time.Second)                         // want `clock: time.Sleep`
	t := time.NewTicker(time.Second)                // want `clock: time.NewTicker`
	t.Reset(time.Minute)                            // want `clock: time.Ticker.Reset`
	_, cancel := context.WithTimeout(ctx, 1000_000) // want `clock: context.WithTimeout`
	cancel()
}

// Durations and given times are no clock.
func given(t time.Time, dt time.Duration) time.Time { return t.Add(2 * dt).UTC() }

type Clock struct{ tick uint64 }

func (c *Clock) Now() uint64 { return c.tick }

func own(c *Clock) uint64 { return c.Now() }
