package draft

import (
	"os"

	"golang.org/x/sys/windows"
)

const (
	hasLocks = true
	noFollow = 0
)

// tryLock locks a file until it is closed, or returns errBusy. Windows keeps other
// processes from reading what is locked, so it is a byte far beyond the end.
func tryLock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch err {
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return errBusy
	}
	return os.NewSyscallError("LockFileEx", err)
}

func alive(int) bool { return true } // as far as can be told
