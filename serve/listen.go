package serve

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Listen accepts connections until the listener or the server is closed. It returns at once.
func (s *Server) Listen(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != "" {
		l.Close()
		return
	}
	s.listens = append(s.listens, l)
	s.start(func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as too many open files
				select {
				case <-s.closed:
					return
				case <-time.After(50 * time.Millisecond):
				}
				continue
			}
			s.accept(c)
		}
	})
}

// accept takes a connection if there is room for one more.
func (s *Server) accept(c net.Conn) {
	address := neighbourhood(c.RemoteAddr())
	k := &conn{Conn: c, tcp: c, input: newBucket(float64(s.limits.Input), 4*float64(s.limits.Input))}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(s.limits.Buffer)
	}
	k.heard.Store(time.Now().UnixNano())
	k.free = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, k)
		s.unlist(k)
		if k.joined.Load() {
			s.joined--
		}
		if s.addr[address]--; s.addr[address] == 0 {
			delete(s.addr, address)
		}
	})
	s.mu.Lock()
	if s.end != "" || s.addr[address] >= s.limits.PerAddress {
		s.stats.Ended[EndFull]++
		s.mu.Unlock()
		c.Close()
		return
	}
	var oldest *conn
	if e := s.newcomers.Front(); e != nil && len(s.conns) >= s.limits.Clients+s.limits.Newcomers {
		oldest = e.Value.(*conn)
		s.unlist(oldest)
	}
	k.late = time.AfterFunc(s.limits.Hello, func() {
		s.count(k, EndHello)
		k.cut()
	})
	s.conns[k] = struct{}{} // whole, because Close may cut it from now on
	k.place = s.newcomers.PushBack(k)
	s.addr[address]++
	s.mu.Unlock()
	if oldest != nil {
		s.count(oldest, EndCrowded)
		oldest.cut()
	}
	s.start(func() { s.greet(k) })
}

// unlist takes a connection off the newcomers: it has joined or ends. The lock is held.
func (s *Server) unlist(k *conn) {
	if k.place != nil {
		s.newcomers.Remove(k.place)
		k.place = nil
	}
}

// neighbourhood returns what one customer of a network has: an address of IPv4, or the first 64
// bits of one of IPv6.
func neighbourhood(a net.Addr) string {
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := p.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 64).Masked().String()
}

// greet finds out what a connection speaks.
func (s *Server) greet(k *conn) {
	if s.tls != nil {
		t := tls.Server(k.Conn, s.tls)
		if err := t.Handshake(); err != nil { // ends when the connection does
			s.refuse(k, EndTLS)
			return
		}
		k.Conn = t
	}
	first := make([]byte, 1)
	if _, err := k.Read(first); err != nil {
		s.refuse(k, EndLeft)
		return
	}
	k.head = first
	switch b := first[0]; {
	case b == '{':
		s.serveTCP(k)
	case b >= 'A' && b <= 'Z': // GET, or what the HTTP server refuses better
		select {
		case s.upgrade <- k:
		case <-s.closed:
			k.Close()
		}
	default:
		s.refuse(k, EndGarbage)
	}
}

// refuse closes a connection that has not joined.
func (s *Server) refuse(k *conn, why End) {
	s.count(k, why)
	k.Close()
}

// An upgradeListener hands connections on to the HTTP server.
type upgradeListener struct{ *Server }

// Accept implements [net.Listener].
func (l upgradeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.upgrade:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (upgradeListener) Close() error { return nil }

// Addr implements [net.Listener].
func (upgradeListener) Addr() net.Addr { return &net.TCPAddr{} }
