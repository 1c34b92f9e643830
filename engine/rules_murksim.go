package engine

import "slices"

// murksimRules are this engine's own rules; the package doc says how a tick works under them.
type murksimRules struct{}

func (murksimRules) check(*Config) error { return nil }
func (murksimRules) closed() bool        { return true }
func (murksimRules) strict() bool        { return true }

// admit lets the first call of Next make an incremental output, so that a stage that does
// not change it spares the copy. For parallel workers it is made before they start.
func (murksimRules) admit(_ *World, s *stage) bool {
	if !s.spec.Parallel && s.system == nil {
		for _, id := range s.spec.Incremental {
			if !slices.Contains(s.spec.Rewrite, id) {
				s.may[id] |= nextIsLate
			}
		}
	}
	return true
}

func (murksimRules) apply(w *World) { w.applyAll() }

func (murksimRules) prepare(w *World, s *stage) {
	for _, id := range s.spec.Full {
		out := w.store.Full(id)
		if w.paranoid {
			poison(out)
		}
	}
	for _, id := range s.spec.Incremental {
		switch {
		case s.may[id]&nextIsLate != 0:
		case slices.Contains(s.spec.Rewrite, id) && !w.store.Written(id):
			s.fresh = append(s.fresh, id)
			if out := w.store.Full(id); w.paranoid {
				poison(out)
			}
		default:
			w.store.Incremental(id)
		}
	}
}

func (murksimRules) finish(w *World) error {
	w.where = "checks"
	if err := w.finish(); err != nil {
		return err
	}
	w.where = "commands"
	w.applyLast()
	w.hashRest()
	return nil
}

func (murksimRules) failed(*World) {}
