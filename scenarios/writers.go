package scenarios

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// writers are the propagators that write what, in the order in which they run.
type writers []write

// A write is a field, or a component of it, that a propagator writes.
type write struct {
	by        string
	field     fields.ID
	component int // -1: all
}

// add adds what a propagator writes. A rule that writes in full what an earlier one has written is refused: it would undo it.
func (w *writers) add(s *Scenario, x *Instance, p engine.Propagator) error {
	r, ok := x.params.(*Rule)
	if !ok {
		spec := p.Spec(s.lattice)
		for _, id := range slices.Concat(spec.Full, spec.Incremental) {
			*w = append(*w, write{x.Name, id, -1})
		}
		return nil
	}
	for i, a := range r.list {
		key := r.Set[i].key
		one := write{x.Name, s.id(FieldRef(r.scope.Fields[a.Field].Name)), a.Component}
		for _, before := range *w {
			if before.by != x.Name && before.field == one.field && (before.component < 0 || one.component < 0 || before.component == one.component) && !r.rule.Keeps(i, a) {
				return key.Errorf("%s is written by %s before, and would be undone; add where, or read now(%s)", key.Raw, before.by, r.scope.Fields[a.Field].Name)
			}
		}
		*w = append(*w, one)
	}
	return nil
}
