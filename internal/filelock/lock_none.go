//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package filelock

import "os"

// Supported reports whether this system has locks of files.
const Supported = false

// Lock locks a file until it is closed, or returns [ErrBusy].
func Lock(*os.File) error { return ErrNone }

// Try returns [ErrBusy] if another process has a lock of a file.
func Try(*os.File) error { return ErrNone }
