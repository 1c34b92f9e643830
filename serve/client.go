package serve

import (
	"net"
	"sync"
	"time"

	"github.com/murksim/murksim/replay/minewars"
)

// An End says why a connection ended.
type End string

// The reasons for an end, as clients are told and as [Stats] counts them.
const (
	EndGame     End = "the game has ended"
	EndServer   End = "the server ends"
	EndLeft     End = "the client left"
	EndSlow     End = "too far behind"
	EndStalled  End = "nothing was read for too long"
	EndIdle     End = "no sign of life"
	EndFlood    End = "too much was sent"
	EndGarbage  End = "not of the protocol"
	EndTooLarge End = "a message is too large"
	EndToken    End = "the token is not one of this game"
	EndHello    End = "no token in time"
	EndCrowded  End = "no token yet when others needed the room"
	EndOrigin   End = "pages of another origin may not connect"
	EndFull     End = "too many connections"
	EndTLS      End = "no TLS"
	EndFailed   End = "the server cannot sum up the game so far"
)

// status returns the code with which a WebSocket ends, RFC 6455 section 7.4.1.
func (e End) status() int {
	switch e {
	case EndGame, EndLeft:
		return 1000
	case EndServer:
		return 1001
	case EndGarbage:
		return 1002
	case EndTooLarge:
		return 1009
	case EndFailed:
		return 1011
	}
	return 1008 // a policy of ours
}

// A client is one that has shown a token. What it is to get waits in its queue; a goroutine of its
// own writes that.
type client struct {
	server *Server
	view   minewars.View
	by     carrier
	conn   *conn
	place  int // among the clients of its view; of the server's lock

	mu       sync.Mutex
	wake     sync.Cond // there is something to write, or the end
	queue    []*packet
	waiting  int       // bytes that are not written yet
	progress time.Time // when nothing waited, or something was written
	writing  bool
	end      End  // "": it goes on
	drop     bool // what waits is not written any more

	read chan struct{} // closed when nothing reads from it any more
	gone chan struct{} // closed when the connection is
}

// overhead is what a packet in a queue takes beside its bytes, which all clients share.
const overhead = 16

// push adds a packet to the queue, or drops a client that is too far behind. It never waits for
// the client.
func (c *client) push(p *packet) {
	form := p.forms[c.by]
	if len(form) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != "" {
		return
	}
	size := len(form) + overhead
	if c.waiting > 0 && c.waiting+size > c.server.limits.Queue { // what comes first may be larger
		c.finish(EndSlow, true)
		return
	}
	if c.waiting == 0 {
		c.progress = time.Now()
	}
	c.waiting += size
	c.queue = append(c.queue, p)
	if len(c.queue) == 1 {
		c.wake.Signal()
	}
}

// close ends the client, after what waits or, if it is dropped, without. The first reason holds.
func (c *client) close(why End, drop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish(why, drop)
}

// finish is close with the lock held.
func (c *client) finish(why End, drop bool) {
	if c.end == "" {
		c.end = why
	}
	if drop && !c.drop {
		c.drop, c.queue = true, nil
		if c.writing {
			c.conn.SetWriteDeadline(time.Now())
		}
	}
	c.wake.Signal()
}

// write writes what is pushed until the client ends. It returns whether the last packet was
// written whole, so that another may follow.
func (c *client) write() (whole bool) {
	const most = 64 // packets in a call
	var spare []*packet
	var list [][]byte
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && c.end == "" {
			c.wake.Wait()
		}
		batch := c.queue
		if len(batch) == 0 {
			c.mu.Unlock()
			return true
		}
		c.queue, c.writing = spare[:0], true
		c.mu.Unlock()
		for i := 0; i < len(batch); i += most {
			list = list[:0]
			size := 0
			for _, p := range batch[i:min(i+most, len(batch))] {
				list = append(list, p.forms[c.by])
				size += len(p.forms[c.by]) + overhead
			}
			err := c.conn.writeAll(net.Buffers(list))
			c.mu.Lock()
			c.waiting -= size
			c.progress = time.Now()
			dropped := c.drop
			c.mu.Unlock()
			if err != nil || dropped {
				c.close(EndLeft, true)
				return err == nil
			}
			c.server.sent.Add(uint64(size - overhead*len(list)))
		}
		clear(batch)
		spare = batch
		c.mu.Lock()
		c.writing = false
		c.mu.Unlock()
	}
}

// run writes to the client until it ends, and parts with it. The connection is closed then.
func (c *client) run() {
	defer close(c.gone)
	whole := c.write()
	c.server.leave(c)
	if whole {
		var last []byte
		switch c.by {
		case webSocket:
			last = closeFrame(c.end.status(), string(c.end))
		case framed:
			last = jsonPacket(EndObject{"end", c.end}).forms[framed]
		}
		c.conn.seal(last)
		c.conn.SetReadDeadline(time.Now().Add(parting))
		<-c.read
	}
	c.conn.Close()
	<-c.read
}

// check drops a client that is stalled or has given no sign of life, and asks a WebSocket
// for one.
func (c *client) check(now time.Time) {
	c.mu.Lock()
	stalled := c.waiting > 0 && now.Sub(c.progress) > c.server.limits.Stall
	c.mu.Unlock()
	if stalled {
		c.close(EndStalled, true)
		return
	}
	if c.by != webSocket {
		return
	}
	switch silent, idle := now.Sub(time.Unix(0, c.conn.heard.Load())), c.server.limits.Idle; {
	case silent > idle:
		c.close(EndIdle, true)
	case silent > idle/3:
		c.push(pingPacket)
	}
}
