package minewars

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A Teller tells what happens in a world, tick by tick, as each view is to learn it. It only
// looks and changes nothing.
type Teller interface {
	// Start returns the game as the spectator sees it at the beginning. It must not be changed.
	Start() Start

	// Tell appends what each view learns in the tick that the world has just computed. Every
	// tick must be told, in order, from the one after that at which the Teller was made; a Teller
	// that is made later than at genesis tells in its first tick all that the views know then.
	// What it appends is valid until the next call.
	Tell(w *engine.World, u *Update) error
}

// A Host is a Teller of a game that people can join. Seat and Order are called from any goroutine,
// also while Tell is at work.
type Host interface {
	Teller

	// Seat returns the command with which a person takes a player's seat, or leaves it to
	// whoever plays there otherwise.
	Seat(player View, taken bool) commands.Command

	// Order returns the command that a player's order, a JSON object, stands for. An error says
	// what is wrong with the order; what the rules of the game do not allow is the world's to refuse.
	Order(player View, order []byte) (commands.Command, error)
}
