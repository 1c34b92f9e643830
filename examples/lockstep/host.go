package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"

	"example.com/lockstep/arena"
)

// A table is where the players sit. What is recorded goes to the file, and from there to each of them, at their own pace.
type table struct {
	*os.File
	size  int64
	grown *sync.Cond
}

// Write implements [io.Writer].
func (t *table) Write(b []byte) (int, error) {
	n, err := t.File.Write(b)
	t.grown.L.Lock()
	defer t.grown.L.Unlock()
	t.size += int64(n)
	t.grown.Broadcast()
	return n, err
}

// send sends a player the recording: what is there, and what comes.
func (t *table) send(c net.Conn) {
	defer c.Close()
	for at, err := int64(0), error(nil); err == nil; {
		t.grown.L.Lock()
		for at == t.size {
			t.grown.Wait()
		}
		more := io.NewSectionReader(t.File, at, t.size-at)
		t.grown.L.Unlock()
		_, err = io.Copy(c, more)
		at += more.Size()
	}
}

// sit takes the orders of a player: each is a command of the next tick.
func (t *table) sit(c net.Conn, world *engine.World) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	lines.Scan()
	player, err := strconv.ParseUint(lines.Text(), 10, 64)
	if err != nil || player >= arena.Players {
		return
	}
	go t.send(c)
	for number := uint64(0); (err == nil || err == commands.QueueFull) && lines.Scan(); number++ {
		_, err = world.Submit(arena.Go(player, lines.Text(), number))
	}
}

// host begins a game, or goes on with the one in the file, and plays until all cells are painted. Then it shows the game to those who come, until it is killed.
func host(path, address string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	listener, failed := net.Listen("tcp", address)
	if err = errors.Join(err, failed); err == nil {
		err = replay.Lock(f) // against a second host of this game
	}
	if err != nil {
		return err
	}
	t := &table{File: f, grown: sync.NewCond(new(sync.Mutex))}
	world, recorder, cut, err := replay.Resume(t, arena.Build, replay.Header{Seed: uint64(time.Now().UnixNano()), Descriptor: arena.Descriptor})
	if err == nil && world.Tick() == 0 {
		_, err = world.SubmitTogether(arena.Start(world))
	}
	if err == nil {
		t.size, err = t.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		return err
	}
	world.Record(recorder)
	fmt.Printf("tick %d, %d bytes cut off, listening on %v\n", world.Tick(), len(cut), listener.Addr())
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			go t.sit(c, world)
		}
	}()
	for pace := engine.NewPacer(1.0 / 20); !arena.Over(world); {
		_ = pace.Wait(context.Background()) // which never ends
		_, err := world.Step()
		if err = errors.Join(err, recorder.Flush()); err != nil { // each tick travels at once
			return err
		}
	}
	select {}
}
