package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// simulate runs a schedule on a clock of its own, with ticks of a length each, and keyframes of
// about a size. After each keyframe it jumps to just before the next. Every resume keyframes
// another recorder goes on; 0: none does. It returns the times of the keyframes, in seconds.
func simulate(t *testing.T, budget, size int64, each, length time.Duration, resume int) (keys []float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Unix(0, 0)
	time := func(tick uint64) time.Time { return start.Add(each * time.Duration(tick)) }
	last := uint64(length / each)
	s := &schedule{opened: time(0), left: budget}
	for tick := uint64(0); ; {
		low, high := tick, tick+1 // not due at low
		for high <= last && !s.due(high, time(high)) {
			low, high = high, high+2*(high-tick)
		}
		for high = min(high, last+1); high-low > 1; {
			if mid := low + (high-low)/2; s.due(mid, time(mid)) {
				high = mid
			} else {
				low = mid
			}
		}
		if tick = high; tick > last {
			return keys
		}
		s.take(tick, time(tick), time(tick))
		n := size - size/8 + random.Int64N(size/4+1)
		if n > s.left {
			s.refused = true
			continue
		}
		s.spend(n)
		keys = append(keys, time(tick).Sub(start).Seconds())
		if resume > 0 && len(keys)%resume == 0 { // some ticks later
			at := tick + tick/64 + 1
			s = &schedule{at: at, opened: time(at), key: tick, left: s.left, size: s.size}
			tick = at
		}
	}
}

// TestSchedule: however long a run is, keyframes keep to the budget, and at no moment is the time
// since the last keyframe more than a fraction of the run so far, or than a short interval while
// little of the budget is used. The fraction depends on how many keyframes the budget holds.
func TestSchedule(t *testing.T) {
	const budget = 128 << 20
	for _, tt := range []struct {
		holds       int64   // keyframes
		hours, ever float64 // the fraction of the run so far, within three hours and at any moment
		short       float64 // seconds at the beginning in which no gap is longer than 250 ms
	}{{10_000, 0.02, 0.03, 240}, {1000, 0.05, 0.1, 25}, {100, 0.4, 0.7, 2.5}, {20, 0.95, 0.99, 0.5}, {8, 0.995, 0.999, 0.2}} {
		for _, each := range []time.Duration{100 * time.Microsecond, 20 * time.Millisecond, 300 * time.Millisecond} {
			for length := 100 * time.Millisecond; length <= 1e9*time.Millisecond; length *= 10 {
				for _, resume := range []int{0, 3} {
					name := fmt.Sprintf("%d keyframes, ticks of %v, a run of %v, resumed every %d", tt.holds, each, length, resume)
					keys := simulate(t, budget, budget/tt.holds, each, length, resume)
					if int64(len(keys)) > tt.holds*8/7+1 {
						t.Errorf("%s: %d keyframes", name, len(keys))
					}
					least := max(0.25, minInterval.Seconds()) + 2*each.Seconds()
					before, fraction, ticksLater := 0.0, tt.hours, 0.0
					if resume > 0 {
						ticksLater = 1. / 32
					}
					for _, at := range append(keys, length.Seconds()) {
						if at > 3*3600 {
							fraction = tt.ever
						}
						if gap := at - before; gap > least && (gap > (fraction+ticksLater)*at || at < tt.short && resume == 0) {
							t.Errorf("%s: no keyframe from %.3f s to %.3f s", name, before, at)
						}
						before = at
					}
				}
			}
		}
	}
}

// TestHalfForKeyframes: keyframes may use half of the budget, and one that is too large for what is left of it is refused.
func TestHalfForKeyframes(t *testing.T) {
	at := time.Unix(0, 0)
	now := func() time.Time { at = at.Add(time.Second); return at }
	var k keyframes
	if k.begin(nil, 0, 0, 1000, Options{Budget: 1 << 20, Now: now}); k.schedule.left != 1<<19 || k.disable || !k.due(1, now()) {
		t.Fatalf("%d bytes for keyframes, disabled %t; want half of 1 MiB, and the first due after a second", k.schedule.left, k.disable)
	}
	for what, payload := range map[string][]byte{"as large as what is left": make([]byte, 1<<19), "not compressed": nil} {
		k.schedule.refused = false
		if k.write(nil, payload, true); !k.schedule.refused || k.schedule.left != 1<<19 {
			t.Errorf("a keyframe that is %s is not refused", what)
		}
	}
}

// TestScheduleRefused: after a keyframe that was too large there is another attempt when the run is
// twice as long, and a smaller one is taken as before.
func TestScheduleRefused(t *testing.T) {
	start := time.Unix(0, 0)
	s, attempts := &schedule{opened: start, left: 1 << 20}, []time.Duration{}
	for tick := uint64(1); tick <= 60_000; tick++ {
		at := time.Duration(tick) * time.Millisecond
		if now := start.Add(at); s.due(tick, now) {
			s.take(tick, now, now)
			if s.refused = at < 10*time.Second; !s.refused {
				s.spend(1000)
			}
			attempts = append(attempts, at)
		}
	}
	if n := len(attempts); n < 200 || attempts[12] > 20*time.Second+20*time.Millisecond {
		t.Errorf("%d attempts, the first after %v; want few at first, and many after 10 s", n, attempts[:min(n, 13)])
	}
	if attempts[5] < 500*time.Millisecond {
		t.Errorf("attempts after %v, want each after twice the time", attempts[:6])
	}
}
