package replay

import (
	"fmt"
	"io"

	"github.com/murksim/murksim/commands"
)

// Fork replays what is left of a recording with other commands than were recorded, and so computes what would have happened. Change gets the commands
// of each tick, and returns those that are given instead, or false if it changes nothing in this tick. It may neither change nor keep what it gets. A recorder of the
// player's world takes the ticks, as those of a run. No hash is compared: those of the ticks before the first change are the recorded ones if the
// recording is right, which a caller finds out from the hashes of its recorder. Before, unless nil, is called before each tick, and its error ends
// the fork. The error of a tick that fails is an [*engine.TickError]; the world is then as it was before that tick. At the end of the
// recording Fork returns nil.
func (p *Player) Fork(change func(tick uint64, recorded []commands.Command) ([]commands.Command, bool), before func() error) error {
	changed, feed := false, p.Feed
	defer func() { p.Feed = feed }()
	p.Feed = func(inputs []commands.Command) error {
		list, other := change(p.World.Tick()+1, inputs)
		if !other {
			list = inputs
		}
		if changed = changed || other; !changed {
			_, err := p.World.Replay(inputs)
			return err
		}
		for i := range list { // whose numbers are those of another run now
			if _, err := p.World.Submit(list[i]); err != nil {
				return fmt.Errorf("replay: the fork: command %d of tick %d: %w", i+1, p.World.Tick()+1, err)
			}
		}
		_, err := p.World.Step()
		return err
	}
	for {
		if before != nil {
			if err := before(); err != nil {
				return err
			}
		}
		if err := p.Replay(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
