//go:build !js

package serve_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
)

func watch(address, token string) (messages int, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	fmt.Fprintf(c, "{\"token\":%q}\n", token)
	in := bufio.NewReader(c)
	if first, err := in.Peek(1); err == nil && first[0] == '{' {
		var refused serve.ErrorObject
		if err = json.NewDecoder(in).Decode(&refused); err == nil {
			err = errors.New(refused.Error)
		}
		return 0, err
	}
	r, err := minewars.NewStreamReader(in, minewars.Options{})
	for f := new(minewars.Frame); err == nil; {
		if err = r.Next(f); err == nil {
			messages += len(f.Lists[0])
		}
	}
	if err == io.EOF {
		err = nil
	}
	return messages, err
}

// TestPageClient: the client that docs/SERVE.md shows is the one above, and works; so do the bytes that it
// shows.
func TestPageClient(t *testing.T) {
	page, err := os.ReadFile("../docs/SERVE.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, _ := strings.Cut(string(page), "```go\n")
	sample, _, _ = strings.Cut(sample, "```")
	if len(sample) < 100 || !strings.Contains(string(source), sample) {
		t.Error("the client of docs/SERVE.md is not the one of this file")
	}
	tb := newTable(t, nil)
	if _, err := watch(tb.address, "0123456789abcdef"); err == nil || strings.TrimSpace(err.Error()) != string(serve.EndToken) {
		t.Errorf("with a wrong token the client ends with %v", err)
	}
	got := make(chan int)
	go func() {
		n, err := watch(tb.address, tb.tokens.Spectator)
		if err != nil {
			t.Error(err)
		}
		got <- n
	}()
	tb.clients(1)
	tb.step(50)
	tb.close(serve.EndGame)
	if n := <-got; n != 50 {
		t.Errorf("it counts %d messages, want 50", n)
	}

	tb = newTable(t, func(c *serve.Config) { c.Teller = silent{&game{}} })
	c := tb.dial()
	fmt.Fprintf(c, "{\"token\":%q,\"receipts\":true}\n", tb.tokens.Spectator)
	tb.clients(1)
	tb.step(20)
	tb.close(serve.EndGame)
	all, _ := io.ReadAll(c)
	if want := "s\x00\x00\x00\x04\x00\x14\x00\x80j\x00\x00\x00"; !strings.Contains(string(all), want) || all[0] != 'j' {
		t.Errorf("the records are % x, want % x in them", all, want)
	}
}
