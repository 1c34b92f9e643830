package sweep

import (
	"fmt"
	"math"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios/document"
)

// sample draws the values of the axes. Axis i draws from stream number i of "sweep", by the sampling's seed and at tick 0: so
// adding an axis changes no other.
func (p *Plan) sample() error {
	s := p.Design.Sampling
	switch {
	case s.Kind != Random && s.Kind != Latin:
		return fmt.Errorf("samples are %s or %s, not %q", Random, Latin, s.Kind)
	case s.Count < 1 || s.Count > maxValues:
		return fmt.Errorf("there must be 1 to %d samples, not %d", maxValues, s.Count)
	case len(p.Design.Axes) == 0:
		return fmt.Errorf("there are %d samples to be drawn, but no value that differs", s.Count)
	case s.Count*len(p.Design.Axes) > 4*maxValues:
		return fmt.Errorf("%d samples of %d values are more than %d numbers", s.Count, len(p.Design.Axes), 4*maxValues)
	}
	p.grid = s.Count
	for i := range p.Design.Axes {
		if a := &p.Design.Axes[i]; a.Interval == nil && len(a.Values) == 0 {
			return fmt.Errorf("%s has no values", a.Path)
		}
		var draws rng.Stream
		draws.Open(rng.ChaCha8, rng.Seed(s.Seed).Tick(0).Stream("sweep", uint64(i)))
		p.rows = append(p.rows, p.Design.Axes[i].draw(&draws, s))
	}
	return nil
}

// draw draws the values of an axis, one a sample.
func (a *Axis) draw(draws *rng.Stream, s Sampling) []string {
	part := make([]int, s.Count) // of a Latin hypercube, in an order of its own for each axis
	for i := range part {
		part[i] = i
	}
	if s.Kind == Latin {
		for i := len(part) - 1; i > 0; i-- {
			k := int(draws.Below(uint64(i + 1)))
			part[i], part[k] = part[k], part[i]
		}
	}
	values := make([]string, s.Count)
	for i := range values {
		u := draws.Float64()
		if s.Kind == Latin {
			u = (float64(part[i]) + u) / float64(s.Count)
		}
		values[i] = a.at(min(u, math.Nextafter(1, 0)))
	}
	return values
}

// at returns the value at a place in [0, 1).
func (a *Axis) at(u float64) string {
	v := a.Interval
	if v == nil {
		return a.Values[int(u*float64(len(a.Values)))]
	}
	to := v.To
	if v.Whole { // each number is an interval of its own, up to the next one
		to++
	}
	x := v.From + float64(u*(to-v.From))
	if v.Log {
		from := exact.Log(v.From)
		x = exact.Exp(from + float64(u*(exact.Log(to)-from)))
	}
	if v.Whole {
		x = math.Floor(x)
	}
	return string(document.AppendFloat(nil, min(max(x, v.From), v.To)))
}
