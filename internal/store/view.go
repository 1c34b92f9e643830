package store

// A View reads a store without the right to write it. It is valid until the store is
// written.
type View struct{ store *Store }

// View returns a view of what [Store.Now] returns.
func (s *Store) View() View { return View{s} }

// HoldDelta is [Store.HoldDelta].
func (v View) HoldDelta(d *Delta, since Moment) Moment { return v.store.HoldDelta(d, since) }
