package filelock

import (
	"os"
	"syscall"
	"unsafe"
)

// Supported reports whether this system has locks of files.
const Supported = true

const (
	failImmediately = 1                 // LOCKFILE_FAIL_IMMEDIATELY
	exclusive       = 2                 // LOCKFILE_EXCLUSIVE_LOCK
	violation       = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Lock locks a file until it is closed, or returns [ErrBusy]. Windows keeps other
// processes from reading what is locked, so it is a byte far beyond the end.
func Lock(f *os.File) error { return lock(f, exclusive) }

// Try returns [ErrBusy] if another process has a lock of a file. Others can do the same meanwhile; the caller closes the file soon.
func Try(f *os.File) error { return lock(f, 0) }

func lock(f *os.File, how uintptr) error {
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	locked, _, err := lockFileEx.Call(f.Fd(), failImmediately|how, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case locked != 0:
		return nil
	case err == violation, err == syscall.ERROR_IO_PENDING:
		return ErrBusy
	}
	return os.NewSyscallError("LockFileEx", err)
}
