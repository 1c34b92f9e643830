package cli

import "os"

// JavaScript has no signals.

func ignoreBrokenPipes() {}

func notify(chan<- os.Signal) {}
