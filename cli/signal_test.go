//go:build !js && !wasip1

package cli

import (
	"os"
	"syscall"
)

const hangup = syscall.SIGHUP

// endings are the signals that end a run well.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, hangup}
