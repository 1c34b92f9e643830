//go:build !(js && wasm)

// Command page is the engine that export puts into a page, so that it checks the recording in it. It runs
// in a browser alone.
package main

import "fmt"

func main() { fmt.Println("this program runs in a browser: build it with GOOS=js GOARCH=wasm") }
