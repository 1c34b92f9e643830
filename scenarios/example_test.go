package scenarios_test

import (
	"fmt"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

func Example() {
	s, err := worlds.Open(worlds.Registry(), "heat", "ticks=100", "space.edge=wrap")
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := s.World(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	checks := scenarios.NewChecker(s, w)
	for range s.Ticks {
		for _, c := range s.CommandsAt(w.Tick() + 1) {
			if _, err := w.Submit(c); err != nil {
				fmt.Println(err)
			}
		}
		if _, err := w.Step(); err != nil {
			fmt.Println(err)
			return
		}
		checks.Observe(w)
	}
	fmt.Println(s.Name, "on", s.Lattice().Space(), "at tick", w.Tick())
	for _, r := range checks.Results() {
		fmt.Println(r.Text)
	}
	// Output:
	// heat on square4 128×128 wrap at tick 100
	// heat from -5 to 300: ok
	// heat at [24, 24] is 200 ±0.1 at tick 1,000: not reached
}
