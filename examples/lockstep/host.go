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

// patience is how long the host waits in each tick for a player who is there.
const patience = 500 * time.Millisecond

// A table is where the players sit. What is recorded goes to the file, and then to each of them.
type table struct {
	*os.File
	mu      sync.Mutex
	players map[net.Conn]bool
	orders  chan order
	seated  [arena.Players]int // connections of each player
}

// An order is what a player wants; the direction - is to rest.
type order struct {
	player    uint64
	direction byte
}

// Write implements [io.Writer].
func (t *table) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.File.Write(b)
	for c := range t.players {
		if _, err := c.Write(b[:n]); err != nil {
			c.Close() // its reader takes it off
		}
	}
	return n, err
}

// sit sends a player what has been recorded so far, and then whatever comes. It reads the player's orders.
func (t *table) sit(c net.Conn) {
	var player uint64
	in := bufio.NewReader(c)
	if _, err := fmt.Fscanf(in, "%d\n", &player); err != nil || player >= arena.Players {
		c.Close()
		return
	}
	t.mu.Lock()
	end, err := t.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = io.Copy(c, io.NewSectionReader(t.File, 0, end))
	}
	if err == nil {
		t.players[c] = true
		t.seated[player]++
	}
	t.mu.Unlock()
	for err == nil {
		var line string
		if line, err = in.ReadString('\n'); err == nil && len(line) == 2 {
			t.orders <- order{player, line[0]}
		}
	}
	c.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.players[c] {
		delete(t.players, c)
		t.seated[player]--
	}
}

// wait returns one order of each player who sits at the table.
func (t *table) wait() (orders [arena.Players]byte) {
	late := time.After(patience)
	for {
		t.mu.Lock()
		missing := false
		for player, n := range t.seated {
			missing = missing || n > 0 && orders[player] == 0
		}
		t.mu.Unlock()
		if !missing {
			return orders
		}
		select {
		case o := <-t.orders:
			orders[o.player] = o.direction
		case <-late:
			return orders
		}
	}
}

// host plays until the process is killed, or all cells are painted.
func host(path, address string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	t := &table{File: f, players: map[net.Conn]bool{}, orders: make(chan order, 64)}
	w, recorder, err := open(t)
	if err != nil {
		return err
	}
	w.Record(recorder)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("tick %d, listening on %v\n", w.Tick(), listener.Addr())
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go t.sit(c)
		}
	}()
	for pace := engine.NewPacer(1.0 / 20); arena.Score(w, 0)+arena.Score(w, 1) < arena.Side*arena.Side; {
		for player, direction := range t.wait() {
			if direction >= '0' {
				if err := w.Submit(arena.Go(uint64(player), direction-'0', w.Tick())); err != nil {
					return err
				}
			}
		}
		if _, err := w.Step(); err != nil {
			return err
		}
		if err := recorder.Flush(); err != nil { // each tick travels at once
			return err
		}
		if err := pace.Wait(context.Background()); err != nil {
			return err
		}
	}
	fmt.Printf("tick %d: red %d, blue %d\n", w.Tick(), arena.Score(w, 0), arena.Score(w, 1))
	return nil
}

// open begins a game, or goes on with the one that is in the file.
func open(t *table) (*engine.World, *replay.Recorder, error) {
	if info, err := t.Stat(); err != nil || info.Size() > 0 {
		w, recorder, _, resumed := replay.Resume(t, arena.Build)
		return w, recorder, errors.Join(err, resumed)
	}
	w, err := arena.Build(&replay.Header{Seed: uint64(time.Now().UnixNano()), Descriptor: arena.Descriptor})
	if err != nil {
		return nil, nil, err
	}
	recorder, err := replay.NewRecorder(t, w, arena.Descriptor)
	if err == nil {
		err = w.SubmitTogether(arena.Start(w))
	}
	return w, recorder, err
}
