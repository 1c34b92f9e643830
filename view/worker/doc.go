//go:build !(js && wasm)

// Package worker is the engine in a worker of a page. It is there for js/wasm alone.
package worker
