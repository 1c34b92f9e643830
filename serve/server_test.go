//go:build !js

package serve_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
)

// fold reads a stream to its end and returns the board of a view.
func fold(t *testing.T, v minewars.View, stream []byte) *minewars.Board {
	t.Helper()
	r, err := minewars.NewStreamReader(bytes.NewReader(stream), minewars.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := minewars.NewBoard(r.Start(), v)
	var f minewars.Frame
	for {
		err := r.Next(&f)
		if err == io.EOF {
			return b
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Apply(f.Tick, f.For(v))
	}
}

// after returns the bytes of a stream behind a tick.
func after(t *testing.T, stream []byte, tick uint64) []byte {
	t.Helper()
	left := bytes.NewReader(stream)
	r, err := minewars.NewStreamReader(iotest.OneByteReader(left), minewars.Options{}) // so that it reads no further than it must
	behind := left.Len()
	for f := (minewars.Frame{}); err == nil && f.Tick <= tick; err = r.Next(&f) {
		behind = left.Len()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stream[len(stream)-behind:]
}

// TestSameBytes: all who come before the first tick get the same bytes of their view, by every
// carrier, and a later one gets those from its first tick on. Their boards are equal.
func TestSameBytes(t *testing.T) {
	tb := newTable(t, nil)
	early := map[minewars.View][]*guest{}
	n := 0
	for v := range players + 1 {
		for _, carrier := range by {
			early[v] = append(early[v], carrier(tb, tb.tokens.Of(v)))
			n++
		}
	}
	tb.clients(n)
	tb.step(30)
	late := map[minewars.View][]*guest{}
	for v := range players + 1 {
		for _, carrier := range by {
			late[v] = append(late[v], carrier(tb, tb.tokens.Of(v)))
		}
	}
	tb.clients(2 * n)
	tb.step(50)
	tb.close(serve.EndGame)
	seen := map[string]bool{}
	for v := range players + 1 {
		for _, g := range append(early[v], late[v]...) {
			g.end()
		}
		want := early[v][0].bytes()
		for _, g := range early[v] {
			if !bytes.Equal(g.bytes(), want) {
				t.Errorf("%s: %d bytes and %d others", serve.Name(v), len(want), len(g.bytes()))
			}
		}
		if seen[string(want)] {
			t.Errorf("%s has the bytes of another view", serve.Name(v))
		}
		seen[string(want)] = true
		for _, g := range late[v] {
			got := g.bytes()
			live := after(t, want, 30)
			if !bytes.HasSuffix(got, live) || len(live) < 50 {
				t.Errorf("%s: one who came late does not get the %d bytes that all get then", serve.Name(v), len(live))
			}
			if a, b := fold(t, v, want), fold(t, v, got); !reflect.DeepEqual(a, b) {
				t.Errorf("%s: one who came late has another board:\n%+v\n%+v", serve.Name(v), a, b)
			}
		}
	}
}

// TestMaps: players do not learn of the mines that lie on the map.
func TestMaps(t *testing.T) {
	tb := newTable(t, nil)
	for v := range players + 1 {
		g := tb.tcp(tb.tokens.Of(v), false)
		r, err := minewars.NewStreamReader(bytes.NewReader(g.has(20)), minewars.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := minewars.Land
		if v == minewars.Spectator {
			want = minewars.Mined
		}
		if got := r.Start().Map[5]; got != want {
			t.Errorf("%s sees terrain %d, want %d", serve.Name(v), got, want)
		}
	}
}

// TestTime: a stream in which nothing happens says once a second how late it is.
func TestTime(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Teller = silent{&game{}} })
	g := tb.tcp(tb.tokens.Spectator, false)
	start := len(g.has(20))
	tb.step(45)
	if got, want := g.has(start + 8)[start:], []byte{0, 20, 0, 0x80, 0, 20, 0, 0x80}; !bytes.Equal(got, want) {
		t.Errorf("45 ticks without a message: % x, want % x", got, want)
	}
}

// A silent Teller tells nothing.
type silent struct{ *game }

func (silent) Tell(*engine.World, *minewars.Update) error { return nil }

// TestEnds: clients are told why their connection ends, at the end of what they were to get.
func TestEnds(t *testing.T) {
	for _, why := range []serve.End{serve.EndGame, serve.EndServer} {
		tb := newTable(t, nil)
		ws, framed, raw := tb.webSocket(tb.tokens.Spectator, nil), tb.tcp(tb.tokens.Spectator, true), tb.tcp(tb.tokens.Spectator, false)
		tb.clients(3)
		tb.step(40)
		tb.close(why)
		ws.end()
		framed.end()
		raw.end()
		want := map[serve.End]string{serve.EndGame: "1000 ", serve.EndServer: "1001 "}[why] + string(why)
		if ws.why != want {
			t.Errorf("a WebSocket ends with %q, want %q", ws.why, want)
		}
		if got := framed.event("end")["reason"]; got != string(why) {
			t.Errorf("records end with %q, want %q", got, why)
		}
		if fold(t, 0, raw.bytes()).Tick != 40 {
			t.Errorf("a raw stream ends at tick %d, want 40", fold(t, 0, raw.bytes()).Tick)
		}
		if _, err := http.Get("http://" + tb.address); err == nil {
			t.Error("a closed server answers")
		}
	}
}

// TestWait: Wait returns when so many clients are there, or with its context.
func TestWait(t *testing.T) {
	tb := newTable(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := tb.server.Wait(ctx, 1); err != context.DeadlineExceeded {
		t.Errorf("Wait = %v, want %v", err, context.DeadlineExceeded)
	}
	go tb.tcp(tb.tokens.Spectator, false)
	go tb.tcp(tb.tokens.Of(1), true)
	if err := tb.server.Wait(t.Context(), 2); err != nil {
		t.Error(err)
	}
	if st := tb.server.Stats(); st.Total() != 2 || st.Clients[0] != 1 || st.Clients[1] != 1 {
		t.Errorf("after Wait there are %v", st.Clients)
	}
}

// TestPage: a browser learns what is here.
func TestPage(t *testing.T) {
	tb := newTable(t, nil)
	for path, want := range map[string]int{"/": 200, "/stream": 401, "/other": 404} {
		r, err := http.Get("http://" + tb.address + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != want || path == "/" && !strings.Contains(string(text), serve.Path) {
			t.Errorf("GET %s: %d %q %v, want %d", path, r.StatusCode, text, err, want)
		}
	}
}

// TestTokens: tokens that are no secrets are refused.
func TestTokens(t *testing.T) {
	good := serve.NewTokens(2)
	for _, tt := range []struct {
		name   string
		change func(*serve.Tokens)
		want   string
	}{
		{"good", func(*serve.Tokens) {}, ""},
		{"too few", func(t *serve.Tokens) { t.Players = t.Players[:1] }, "tokens for 1 players; the game has 2"},
		{"short", func(t *serve.Tokens) { t.Players = []string{"secret", t.Players[1]} }, "the token of player 1 has 6 characters; it must have 16 at least"},
		{"none", func(t *serve.Tokens) { t.Spectator = "" }, "the token of spectator has 0"},
		{"escape", func(t *serve.Tokens) { t.Spectator = "0123456789\x1b[31m89abcdef" }, "the token of spectator must be letters, digits, - and _"},
		{"quote", func(t *serve.Tokens) { t.Spectator = "0123456789abcdef'" }, "the token of spectator must be letters, digits, - and _"},
		{"the same", func(t *serve.Tokens) { t.Players = []string{t.Spectator, t.Players[1]} }, "spectator and player 1 have the same token"},
	} {
		tokens := good
		tt.change(&tokens)
		switch err := tokens.Check(2); {
		case err == nil && tt.want == "":
		case err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
