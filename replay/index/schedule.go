package index

import (
	"math"
	"time"
)

// A schedule says when a keyframe is due. No two are further apart than a short time of
// simulation, while the budget allows. No keyframe can be taken back and how long the run will be
// is not known, so that never more than a fifth of what is left of the budget is used until the
// elapsed time is e times as long: then the intervals grow in proportion to the run, and some of
// the budget is left however long it is.
type schedule struct {
	begin, at uint64    // ticks: where the recording begins, and where this recorder does
	opened    time.Time // the time of at
	key       uint64    // tick of the last keyframe, or begin
	since     time.Time // of the last keyframe; zero: this recorder has none

	cost    time.Duration // of the last keyframe, in the recorder
	pressed time.Duration // how long its compression took beside it
	size    int64         // of the last keyframe, in bytes; 0: not known
	left    int64         // of the budget
	refused bool          // the last keyframe was too large
}

// share is how many times over the elapsed time could become e times as long before all that is
// left of the budget were used at the rate of now.
const share = 5

// due reports whether it is time for a keyframe of a tick after at. The time of the ticks before this
// recorder began is not known: they are taken to be like those after it.
func (s *schedule) due(tick uint64, now time.Time) bool {
	elapsed := now.Sub(s.opened).Seconds()
	each := elapsed / float64(tick-s.at)
	gap := now.Sub(s.since).Seconds()
	if s.since.IsZero() {
		gap = elapsed + each*float64(s.at-s.key)
	}
	return gap >= s.interval(elapsed+each*float64(s.at-s.begin)-gap)
}

// interval returns the seconds from a keyframe to the next: few where a keyframe costs little
// time, and never so few that they take more than a twelfth of it. Their compression takes a
// thirtieth, while that leaves the intervals short. After one that was too large,
// the run first becomes twice as long.
func (s *schedule) interval(elapsed float64) float64 {
	base := max(minInterval, min(max(50*s.cost, 30*s.pressed), maxInterval), 12*s.cost).Seconds()
	switch {
	case s.refused:
		return max(base, elapsed)
	case s.size == 0:
		return base
	}
	return max(base, elapsed*math.Expm1(share*float64(s.size)/float64(max(1, s.left))))
}

// take notes that a keyframe is being made, which took the recorder from a time to another.
func (s *schedule) take(tick uint64, from, to time.Time) {
	s.key, s.since, s.cost = tick, to, to.Sub(from)
}

// spend takes a keyframe's bytes from the budget.
func (s *schedule) spend(size int64) {
	s.size, s.left, s.refused = size, s.left-size, false
}
