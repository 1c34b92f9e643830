package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/serve"
)

// A bad client does what it should not do, once it is connected.
type bad struct {
	name string
	why  serve.End // for which its connection ends
	do   func(l *load, c net.Conn)
}

var badClients = []bad{
	{"stalled", serve.EndStalled, func(l *load, c net.Conn) {
		c.(*net.TCPConn).SetReadBuffer(1 << 10)
		fmt.Fprintf(c, "{\"token\":%q,\"receipts\":true}\n", l.tokens.Of(1))
		order := fmt.Sprintf("{\"id\":1,\"order\":{%q:0}}\n", strings.Repeat("x", 3900)) // the receipt is as long, and is not read
		for i := 0; ; i++ {
			if _, err := io.WriteString(c, order); err != nil {
				return
			}
			if i >= 15 {
				time.Sleep(300 * time.Millisecond)
			}
		}
	}},
	{"vanished in mid-frame", serve.EndLeft, func(l *load, c net.Conn) {
		io.WriteString(c, handshake(l.tokens.Spectator))
		c.Read(make([]byte, 1000))
		c.Write([]byte{0x81, 0xfe, 0x01})
		c.(*net.TCPConn).SetLinger(0)
	}},
	{"garbage", serve.EndGarbage, func(l *load, c net.Conn) {
		io.WriteString(c, "\x00\xffnonsense")
		io.Copy(io.Discard, c)
	}},
	{"garbage with a token", serve.EndGarbage, func(l *load, c net.Conn) {
		io.WriteString(c, handshake(l.tokens.Spectator))
		c.Read(make([]byte, 1000))
		io.WriteString(c, "\x82\x80\x00\x00\x00\x00")
		io.Copy(io.Discard, c)
	}},
	{"flood", serve.EndFlood, func(l *load, c net.Conn) {
		fmt.Fprintf(c, "{\"token\":%q}\n", l.tokens.Spectator)
		line := strings.Repeat(" ", 2000) + "{}\n"
		for {
			if _, err := io.WriteString(c, line); err != nil {
				return
			}
		}
	}},
	{"too large a message", serve.EndTooLarge, func(l *load, c net.Conn) {
		fmt.Fprintf(c, "{\"token\":%q}\n%s", l.tokens.Spectator, strings.Repeat(" ", 5000))
		io.Copy(io.Discard, c)
	}},
	{"wrong token", serve.EndToken, func(l *load, c net.Conn) {
		fmt.Fprintf(c, "{\"token\":%q}\n", l.tokens.Spectator[1:])
		io.Copy(io.Discard, c)
	}},
	{"no hello", serve.EndHello, func(l *load, c net.Conn) {
		io.WriteString(c, "{\"token\":")
		io.Copy(io.Discard, c)
	}},
}

// misbehave lets bad clients and late ones come, spread over the first half of the game.
func (l *load) misbehave(group *sync.WaitGroup) {
	select {
	case <-l.begun:
	case <-l.done:
		return
	}
	pause := time.Duration(l.ticks) * 50 * time.Millisecond / 2 / time.Duration(max(l.each, 1))
	for i := range max(l.each, l.late) {
		for _, b := range badClients {
			if i >= l.each {
				break
			}
			c, err := l.dial()
			if err != nil {
				l.fail("a bad client: %v", err)
				continue
			}
			group.Go(func() { b.do(l, c); c.Close() })
		}
		if i < l.late {
			group.Go(func() { l.watch(4*i, &result{sum: xxhash.New(), late: true, stream: []byte{}}) })
		}
		time.Sleep(min(pause, 2*time.Second))
	}
}
