package main

import "syscall"

// limitMemory bounds the memory of every process that is started from now on: a changed
// program may allocate without end.
func limitMemory() {
	const bytes = 4 << 30
	// Without the bound the changes are tried all the same.
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
