package main

import "syscall"

// waitForInput makes reads wait. Go sets the opposite on WASI, where Node then does not wait.
func waitForInput() {
	for fd := range 2 {
		syscall.SetNonblock(fd, false)
	}
}
