//go:build !js

package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
	"github.com/murksim/murksim/space"
)

const (
	players = 3
	radius  = 3
	tiles   = 3*radius*(radius+1) + 1
)

// march is a world in which, tick by tick, one tile after another goes to the next player.
type march struct{}

func (march) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "march", Incremental: engine.Fields(0)}
}

func (march) Step(c *engine.Context) error {
	c.Next(0)[c.Tick()%tiles] = float32(1 + c.Tick()%players)
	return nil
}

func newWorld(t testing.TB) *engine.World {
	t.Helper()
	config := engine.Config{Space: space.Line{Length: tiles}, Fields: []fields.Def{{Name: "owner"}}, Propagators: []engine.Propagator{march{}}}
	for p := range uint32(players) {
		config.Parameters = append(config.Parameters, engine.Parameter{Key: 1 + p, Name: fmt.Sprintf("seat%d", 1+p)})
	}
	w, err := engine.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A game tells of such a world: players learn of the tiles that they get, the spectator of all.
// An order takes a tile.
type game struct{ owners [tiles]float32 }

func (*game) Start() minewars.Start {
	s := minewars.Start{TickRate: 20, Radius: radius, Players: players, Cities: []minewars.Tile{{}}, Map: make([]minewars.Terrain, tiles)}
	for i := range s.Map {
		s.Map[i] = minewars.Land
	}
	s.Map[5] = minewars.Mined
	return s
}

func (g *game) Tell(w *engine.World, u *minewars.Update) error {
	for i, t := range minewars.Hex.Rings(radius) {
		owner := float32(w.Value(0, i))
		if owner == g.owners[i] {
			continue
		}
		g.owners[i] = owner
		m := minewars.Message{Op: minewars.Owner, Player: uint8(owner), Tiles: []minewars.Tile{t}}
		u.Views[minewars.Spectator] = append(u.Views[minewars.Spectator], m)
		u.Views[int(owner)] = append(u.Views[int(owner)], m)
	}
	return nil
}

func (*game) Seat(p minewars.View, taken bool) commands.Command {
	return commands.SetParameter(uint32(p), map[bool]float64{true: 1}[taken])
}

// Explain knows one reason.
func (*game) Explain(_ *engine.World, r *commands.Receipt) string {
	if r.Reason == commands.OutsideSpace {
		return "there is no such tile"
	}
	return ""
}

func (*game) Order(p minewars.View, order []byte) (commands.Command, error) {
	var o struct {
		Take *int `json:"take"`
	}
	if err := json.Unmarshal(order, &o); err != nil || o.Take == nil {
		return commands.Command{}, errors.New("take must be a tile")
	}
	return commands.SetField(space.At(int32(*o.Take)), 0, float32(p)), nil
}

// A table is a game that is served, and a clock that the test turns by hand.
type table struct {
	*testing.T
	world   *engine.World
	server  *serve.Server
	tokens  serve.Tokens
	address string
	ended   sync.Once
}

// newTable serves a game. When the test ends, so does the server, and leaves no goroutine behind.
func newTable(t *testing.T, configure func(*serve.Config)) *table {
	t.Helper()
	w := newWorld(t)
	tb := &table{T: t, world: w, tokens: serve.NewTokens(players)}
	c := serve.Config{World: w, Teller: &game{}, Tokens: tb.tokens, Limits: serve.Limits{Refusal: time.Millisecond}}
	if configure != nil {
		configure(&c)
	}
	var err error
	if tb.server, err = serve.New(c); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tb.server.Listen(l)
	tb.address = l.Addr().String()
	t.Cleanup(func() { tb.close(serve.EndServer) })
	return tb
}

// close closes the server, and looks for what it left behind.
func (t *table) close(why serve.End) {
	t.ended.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waiting.Hang)
		defer cancel()
		if err := t.server.Close(ctx, why); err != nil {
			t.Errorf("Close: %v", err)
		}
		if st := t.server.Stats(); st.Total() != 0 || st.Connected != 0 {
			t.Errorf("after Close there are %d clients and %d connections", st.Total(), st.Connected)
		}
		if left := goroutines(); left != "" {
			t.Errorf("after Close there are goroutines of the server:\n%s", left)
		}
	})
}

// goroutines returns the stacks of those in package serve that do not end soon, of this process.
func goroutines() (left string) {
	waiting.Until(func() bool {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		left = ""
		for stack := range strings.SplitSeq(string(buf), "\n\n") {
			if strings.Contains(stack, "murksim/serve.(") {
				left += stack + "\n\n"
			}
		}
		return left == ""
	})
	return left
}

// step computes ticks and tells them.
func (t *table) step(ticks int) {
	t.Helper()
	for range ticks {
		receipts, err := t.world.Step()
		if err != nil {
			t.Fatal(err)
		}
		t.server.Receipts(t.world.Tick(), receipts)
		if err := t.server.Observe(t.world); err != nil {
			t.Fatal(err)
		}
	}
}

// clients waits until there are so many.
func (t *table) clients(n int) {
	t.Helper()
	t.until("there are so many clients", func(s serve.Stats) bool { return s.Total() == n })
}

// until waits for something that the server counts.
func (t *table) until(what string, is func(serve.Stats) bool) {
	t.Helper()
	if !waiting.Until(func() bool { return is(t.server.Stats()) }) {
		t.Fatalf("it does not come true that %s: %+v", what, t.server.Stats())
	}
}

// ended waits until so many connections have ended for a reason.
func (t *table) endedFor(why serve.End, n uint64) {
	t.Helper()
	t.until(fmt.Sprintf("%d connections end: %s", n, why), func(s serve.Stats) bool { return s.Ended[why] >= n })
	if got := t.server.Stats().Ended[why]; got != n {
		t.Errorf("%d connections ended: %s; want %d", got, why, n)
	}
}

// A guest is a client in a test: it reads all it gets.
type guest struct {
	t       *testing.T
	send    func(text string) error
	cut     func()
	ended   chan struct{}
	mu      sync.Mutex
	stream  []byte
	objects []map[string]any
	why     string // of a WebSocket: its status and reason
}

func (g *guest) read(stream, object []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stream = append(g.stream, stream...)
	if object != nil {
		m := map[string]any{}
		if err := json.Unmarshal(object, &m); err != nil {
			g.t.Errorf("a client got %q, which is no object", object)
		}
		g.objects = append(g.objects, m)
	}
}

// bytes returns the stream so far.
func (g *guest) bytes() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return bytes.Clone(g.stream)
}

// has waits until the stream has so many bytes, and returns it.
func (g *guest) has(n int) []byte {
	g.t.Helper()
	if !waiting.Until(func() bool { return len(g.bytes()) >= n }) {
		g.t.Fatalf("a client has %d bytes, want %d", len(g.bytes()), n)
	}
	return g.bytes()
}

// event waits for the next object of a kind, and takes it and all before it out.
func (g *guest) event(kind string) (o map[string]any) {
	g.t.Helper()
	if !waiting.Until(func() bool { o = g.take(kind); return o != nil }) {
		g.t.Fatalf("a client got no %q; it has %v", kind, g.objects)
	}
	return o
}

// take is event without the waiting. It returns nil if there is no such object.
func (g *guest) take(kind string) map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, o := range g.objects {
		if o["event"] == kind {
			g.objects = g.objects[i+1:]
			return o
		}
	}
	return nil
}

// end waits until the connection has ended.
func (g *guest) end() {
	g.t.Helper()
	select {
	case <-g.ended:
	case <-time.After(waiting.Hang):
		g.t.Fatal("a connection does not end")
	}
}

// say sends an order, or what is meant to be one.
func (g *guest) say(text string) {
	g.t.Helper()
	if err := g.send(text); err != nil {
		g.t.Fatalf("sending: %v", err)
	}
}

// dial connects by TCP.
func (t *table) dial() net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", t.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// tcp connects by TCP: raw, or framed and with receipts.
func (t *table) tcp(token string, receipts bool) *guest {
	t.Helper()
	c := t.dial()
	g := &guest{t: t.T, ended: make(chan struct{}), cut: func() { c.Close() }}
	g.send = func(text string) error { _, err := io.WriteString(c, text+"\n"); return err }
	g.say(fmt.Sprintf(`{"token":%q,"receipts":%v}`, token, receipts))
	go func() {
		defer close(g.ended)
		defer c.Close()
		if receipts {
			records(c, g.read)
			return
		}
		b := make([]byte, 1000)
		for {
			n, err := c.Read(b)
			if g.read(b[:n], nil); err != nil {
				return
			}
		}
	}()
	return g
}

// records reads what a framed connection brings.
func records(r io.Reader, got func(stream, object []byte)) {
	in := bufio.NewReader(r)
	for {
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(in, payload); err != nil {
			return
		}
		if head[0] == 's' {
			got(payload, nil)
		} else {
			got(nil, payload)
		}
	}
}

// webSocket connects by WebSocket.
func (t *table) webSocket(token string, options *websocket.DialOptions) *guest {
	t.Helper()
	c, _, err := websocket.Dial(context.Background(), "ws://"+t.address+serve.Path+"?token="+token, options)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(-1)
	g := &guest{t: t.T, ended: make(chan struct{}), cut: func() { c.CloseNow() }}
	t.Cleanup(g.cut)
	g.send = func(text string) error { return c.Write(context.Background(), websocket.MessageText, []byte(text)) }
	go func() {
		defer close(g.ended)
		for {
			kind, b, err := c.Read(context.Background())
			switch {
			case err != nil:
				g.mu.Lock()
				if e, ok := errors.AsType[websocket.CloseError](err); ok {
					g.why = fmt.Sprintf("%d %s", e.Code, e.Reason)
				}
				g.mu.Unlock()
				return
			case kind == websocket.MessageBinary:
				g.read(b, nil)
			default:
				g.read(nil, b)
			}
		}
	}()
	return g
}

// by connects by each carrier.
var by = map[string]func(t *table, token string) *guest{
	"websocket": func(t *table, token string) *guest { return t.webSocket(token, nil) },
	"framed":    func(t *table, token string) *guest { return t.tcp(token, true) },
	"raw":       func(t *table, token string) *guest { return t.tcp(token, false) },
}
