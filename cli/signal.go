//go:build !js && !wasip1

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreBrokenPipes makes writing to a closed pipe an error like any other.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }

// notify sends the signals that end a program to a channel. SIGHUP is left alone where it
// is ignored, as under nohup.
func notify(signals chan<- os.Signal) {
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
}
