package serve

import (
	"fmt"

	"github.com/murksim/murksim/replay/minewars"
)

// A stream is what the clients of one view get.
type stream struct {
	view    minewars.View
	start   []byte // the initialization sequence
	board   *minewars.Board
	silence uint64 // ticks without a message, after which the stream says how late it is
	frames  []byte // of the tick; used again

	clients  []*client
	late     *packet // for those who join now; nil: not made yet
	messages []minewars.Message
}

func newStream(s minewars.Start, v minewars.View) (*stream, error) {
	s = s.For(v)
	start, err := minewars.AppendStart(nil, s)
	if err != nil {
		return nil, fmt.Errorf("serve: the game cannot be streamed: %w", err)
	}
	return &stream{view: v, start: start, board: minewars.NewBoard(s, v), silence: uint64(s.TickRate)}, nil
}

// encode appends the frames of a tick, if there are any. After a second in which nothing
// happened there is one that only moves time on.
func (s *stream) encode(tick uint64, messages []minewars.Message) (err error) {
	s.frames = s.frames[:0]
	if delta := tick - s.board.Tick; len(messages) > 0 || delta >= s.silence {
		s.frames, err = minewars.AppendView(s.frames, s.view, delta, messages)
	}
	if err != nil {
		return fmt.Errorf("serve: tick %d: the view of %s: %w", tick, Name(s.view), err)
	}
	return nil
}

// publish gives the frames that were encoded to all clients.
func (s *stream) publish(tick uint64, messages []minewars.Message) {
	if len(s.frames) == 0 {
		return
	}
	s.board.Apply(tick, messages)
	s.late = nil
	p := streamPacket(s.frames)
	for _, c := range s.clients {
		c.push(p)
	}
}

// beginning returns what a client gets that joins now: the initialization sequence, and the
// state so far as frames, the last of which ends at the tick of the last that other clients got.
func (s *stream) beginning() (*packet, error) {
	if s.late != nil {
		return s.late, nil
	}
	s.messages = s.board.AppendMessages(s.messages[:0])
	b, err := minewars.AppendView(s.start[:len(s.start):len(s.start)], s.view, s.board.Tick, s.messages)
	if err != nil {
		return nil, fmt.Errorf("serve: the view of %s so far: %w", Name(s.view), err)
	}
	s.late = streamPacket(b)
	return s.late, nil
}

func (s *stream) add(c *client) {
	c.place = len(s.clients)
	s.clients = append(s.clients, c)
}

func (s *stream) remove(c *client) {
	last := len(s.clients) - 1
	s.clients[c.place], s.clients[last].place = s.clients[last], c.place
	s.clients[last] = nil
	s.clients = s.clients[:last]
}
