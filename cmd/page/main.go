//go:build js && wasm

// Command page is the engine that export puts into a page, so that it checks the recording in it.
package main

import "github.com/murksim/murksim/view/worker"

func main() { worker.Main(worker.Program{}) }
