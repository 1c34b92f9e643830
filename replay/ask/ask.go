// Package ask answers questions about a recording by computing parts of it again: why a number is what it is, what would have become of the run without
// each of its commands, and what the smallest recording is in which a condition becomes true. It knows conditions as functions, and no formulas. In
// which ticks a condition holds [github.com/murksim/murksim/replay/index.Find] tells, and what would have been with other commands [replay.Player.Fork].
package ask

import (
	"context"
	"errors"
	"slices"

	"github.com/murksim/murksim/commands"
)

// ErrRemembers reports a world that comes to something else when it is computed again from a state: it remembers something outside its state.
var ErrRemembers = errors.New("ask: computed again from its state, the world comes to something else; it remembers something outside its state")

// A Given is a command of a recording, and the tick in which it was given.
type Given struct {
	Tick uint64
	commands.Command
}

// recorded goes to a tick, and returns the commands and the hashes of the ticks on the way.
func (r *Runs) recorded(ctx context.Context, last uint64) (list []Given, hashes []uint64, err error) {
	c := r.Cursor
	for c.World().Tick() < last {
		tick := c.World().Tick() + 1
		if err := c.Seek(tick); err != nil {
			return nil, nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r.note()
		now, err := c.Frame().Commands(nil)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range now {
			x.Data = slices.Clone(x.Data)
			list = append(list, Given{tick, x})
		}
		hashes = append(hashes, c.Frame().Hash)
	}
	return list, hashes, nil
}
