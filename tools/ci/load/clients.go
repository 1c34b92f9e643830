package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
)

// A result is what a client got.
type result struct {
	view   minewars.View
	sum    *xxhash.Digest
	bytes  int
	late   bool   // it came after the first tick
	stream []byte // all of it, if it is kept
	ended  string // how it ended, if it was told
}

func (r *result) take(b []byte) {
	r.sum.Write(b)
	r.bytes += len(b)
	if r.stream != nil {
		r.stream = append(r.stream, b...)
	}
}

// A seen is when a client had all of a tick.
type seen struct {
	tick uint64
	at   time.Time
}

// dialing has those who connect at the moment.
var dialing = make(chan struct{}, 64)

func (l *load) dial() (net.Conn, error) {
	dialing <- struct{}{}
	defer func() { <-dialing }()
	c, err := net.Dial("tcp", l.address)
	if err == nil {
		err = c.SetDeadline(l.deadline)
	}
	return c, err
}

// spectate starts the clients of the spectator's view, by every carrier in turn.
func (l *load) spectate(group *sync.WaitGroup) {
	for i := range l.spectators {
		group.Go(func() {
			r := &result{sum: xxhash.New()}
			if i < 3 {
				r.stream = []byte{}
			}
			l.watch(i, r)
		})
	}
}

// watch connects and takes all there is.
func (l *load) watch(i int, r *result) {
	c, err := l.dial()
	if err != nil {
		l.fail("client %d: %v", i, err)
		return
	}
	defer c.Close()
	token := l.tokens.Of(r.view)
	switch {
	case i%50 == 1: // some look at the time
		fmt.Fprintf(c, "{\"token\":%q}\n", token)
		err = l.timed(c, r)
	case i%4 == 1:
		fmt.Fprintf(c, "{\"token\":%q}\n", token)
		b := make([]byte, 4096)
		for err == nil {
			var n int
			n, err = c.Read(b)
			r.take(b[:n])
		}
	case i%4 == 3:
		fmt.Fprintf(c, "{\"token\":%q,\"receipts\":true}\n", token)
		err = records(c, r)
	default:
		io.WriteString(c, handshake(token))
		err = webSocket(c, r)
	}
	if err != io.EOF || r.ended != "" && r.ended != string(serve.EndGame) {
		l.fail("client %d of the %s was cut off: %v, %s", i, serve.Name(r.view), err, r.ended)
	}
	l.mu.Lock()
	l.results = append(l.results, r)
	l.mu.Unlock()
}

func handshake(token string) string {
	return "GET " + serve.Path + "?token=" + token + " HTTP/1.1\r\nHost: load\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
}

// timed reads a raw stream frame by frame, and notes when each tick was there.
func (l *load) timed(c net.Conn, r *result) error {
	var list []seen
	defer func() {
		l.mu.Lock()
		l.seen = append(l.seen, list...)
		l.mu.Unlock()
	}()
	in, err := minewars.NewStreamReader(io.TeeReader(c, taker{r}), minewars.Options{})
	var f minewars.Frame
	for err == nil {
		if err = in.Next(&f); err == nil {
			list = append(list, seen{f.Tick, time.Now()})
		}
		if len(list) == 1 {
			l.first()
		}
	}
	return err
}

type taker struct{ *result }

func (t taker) Write(b []byte) (int, error) { t.take(b); return len(b), nil }

// first says that the game has begun.
func (l *load) first() { l.begin.Do(func() { close(l.begun) }) }

// records reads a framed connection.
func records(c net.Conn, r *result) error {
	in := bufio.NewReader(c)
	var head [5]byte
	var b []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		b = sized(b, int(binary.BigEndian.Uint32(head[1:])))
		if _, err := io.ReadFull(in, b); err != nil {
			return io.ErrUnexpectedEOF
		}
		if head[0] == 's' {
			r.take(b)
			continue
		}
		var o struct{ Event, Reason string }
		if json.Unmarshal(b, &o) == nil && o.Event == "end" {
			r.ended = o.Reason
		}
	}
}

func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// webSocket reads the server's side of a WebSocket, by RFC 6455 and with nothing else.
func webSocket(c net.Conn, r *result) error {
	in := bufio.NewReader(c)
	for { // the answer to the handshake
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	var b []byte
	for {
		op, err := in.ReadByte()
		if err != nil {
			return err
		}
		first, err := in.ReadByte()
		n := int(first)
		var more [8]byte
		switch {
		case err != nil:
		case n == 126:
			_, err = io.ReadFull(in, more[:2])
			n = int(binary.BigEndian.Uint16(more[:]))
		case n == 127:
			_, err = io.ReadFull(in, more[:8])
			n = int(binary.BigEndian.Uint64(more[:]))
		}
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		b = sized(b, n)
		if _, err := io.ReadFull(in, b); err != nil {
			return io.ErrUnexpectedEOF
		}
		switch op {
		case 0x82: // the stream
			r.take(b)
		case 0x88: // the end
			r.ended = string(b[2:])
			c.Write([]byte{0x88, 0x82, 0, 0, 0, 0, b[0], b[1]})
		case 0x89: // a ping
			c.Write([]byte{0x8a, 0x80, 0, 0, 0, 0})
		}
	}
}

// players are what those who play got back.
type players struct{ sent, applied, refused atomic.Int64 }

// play starts two clients of each player: one that plays, one that looks on.
func (l *load) play(group *sync.WaitGroup) *players {
	p := &players{}
	for i := range l.tokens.Players {
		v := i + 1
		group.Go(func() { l.watch(2*i, &result{view: v, sum: xxhash.New()}) })
		group.Go(func() {
			r := &result{view: v, sum: xxhash.New()}
			if err := l.playOne(r, p); err != nil {
				l.fail("player %d: %v", v, err)
			}
			l.mu.Lock()
			l.results = append(l.results, r)
			l.mu.Unlock()
		})
	}
	return p
}

// owned are the tiles that a player has.
type owned struct {
	view  uint8
	mu    sync.Mutex
	tiles []minewars.Tile
	tick  uint64 // of the last frame
}

// read learns from the player's stream.
func (o *owned) read(stream io.Reader) {
	defer io.Copy(io.Discard, stream)
	r, err := minewars.NewStreamReader(stream, minewars.Options{})
	if err != nil {
		return
	}
	board := minewars.NewBoard(r.Start(), int(o.view))
	rings := r.Start().Grid.Rings(int(r.Start().Radius))
	var f minewars.Frame
	for r.Next(&f) == nil {
		board.Apply(f.Tick, f.For(int(o.view)))
		o.mu.Lock()
		o.tiles, o.tick = o.tiles[:0], f.Tick
		for i := range board.Tiles {
			if board.Tiles[i].Owner == o.view {
				o.tiles = append(o.tiles, rings[i])
			}
		}
		o.mu.Unlock()
	}
}

// beside returns a tile beside one of the player's, or it, unless the game is as good as over.
func (o *owned) beside(random *rand.Rand, last uint64) (y, x int, ok bool) {
	const margin = 60 // ticks, in which the receipt of the last order comes
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.tiles) == 0 || o.tick+margin > last {
		return 0, 0, false
	}
	t := o.tiles[random.IntN(len(o.tiles))]
	return int(t.Y) + random.IntN(2), int(t.X) + random.IntN(3) - 1, true
}

// order gives an order every quarter of a second.
func (l *load) order(remote *serve.Remote, known *owned, p *players, over chan struct{}) {
	select {
	case <-l.begun:
	case <-over:
		return
	}
	random := rand.New(rand.NewPCG(1, uint64(known.view)))
	every := time.NewTicker(250 * time.Millisecond)
	defer every.Stop()
	for id := uint64(1); ; id++ {
		select {
		case <-over:
			return
		case <-every.C:
		}
		y, x, ok := known.beside(random, l.ticks)
		if !ok {
			continue
		}
		order := []string{`{"take":[%d,%d]}`, `{"place":"mine","at":[%d,%d]}`, `{"road":[%d,%d]}`}[random.IntN(3)]
		if remote.Order(id, fmt.Appendf(nil, order, y, x)) != nil {
			return
		}
		p.sent.Add(1)
	}
}

// playOne gives orders, and counts the receipts.
func (l *load) playOne(r *result, p *players) error {
	remote, err := serve.Dial(context.Background(), fmt.Sprintf("ws://%s%s?token=%s", l.address, serve.Path, l.tokens.Of(r.view)), nil)
	if err != nil {
		return err
	}
	defer remote.Close()
	defer time.AfterFunc(time.Until(l.deadline), func() { remote.Close() }).Stop()
	over := make(chan struct{})
	defer close(over)
	known := &owned{view: uint8(r.view)}
	from, to := io.Pipe()
	defer to.Close()
	go known.read(from)
	go l.order(remote, known, p, over)
	for {
		stream, object, err := remote.Next()
		if err != nil {
			return fmt.Errorf("cut off: %w", err)
		}
		r.take(stream)
		to.Write(stream)
		if object == nil {
			continue
		}
		var o struct {
			Event, Reason string
			Applied       bool
		}
		if err := json.Unmarshal(object, &o); err != nil {
			return err
		}
		switch {
		case o.Event == "end" && o.Reason == string(serve.EndGame):
			return nil
		case o.Event == "end":
			return fmt.Errorf("cut off: %s", o.Reason)
		case o.Event == "receipt" && o.Applied:
			p.applied.Add(1)
		case o.Event == "receipt":
			p.refused.Add(1)
		}
	}
}
