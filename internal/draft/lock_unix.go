//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package draft

import (
	"os"
	"syscall"
)

const (
	hasLocks = true
	noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK // nor wait for the other end of a pipe
)

// tryLock locks a file until it is closed, or returns errBusy.
func tryLock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return errBusy
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

// alive reports whether there is a process, as far as can be told.
func alive(process int) bool { return syscall.Kill(process, 0) != syscall.ESRCH }
