//go:build js || wasip1

package cli

import "os"

// These systems have no signals.

func ignoreBrokenPipes() {}

func notify(chan<- os.Signal) {}
