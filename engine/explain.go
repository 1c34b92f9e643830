package engine

import "github.com/murksim/murksim/fields"

// An Explainer is a propagator that can say how it comes to a number.
type Explainer interface {
	Propagator

	// Explain returns how this tick comes to an element of a field that the propagator writes: the terms that decide, in the order in which they are
	// computed. It is called just before Step, with the same context, for a cell in its range, in a world whose tick nobody keeps. It must not use
	// Scratch or Uncleared, which are Step's.
	Explain(c *Context, id fields.ID, element int) []Term
}

// A Term is a part of a computation, and what it came to.
type Term struct {
	What  string // such as a formula
	Value string // as people read it
	Reads []Read // what it looked at, as far as that is known; what lies next to the number need not be listed

	// In an explanation of a float32 from +0 on, each term that is joined makes of what those before it came to what After returns; the last one comes
	// to the number in every bit.
	Join   Join
	Number float32
}

// A Read is an element of a field that a term looked at.
type Read struct {
	Field   fields.ID
	Element int
}

// A Join says how a term goes on from what those before it came to. Every operation rounds to float32.
type Join uint8

// How terms are joined.
const (
	Told    Join = iota // not at all: the term only tells
	Set                 // its number
	Plus                // the sum
	Times               // the product
	Over                // the quotient
	AtLeast             // its number, if what came before is less
	AtMost              // its number, if what came before is more
)

// After returns what a computation that came to v comes to with the term.
func (t *Term) After(v float32) float32 {
	n := t.Number
	switch t.Join {
	case Set:
		return n
	case Plus:
		return v + n
	case Times:
		return float32(v * n)
	case Over:
		return v / n
	case AtLeast:
		if !(v >= n) {
			return n
		}
	case AtMost:
		if !(v <= n) {
			return n
		}
	}
	return v
}
