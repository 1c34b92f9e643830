package rules

// An Error says where a formula is wrong, and what to do.
type Error struct {
	Formula string
	At, End int // its bytes in the formula
	Reason  string
}

// Error implements error. It has no place, which whoever holds the formula knows.
func (e *Error) Error() string { return e.Reason }
