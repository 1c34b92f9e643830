//go:build !js

package serve_test

import (
	"fmt"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/serve"
)

// TestOnePlayersShare: however many connections a player has, together they give as many orders as
// one may, and there are not too many.
func TestOnePlayersShare(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Limits.Orders, c.Limits.PerPlayer = 40, 4 })
	var all []*guest
	for range 4 {
		all = append(all, tb.tcp(tb.tokens.Of(1), true))
	}
	tb.clients(4)
	for i := range 25 {
		for _, g := range all {
			g.say(fmt.Sprintf(`{"id":%d,"order":{"take":1}}`, i))
		}
	}
	tb.until("all orders are there", func(s serve.Stats) bool { return s.Orders+s.Refused == 100 })
	if got := tb.server.Stats().Orders; got != 64 {
		t.Errorf("%d orders of one player wait for a tick, want 64", got)
	}
	tb.step(1)
	for range 50 {
		for _, g := range all {
			g.say(`{"order":{"take":1}}`)
		}
	}
	tb.until("they are refused as too fast", func(s serve.Stats) bool { return s.Orders+s.Refused == 300 })
	for {
		if got := all[0].event("receipt"); got["reason"] == "more than 40 orders a second" {
			break
		}
	}
	other := tb.tcp(tb.tokens.Of(2), true)
	other.say(`{"order":{"take":2}}`)
	tb.until("another player's order is there", func(s serve.Stats) bool { return s.Clients[2] == 1 && s.Orders+s.Refused == 301 })
	tb.step(2) // one for the seat
	if got := other.event("receipt"); got["applied"] != true {
		t.Errorf("another player's order gets %v", got)
	}
	c := tb.dial()
	fmt.Fprintf(c, "{\"token\":%q,\"receipts\":true}\n", tb.tokens.Of(1))
	if got, _ := io.ReadAll(c); string(got) != `{"event":"error","error":"too many connections"}`+"\n" {
		t.Errorf("one connection too many gets %q", got)
	}
	ws := tb.webSocket(tb.tokens.Of(1), nil)
	if ws.end(); ws.why != "1008 too many connections" {
		t.Errorf("one WebSocket too many gets %q", ws.why)
	}
	tb.endedFor(serve.EndFull, 2)
}

// A crowd is a listener to which connections come from addresses as the test likes.
type crowd struct {
	come chan net.Conn
	gone chan struct{}
}

func (c crowd) Accept() (net.Conn, error) {
	select {
	case k := <-c.come:
		return k, nil
	case <-c.gone:
		return nil, net.ErrClosed
	}
}

func (c crowd) Close() error { close(c.gone); return nil }

func (crowd) Addr() net.Addr { return &net.TCPAddr{} }

// A visitor is a connection from such an address.
type visitor struct {
	net.Conn
	from *net.TCPAddr
}

func (v visitor) RemoteAddr() net.Addr { return v.from }

// TestNeighbours: all addresses of an IPv6 network together have the room of one address.
func TestNeighbours(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Limits.PerAddress = 1 })
	l := crowd{make(chan net.Conn), make(chan struct{})}
	tb.server.Listen(l)
	for i, tt := range []struct {
		address string
		refused uint64 // so far
	}{
		{"2001:db8::1", 0}, {"2001:db8::2", 1}, {"2001:db8::ffff:0:0:1", 2}, {"2001:db8:0:1::1", 2}, {"192.0.2.1", 2}, {"192.0.2.2", 2}, {"::ffff:192.0.2.1", 3},
	} {
		ours, theirs := net.Pipe()
		defer ours.Close()
		l.come <- visitor{theirs, &net.TCPAddr{IP: net.ParseIP(tt.address), Port: 1000 + i}}
		tb.until("it is let in or not", func(s serve.Stats) bool { return s.Connected+int(s.Ended[serve.EndFull]) == i+1 })
		if got := tb.server.Stats().Ended[serve.EndFull]; got != tt.refused {
			t.Errorf("with %s %d are refused, want %d", tt.address, got, tt.refused)
		}
	}
}

// TestEndlessFlood: the server does not go on reading what comes after the end.
func TestEndlessFlood(t *testing.T) {
	tb := newTable(t, nil)
	c := tb.dial()
	fmt.Fprintf(c, "{\"token\":%q}\n", tb.tokens.Spectator)
	c.SetWriteDeadline(time.Now().Add(waiting.Hang))
	sent, line := 0, []byte(strings.Repeat(" ", 1<<16))
	for {
		n, err := c.Write(line)
		if sent += n; err != nil {
			break
		}
	}
	tb.endedFor(serve.EndTooLarge, 1)
	if most := 32 << 20; sent > most { // what the system keeps is below it
		t.Errorf("a flood of %d bytes got in, want less than %d", sent, most)
	}
}

// TestRemoteIsCareful: a server that promises a large record, or a line without an end, takes no
// memory from a client.
func TestRemoteIsCareful(t *testing.T) {
	for _, tt := range []struct{ name, send, want string }{
		{"a large record", "s\x00\xff\xff\xffabc", "unexpected EOF"},
		{"a line without an end", strings.Repeat("{", 8<<20), "serve: what the server says is too long; this is another protocol"},
		{"half a line", `{"event":"er`, "unexpected EOF"},
	} {
		send := []byte(tt.send)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if c, err := l.Accept(); err == nil {
				c.Read(make([]byte, 1000)) // the hello
				c.Write(send)
				c.Close()
			}
			l.Close()
		}()
		r, err := serve.Dial(t.Context(), "ws://"+l.Addr().String()+serve.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stream, object, err := r.Next()
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20); got > most {
			t.Errorf("%s: %d bytes are allocated for %d, want %d at most", tt.name, got, len(stream)+len(object), most)
		}
		r.Close()
	}
}

// TestParseObject: a client makes of an object what it is, and says what is none.
func TestParseObject(t *testing.T) {
	for text, want := range map[string]any{
		`{"event":"seat","player":2,"taken":true}`: &serve.SeatObject{Event: "seat", Player: 2, Taken: true},
		`{"event":"end","reason":"x"}`:             &serve.EndObject{Event: "end", Reason: "x"},
		`{"event":"later"}`:                        nil,
	} {
		if got, err := serve.ParseObject([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"x\x1b":                         `serve: the server sent "x\x1b", which is no object`,
		`{"event":"joined","view":"a"}`: `serve: the server sent "{\"event\":\"joined\",\"view\":\"a\"}", which is not of the protocol`,
	} {
		if got, err := serve.ParseObject([]byte(text)); got != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}
