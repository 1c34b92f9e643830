package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"

	"example.com/lockstep/arena"
)

// A table is where the players sit. What is recorded goes to the file, and then to each of them.
type table struct {
	*os.File
	world   *engine.World
	mu      sync.Mutex
	players map[net.Conn]bool
}

// Write implements [io.Writer].
func (t *table) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.File.Write(b)
	for c := range t.players {
		if _, err := c.Write(b[:n]); err != nil {
			delete(t.players, c)
		}
	}
	return n, err
}

// sit sends a player what has been recorded so far, and then whatever comes. Orders of the player are commands of the next tick.
func (t *table) sit(c net.Conn) error {
	defer c.Close()
	var player, number uint64
	in := bufio.NewReader(c)
	if _, err := fmt.Fscanf(in, "%d\n", &player); err != nil || player >= arena.Players {
		return errors.New("there is no such player")
	}
	t.mu.Lock()
	end, err := t.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = io.Copy(c, io.NewSectionReader(t.File, 0, end))
	}
	t.players[c] = err == nil
	t.mu.Unlock()
	for err == nil {
		var direction byte
		if _, err = fmt.Fscanf(in, "%c\n", &direction); err == nil {
			_, err = t.world.Submit(arena.Go(player, direction-'0', number))
			number++
		}
	}
	return err
}

// host plays until the process is killed, or all cells are painted.
func host(path, address string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := replay.Lock(f); err != nil { // a second host of this game
		return err
	}
	t := &table{File: f, players: map[net.Conn]bool{}}
	recorder, err := t.open()
	if err != nil {
		return err
	}
	t.world.Record(recorder)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("tick %d, listening on %v\n", t.world.Tick(), listener.Addr())
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			go t.sit(c)
		}
	}()
	for pace := engine.NewPacer(1.0 / 20); arena.Score(t.world, 0)+arena.Score(t.world, 1) < arena.Side*arena.Side; {
		if err := pace.Wait(context.Background()); err != nil {
			return err
		}
		if _, err := t.world.Step(); err != nil {
			return err
		}
		if err := recorder.Flush(); err != nil { // each tick travels at once
			return err
		}
	}
	return nil
}

// open begins a game, or goes on with the one that is in the file.
func (t *table) open() (recorder *replay.Recorder, err error) {
	if info, err := t.Stat(); err != nil || info.Size() > 0 {
		w, recorder, cut, resumed := replay.Resume(t, arena.Build)
		if len(cut) > 0 { // of a tick that no player has
			fmt.Fprintf(os.Stderr, "cut off %d bytes of a tick that the host had begun when it was killed\n", len(cut))
		}
		t.world = w
		return recorder, errors.Join(err, resumed)
	}
	t.world, err = arena.Build(&replay.Header{Seed: uint64(time.Now().UnixNano()), Descriptor: arena.Descriptor})
	if err != nil {
		return nil, err
	}
	if err := t.world.SubmitTogether(arena.Start(t.world)); err != nil {
		return nil, err
	}
	return replay.NewRecorder(t, t.world, arena.Descriptor)
}
