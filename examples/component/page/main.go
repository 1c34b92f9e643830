//go:build js && wasm

// Command page is the same for browsers, in the pages that "component export moths.murk -o moths.html" writes.
package main

import (
	"github.com/murksim/murksim/view/worker"

	"example.com/component/moths"
)

func main() { worker.Main(worker.Program{Name: "component", Components: moths.Components()}) }
