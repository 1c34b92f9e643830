package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/murksim/murksim/fields"
)

// ErrArithmetic is in the chain of every error about a number that cannot be represented or
// a division by zero. A tick that fails with it halts the world at once, whatever
// Config.MaxFailures says; the state stays that of the tick before.
var ErrArithmetic = errors.New("ARITHMETIC_FAULT")

// A FaultError is an arithmetic fault: a system cannot compute the value of an entity's
// column. It wraps [ErrArithmetic]; the [TickError] around it names tick and system.
type FaultError struct {
	Entity uint64 // its id
	Column string // the name of the field
	Err    error  // the operation, with its operands
}

// Error implements error.
func (e *FaultError) Error() string {
	return fmt.Sprintf("%v: entity %d: column %q: %v", ErrArithmetic, e.Entity, e.Column, e.Err)
}

// Unwrap gives ErrArithmetic and the cause.
func (e *FaultError) Unwrap() []error { return []error{ErrArithmetic, e.Err} }

// Fault returns a [*FaultError] for the entity in a slot, the column whose value cannot be
// computed, and what went wrong.
func (c *SystemContext) Fault(slot int, column fields.ID, err error) error {
	return &FaultError{c.Entities().ID[slot], c.world().defs[column].Name, err}
}

// A PanicError is a panic of a propagator, system, handler or recorder, caught so
// that the tick could be undone.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	if e.Is(ErrArithmetic) {
		return fmt.Sprintf("%v: panic: %v", ErrArithmetic, e.Value)
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Place returns where the panic began, as FILE:LINE: the first call on the stack that is neither Go's nor that of this package. "" if there is none.
func (e *PanicError) Place() string {
	_, calls, found := strings.Cut(string(e.Stack), "\npanic(")
	if !found {
		return ""
	}
	lines := strings.Split(calls, "\n")
	for i := 2; i+1 < len(lines); i += 2 { // each call has two: the function, and where it stands
		name := lines[i]
		if strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "panic(") || strings.HasPrefix(name, enginePackage) {
			continue
		}
		at := strings.TrimSpace(lines[i+1])
		if space := strings.LastIndexByte(at, ' '); space > 0 {
			at = at[:space] // the offset in the function
		}
		return at
	}
	return ""
}

// enginePackage begins the names of what this package has.
var enginePackage = reflect.TypeFor[World]().PkgPath() + "."

// Is makes Go's own panic at a division of an integer by zero an [ErrArithmetic].
func (e *PanicError) Is(target error) bool {
	return target == ErrArithmetic && e.Value == divisionByZero
}

// Unwrap returns the value of the panic if that is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// divisionByZero is the value with which Go panics at every division of an integer by
// zero. Package runtime exports neither the value nor its type, so one division shows it.
var divisionByZero = func() (v any) {
	defer func() { v = recover() }()
	zero := 0
	return 1 / zero
}()
