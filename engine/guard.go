package engine

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// Guard calls f, which runs code that is not the caller's, such as the Write of a sink. It
// sets *err to what f returns, or to a [*PanicError] if f panics. If f ends the goroutine by
// runtime.Goexit, Guard does not return either, and deferred functions of its callers find
// [ErrGoexit] in *err.
func Guard(err *error, f func() error) {
	*err = ErrGoexit // unless caught returns
	*err = caught(f)
}

// caught calls f and makes a panic its error.
func caught(f func() error) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = newPanicError(recover())
		}
	}()
	err = f()
	returned = true
	return err
}

// newPanicError returns the error for the value of a panic. With GODEBUG=panicnil=1 that may
// be nil.
func newPanicError(v any) *PanicError {
	if v == nil {
		v = new(runtime.PanicNilError)
	}
	//detcheck:allow runtime the stack goes into the error of a part that panicked
	return &PanicError{v, debug.Stack()}
}

// unsound walks the chain of an error. It returns why that is not possible, because a method
// of an error in it panics, as those of a nil pointer do; nil if it is. It also returns
// whether the chain has [ErrArithmetic].
func unsound(err error) (broken error, arithmetic bool) {
	Guard(&broken, func() error {
		_ = errors.Is(err, errNone)
		arithmetic = errors.Is(err, ErrArithmetic)
		return nil
	})
	return broken, arithmetic && broken == nil
}

// errNone is in no chain, so that a search for it walks all of one.
var errNone = errors.New("")
