package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve/live"
)

// A Config describes a [Server].
type Config struct {
	World  *engine.World // required; takes the orders
	Teller live.Teller   // required; if it is a [live.Host], people can play
	Tokens Tokens        // required
	Limits Limits
	TLS    *tls.Config   // nil: without
	Grace  time.Duration // after which the seat of a player who left is given back; 0: at once

	// Origins are those of web pages that may connect, such as https://example.org. Pages
	// of the server's own origin may, if that is an address or localhost.
	Origins []string
}

// A Server streams one game to its clients. All its methods may be called from any goroutine
// but for those of a watcher and Receipts, which belong to the world's.
type Server struct {
	limits  Limits
	keys    keyring
	teller  live.Teller
	desk    *desk // nil: the world takes no orders
	tls     *tls.Config
	origins []string
	rate    uint8
	http    *http.Server
	upgrade chan net.Conn // to the HTTP server
	sent    atomic.Uint64 // bytes

	update minewars.Update               // of the world's goroutine
	over   [minewars.MaxPlayers + 1]bool // likewise: players who are out, and the winner
	left   int                           // likewise: players who are not out
	won    chan struct{}                 // closed when there is a winner

	mu        sync.Mutex // of what follows
	views     []*stream
	tick      uint64
	end       End // "": it goes on
	stats     Stats
	addr      map[string]int // connections by address
	conns     map[*conn]struct{}
	joined    int           // of them, those that have
	newcomers list.List     // those that have not, the oldest first
	arrived   chan struct{} // closed when a client joins
	listens   []net.Listener

	work   sync.WaitGroup // goroutines
	closed chan struct{}
}

// Stats count what there is and what has been.
type Stats struct {
	Tick      uint64                       // the last that was told
	Clients   [minewars.MaxPlayers + 1]int // now, by view
	Joined    uint64                       // in all
	Bytes     uint64                       // written to clients
	Ended     map[End]uint64               // connections, by reason; those that never joined, too
	Orders    uint64                       // that were sent to the world
	Refused   uint64                       // refused by the world or the rules, or not orders at all
	Connected int                          // connections now, also those without a hello yet
	Winner    minewars.View                // the last player left in the game; 0: none yet
	Won       uint64                       // the tick in which that was told
}

// Total returns how many clients there are now.
func (s Stats) Total() (n int) {
	for _, c := range s.Clients {
		n += c
	}
	return n
}

// New returns a server of a world that is at the tick at which the Teller was made. Close it.
func New(c Config) (*Server, error) {
	start := c.Teller.Start()
	if err := c.Tokens.Check(start.Players); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &Server{
		limits: c.Limits.orDefault(), keys: newKeyring(c.Tokens), teller: c.Teller, tls: c.TLS, origins: c.Origins, rate: start.TickRate,
		upgrade: make(chan net.Conn), tick: c.World.Tick(), addr: map[string]int{}, conns: map[*conn]struct{}{}, arrived: make(chan struct{}), closed: make(chan struct{}),
		left: start.Players, won: make(chan struct{}),
		stats: Stats{Ended: map[End]uint64{}},
	}
	for v := range start.Players + 1 {
		view, err := newStream(start, v)
		if err != nil {
			return nil, err
		}
		s.views = append(s.views, view)
	}
	if host, ok := c.Teller.(live.Host); ok {
		s.desk = newDesk(s, host, c.World, c.Grace, start.Players)
	}
	s.startHTTP()
	s.start(s.checkClients)
	return s, nil
}

// start runs a goroutine that Close waits for.
func (s *Server) start(f func()) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		f()
	}()
}

// Next implements the Watcher of package runner: the Server sees every tick.
func (s *Server) Next(after uint64) uint64 { return after + 1 }

// Observe implements the Watcher of package runner: it tells all clients what their
// views learn in the tick.
func (s *Server) Observe(w *engine.World) error {
	u := &s.update
	u.Reset(w.Tick())
	if err := s.teller.Tell(w, u); err != nil {
		return fmt.Errorf("serve: tick %d: %w", w.Tick(), err)
	}
	for v, view := range s.views {
		if err := view.encode(u.Tick, u.Views[v]); err != nil {
			return err
		}
	}
	s.publish()
	if s.desk != nil {
		s.desk.retire(s.over[:len(s.views)])
	}
	return nil
}

// publish gives the frames of the tick to all clients, and notes whose game is over in it.
func (s *Server) publish() {
	u := &s.update
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick = u.Tick
	for v, view := range s.views {
		view.publish(u.Tick, u.Views[v])
	}
	before := s.left
	for _, m := range u.Views[minewars.Spectator] {
		if m.Op != minewars.Eliminated || s.over[m.Player] {
			continue
		}
		s.over[m.Player] = true
		s.left--
	}
	if s.left == 1 && before > 1 {
		w := slices.Index(s.over[1:], false) + 1
		s.over[w] = true
		s.stats.Winner, s.stats.Won = w, u.Tick
		close(s.won)
	}
}

// join makes a client of a connection, or returns why it cannot. From now on its queue is what is
// written.
func (s *Server) join(k *conn, v minewars.View, by carrier) (*client, End) {
	if !k.late.Stop() {
		return nil, EndHello
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != "" {
		return nil, s.end
	}
	view := s.views[v]
	switch {
	case k.place == nil:
		return nil, EndCrowded
	case s.joined >= s.limits.Clients, v != minewars.Spectator && len(view.clients) >= s.limits.PerPlayer:
		return nil, EndFull
	}
	begin, err := view.beginning()
	if err != nil {
		return nil, EndFailed
	}
	c := &client{server: s, view: v, by: by, conn: k, read: make(chan struct{}), gone: make(chan struct{})}
	c.wake.L = &c.mu
	c.push(jsonPacket(JoinedObject{"joined", v, s.tick, s.rate, len(s.views) - 1, s.desk != nil && v != minewars.Spectator}))
	c.push(begin)
	view.add(c)
	s.stats.Clients[v]++
	s.stats.Joined++
	close(s.arrived)
	s.arrived = make(chan struct{})
	k.joined.Store(true)
	s.joined++
	s.unlist(k)
	s.start(c.run)
	if s.desk != nil && v != minewars.Spectator {
		s.desk.sit(c)
	}
	return c, ""
}

// leave takes a client off its view.
func (s *Server) leave(c *client) {
	s.mu.Lock()
	s.views[c.view].remove(c)
	s.stats.Clients[c.view]--
	s.stats.Ended[c.end]++
	s.mu.Unlock()
	if s.desk != nil && c.view != minewars.Spectator {
		s.desk.rise(c)
	}
}

// count counts a connection that ends without having joined. The first reason holds; what follows
// from closing the connection is none.
func (s *Server) count(k *conn, why End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[k]; open && !k.counted {
		k.counted = true
		s.stats.Ended[why]++
	}
}

// tell sends an object to all clients of a view.
func (s *Server) tell(v minewars.View, object any) {
	p := jsonPacket(object)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.views[v].clients {
		c.push(p)
	}
}

// Won returns a channel that is closed when there is a winner.
func (s *Server) Won() <-chan struct{} { return s.won }

// Stats returns the counts as they are now.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Tick = s.tick
	st.Bytes, st.Connected, st.Ended = s.sent.Load(), len(s.conns), maps.Clone(s.stats.Ended)
	if s.desk != nil {
		st.Orders, st.Refused = s.desk.taken.Load(), s.desk.refused.Load()
	}
	return st
}

// Wait returns when there are so many clients, or with the context's error.
func (s *Server) Wait(ctx context.Context, clients int) error {
	for {
		s.mu.Lock()
		enough, arrived := s.stats.Total() >= clients, s.arrived
		s.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// checkClients drops clients that are stalled or silent.
func (s *Server) checkClients() {
	every := time.NewTicker(min(time.Second, s.limits.Stall/4, s.limits.Idle/4))
	defer every.Stop()
	for {
		select {
		case <-s.closed:
			return
		case now := <-every.C:
			s.mu.Lock()
			var all []*client
			for _, v := range s.views {
				all = append(all, v.clients...)
			}
			s.mu.Unlock()
			for _, c := range all {
				c.check(now)
			}
		}
	}
}

// Close ends all connections, each after what waits for it, and waits for that until the
// context ends; then what is left is dropped. Clients are told the reason.
func (s *Server) Close(ctx context.Context, why End) error {
	s.mu.Lock()
	if s.end != "" {
		s.mu.Unlock()
		return net.ErrClosed
	}
	s.end = why
	close(s.closed)
	s.mu.Unlock()
	if s.desk != nil {
		s.desk.close(why)
	}
	for _, l := range s.listens { // no other goroutine changes them now
		l.Close()
	}
	s.part(why)
	s.http.Close()
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	for _, k := range s.connections() {
		k.cut()
	}
	<-done
	return ctx.Err()
}

// part ends the clients, and closes connections that have not joined.
func (s *Server) part(why End) {
	s.mu.Lock()
	for _, v := range s.views {
		for _, c := range v.clients {
			c.close(why, false)
		}
	}
	s.mu.Unlock()
	for _, k := range s.connections() {
		if !k.joined.Load() {
			k.cut()
		}
	}
}

// connections lists the connections.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}
