package engine

import (
	"syscall"
	"time"
)

// sleep waits for d, or less if a signal interrupts it. Unlike [time.Sleep], which in an idle
// program ends on a whole millisecond, it is exact to about 60 µs, but blocks a thread.
func sleep(d time.Duration) {
	//detcheck:allow environment real time decides when a tick is run, never what it does
	t := syscall.NsecToTimespec(int64(d))
	//detcheck:allow environment real time decides when a tick is run, never what it does
	syscall.Nanosleep(&t, nil)
}
