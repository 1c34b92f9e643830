package store

// A View reads a store without the right to write it. It is valid until the store is
// written.
type View struct{ store *Store }

// View returns a view of what [Store.Now] returns.
func (s *Store) View() View { return View{s} }

// Hold is [Store.Hold].
func (v View) Hold(n *State) { v.store.Hold(n) }

// HoldDelta is [Store.HoldDelta].
func (v View) HoldDelta(d *Delta, since Moment) Moment { return v.store.HoldDelta(d, since) }
