// Package live is what a world must offer so that people can watch it and play in it: a [Teller], and a [Host]
// if it takes orders. A component of a scenario does so if its parameters have a method
//
//	Teller(*scenarios.Builder, *engine.World) (live.Teller, error)
//
// Package serve streams such a world, and murksim export writes its recordings for spectators.
package live

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/replay/minewars"
)

// A Teller tells what happens in a world, tick by tick, as each view is to learn it. It only
// looks and changes nothing.
type Teller interface {
	// Start returns the game as the spectator sees it at the beginning. It must not be changed.
	Start() minewars.Start

	// Tell appends what each view learns in the tick that the world has just computed. Every
	// tick must be told, in order, from the one after that at which the Teller was made; a Teller
	// that is made later than at genesis tells in its first tick all that the views know then.
	// What it appends is valid until the next call.
	Tell(w *engine.World, u *minewars.Update) error
}

// A Host is a Teller of a game that people can join. Seat and Order are called from any goroutine,
// also while Tell is at work.
type Host interface {
	Teller

	// Seat returns the command with which a person takes a player's seat, or gives it back to the
	// player's usual driver, such as a bot.
	Seat(player minewars.View, taken bool) commands.Command

	// Order returns the command that a player's order, a JSON object, stands for. An error says
	// what is wrong with the order; what the rules of the game do not allow is the world's to refuse.
	Order(player minewars.View, order []byte) (commands.Command, error)

	// Explain says in words of the game why the world has refused a command of Seat or Order in the
	// tick that it has just computed, and which is not told yet. It returns "" if it does not know. It
	// must tell the player nothing that he may not know.
	Explain(w *engine.World, refused *commands.Receipt) string
}

// Decode decodes an order strictly: it must be one value without unknown keys. Errors say in plain words
// what is wrong.
func Decode(order []byte, v any) error { return jsonlines.Decode(order, v) }
