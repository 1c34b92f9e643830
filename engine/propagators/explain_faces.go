package propagators

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/kernel"
)

// Explain implements [engine.Explainer].
func (v Advection) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a := &account{c: c}
	field, velocity, n := c.Prev(id), c.Prev(v.Velocity), c.Components(id)
	cell, axes := element/n, c.Lattice().Dim()
	var f faces
	f.set(c.Lattice())
	var buffer [maxDirections]face
	a.is("here", field[element])
	for _, face := range f.at(a.pattern(cell), &buffer) {
		share, factor := float32(0), float32(c.Dt()*face.ratio/2)
		for axis, normal := range face.normal {
			if normal == 0 {
				continue
			}
			k := face.first + axis
			part := float32(normal * (velocity[cell*axes+k] + velocity[(cell+face.offset)*axes+k]))
			if axis != face.leading {
				part = share + part
			}
			if share = part; axis == face.last {
				share = float32(part * factor)
			}
		}
		there := cell + face.offset
		switch {
		case share > 0:
			a.minus("to "+a.at(there), float32(share*field[element]))
		case share < 0:
			a.plus("from "+a.at(there), -float32(share*field[element+face.offset*n]))
		}
	}
	return a.terms
}

// Explain implements [engine.Explainer].
func (w ShallowWater) Explain(c *engine.Context, id fields.ID, element int) []engine.Term {
	a := &account{c: c}
	var p pipes
	var f faces
	p.depth, p.flux = c.Prev(w.Depth), c.Prev(w.Flux)
	if w.Bed != nil {
		p.bed = c.Prev(*w.Bed)
	}
	w.prepare(&p, &f, c)
	cell, pair := element, -1
	if id == w.Flux {
		cell, pair = element/f.pairs, element%f.pairs
	} else {
		a.is("here", p.depth[cell])
	}
	var buffer [maxDirections]face
	for _, face := range f.at(a.pattern(cell), &buffer) {
		there := cell + face.offset
		out := p.through(&face, cell, f.pairs)
		if !face.owner {
			out = -out
		}
		switch {
		case pair == face.pair && face.owner:
			a.flux(&p, &face, cell, f.pairs)
			return a.terms
		case pair >= 0:
		case out > 0:
			a.minus("to "+a.at(there), out)
		default:
			a.plus("from "+a.at(there), -out)
		}
	}
	if pair >= 0 {
		a.is("no face", 0)
	}
	return a.terms
}

// ends returns the two ends of a face, that of the owner first, and sets its numbers.
func (p *pipes) ends(f *face, cell, pairs int) (e kernel.Ends) {
	from, to := cell, cell+f.offset
	if !f.owner {
		from, to = to, from
	}
	p.Pull, p.Smooth, p.Share = p.pull[f.pair], p.smooth[f.pair], p.share[f.pair]
	e = kernel.Ends{
		Here: p.depth[from : from+1], There: p.depth[to : to+1], BedHere: []float32{0}, BedThere: []float32{0},
		Flux: p.flux[from*pairs+f.pair:][:1],
	}
	if p.bed != nil {
		e.BedHere, e.BedThere = p.bed[from:from+1], p.bed[to:to+1]
	}
	return e
}

// through returns what runs through a face in a tick, out of its owner.
func (p *pipes) through(f *face, cell, pairs int) float32 {
	e := p.ends(f, cell, pairs)
	var moved, flux [1]float32
	p.Move(moved[:], flux[:], &e)
	return moved[0]
}

// flux says how a flux comes about.
func (a *account) flux(p *pipes, f *face, cell, pairs int) {
	e := p.ends(f, cell, pairs)
	sill := max(e.BedHere[0], e.BedThere[0])
	above := func(depth, bed float32) float32 { return max(depth+bed-sill, 0) }
	limit := func(depth float32) float32 {
		if depth < kernel.Drop {
			return 0
		}
		return float32(p.Most * depth)
	}
	s, t := above(e.Here[0], e.BedHere[0]), above(e.There[0], e.BedThere[0])
	if !(s+t > 0) {
		a.is("no water over the sill", 0)
		return
	}
	a.is("flux", e.Flux[0])
	a.plus("pull of "+number(s)+" against "+number(t), float32(float32(p.Pull*(s+t))*(s-t)))
	a.times("drag", p.Keep)
	a.atLeast("at least what "+a.at(cell+f.offset)+" may give", 0-limit(e.There[0]))
	a.atMost("at most what "+a.at(cell)+" may give", limit(e.Here[0]))
}
