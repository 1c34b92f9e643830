package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/murksim/murksim/replay/audit"
)

// A Kind says what is wrong, and is its own sentinel: errors.Is(err, ErrHalted).
type Kind string

// Error implements error.
func (k Kind) Error() string { return string(k) }

// The kinds of errors. The database raises the first four, with the codes MS001 to MS004.
const (
	ErrAppendOnly Kind = "rows are never changed, removed or replaced (MS001)"
	ErrHalted     Kind = "the run is halted (MS002)"
	ErrOrder      Kind = "an input is of an earlier tick than the one before it (MS003)"
	ErrLate       Kind = "an input is of a tick that is committed already (MS004)"

	ErrConflict    Kind = "another hash of the tick is committed already"
	ErrChain       Kind = "a row does not follow the one before it"
	ErrInvalid     Kind = "a value is out of range"
	ErrNoRun       Kind = "there is no such run"
	ErrWriter      Kind = "another writer has the run"
	ErrDSN         Kind = "not the name of a database"
	ErrNoDatabase  Kind = "there is no such database"
	ErrForeign     Kind = "not a database of audits"
	ErrNewer       Kind = "the database is of a newer version of murksim"
	ErrOlder       Kind = "the database is of an older version of murksim"
	ErrLocked      Kind = "another process has locked the database for too long"
	ErrFull        Kind = "the disk is full"
	ErrDropped     Kind = "the database has dropped rows instead of adding them"
	ErrNoAlert     Kind = "what comes with it is there, but the alert cannot be added"
	ErrUnguarded   Kind = "a trigger of its tables is missing or disabled, which keeps rows from being changed and halted runs from going on"
	ErrReadOnly    Kind = "the database cannot be written to"
	ErrUnreadable  Kind = "the database cannot be read"
	ErrDamaged     Kind = "the database is damaged"
	ErrGone        Kind = "the file was removed or replaced while it was open"
	ErrWritten     Kind = "it was written meanwhile; ask again"
	ErrSlow        Kind = "the database has not answered for too long"
	ErrUnreachable Kind = "the server cannot be reached"
	ErrStandby     Kind = "the server is a standby, which does not know what is written; ask its primary"
	ErrRefused     Kind = "the server refuses the user"
)

// An Error says what the store was doing, and what is wrong. errors.Is and errors.As find its Kind and its cause.
type Error struct {
	Doing string // with the names of the database, run, table or tick
	Kind  Kind   // empty: none of ours
	Err   error  // nil: the kind says all
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Kind == "":
		return fmt.Sprintf("store: %s: %v", e.Doing, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("store: %s: %s", e.Doing, e.Kind)
	}
	return fmt.Sprintf("store: %s: %s: %v", e.Doing, e.Kind, e.Err)
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var all []error
	if e.Kind != "" {
		all = append(all, e.Kind)
	}
	if e.Err != nil {
		all = append(all, e.Err)
	}
	return all
}

// gone reports a file that another process removed or cut.
func gone(doing, file string) error {
	return &Error{doing, ErrGone, fmt.Errorf("%w: %s is not the file that was opened; leave it alone while it is written, and begin anew", audit.ErrLost, file)}
}

// added returns an error unless as many rows of a table were added as were given.
func added(table string, rows, given int64) error {
	if rows == given {
		return nil
	}
	return &Error{Kind: ErrDropped, Err: fmt.Errorf("%s: %d of %d were added; something that was made while it was open, such as a trigger, drops them", table, rows, given)}
}

// addedBy is added for the result of a statement.
func addedBy(result driver.Result, table string, given int) error {
	rows, err := result.RowsAffected()
	if err != nil {
		return err
	}
	return added(table, rows, int64(given))
}

// badRow reports a row that this package cannot have written, by its tick or by the number of its input.
func badRow(table string, row uint64, format string, args ...any) error {
	key := "tick"
	if table == "input_events" {
		key = "seq"
	}
	return &audit.EvidenceError{Table: table, Row: fmt.Sprintf("%s %d", key, int64(row)), Reason: fmt.Sprintf(format, args...)}
}

// wrap adds to an error what the store was doing, and its kind. It leaves nil, and an error that has both, as they are.
func (d *DB) wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Doing == "" {
			e.Doing = fmt.Sprintf(format, args...) + " in " + d.name
		}
		return err
	}
	if _, ok := errors.AsType[*audit.EvidenceError](err); ok {
		return err
	}
	kind, err := d.kind(err)
	return &Error{fmt.Sprintf(format, args...) + " in " + d.name, kind, err}
}

// unread is wrap for a statement that only reads: what a user may not do then is no writing.
func (d *DB) unread(err error, format string, args ...any) error {
	err = d.wrap(err, format, args...)
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrReadOnly {
		e.Kind = ErrUnreadable
	}
	return err
}

// kind returns the kind of an error of the database.
func (d *DB) kind(err error) (Kind, error) {
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrSlow, nil
	}
	if errors.Is(err, context.Canceled) { // also while a connection is made
		return "", err
	}
	return d.backend.kind(err)
}

// codes are those that the triggers raise.
var codes = map[string]Kind{"MS001": ErrAppendOnly, "MS002": ErrHalted, "MS003": ErrOrder, "MS004": ErrLate, "MS005": ErrChain, "MS006": ErrInvalid}
