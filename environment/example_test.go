package environment_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/scenarios/worlds"
)

// Four worlds of heat_seeker, in which an agent that walks at random looks for the stove. The episode of
// the first world is then written as a recording, which murksim verify proves.
func Example() {
	scenario, err := worlds.Open(worlds.Registry(), "heat_seeker")
	if err != nil {
		log.Fatal(err)
	}
	batch, err := environment.New(environment.Config{Scenario: scenario, Worlds: 4, Workers: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	see := batch.Layout().Observation.Len()
	tensors := environment.Tensors{
		Float32: make([]float32, 4*see),
		Rewards: make([]float64, 4), Terminated: make([]uint8, 4), Truncated: make([]uint8, 4), Returns: make([]float64, 4),
	}
	if err := batch.Bind(&tensors); err != nil {
		log.Fatal(err)
	}
	if err := batch.Reset(nil, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(batch.Layout().Choices, "from", see, "numbers")

	actions := make([]int64, 4)
	for step := range 50 {
		for i := range actions {
			actions[i] = int64(step+i) % 5 // a policy would look at tensors.Float32
		}
		if err := batch.StepDiscrete(actions); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("returns %.2f\n", tensors.Returns)

	folder, err := os.MkdirTemp("", "episodes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := batch.Save(0, filepath.Join(folder, "first.murk")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [stay north south west east] from 25 numbers
	// returns [0.63 -2.99 -0.59 -3.95]
}
