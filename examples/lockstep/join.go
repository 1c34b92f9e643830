package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"

	"example.com/lockstep/arena"
)

// join plays as one of the players. It computes the world of each frame that comes, and compares its hash: if this machine comes to another state, that is the
// error of the tick in which it does.
func join(address, name string) error {
	player, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return fmt.Errorf("join ADDRESS PLAYER: %q is no player; there are 0 and 1", name)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%d\n", player); err != nil {
		return err
	}
	frames, err := replay.NewReader(c)
	if err != nil {
		return err
	}
	p, err := replay.NewPlayer(frames, arena.Build)
	if err != nil {
		return err
	}
	for {
		switch err := p.Step(); {
		case errors.Is(err, io.EOF), errors.Is(err, replay.ErrTruncated), errors.As(err, new(*net.OpError)): // the host has ended, or was killed
			fmt.Printf("tick %d: red %d, blue %d\n", p.World.Tick(), arena.Score(p.World, 0), arena.Score(p.World, 1))
			return nil
		case err != nil:
			return err
		}
		direction, err := best(p.World, player)
		if err == nil {
			_, err = fmt.Fprintf(c, "%c\n", direction)
		}
		if err != nil && !errors.Is(err, net.ErrClosed) {
			continue // what is left of the stream says why
		}
	}
}

// best looks ahead: it runs a few ticks in each direction, in forks of the world, and takes the one that paints most; - is to rest.
func best(w *engine.World, player uint64) (direction byte, err error) {
	const depth = 4
	most, direction := -1, byte('-')
	for d := range byte(4) {
		f, err := w.Fork()
		if err != nil {
			return 0, err
		}
		for n := range uint64(depth) {
			if err := f.Submit(arena.Go(player, (d+byte(w.Tick()%4))%4, n)); err != nil {
				return 0, err
			}
			if _, err := f.Step(); err != nil {
				return 0, err
			}
		}
		if cells := arena.Score(f, player); cells > most {
			most, direction = cells, '0'+(d+byte(w.Tick()%4))%4
		}
		if err := f.Release(); err != nil {
			return 0, err
		}
	}
	return direction, nil
}
