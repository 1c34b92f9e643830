package foreign

import (
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// legacyDiffusion is the first diffusion that the original had. It
// carries fields 0, heat, and 1, a velocity of two components, and writes the slope
// of the heat to field 3:
//
//	next = (1-α)·here + α·(Σ neighbours / n),  α = min(Diffusivity·dt·n, 1)
type legacyDiffusion struct {
	kind
	name        string
	Diffusivity float64 `json:"diffusivity"` // per second and neighbour
}

func (p *legacyDiffusion) build(b *builder) (engine.Propagator, error) {
	p.name = b.name
	return p, nil
}

// Spec implements [engine.Propagator].
func (p *legacyDiffusion) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{
		Name: p.name, Prev: engine.Fields(heatField, velocityField), Full: engine.Fields(heatField, velocityField, slopeField),
	}
}

// Check implements [engine.Checker].
func (p *legacyDiffusion) Check(_ *space.Lattice, defs []fields.Def) error {
	return sized(defs, []int{heatField: 1, velocityField: 2, slopeField: 2})
}

// Step implements [engine.Propagator].
func (p *legacyDiffusion) Step(c *engine.Context) error {
	heat, slope := c.Prev(heatField), c.Next(slopeField)
	fold := foldingOf(c.Lattice())
	compass, cross := c.Lattice().Compass()
	for _, s := range c.Spans() {
		n := len(s.Pattern.Offsets)
		alpha := float32(min(float64(float64(p.Diffusivity*c.Dt())*float64(n)), 1))
		for i, cell := 0, s.First; i < s.Count; i, cell = i+1, cell+s.Stride {
			diffuse(c.Next(heatField), heat, cell, 1, 0, alpha, s.Pattern)
			diffuse(c.Next(velocityField), c.Prev(velocityField), cell, 2, 0, alpha, s.Pattern)
			diffuse(c.Next(velocityField), c.Prev(velocityField), cell, 2, 1, alpha, s.Pattern)
			if cross {
				slope[2*cell], slope[2*cell+1] = central(heat, cell, compass, s.Pattern)
			} else {
				slope[2*cell] = fold.mean(heat, cell, 1, s.Pattern)
				slope[2*cell+1] = fold.mean(heat, cell, 0, s.Pattern)
			}
		}
	}
	return nil
}

// diffuse computes component k of a cell.
func diffuse(next, prev []float32, cell, components, k int, alpha float32, p *space.Pattern) {
	e := cell*components + k
	if len(p.Offsets) == 0 {
		next[e] = prev[e]
		return
	}
	sum := float32(math.Copysign(0, -1))
	for _, o := range p.Offsets {
		sum += prev[e+o*components]
	}
	next[e] = float32((1-alpha)*prev[e]) + float32(alpha*(sum/float32(len(p.Offsets))))
}

// central returns the slope on a square4, a missing neighbour being the cell itself.
func central(v []float32, cell int, compass [4]int, p *space.Pattern) (x, y float32) {
	var o [4]int // north, south, west, east
	for k, dir := range p.Dirs {
		o[slices.Index(compass[:], int(dir))] = p.Offsets[k]
	}
	return (v[cell+o[3]] - v[cell+o[2]]) / 2, (v[cell+o[1]] - v[cell+o[0]]) / 2
}

// folding are the extents of the axes, by which a step of more than half is folded
// to the shorter way round, whether the edge wraps or not.
type folding []int32

func foldingOf(l *space.Lattice) folding {
	var f folding
	for _, a := range l.Axes() {
		f = append(f, int32(a.Extent))
	}
	return f
}

// mean returns the mean slope along an axis, +0 without neighbours along it.
func (f folding) mean(v []float32, cell, axis int, p *space.Pattern) float32 {
	sum, n := float32(0), 0
	for k, jump := range p.Jumps {
		if axis >= len(f) {
			break
		}
		step, half := jump.At(axis), f[axis]/2
		if step > half {
			step -= f[axis]
		} else if step < -half {
			step += f[axis]
		}
		if step != 0 {
			sum += (v[cell+p.Offsets[k]] - v[cell]) / float32(step)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float32(n)
}
