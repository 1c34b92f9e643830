package serve

import (
	"container/list"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A conn is an accepted connection, whatever speaks on it. Writing is one client's whole packets
// at a time, also beside a WebSocket library that answers pings.
type conn struct {
	net.Conn // with TLS if there is any; of one goroutine until the client joins
	tcp      net.Conn
	head     []byte // read already, to tell the protocol apart; of the reading goroutine
	input    bucket // likewise
	heard    atomic.Int64
	late     *time.Timer   // ends it if there is no good hello
	joined   atomic.Bool   // its hello was good
	counted  bool          // it ended without; of the server's lock
	place    *list.Element // among the newcomers; nil: it is none any more; of the server's lock
	free     func()        // gives back its place among the connections; once

	mu     sync.Mutex
	sealed bool // nothing is written any more
}

var errFlood = errors.New("too many bytes a second")

// Read implements [io.Reader].
func (c *conn) Read(b []byte) (n int, err error) {
	if len(c.head) > 0 {
		n = copy(b, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	n, err = c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
		if c.input.take(float64(n)) < 0 {
			return 0, errFlood
		}
	}
	return n, err
}

// Write implements [io.Writer]. Once the client has joined, its queue is what is written. Of
// what the WebSocket library writes then, only answers to pings pass.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed || c.joined.Load() && (len(b) == 0 || b[0] != wsPong) {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// writeAll writes several slices, with one call of the system if it can. It changes the list.
func (c *conn) writeAll(list net.Buffers) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed {
		return net.ErrClosed
	}
	if len(list) == 1 {
		_, err := c.Conn.Write(list[0])
		return err
	}
	if _, ok := c.Conn.(*net.TCPConn); ok {
		_, err := list.WriteTo(c.Conn)
		return err
	}
	var all []byte // TLS makes records of what it gets in one call
	for _, b := range list {
		all = append(all, b...)
	}
	_, err := c.Conn.Write(all)
	return err
}

// seal writes the last bytes, and says to the other side that nothing follows.
func (c *conn) seal(last []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed {
		return
	}
	c.sealed = true
	c.Conn.SetWriteDeadline(time.Now().Add(parting))
	if len(last) > 0 {
		c.Conn.Write(last)
	}
	c.CloseWrite()
}

// parting is how long a connection that ends is kept open for the other side to read why.
const parting = time.Second

// drain reads on until the other side has closed, or until it should have, but not all of a flood.
func (c *conn) drain() {
	c.Conn.SetReadDeadline(time.Now().Add(parting))
	c.discard()
}

// discard reads on until the connection is closed or its time is over, but not all of a flood. Closing a
// connection on which something is unread would take back what is still on its way to the other side.
func (c *conn) discard() {
	const most = 1 << 18 // bytes
	io.CopyN(io.Discard, c.Conn, most)
}

// CloseWrite says to the other side that nothing follows.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close implements [io.Closer].
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.late.Stop()
	c.free()
	return err
}

// cut closes the connection at once, from any goroutine. The errors that its user gets from that are
// not counted.
func (c *conn) cut() {
	c.free()
	c.tcp.Close()
}
