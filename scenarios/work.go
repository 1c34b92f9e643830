package scenarios

import (
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// The work that goes into a world before its first tick is counted in steps, of a
// nanosecond or some: an element that gets a value, or that a mean takes in.
const (
	maxWork     = 100_000_000_000 // for initial values and for the regions of components
	maxSpawn    = 5_000_000_000   // for the places of the first population, which the first tick takes
	regionSteps = 64              // to list a cell of a region
)

// spend adds to the work of making the world, and refuses more than anyone would wait for.
func (d *decoder) spend(n *document.Node, what string, steps uint64) error {
	return d.spendOf(n, what, steps, &d.s.work, maxWork)
}

func (d *decoder) spendOf(n *document.Node, what string, steps uint64, work *uint64, most uint64) error {
	if *work += steps; *work <= most { // each part is below 2^63
		return nil
	}
	e := n.Errorf("%s: with it the world takes about %s steps to make; at most %s are allowed",
		what, Number(float64(*work)), Number(float64(most)))
	e.Hint = "choose a smaller space, smaller regions, fewer layers, a lower smooth or smaller tables"
	return e
}

// steps returns the work of listing a region.
func (r *Region) steps(l *space.Lattice) uint64 {
	if r.all() {
		return 0
	}
	return uint64(r.size(l)) * regionSteps
}

// spendLayers counts the work of a field's initial values.
func (d *decoder) spendLayers(l layers, n *document.Node) error {
	if l.constant() || d.field.Domain == "entities" {
		return nil
	}
	components := uint64(max(d.field.Type.Components(), 1))
	cells := uint64(d.s.lattice.Cells())
	for i := l.bottom(); i < len(l); i++ {
		at, what := n, "layer"
		if n.Kind == document.List && i < len(n.Kids) {
			at = n.Kids[i]
		}
		steps := uint64(0)
		switch x := &l[i]; {
		case x.Picture != nil || x.Gray != nil: // no more than what was read
		case x.RLE != nil:
			steps = uint64(x.RLE.Rows) * uint64(x.RLE.Cols)
		case x.all():
			steps = cells * components
			if x.Noise != nil && x.Noise.Smooth > 0 {
				at, what = at.At("noise").At("smooth"), "smooth"
				steps *= 1 + uint64(x.Noise.Smooth)*uint64(d.s.lattice.MaxDegree()+1)
			}
		default:
			steps = x.steps(d.s.lattice) + uint64(x.size(d.s.lattice))*components
		}
		if err := d.spend(at, what, steps); err != nil {
			return err
		}
	}
	return nil
}

// A making counts the work of making a world while it is done.
type making struct {
	all    uint64 // the estimate; at least 1
	done   uint64
	called uint64 // done when step was called last
	step   func(share float64) error
	ended  error // the error of step
}

// stride is the work between two calls, some milliseconds.
const stride = 1 << 22

// add counts work that has been done or is about to be.
func (m *making) add(steps uint64) error {
	if m == nil || m.step == nil {
		return nil
	}
	if m.done += steps; m.done-m.called < stride {
		return nil
	}
	m.called = m.done
	m.ended = m.step(min(float64(m.done)/float64(m.all), 1))
	return m.ended
}
