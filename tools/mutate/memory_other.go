//go:build !linux

package main

// limitMemory does nothing: there is no such bound here.
func limitMemory() {}
