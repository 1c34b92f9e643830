package rules

// An Error says where a formula is wrong, and what to do.
type Error struct {
	Formula string // its text; "" if only the place is known
	Place   string // which formula of a rule it is: where, set.FIELD or let.NAME; "" if that is not known
	At, End int    // its bytes in the formula
	Reason  string
}

// Error implements error. It has no place, which whoever holds the formula knows.
func (e *Error) Error() string { return e.Reason }
