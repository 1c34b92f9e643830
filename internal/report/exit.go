package report

import "fmt"

// Exit statuses.
const (
	StatusOK       = 0
	StatusError    = 1
	StatusUsage    = 2 // the command line is wrong
	StatusDiverged = 3 // what was compared differs, or ticks are missing
	StatusEvidence = 4 // the evidence of an audit is broken
	StatusHalted   = 5 // a run is halted
	StatusNever    = 7 // what was looked for never held; 6 is of tools/bench
)

// An Error is an error with an exit status. If Err is nil, it has been reported already.
type Error struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprint(e.Err) }

// Unwrap returns the error.
func (e *Error) Unwrap() error { return e.Err }

// Exit returns an error with an exit status.
func Exit(code int, err error) *Error { return &Error{code, err} }

// Usage returns the error of a wrong command line.
func Usage(format string, args ...any) error { return Exit(StatusUsage, fmt.Errorf(format, args...)) }

// Worse returns the graver one of two exit statuses: what is broken before what differs before what cannot be told,
// and that before what was asked wrongly.
func Worse(a, b int) int {
	rank := map[int]int{StatusOK: 0, StatusUsage: 1, StatusError: 2, StatusHalted: 3, StatusDiverged: 4, StatusEvidence: 5}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
