package enginetest

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// reorder puts propagators into another order, if one gives the same: as far as they do not
// depend on each other, the last ones come first. It reports whether the order is another.
func reorder(list []engine.Propagator, l *space.Lattice) bool {
	type part struct {
		engine.Propagator
		spec  engine.Spec
		place int
	}
	parts := make([]part, len(list))
	for i, p := range list {
		parts[i] = part{p, p.Spec(l), i}
	}
	any, swapped := false, true
	for swapped {
		swapped = false
		for i := 1; i < len(parts); i++ {
			a, b := &parts[i-1], &parts[i]
			if a.place < b.place && independent(&a.spec, &b.spec) {
				*a, *b = *b, *a
				any, swapped = true, true
			}
		}
	}
	for i := range parts {
		list[i] = parts[i].Propagator
	}
	return any
}

// independent reports whether two propagators that follow each other may change places: none
// writes what the other one writes too, or reads with Now. What they read with Prev is that of
// the tick before.
func independent(a, b *engine.Spec) bool {
	return !overlap(written(a), written(b)) && !overlap(written(a), b.Now) && !overlap(a.Now, written(b))
}

func written(s *engine.Spec) []fields.ID { return slices.Concat(s.Full, s.Incremental) }

func overlap(a, b []fields.ID) bool {
	return slices.ContainsFunc(a, func(id fields.ID) bool { return slices.Contains(b, id) })
}
