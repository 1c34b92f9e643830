package cli

import (
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/serve/live"
)

// A gameMaker is the parameters of a component that tells its world as a game of MineWars.
type gameMaker interface {
	Teller(b *scenarios.Builder, w *engine.World) (live.Teller, error)
}

// teller returns the component that tells a scenario's world as a game.
func teller(s *scenarios.Scenario, w *engine.World) (live.Teller, error) {
	for maker, b := range scenarios.Parts[gameMaker](s) {
		return maker.Teller(b, w)
	}
	return nil, notGame(s)
}

// notGame returns the error of a scenario that is not a game.
func notGame(s *scenarios.Scenario) error {
	return fmt.Errorf("%s is not a game: none of its systems and propagators tells players what happens", s.Name)
}
