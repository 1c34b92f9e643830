//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package draft

import "syscall"

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK // nor wait for the other end of a pipe

// alive reports whether there is a process, as far as can be told.
func alive(process int) bool { return syscall.Kill(process, 0) != syscall.ESRCH }
