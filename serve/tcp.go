package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/murksim/murksim/internal/jsonlines"
)

// serveTCP serves a connection without WebSocket.
func (s *Server) serveTCP(k *conn) {
	lines := bufio.NewReaderSize(k, s.limits.Message)
	line, err := lines.ReadSlice('\n')
	if err != nil {
		s.refuse(k, endOf(err))
		return
	}
	var h hello
	if err := jsonlines.Decode(line, &h); err != nil {
		s.turnAway(k, EndGarbage, ": "+err.Error())
		return
	}
	v := s.keys.open(h.Token)
	if v < 0 {
		s.pause(s.limits.Refusal)
		s.turnAway(k, EndToken, "")
		return
	}
	by := raw
	if h.Receipts {
		by = framed
	}
	c, why := s.join(k, v, by)
	if why != "" {
		s.turnAway(k, why, "")
		return
	}
	c.listen(func() ([]byte, error) { return lines.ReadSlice('\n') })
}

// turnAway tells a TCP connection why it is refused.
func (s *Server) turnAway(k *conn, why End, detail string) {
	s.count(k, why)
	b, _ := json.Marshal(ErrorObject{"error", string(why) + detail})
	k.seal(append(b, '\n'))
	k.drain()
	k.Close()
}

// pause waits, unless the server is closed.
func (s *Server) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.closed:
	}
}

var errGarbage = errors.New("not of the protocol")

// endOf returns the reason for which reading from a client ended.
func endOf(err error) End {
	switch {
	case errors.Is(err, errFlood):
		return EndFlood
	case errors.Is(err, errGarbage):
		return EndGarbage
	case errors.Is(err, bufio.ErrBufferFull), errors.Is(err, websocket.ErrMessageTooBig):
		return EndTooLarge
	}
	return EndLeft
}

// listen takes orders from a client until it leaves, or the server sends it away; then it gets what waits for it
// first. next returns the next message, which is valid until it is called again.
func (c *client) listen(next func() ([]byte, error)) {
	defer close(c.read)
	limit := float64(c.server.limits.Orders)
	messages := newBucket(limit, 2*limit)
	for {
		message, err := next()
		why := End("")
		switch {
		case err != nil:
			why = endOf(err)
		case messages.take(1) < -10*limit:
			why = EndFlood
		default:
			why = c.order(message)
		}
		if why != "" {
			c.close(why, why == EndLeft)
			if why != EndLeft {
				c.conn.discard()
			}
			return
		}
	}
}
