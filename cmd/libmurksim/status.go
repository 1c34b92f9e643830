package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// A status is a murksim_status.
type status int32

const (
	statusOK status = iota
	statusError
	statusBadArgument
	statusBadHandle
	statusNotFound
	statusDamaged
	statusIncompatible
	statusDiverged
	statusCancelled
	statusInternal
	statusWorldFailed
)

// A failure is an error with a status.
type failure struct {
	status status
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func badArgument(format string, args ...any) error {
	return &failure{statusBadArgument, fmt.Errorf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &failure{statusNotFound, fmt.Errorf(format, args...)}
}

// statusOf returns the status of an error.
func statusOf(err error) status {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.status
	}
	_, shape := errors.AsType[*environment.ShapeError](err)
	_, action := errors.AsType[*environment.ActionError](err)
	_, step := errors.AsType[*environment.StepError](err)
	_, unknown := errors.AsType[*worlds.UnknownError](err)
	_, written := errors.AsType[*document.Error](err)
	_, differs := errors.AsType[*replay.MismatchError](err)
	state, restored := errors.AsType[*environment.StateError](err)
	switch {
	case err == nil:
		return statusOK
	case restored && state.World < 0:
		return statusDamaged
	case restored:
		return statusDiverged
	case errors.Is(err, context.Canceled):
		return statusCancelled
	case step:
		return statusWorldFailed
	case shape || action:
		return statusBadArgument
	case unknown || errors.Is(err, fs.ErrNotExist):
		return statusNotFound
	case differs:
		return statusDiverged
	}
	switch cli.Outcome(err) {
	case "diverged":
		return statusDiverged
	case "incompatible":
		return statusIncompatible
	case "damaged":
		return statusDamaged
	}
	if written {
		return statusDamaged
	}
	return statusError
}

// guarded calls f and makes a panic an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &failure{statusInternal, fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
		}
	}()
	return f()
}
