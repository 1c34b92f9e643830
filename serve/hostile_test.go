//go:build !js

package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
)

// handshake is a WebSocket's request, as a program writes it that does all by itself.
func handshake(token string) string {
	return "GET " + serve.Path + "?token=" + token + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
}

// TestStalled: clients that read nothing are dropped, whatever they came by. Neither a tick nor
// another client waits for them: a tick that did would take an hour, or five seconds each time.
func TestStalled(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits serve.Limits
		pause  time.Duration // between ticks
		why    serve.End
	}{
		{"too far behind", serve.Limits{Queue: 8 << 20, Stall: time.Hour}, time.Millisecond, serve.EndSlow},
		{"for too long", serve.Limits{Queue: 1 << 30, Stall: 5 * time.Second}, 10 * time.Millisecond, serve.EndStalled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !sometimes(func() bool { return stalled(t, tt.limits, tt.pause, tt.why) < 4*time.Second }) {
				t.Error("ticks take 4 s and more beside clients that are stalled")
			}
		})
	}
}

// sometimes reports whether something is so in one of many tries: what a busy machine may prevent, but not always.
func sometimes(so func() bool) bool {
	for range 20 {
		if so() {
			return true
		}
	}
	return false
}

// stalled computes ticks beside clients that are stalled until they are dropped, and returns how long the longest took.
func stalled(t *testing.T, limits serve.Limits, pause time.Duration, why serve.End) (longest time.Duration) {
	t.Helper()
	tb := newTable(t, func(c *serve.Config) { c.Limits, c.Teller = limits, &loud{} })
	good := tb.webSocket(tb.tokens.Spectator, nil)
	tb.clients(1)
	for i, hello := range []string{
		handshake(tb.tokens.Spectator), fmt.Sprintf(`{"token":%q}`, tb.tokens.Spectator) + "\n",
		fmt.Sprintf(`{"token":%q,"receipts":true}`, tb.tokens.Spectator) + "\n",
	} {
		c := tb.dial()
		c.(*net.TCPConn).SetReadBuffer(4096)
		io.WriteString(c, hello)
		tb.clients(2 + i)
	}
	for range 20_000 {
		began := time.Now()
		tb.step(1)
		longest = max(longest, time.Since(began))
		if tb.server.Stats().Ended[why] == 3 {
			break
		}
		time.Sleep(pause)
	}
	tb.endedFor(why, 3)
	tb.clients(1)
	tb.close(serve.EndGame)
	good.end()
	if got, want := fold(t, 0, good.bytes()).Tick, tb.world.Tick(); got != want {
		t.Errorf("the stream of another client ends at tick %d, want %d", got, want)
	}
	return longest
}

// A loud Teller has much to say.
type loud struct{ game }

func (l *loud) Tell(w *engine.World, u *minewars.Update) error {
	err := l.game.Tell(w, u)
	for range 5000 {
		u.Views[0] = append(u.Views[0], u.Views[0][0])
	}
	return err
}

// TestVanishes: clients that are gone, some in mid-frame, are taken off.
func TestVanishes(t *testing.T) {
	tb := newTable(t, nil)
	good := tb.tcp(tb.tokens.Of(2), true)
	tb.clients(1)
	cuts := []func(net.Conn){
		func(c net.Conn) { c.Close() },
		func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() },
		func(c net.Conn) { c.Write([]byte{0x81, 0xfe, 0x01}); c.Close() },                        // in a frame's length
		func(c net.Conn) { c.Write([]byte{0x81, 0x85, 1, 2, 3, 4, 'x'}); c.Close() },             // in its payload
		func(c net.Conn) { c.Write([]byte{0x01, 0x81, 0, 0, 0, 0, 'x', 0x88, 0x80}); c.Close() }, // in a message
	}
	for i, cut := range cuts {
		c := tb.dial()
		io.WriteString(c, handshake(tb.tokens.Spectator))
		tb.clients(2)
		cut(c)
		tb.until("the client is gone", func(s serve.Stats) bool { return s.Total() == 1 && s.Ended[serve.EndLeft] == uint64(i+1) })
	}
	for _, hello := range []string{`{"token":%q}`, `{"token":%q,"receipts":true}`} {
		c := tb.dial()
		fmt.Fprintf(c, hello+"\n{\"id\":", tb.tokens.Of(1))
		tb.clients(2)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
		tb.clients(1)
		c = tb.dial()
		fmt.Fprintf(c, hello+"\n", tb.tokens.Of(1))
		tb.clients(2)
		c.Close() // in good order, before there is anything to write to it
		tb.clients(1)
	}
	tb.step(3)
	tb.close(serve.EndGame)
	good.end()
	if fold(t, 2, good.bytes()).Tick == 0 {
		t.Error("another client was disturbed")
	}
}

// TestGarbage: what is not of the protocol ends the connection, with a reason where there is room
// for one.
func TestGarbage(t *testing.T) {
	tb := newTable(t, nil)
	for _, tt := range []struct {
		name, send string
		why        serve.End
		answer     string
	}{
		{"bytes", "\x00\x01\x02\x03", serve.EndGarbage, ""},
		{"TLS", "\x16\x03\x01", serve.EndGarbage, ""},
		{"no JSON", "{hello\n", serve.EndGarbage, `{"event":"error","error":"not of the protocol: invalid character 'h' looking for beginning of object key string"}` + "\n"},
		{"another key", `{"token":"","receipt":true}` + "\n", serve.EndGarbage, `{"event":"error","error":"not of the protocol: unknown key \"receipt\""}` + "\n"},
		{"another type", `{"token":7}` + "\n", serve.EndGarbage, `{"event":"error","error":"not of the protocol: \"token\" must be a string, not a number"}` + "\n"},
		{"a long hello", "{" + strings.Repeat(" ", 5000), serve.EndTooLarge, ""},
		{"no token", "{}\n", serve.EndToken, `{"event":"error","error":"the token is not one of this game"}` + "\n"},
	} {
		before := tb.server.Stats().Ended[tt.why]
		c := tb.dial()
		io.WriteString(c, tt.send)
		got, _ := io.ReadAll(c)
		if string(got) != tt.answer {
			t.Errorf("%s: the answer is %q, want %q", tt.name, got, tt.answer)
		}
		c.Close()
		tb.endedFor(tt.why, before+1)
	}
	c := tb.dial()
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n\r\n")
	if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v, %v; want status 405", r, err)
	}
	ws := func(send func(*websocket.Conn) error) *websocket.Conn {
		c, _, err := websocket.Dial(t.Context(), "ws://"+tb.address+serve.Path+"?token="+tb.tokens.Of(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := send(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tt := range []struct {
		kind websocket.MessageType
		text string
		code websocket.StatusCode
		why  serve.End
	}{
		{websocket.MessageBinary, "{}", websocket.StatusProtocolError, serve.EndGarbage},
		{websocket.MessageText, "[", websocket.StatusProtocolError, serve.EndGarbage},
		{websocket.MessageText, strings.Repeat(" ", 5000) + "{}", websocket.StatusMessageTooBig, serve.EndTooLarge},
	} {
		before := tb.server.Stats().Ended[tt.why]
		c := ws(func(c *websocket.Conn) error { return c.Write(t.Context(), tt.kind, []byte(tt.text)) })
		for err := error(nil); ; {
			if _, _, err = c.Read(t.Context()); err == nil {
				continue
			}
			if got := websocket.CloseStatus(err); got != tt.code || !strings.Contains(err.Error(), string(tt.why)) {
				t.Errorf("%.10q: %v, want status %d, %s", tt.text, err, tt.code, tt.why)
			}
			break
		}
		c.CloseNow()
		tb.endedFor(tt.why, before+1)
	}
	raw := tb.dial()
	io.WriteString(raw, handshake(tb.tokens.Spectator)+strings.Repeat("\xff", 20))
	io.Copy(io.Discard, raw)
	tb.clients(0)
	g := tb.tcp(tb.tokens.Of(1), true)
	g.say("nonsense")
	if got := g.event("end")["reason"]; got != string(serve.EndGarbage) {
		t.Errorf("nonsense ends a connection with %q", got)
	}
}

// TestFlood: a client that sends too many bytes, or too many orders, is dropped; orders a little above
// the rate are refused.
func TestFlood(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Limits = serve.Limits{Orders: 5, Input: 2000} })
	g := tb.tcp(tb.tokens.Of(1), true)
	for i := range 30 {
		g.say(fmt.Sprintf(`{"id":%d,"order":{"take":1}}`, i))
	}
	if got := g.event("receipt"); got["id"].(float64) < 10 || got["reason"] != "more than 5 orders a second" {
		t.Errorf("an order after ten gets %v, want that it was too fast", got)
	}
	for range 200 {
		g.send(`{"id":1,"order":{}}`)
	}
	if got := g.event("end")["reason"]; got != string(serve.EndFlood) {
		t.Errorf("a flood of orders ends with %q", got)
	}
	g = tb.tcp(tb.tokens.Of(1), true)
	for range 10 {
		g.send(strings.Repeat(" ", 3000) + "{}")
	}
	if got := g.event("end")["reason"]; got != string(serve.EndFlood) {
		t.Errorf("a flood of bytes ends with %q", got)
	}
	ws := tb.webSocket(tb.tokens.Spectator, nil)
	for range 200 {
		if ws.send(strings.Repeat(" ", 100)+"{}") != nil {
			break
		}
	}
	ws.end()
	if want := "1008 " + string(serve.EndFlood); ws.why != want {
		t.Errorf("a flood by WebSocket ends with %q, want %q", ws.why, want)
	}
}

// TestWrongTokens: a wrong token is refused after a while and counted, and a token opens its own
// view alone.
func TestWrongTokens(t *testing.T) {
	const delay = 80 * time.Millisecond
	tb := newTable(t, func(c *serve.Config) { c.Limits.Refusal = delay })
	wrong := []string{"", tb.tokens.Spectator[1:], tb.tokens.Spectator + "0", strings.ToUpper(tb.tokens.Spectator) + " ", tb.tokens.Players[0][:31] + "x"}
	for i, token := range wrong {
		began := time.Now()
		r, err := http.Get("http://" + tb.address + serve.Path + "?token=" + strings.TrimSpace(token) + "%20")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if took := time.Since(began); r.StatusCode != http.StatusUnauthorized || took < delay {
			t.Errorf("the token %q: status %d after %v, want 401 after %v", token, r.StatusCode, took, delay)
		}
		c := tb.dial()
		b, _ := json.Marshal(map[string]string{"token": token})
		began = time.Now()
		c.Write(append(b, '\n'))
		if got, _ := io.ReadAll(c); !bytes.Contains(got, []byte(serve.EndToken)) || time.Since(began) < delay {
			t.Errorf("the token %q: %q after %v", token, got, time.Since(began))
		}
		tb.endedFor(serve.EndToken, uint64(2*i+2))
	}
	for v := range players + 1 {
		for name, carrier := range by {
			if name == "raw" {
				continue
			}
			if got := carrier(tb, tb.tokens.Of(v)).event("joined")["view"]; got != float64(v) {
				t.Errorf("the token of %s opens view %v", serve.Name(v), got)
			}
		}
	}
	bearer := &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + tb.tokens.Of(2)}}}
	if got := tb.webSocket("", bearer).event("joined")["view"]; got != float64(2) {
		t.Errorf("a bearer token of player 2 opens view %v", got)
	}
}

// TestTooMany: connections beyond the limits, in all and of one address, are refused, and there is room again
// when others leave.
func TestTooMany(t *testing.T) {
	for _, tt := range []struct {
		limits serve.Limits
		answer string
	}{{serve.Limits{Clients: 2}, `{"event":"error","error":"too many connections"}` + "\n"}, {serve.Limits{PerAddress: 3}, ""}} {
		tb := newTable(t, func(c *serve.Config) { c.Limits = tt.limits })
		all := []*guest{tb.tcp(tb.tokens.Of(0), true), tb.webSocket(tb.tokens.Of(0), nil)}
		silent := tb.dial() // no hello yet
		tb.clients(2)
		tb.until("three are connected", func(s serve.Stats) bool { return s.Connected == 3 })
		c := tb.dial()
		fmt.Fprintf(c, "{\"token\":%q}\n", tb.tokens.Of(1))
		if got, _ := io.ReadAll(c); string(got) != tt.answer {
			t.Errorf("one too many gets %q, want %q", got, tt.answer)
		}
		c.Close()
		tb.endedFor(serve.EndFull, 1)
		all[0].cut()
		tb.step(2) // the server writes to it, and sees it is gone
		tb.until("there is room", func(s serve.Stats) bool { tb.step(1); return s.Connected == 2 })
		tb.tcp(tb.tokens.Of(0), true)
		tb.clients(2)
		silent.Close()
		tb.close(serve.EndServer)
	}
}

// TestNewcomers: connections without a token lock nobody out. Those beyond their share take the place of the
// oldest of them, and never that of a client.
func TestNewcomers(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Limits.Clients, c.Limits.Newcomers, c.Limits.Hello = 2, 3, time.Hour })
	first := tb.tcp(tb.tokens.Of(0), true)
	tb.clients(1)
	var silent []net.Conn
	for i := range 20 {
		c := tb.dial()
		if i%2 == 0 {
			io.WriteString(c, `{"tok`)
		}
		silent = append(silent, c)
		tb.until("it is let in", func(s serve.Stats) bool { return s.Connected+int(s.Ended[serve.EndCrowded]) == i+2 })
	}
	tb.endedFor(serve.EndCrowded, 16)
	for _, c := range silent[:16] {
		if got, err := io.ReadAll(c); len(got) > 0 {
			t.Errorf("one of the oldest gets %q, %v", got, err)
		}
	}
	second := tb.webSocket(tb.tokens.Of(1), nil)
	tb.clients(2)
	tb.endedFor(serve.EndCrowded, 17)
	io.WriteString(silent[18], `en":"`+tb.tokens.Of(0)+`"}`+"\n")
	if got, _ := io.ReadAll(silent[18]); !strings.Contains(string(got), string(serve.EndFull)) {
		t.Errorf("one client too many gets %q", got)
	}
	tb.step(3)
	tb.close(serve.EndGame)
	first.end()
	second.end()
	if fold(t, 0, first.bytes()).Tick != 3 || second.why != "1000 "+string(serve.EndGame) {
		t.Errorf("clients among newcomers end at tick %d, with %q", fold(t, 0, first.bytes()).Tick, second.why)
	}
}

// TestReceiptsBeforeTheEnd: a client that is sent away gets the receipts that wait for it first.
func TestReceiptsBeforeTheEnd(t *testing.T) {
	const orders = 30
	for _, tt := range []struct {
		name, last string
		times      int
		why        serve.End
	}{{"garbage", "nonsense", 1, serve.EndGarbage}, {"too large", strings.Repeat(" ", 5000), 1, serve.EndTooLarge}, {"a flood", strings.Repeat(" ", 4000), 10, serve.EndFlood}} {
		for name := range by {
			if name == "raw" {
				continue
			}
			t.Run(tt.name+" by "+name, func(t *testing.T) {
				tb := newTable(t, func(c *serve.Config) { c.Limits.Input = 1600 })
				g := by[name](tb, tb.tokens.Of(0))
				tb.clients(1)
				for i := range orders {
					g.say(fmt.Sprintf(`{"id":%d,"order":{"take":1}}`, i))
				}
				for range tt.times {
					if g.send(tt.last) != nil {
						break
					}
				}
				g.end()
				for i := range orders {
					if got := g.event("receipt"); got["id"] != float64(i) {
						t.Errorf("receipt %d is %v", i, got)
					}
				}
				tb.endedFor(tt.why, 1)
			})
		}
	}
}

// TestCloseWhileTheyCome: a server that closes while connections come in ends all of them.
func TestCloseWhileTheyCome(t *testing.T) {
	for range 60 {
		tb := newTable(t, nil)
		stop := make(chan struct{})
		var dialers sync.WaitGroup
		for range 8 {
			dialers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if c, err := net.Dial("tcp", tb.address); err == nil {
						c.Close()
					}
				}
			})
		}
		time.Sleep(3 * time.Millisecond)
		tb.close(serve.EndServer)
		close(stop)
		dialers.Wait()
	}
}

// TestSlowHello: who does not show a token in time is cut off, at whatever step.
func TestSlowHello(t *testing.T) {
	pair := certificate(t)
	for _, tt := range []struct {
		name   string
		secure bool
		first  string
	}{
		{"nothing", false, ""}, {"half a line", false, `{"token":`}, {"half a request", false, "GET /stream?token="},
		{"headers", false, "GET /stream HTTP/1.1\r\nHost: x\r\n"}, {"nothing of TLS", true, ""}, {"half of TLS", true, "\x16\x03\x01\x02\x00\x01"},
	} {
		tb := newTable(t, func(c *serve.Config) {
			if c.Limits.Hello = 250 * time.Millisecond; tt.secure {
				c.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
			}
		})
		began := time.Now()
		c := tb.dial()
		io.WriteString(c, tt.first)
		go func() {
			for tt.name == "headers" { // byte by byte, and never an end
				if _, err := io.WriteString(c, "a"); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		io.Copy(io.Discard, c)
		if took := time.Since(began); took < 200*time.Millisecond || took > waiting.Hang {
			t.Errorf("%s: it ended after %v, want about 250 ms", tt.name, took)
		}
		tb.until("it is gone", func(s serve.Stats) bool { return s.Connected == 0 })
		c.Close()
		tb.close(serve.EndServer)
	}
}

// TestJustInTime: a connection whose token comes when its time is over joins or does not, and is
// counted once. Some do either; on a busy machine it may take some times until that is so.
func TestJustInTime(t *testing.T) {
	if !sometimes(func() bool { return justInTime(t) }) {
		t.Error("all connections join, or none does")
	}
}

// justInTime reports whether some connections joined, and others were cut off.
func justInTime(t *testing.T) bool {
	t.Helper()
	const hello, each = 20 * time.Millisecond, 150
	tb := newTable(t, func(c *serve.Config) { c.Limits.Hello = hello })
	var dialers sync.WaitGroup
	for d := range 8 {
		dialers.Go(func() {
			for i := range each {
				c, err := net.Dial("tcp", tb.address)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(hello - time.Duration(i%50)*20*time.Microsecond)
				if d%2 == 0 {
					fmt.Fprintf(c, "{\"token\":%q}\n", tb.tokens.Spectator)
				} else {
					io.WriteString(c, handshake(tb.tokens.Spectator))
				}
				c.Read(make([]byte, 1000))
				c.Close()
			}
		})
	}
	dialers.Wait()
	tb.until("all are gone", func(s serve.Stats) bool {
		tb.step(1) // writing finds out who has left
		return s.Connected == 0
	})
	tb.clients(0)
	all := uint64(0)
	st := tb.server.Stats()
	for _, n := range st.Ended {
		all += n
	}
	if want := uint64(8 * each); all != want {
		t.Errorf("%d connections ended, want %d: %v, of which %d had joined", all, want, st.Ended, st.Joined)
	}
	tb.close(serve.EndServer)
	return st.Joined > 0 && st.Ended[serve.EndHello] > 0
}

// TestIdle: a WebSocket that does not answer pings is dropped; one that does stays, if the machine is not too busy for
// its answers.
func TestIdle(t *testing.T) {
	if !sometimes(func() bool { return idle(t) }) {
		t.Error("a client that answers is dropped, too")
	}
}

// idle reports whether only the client that does not answer is dropped.
func idle(t *testing.T) bool {
	t.Helper()
	tb := newTable(t, func(c *serve.Config) { c.Limits.Idle = 3 * time.Second })
	defer tb.close(serve.EndServer)
	good := tb.webSocket(tb.tokens.Spectator, nil)
	dead := tb.dial()
	io.WriteString(dead, handshake(tb.tokens.Spectator))
	tb.until("a client joined, and one was dropped", func(s serve.Stats) bool { return s.Joined == 2 && s.Ended[serve.EndIdle] > 0 })
	time.Sleep(1500 * time.Millisecond) // it has to answer meanwhile
	alone := tb.server.Stats().Total() == 1
	good.cut()
	good.end()
	return alone
}

// TestOrigins: a page of another site cannot connect, whatever name it gave the server's address.
func TestOrigins(t *testing.T) {
	tb := newTable(t, func(c *serve.Config) { c.Origins = []string{"https://games.example"} })
	_, port, _ := net.SplitHostPort(tb.address)
	for _, tt := range []struct {
		host, origin string
		want         int
	}{
		{tb.address, "", 101}, {"games.example", "", 101}, {tb.address, "http://" + tb.address, 101},
		{"localhost:" + port, "http://localhost:" + port, 101}, {tb.address, "https://games.example", 101},
		{tb.address, "http://evil.example", 403}, {tb.address, "http://localhost:1", 403}, {tb.address, "null", 403},
		{"evil.example:" + port, "http://evil.example:" + port, 403}, {tb.address, "https://" + tb.address, 403},
		{tb.address, "http://" + tb.address + "/", 403}, {tb.address, "http://" + tb.address + "?a", 403}, {tb.address, "http://a@" + tb.address, 403},
		{tb.address, "http://" + tb.address + "\r\nOrigin: http://evil.example", 403}, {tb.address, "https://games.example\r\nOrigin: https://games.example", 403},
	} {
		c := tb.dial()
		request := strings.Replace(handshake(tb.tokens.Spectator), "Host: x\r\n", "Host: "+tt.host+"\r\n", 1)
		if tt.origin != "" {
			request = strings.Replace(request, "\r\n\r\n", "\r\nOrigin: "+tt.origin+"\r\n\r\n", 1)
		}
		io.WriteString(c, request)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != tt.want {
			t.Errorf("host %s, origin %q: %v %v, want %d", tt.host, tt.origin, r, err, tt.want)
		}
		c.Close()
	}
	tb.endedFor(serve.EndOrigin, 10)
	for _, body := range []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"} {
		c := tb.dial()
		io.WriteString(c, strings.TrimSuffix(handshake(tb.tokens.Spectator), "\r\n")+body)
		if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != http.StatusBadRequest {
			t.Errorf("a handshake with a body: %v %v, want 400", r, err)
		}
	}
	tb.endedFor(serve.EndGarbage, 2)
}

// certificate makes one for the loopback address.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestTLS: both carriers work over TLS, with the bytes that they have without.
func TestTLS(t *testing.T) {
	pair := certificate(t)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	client := &tls.Config{RootCAs: roots}
	tb := newTable(t, func(c *serve.Config) { c.TLS = &tls.Config{Certificates: []tls.Certificate{pair}} })
	ws, _, err := websocket.Dial(t.Context(), "wss://"+tb.address+serve.Path+"?token="+tb.tokens.Spectator,
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: client}}})
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := tls.Dial("tcp", tb.address, client)
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	fmt.Fprintf(tcp, "{\"token\":%q}\n", tb.tokens.Spectator)
	tb.clients(2)
	got := make(chan []byte, 2)
	go func() {
		b, _ := io.ReadAll(tcp)
		tcp.Close()
		got <- b
	}()
	go func() {
		var all []byte
		for {
			kind, b, err := ws.Read(context.Background())
			if err != nil {
				got <- all
				return
			}
			if kind == websocket.MessageBinary {
				all = append(all, b...)
			}
		}
	}()
	tb.step(50)
	tb.close(serve.EndGame)
	a, b := <-got, <-got
	if !bytes.Equal(a, b) || fold(t, 0, a).Tick != 50 {
		t.Errorf("over TLS two clients have %d and %d bytes, to tick %d", len(a), len(b), fold(t, 0, a).Tick)
	}
}
