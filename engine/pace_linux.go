package engine

import (
	"syscall"
	"time"
)

// sleep waits so long, or less if a signal comes in between. Unlike [time.Sleep], which the
// runtime of an idle program ends by a timer of whole milliseconds, it is exact to some
// 60 µs, and holds a thread meanwhile.
func sleep(d time.Duration) {
	//detcheck:allow environment real time decides when a tick is run, never what it does
	t := syscall.NsecToTimespec(int64(d))
	//detcheck:allow environment real time decides when a tick is run, never what it does
	syscall.Nanosleep(&t, nil)
}
