package scenarios

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/rules"
)

// A Statement is a formula about the whole world, as in an expectation: most(heat) > 250. It is for one goroutine at a time.
type Statement struct {
	that  *statement
	s     *Scenario
	text  string
	state rules.State
}

// A StatementError says where a formula about the whole world is wrong, and what to do.
type StatementError struct {
	Text    string // the formula
	At, End int    // its bytes that are meant; none: the whole
	Reason  string
}

// Error implements error.
func (e *StatementError) Error() string { return e.Reason }

// Statement reads a formula about the whole world of the scenario. The error is a [*StatementError].
func (s *Scenario) Statement(text string) (*Statement, error) {
	scope, ids, err := s.wholeScope()
	if err != nil {
		return nil, err
	}
	that := &statement{fields: ids}
	n, err := rules.Parse(text)
	if err == nil {
		that.Statement, err = rules.CheckStatement(scope, n)
	}
	if e, ok := err.(*rules.Error); ok {
		return nil, &StatementError{text, e.At, e.End, e.Reason}
	} else if err != nil {
		return nil, err
	}
	return &Statement{that: that, s: s, text: n.String()}, nil
}

// String returns the formula in its canonical form.
func (t *Statement) String() string { return t.text }

// Holds reports whether the statement is true of a world of the scenario as it is now. An error says what cannot be computed, such as a sum that is
// beyond the range of its numbers.
func (t *Statement) Holds(w *engine.World) (bool, error) {
	t.that.read(t.s, w, &t.state)
	return t.that.Holds(&t.state)
}

// Found says what the terms of the statement came to when Holds was called last: "most(heat) is 251.5".
func (t *Statement) Found() string { return t.that.Found() }
