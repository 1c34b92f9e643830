// Command swept runs a scenario by World.Run, which may compute several ticks in one sweep,
// on one worker and without a recorder, and prints the final hash.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/worlds"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: swept SCENARIO TICKS")
		os.Exit(2)
	}
	hash, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "swept:", err)
		os.Exit(1)
	}
	fmt.Printf("%016x\n", hash)
}

func run(name, ticks string) (hash uint64, err error) {
	last, err := strconv.ParseUint(ticks, 10, 64)
	if err != nil {
		return 0, err
	}
	s, err := worlds.Open(worlds.Registry(), name)
	if err != nil {
		return 0, err
	}
	w, err := s.World(1)
	if err != nil {
		return 0, err
	}
	if err := (&runner.Run{Scenario: s, World: w}).To(context.Background(), last); err != nil {
		return 0, err
	}
	return w.Hash(), nil
}
