//go:build !linux

package engine

import "time"

// sleep waits so long.
func sleep(d time.Duration) {
	//detcheck:allow clock real time decides when a tick is run, never what it does
	time.Sleep(d)
}
