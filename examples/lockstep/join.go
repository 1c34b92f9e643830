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

// join plays as one of the players. It computes the world of each frame that comes and compares its hash: a machine that comes to another state has an
// error at that tick.
func join(address, name string) error {
	player, err := strconv.ParseUint(name, 10, 64)
	c, failed := net.Dial("tcp", address)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	fmt.Fprintln(c, player)
	frames, err := replay.NewReader(c)
	if err != nil {
		return err
	}
	p, err := replay.NewPlayer(frames, arena.Build)
	for err == nil && !arena.Over(p.World) {
		if err = p.Step(); err == nil && frames.Buffered() == 0 { // who catches up has later ticks already
			var direction string
			direction, err = best(p.World, player)
			fmt.Fprintln(c, direction) // if that fails, the next tick does
		}
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, replay.ErrTruncated) || errors.As(err, new(*net.OpError)) { // the host was killed
		fmt.Printf("tick %d: ada %d, bob %d\n", p.World.Tick(), arena.Score(p.World, 0), arena.Score(p.World, 1))
		return nil
	}
	return err
}

// best looks ahead: it runs a few ticks in each direction, in forks of the world, and takes the one that paints most.
func best(w *engine.World, player uint64) (direction string, err error) {
	most := -1
	for i := range arena.Directions {
		d := arena.Directions[(i+int(w.Tick()))%len(arena.Directions)]
		f, err := w.Fork()
		for n := uint64(0); n < 4 && err == nil; n++ {
			if _, err = f.Submit(arena.Go(player, d, n)); err == nil {
				_, err = f.Step()
			}
		}
		if err != nil {
			return "", err
		}
		if cells := arena.Score(f, player); cells > most {
			most, direction = cells, d
		}
		_ = f.Release() // which fails within a tick, or with a recorder
	}
	return direction, nil
}
