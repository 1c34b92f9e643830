package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
)

func TestPacerSpacesTicks(t *testing.T) {
	const ticks, interval = 5, 4 * time.Millisecond
	p, start := engine.NewPacer(interval.Seconds()), time.Now()
	for range ticks {
		if err := p.Wait(t.Context()); err != nil {
			t.Fatalf("Wait = %v", err)
		}
	}
	if got, want := time.Since(start), (ticks-1)*interval; got < want {
		t.Errorf("%d ticks took %v, want at least %v", ticks, got, want)
	}
}

func TestPacerSlowsDownWhenLate(t *testing.T) {
	const interval = 5 * time.Millisecond
	p := engine.NewPacer(interval.Seconds())
	wait := func() time.Time {
		if err := p.Wait(t.Context()); err != nil {
			t.Fatalf("Wait = %v", err)
		}
		return time.Now()
	}
	wait()
	if got := p.Late(); got != 0 {
		t.Errorf("the first tick is %v late, want 0: it is due whenever it comes", got)
	}
	time.Sleep(4 * interval) // a slow tick
	before := time.Now()
	wait()
	if got := p.Late(); got < 3*interval {
		t.Errorf("the tick after a slow one is %v late, want at least %v", got, 3*interval)
	}
	if got := wait().Sub(before); got < interval {
		t.Errorf("the tick after a late one comes %v later, want at least %v: lost time is not caught up", got, interval)
	}
}

func TestPacerStopsWithItsContext(t *testing.T) {
	p := engine.NewPacer(3600)
	ctx, cancel := context.WithCancel(t.Context())
	if err := p.Wait(ctx); err != nil {
		t.Fatalf("first Wait = %v", err)
	}
	time.AfterFunc(time.Millisecond, cancel)
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v, want canceled", err)
	}
	long := engine.NewPacer(1e30)
	if err := long.Wait(t.Context()); err != nil {
		t.Errorf("Wait for the first tick of 1e30 s = %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := long.Wait(soon); !errors.Is(err, context.DeadlineExceeded) { // it is not due at once
		t.Errorf("Wait for the second tick of 1e30 s = %v, want %v", err, context.DeadlineExceeded)
	}
	if err := engine.NewPacer(1).Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait of a late tick = %v, want canceled", err)
	}
}
