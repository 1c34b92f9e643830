// Package cputime tells how much processor time this process has taken. Unlike the time of a
// clock, it does not grow while other processes have the processor.
package cputime

import "time"

// Taken returns the processor time of all threads of this process, or -1 where the system does
// not tell it.
func Taken() time.Duration { return taken() }

// Of returns the processor time that this process takes while f runs, that of other goroutines
// included; 0 where the system does not tell it.
func Of(f func()) time.Duration {
	began := Taken()
	f()
	return Taken() - began
}
