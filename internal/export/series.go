package export

import "math"

// A series is a number at each tick. It keeps a bounded number of points: when there are too
// many it joins neighbours, each then being a span of ticks with its least and greatest value.
type series struct {
	name   string
	points []point
	each   int // ticks that make a point; a power of two
}

// A point is the range of the values at some ticks.
type point struct {
	tick   uint64 // the first
	ticks  int
	lo, hi float64
}

const mostPoints = 2048

func (s *series) add(tick uint64, v float64) {
	s.each = max(s.each, 1)
	if n := len(s.points); n > 0 && s.points[n-1].ticks < s.each {
		p := &s.points[n-1]
		p.ticks, p.lo, p.hi = p.ticks+1, min(p.lo, v), max(p.hi, v)
		return
	}
	if len(s.points) == mostPoints {
		for i := range mostPoints / 2 {
			a, b := s.points[2*i], s.points[2*i+1]
			s.points[i] = point{a.tick, a.ticks + b.ticks, min(a.lo, b.lo), max(a.hi, b.hi)}
		}
		s.points = s.points[:mostPoints/2]
		s.each *= 2
	}
	s.points = append(s.points, point{tick, 1, v, v})
}

// bounds returns the least and the greatest value of some series.
func bounds(list []*series) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range list {
		for _, p := range s.points {
			lo, hi = min(lo, p.lo), max(hi, p.hi)
		}
	}
	return lo, hi
}
