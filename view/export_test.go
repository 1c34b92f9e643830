package view

import "weak"

// Indexed reports whether a recording has keyframes.
func (r *Recording) Indexed() bool { return r.index.Load() != nil }

// Weak points to a recording of a session.
func (s *Session) Weak(i int) weak.Pointer[Recording] {
	return weak.Make(s.sources[i].Source.(*Recording))
}

// HeldBlock and Hold are for the test of a file that is overwritten.
const HeldBlock = heldBlock

// Hold exports hold.
var Hold = hold
