//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"os"
	"syscall"
)

// Supported reports whether this system has locks of files.
const Supported = true

// Lock locks a file until it is closed, or returns [ErrBusy].
func Lock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrBusy
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}
