package view

import "weak"

// Indexed reports whether a recording has keyframes to go by.
func (r *Recording) Indexed() bool { return r.index.Load() != nil }

// Weak points to a recording of a session.
func (s *Session) Weak(i int) weak.Pointer[Recording] {
	return weak.Make(s.sources[i].Source.(*Recording))
}

// HeldBlock and Hold are for the test of a file that is written over.
const HeldBlock = heldBlock

// Hold is hold.
var Hold = hold
