package propagators

import (
	"math"

	"github.com/murksim/murksim/engine"
)

// original computes all cells as the original Murk engine does, by the rate of a tick and neighbour:
//
//	next = decay·((1-α)·here + α·(Σ open neighbours / n)),  α = min(rate·n, 1)
//
// α is rounded once. The two weights need not add up to 1, so that a field grows or shrinks a little in every tick.
func (s *diffusing) original(c *engine.Context, next, prev []float32, components int, rate float64) {
	for r := range runs(c, components) {
		for i := range r.count {
			e := r.first + i*r.stride
			if s.walls != nil && s.walls[e/components] != 0 {
				next[e] = prev[e]
				continue
			}
			sum, n := float32(math.Copysign(0, -1)), 0
			for _, by := range r.pattern.Offsets {
				if s.walls == nil || s.walls[e/components+by] == 0 {
					sum += prev[e+by*components]
					n++
				}
			}
			v := prev[e]
			if n > 0 {
				alpha := float32(min(float64(rate*float64(n)), 1))
				v = float32((1-alpha)*v) + float32(alpha*(sum/float32(n)))
			}
			next[e] = float32(v * s.decay)
		}
	}
}
