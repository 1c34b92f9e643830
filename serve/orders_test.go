//go:build !js

package serve_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
	"github.com/murksim/murksim/serve/live"
	"github.com/murksim/murksim/space"
)

// want compares what an object has with what it should have.
func want(t *testing.T, got map[string]any, want map[string]any) {
	t.Helper()
	if want["event"] == nil {
		want["event"] = got["event"]
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a client got %v, want %v", got, want)
	}
}

// TestOrders: an order is applied in the next tick, or if the seat is yet to be taken, in the one after that,
// and its receipt says so, or why not, under the client's own number.
func TestOrders(t *testing.T) {
	for name := range by {
		if name == "raw" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, nil)
			g, other := by[name](tb, tb.tokens.Of(1)), by[name](tb, tb.tokens.Of(2))
			want(t, g.event("joined"), map[string]any{"view": 1, "tick": 0, "tick_rate": 20, "players": players, "orders": true})
			tb.clients(2)
			other.say(`{"id":7,"order":{"take":20}}`)
			g.say(`{"id":9007199254740993,"order":{"take":20}}`)
			tb.until("both orders wait", func(s serve.Stats) bool { return s.Orders == 2 })
			tb.step(2)
			want(t, other.event("receipt"), map[string]any{"id": 7, "tick": 2, "applied": true})
			if got := g.event("receipt"); got["applied"] != true || got["id"] != float64(9007199254740993) {
				t.Errorf("the receipt is %v", got)
			}
			if got := tb.world.Value(0, 20); got != 2 {
				t.Errorf("the tile is player %v's, want the one's whose source comes later", got)
			}
			for _, tt := range []struct {
				order  string
				id     any
				reason string
			}{
				{`{"id":1,"order":{"take":500}}`, 1.0, "there is no such tile"},
				{`{"id":1,"order":{"take":"x"}}`, 1.0, "take must be a tile"},
				{`{"id":1}`, 1.0, `not an order: it must be like {"id":1,"order":{…}}`},
				{`{"id":1,"order":[]}`, 1.0, `not an order: it must be like {"id":1,"order":{…}}`},
				{`[]`, nil, "not an order: the value must be an object, not an array"},
				{`{"id":-1,"order":{}}`, nil, `not an order: "id" must be a whole number of 64 bits, 0 or above, not -1`},
				{`{"id":"1","order":{}}`, nil, `not an order: "id" must be a whole number of 64 bits, 0 or above, not a string`},
				{`{"id":4,"Order":{"take":1}}`, 4.0, `not an order: unknown key "Order"`},
				{`{"id":5,"order":{"take":1},"order":{"take":2}}`, 5.0, `not an order: the key "order" stands twice`},
				{`{"ordr":{},"id":3}`, 3.0, `not an order: unknown key "ordr"`},
			} {
				before := tb.server.Stats()
				g.say("")
				g.say(" \t")
				g.say(tt.order)
				tb.until("it is there", func(s serve.Stats) bool { return s.Orders+s.Refused > before.Orders+before.Refused })
				tb.step(1)
				got := g.event("receipt")
				if got["applied"] != false || got["id"] != tt.id || got["reason"] != tt.reason {
					t.Errorf("%s: %v, want the id %v and the reason %q", tt.order, got, tt.id, tt.reason)
				}
			}
		})
	}
}

// TestOrdersThatAreNone: a spectator gives no orders, a world without a Host takes none,
// and not too many may wait.
func TestOrdersThatAreNone(t *testing.T) {
	tb := newTable(t, nil)
	g := tb.tcp(tb.tokens.Spectator, true)
	g.say(`{"id":1,"order":{"take":1}}`)
	want(t, g.event("receipt"), map[string]any{"id": 1, "applied": false, "reason": "spectators give no orders"})
	tb.close(serve.EndServer)
	tb = newTable(t, func(c *serve.Config) { c.Teller = noHost{&game{}} })
	g = tb.tcp(tb.tokens.Of(1), true)
	if got := g.event("joined")["orders"]; got != false {
		t.Errorf("orders of a world that takes none: %v", got)
	}
	g.say(`{"id":1,"order":{"take":1}}`)
	want(t, g.event("receipt"), map[string]any{"id": 1, "applied": false, "reason": "this world takes no orders"})
	tb.close(serve.EndServer)
	tb = newTable(t, func(c *serve.Config) { c.Limits.Orders, c.Limits.Input = 1000, 1<<20 })
	g = tb.tcp(tb.tokens.Of(1), true)
	for i := range 65 {
		g.say(fmt.Sprintf(`{"id":%d,"order":{"take":1}}`, i))
	}
	want(t, g.event("receipt"), map[string]any{"id": 64, "applied": false, "reason": "64 orders wait for the next tick already"})
	tb.close(serve.EndGame)
	if got := g.event("receipt"); got["applied"] != false || got["reason"] != string(serve.EndGame) {
		t.Errorf("an order that no tick took gets %v", got)
	}
}

// noHost hides that a Teller is a Host.
type noHost struct{ live.Teller }

// TestSeats: a player's first connection takes the seat, and the last one's end gives it back after
// the time of grace, unless the player is there again. On a busy machine the player may come too late.
func TestSeats(t *testing.T) {
	if !sometimes(func() bool { return seats(t) }) {
		t.Error("no player came again in time")
	}
}

// seats reports whether the player came again in time.
func seats(t *testing.T) (inTime bool) {
	t.Helper()
	const grace = time.Second
	tb := newTable(t, func(c *serve.Config) { c.Grace = grace })
	seat := func() float64 { v, _ := tb.world.Parameter(2); return v }
	a, b := tb.webSocket(tb.tokens.Of(2), nil), tb.tcp(tb.tokens.Of(2), true)
	tb.clients(2)
	if tb.step(1); seat() != 1 {
		t.Fatal("the seat is not taken")
	}
	want(t, a.event("seat"), map[string]any{"player": 2, "tick": 1, "taken": true})
	want(t, b.event("seat"), map[string]any{"player": 2, "tick": 1, "taken": true})
	late := tb.tcp(tb.tokens.Of(2), true)
	want(t, late.event("seat"), map[string]any{"player": 2, "tick": 1, "taken": true})
	cut := time.Now()
	late.cut()
	b.cut()
	a.cut()
	gone := func() { tb.until("they are gone", func(s serve.Stats) bool { tb.step(1); return s.Total() == 0 }) }
	gone()
	a = tb.webSocket(tb.tokens.Of(2), nil)
	tb.clients(1)
	if time.Since(cut) > grace {
		tb.close(serve.EndServer)
		return false
	}
	for range 5 {
		time.Sleep(300 * time.Millisecond)
		if tb.step(1); seat() != 1 {
			t.Fatal("the seat was given back although the player came again")
		}
	}
	cut = time.Now()
	a.cut()
	gone()
	if seat() != 1 && time.Since(cut) < grace {
		t.Error("the seat was given back at once")
	}
	tb.until("the seat is given back", func(serve.Stats) bool { tb.step(1); return seat() == 0 })
	return true
}

// An asked Host counts how often seats are asked for.
type asked struct {
	*game
	times atomic.Int32
}

func (a *asked) Seat(p minewars.View, taken bool) commands.Command {
	a.times.Add(1)
	return a.game.Seat(p, taken)
}

// TestBackInTime: orders of a player who comes back in the very tick in which the seat is given back wait until it
// is taken again.
func TestBackInTime(t *testing.T) {
	host := &asked{game: &game{}}
	tb := newTable(t, func(c *serve.Config) { c.Grace, c.Teller = time.Nanosecond, host })
	g := tb.webSocket(tb.tokens.Of(2), nil)
	tb.clients(1)
	tb.step(1)
	for i := range 3 {
		g.cut()
		tb.clients(0)
		tb.until("the seat is to be given back", func(serve.Stats) bool { return int(host.times.Load()) >= 2*(i+1) })
		g = tb.webSocket(tb.tokens.Of(2), nil)
		tb.clients(1)
		g.say(fmt.Sprintf(`{"id":%d,"order":{"take":%d}}`, i, i))
		tb.until("the order is there", func(s serve.Stats) bool { return s.Orders+s.Refused == uint64(i+1) })
		tb.step(3)
		was, given, taken, got := g.event("seat"), g.event("seat"), g.event("seat"), g.event("receipt")
		if was["taken"] != true || given["taken"] != false || taken["taken"] != true || got["applied"] != true || got["tick"].(float64) <= taken["tick"].(float64) {
			t.Fatalf("a player who is back gets %v, %v, %v and %v", was, given, taken, got)
		}
	}
}

// A stubborn Host gives commands for seats that the world refuses, so many times.
type stubborn struct {
	*game
	times atomic.Int32
}

func (s *stubborn) Seat(p minewars.View, taken bool) commands.Command {
	if s.times.Add(-1) >= 0 {
		return commands.SetParameter(99, 1)
	}
	return s.game.Seat(p, taken)
}

// TestSeatsAreAskedForAgain: a seat that the world refuses, or for which it has no room, is taken and given back
// later.
func TestSeatsAreAskedForAgain(t *testing.T) {
	for name, begin := range map[string]func(*table, *stubborn) (reason string){
		"refused": func(_ *table, s *stubborn) string { s.times.Store(1); return commands.UnknownParameter.String() },
		"no room": func(tb *table, _ *stubborn) string {
			for err := error(nil); err == nil; _, err = tb.world.Submit(commands.SetField(space.At(0), 0, 1)) {
			}
			return commands.QueueFull.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := &stubborn{game: &game{}}
			tb := newTable(t, func(c *serve.Config) { c.Teller = host })
			until := func(want float64) {
				t.Helper()
				tb.until("the seat is another's", func(serve.Stats) bool { tb.step(1); v, _ := tb.world.Parameter(2); return v == want })
			}
			reason := begin(tb, host)
			g := tb.webSocket(tb.tokens.Of(2), nil)
			tb.clients(1)
			g.say(`{"id":1,"order":{"take":3}}`)
			tb.until("the order is there", func(s serve.Stats) bool { return s.Orders+s.Refused == 1 })
			tb.step(1)
			if got := g.event("seat"); got["taken"] != false || got["reason"] != reason {
				t.Errorf("a seat that is not to be had: %v, want the reason %s", got, reason)
			}
			want(t, g.event("receipt"), map[string]any{"id": 1, "applied": false, "reason": reason})
			until(1)
			if got := g.event("seat"); got["taken"] != true || got["reason"] != nil {
				t.Errorf("the seat at last: %v", got)
			}
			begin(tb, host)
			g.cut()
			tb.clients(0)
			until(0)
		})
	}
}

// A deadly game puts players 1 and 3 out, one after the other.
type deadly struct{ asked }

func (d *deadly) Tell(w *engine.World, u *minewars.Update) error {
	if p, ok := map[uint64]uint8{3: 1, 5: 3}[w.Tick()]; ok {
		for v := range u.Views[:players+1] {
			u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Eliminated, Player: p})
		}
	}
	return d.game.Tell(w, u)
}

// TestSeatsOfTheDead: nobody asks for the seat of a player who is out, or has won; who comes for it is told so. The
// one who is left has won.
func TestSeatsOfTheDead(t *testing.T) {
	host := &deadly{asked{game: &game{}}}
	tb := newTable(t, func(c *serve.Config) { c.Teller = host })
	a, b := tb.webSocket(tb.tokens.Of(1), nil), tb.webSocket(tb.tokens.Of(2), nil)
	tb.clients(2)
	tb.step(4)
	if st := tb.server.Stats(); st.Winner != 0 {
		t.Errorf("two are left, and %d has won", st.Winner)
	}
	tb.step(2)
	if st := tb.server.Stats(); st.Winner != 2 || st.Won != 5 {
		t.Errorf("the winner is %d, at tick %d; want 2, at tick 5", st.Winner, st.Won)
	}
	<-tb.server.Won()
	a.cut()
	b.cut()
	tb.clients(0)
	for range 10 {
		tb.step(1)
		time.Sleep(time.Millisecond)
	}
	a = tb.webSocket(tb.tokens.Of(1), nil)
	want(t, a.event("seat"), map[string]any{"player": 1, "tick": tb.world.Tick(), "taken": false, "reason": "the player is out of the game, or it has ended"})
	if n := host.times.Load(); n != 2 {
		t.Errorf("seats are asked for %d times, want twice", n)
	}
}

// TestRecording: what comes in from people is recorded, and the recording verifies.
func TestRecording(t *testing.T) {
	tb := newTable(t, nil)
	var b bytes.Buffer
	rec, err := replay.NewRecorder(&b, tb.world, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	tb.world.Record(rec)
	g := tb.webSocket(tb.tokens.Of(3), nil)
	tb.clients(1)
	for i := range 10 {
		g.say(fmt.Sprintf(`{"id":%d,"order":{"take":%d}}`, i, 2*i))
		tb.until("it is there", func(s serve.Stats) bool { return s.Orders == uint64(i+1) })
		tb.step(3)
	}
	if err := rec.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(r, func(*replay.Header) (*engine.World, error) { return newWorld(t), nil })
	if err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(); n != 30 || err != nil {
		t.Errorf("%d ticks match, %v; want 30", n, err)
	}
	if got, without := p.World.Hash(), newWorld(t); got != tb.world.Hash() || without.Run(30) != nil || got == without.Hash() {
		t.Error("the orders did nothing, or the replay has another state")
	}
}
