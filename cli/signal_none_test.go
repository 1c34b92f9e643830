//go:build js || wasip1

package cli

import "os"

// These systems have no signals.
const hangup = noSignal("no signal")

var endings []os.Signal

type noSignal string

func (noSignal) Signal()          {}
func (s noSignal) String() string { return string(s) }
