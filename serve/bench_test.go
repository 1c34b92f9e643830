//go:build !js

package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/murksim/murksim/serve"
)

// BenchmarkTick measures what a tick with news takes for 500 spectators on loopback, until all
// have read it (ns/op), and how much of it is the tick's own goroutine at work.
func BenchmarkTick(b *testing.B) {
	const spectators = 500
	w, tokens := newWorld(b), serve.NewTokens(players)
	s, err := serve.New(serve.Config{World: w, Teller: &game{}, Tokens: tokens, Limits: serve.Limits{PerAddress: spectators}})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s.Listen(l)
	read := make(chan int, spectators)
	for range spectators {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "{\"token\":%q}\n", tokens.Spectator)
		go func() {
			begin, frame := make([]byte, 22), make([]byte, 7) // of this game: a map of 37 tiles, one message a tick
			_, err := io.ReadFull(c, begin)
			for err == nil {
				read <- 1
				_, err = io.ReadFull(c, frame)
			}
		}()
	}
	all := func() {
		for range spectators {
			select {
			case <-read:
			case <-time.After(10 * time.Second):
				b.Fatal("not all clients have read the tick")
			}
		}
	}
	all()
	own := time.Duration(0)
	for b.Loop() {
		if _, err := w.Step(); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := s.Observe(w); err != nil {
			b.Fatal(err)
		}
		own += time.Since(began)
		all()
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N), "own-ns/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spectators, "ns/client")
	s.Close(context.Background(), serve.EndGame)
}
