//go:build !windows

package cli

import "os"

// drawable reports whether a terminal knows the sequences that pictures are made of.
func drawable(*os.File) bool { return os.Getenv("TERM") != "dumb" }
