package observe

import "fmt"

// An Error says which entry of a spec is wrong, or what a call did not fit, and why:
//
//	observe: entry 2 (food): region: half extents are 3; a cell has 2 coordinates
type Error struct {
	Entry  int    // its index in the spec; -1: the whole spec, or a call
	Name   string // the entry's; may be empty
	Fault  Fault
	Detail string // what is wrong
	Err    error  // the cause in another package, or nil
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Entry < 0:
		return fmt.Sprintf("observe: %s: %s", e.Fault, e.Detail)
	case e.Name == "":
		return fmt.Sprintf("observe: entry %d: %s: %s", e.Entry, e.Fault, e.Detail)
	}
	return fmt.Sprintf("observe: entry %d (%s): %s: %s", e.Entry, e.Name, e.Fault, e.Detail)
}

// Unwrap returns the fault and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Fault}
	}
	return []error{e.Fault, e.Err}
}

// A Fault says what is wrong, and is its own sentinel: errors.Is(err, observe.ErrPool).
type Fault string

// Error implements error.
func (f Fault) Error() string { return string(f) }

// The faults of specs.
const (
	ErrEmpty     Fault = "no entries"
	ErrField     Fault = "unknown field" // with the original's rules an observer finds it, not Compile
	ErrSource    Fault = "source"
	ErrRegion    Fault = "region" // not one of the lattice; a cause is often a [*space.Error]
	ErrPool      Fault = "pool"
	ErrTransform Fault = "transform"
	ErrElement   Fault = "element"
	ErrRules     Fault = "not in the original's rules"
	ErrLimit     Fault = "too large"
	ErrCoverage  Fault = "too few valid cells" // only with the original's rules
)

// The faults of calls.
const (
	ErrBuffer Fault = "wrong length of a buffer"
	ErrAgent  Fault = "wrong agent"
	ErrWorld  Fault = "world of another configuration"
)
