// Package filelock locks files, so that no two processes write one. The system gives a lock up when the process ends, however it ends.
package filelock

import "errors"

var (
	ErrBusy = errors.New("another process is writing to it") // which has the lock
	ErrNone = errors.New("this system has no locks")
)
