//go:build !(js && wasm)

// Package worker runs the engine in a web worker. It exists for js/wasm only.
package worker
