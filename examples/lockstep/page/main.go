//go:build js && wasm

// Command page is the game's engine in the pages that "lockstep export game.murk -o game.html" writes.
package main

import (
	"github.com/murksim/murksim/view/worker"

	"example.com/lockstep/arena"
)

func main() { worker.Main(worker.Program{Name: "lockstep", Build: arena.Build}) }
