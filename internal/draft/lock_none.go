//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package draft

const noFollow = 0

func alive(int) bool { return true } // as far as can be told
