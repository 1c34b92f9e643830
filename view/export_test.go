package view

// Indexed reports whether a recording has keyframes to go by.
func (r *Recording) Indexed() bool { return r.index.Load() != nil }
