package replay

import (
	"slices"

	"github.com/murksim/murksim/commands"
)

// A Given is a command of a recording, and the tick in which it was given.
type Given struct {
	Tick uint64
	commands.Command
}

// seekTicks is how many ticks are sought at once, between which a search can be ended.
const seekTicks = 64

// seekInPieces is Seek, and calls before on the way, whose error ends it.
func (c *Cursor) seekInPieces(tick uint64, before func() error) error {
	for at := c.World().Tick(); at+seekTicks < tick; {
		at += seekTicks
		if err := c.Seek(at); err != nil {
			return err
		}
		if err := before(); err != nil {
			return err
		}
	}
	return c.Seek(tick)
}

// commands goes to a tick, and returns the commands and the hashes of the ticks on the way. Before is called after each, and its error ends it.
func (c *Cursor) commands(last uint64, before func() error) (list []Given, hashes []uint64, err error) {
	for c.World().Tick() < last {
		tick := c.World().Tick() + 1
		if err := c.Seek(tick); err != nil {
			return nil, nil, err
		}
		if err := before(); err != nil {
			return nil, nil, err
		}
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
