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
	if err != nil {
		return fmt.Errorf("join ADDRESS PLAYER: %q is no player; there are 0 and 1", name)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "%d\n", player)
	frames, err := replay.NewReader(c)
	if err != nil {
		return err
	}
	p, err := replay.NewPlayer(frames, arena.Build)
	for err == nil {
		if err = p.Step(); err != nil {
			break
		}
		var direction byte
		if direction, err = best(p.World, player); err == nil {
			fmt.Fprintf(c, "%c\n", direction) // if that fails, the next tick does
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, replay.ErrTruncated) || errors.As(err, new(*net.OpError)) { // the host has ended, or was killed
		fmt.Printf("tick %d: ada %d, bob %d\n", p.World.Tick(), arena.Score(p.World, 0), arena.Score(p.World, 1))
		return nil
	}
	return err
}

// best looks ahead: it runs a few ticks in each direction, in forks of the world, and takes the one that paints most.
func best(w *engine.World, player uint64) (direction byte, err error) {
	most := -1
	for i := range byte(4) {
		d := (i + byte(w.Tick()%4)) % 4
		f, err := w.Fork()
		if err != nil {
			return 0, err
		}
		for n := range uint64(4) {
			if _, err := f.Submit(arena.Go(player, d, n)); err != nil {
				return 0, err
			}
			if _, err := f.Step(); err != nil {
				return 0, err
			}
		}
		if cells := arena.Score(f, player); cells > most {
			most, direction = cells, '0'+d
		}
		if err := f.Release(); err != nil {
			return 0, err
		}
	}
	return direction, nil
}
