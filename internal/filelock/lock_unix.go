//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"os"
	"syscall"
)

// Supported reports whether this system has locks of files.
const Supported = true

// Lock locks a file until it is closed, or returns [ErrBusy].
func Lock(f *os.File) error { return lock(f, syscall.LOCK_EX) }

// Try returns [ErrBusy] if another process has a lock of a file. Others can do the same meanwhile; the caller closes the file soon.
func Try(f *os.File) error { return lock(f, syscall.LOCK_SH) }

func lock(f *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrBusy
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}
