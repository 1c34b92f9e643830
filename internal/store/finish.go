package store

import "github.com/murksim/murksim/fields"

// Finish checks what propagators wrote to a field, then applies the field's bounds. It
// returns the index of the first element that is not a valid value (not a category, or not
// finite, even where a bound would clamp it), or -1. With valid, the caller knows that all
// elements are, and they are not checked.
//
// Where only Incremental writers wrote, and nothing tells what, it compares the next
// generation with the current one, in which all values are within the bounds, and valid
// unless a caller claimed an element valid that was not.
func (s *Store) Finish(id fields.ID, valid bool) int {
	sl := &s.slots[id]
	if sl.next == nil {
		return -1
	}
	l := &sl.ledger
	reported, unseen := l.all <= l.allAtStart, sl.holds == s.holds
	if !reported && unseen && !sl.full {
		return s.finishChanged(sl, valid)
	}
	if reported {
		l.reported = s.epoch
	}
	sl.unknown = unseen
	if !unseen && sl.def.Bounds != nil {
		l.all = s.epoch // who holds what was written does not have the bounds
	}
	return sl.finish(&sl.next.Column, &sl.cur.Column, valid)
}

// finish checks and bounds a part of the next generation.
func (sl *slot) finish(next, cur *fields.Column, valid bool) int {
	if !valid {
		if i := sl.def.Bad(next); i >= 0 {
			return i
		}
	}
	sl.def.BoundAll(next, cur)
	return -1
}

// finishChanged checks and bounds what differs from the current generation, and records it.
func (s *Store) finishChanged(sl *slot, valid bool) int {
	l := &sl.ledger
	for k := range l.pieces {
		lo, hi := l.bounds(k)
		if sl.next.SameBits(&sl.cur.Column, lo, hi) {
			continue
		}
		next, cur := sl.next.Slice(lo, hi), sl.cur.Slice(lo, hi)
		if i := sl.finish(&next, &cur, valid); i >= 0 {
			return lo + i
		}
		if sl.def.Bounds == nil || !next.SameBits(&cur, 0, hi-lo) {
			l.pieces[k] = s.epoch
		}
	}
	l.all = l.allAtStart
	return -1
}

// compare records what the writers of this tick have changed where Finish did not compare:
// what Full writers wrote, and what was reported.
func (s *Store) compare(sl *slot) {
	if !sl.unknown {
		return
	}
	sl.unknown = false
	next, cur := sl.next, sl.cur
	if next == nil { // after Turn
		next, cur = sl.cur, sl.before
	}
	l := &sl.ledger
	for k := range l.pieces {
		if lo, hi := l.bounds(k); !next.SameBits(&cur.Column, lo, hi) {
			l.pieces[k] = s.epoch
		}
	}
	l.all = l.allAtStart
}
