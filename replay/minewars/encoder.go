package minewars

import (
	"bytes"
	"encoding/binary"
	"math"
)

// AppendView appends the frames in which one view learns messages, for a stream of that view
// alone, delta ticks after the last. Without messages it only moves the stream's time on.
func AppendView(dst []byte, v View, delta uint64, messages []Message) ([]byte, error) {
	if v < Spectator || v > MaxPlayers {
		return dst, unwritable(ErrView, "there is no view %d", v)
	}
	var list encoded
	if err := list.encode(messages, nil); err != nil {
		return dst, err
	}
	dst, rest := appendFillers(dst, delta, len(messages) == 0)
	return appendHomogeneous(dst, rest, homogeneous|1<<v, &list), nil
}

// appendFillers appends frames that move time on until the next frame's delta can hold the rest, or
// until there is none.
func appendFillers(dst []byte, delta uint64, all bool) (frames []byte, rest uint16) {
	for ; delta > math.MaxUint16; delta -= math.MaxUint16 {
		dst = append(dst, 0xff, 0xff, 0, filler)
	}
	if all && delta > 0 {
		dst = append(binary.BigEndian.AppendUint16(dst, uint16(delta)), 0, filler)
		delta = 0
	}
	return dst, uint16(delta)
}

// appendHomogeneous appends frames of one list of messages.
func appendHomogeneous(dst []byte, delta uint16, mask uint8, list *encoded) []byte {
	for !list.done() {
		part := list.take(maxPayload)
		dst = append(binary.BigEndian.AppendUint16(dst, delta), byte(len(part)), mask)
		dst = append(dst, part...)
		delta = 0
	}
	return dst
}

// An encoded list of messages is given away in parts of whole messages.
type encoded struct {
	bytes []byte
	ends  []int // of the messages
	taken int   // messages
	next  int   // the byte after those

	scratch [MaxTiles]Tile
}

// encode replaces the list by messages, which must be of the game that start describes, if any.
func (l *encoded) encode(messages []Message, start *Start) *Error {
	l.bytes, l.ends, l.taken, l.next = l.bytes[:0], l.ends[:0], 0, 0
	for i := range messages {
		m := messages[i]
		if err := m.check(); err != nil {
			return err
		}
		m.Tiles = m.tidy(l.scratch[:])
		p := payload{start: start}
		if err := p.known(&m, 0); err != nil {
			err.Offset = -1
			return err
		}
		l.bytes = appendMessage(l.bytes, &m)
		l.ends = append(l.ends, len(l.bytes))
	}
	return nil
}

func (l *encoded) done() bool { return l.taken == len(l.ends) }

// take returns the next messages that fit a number of bytes, which is enough for any one.
func (l *encoded) take(limit int) []byte {
	from := l.next
	for l.taken < len(l.ends) && l.ends[l.taken]-from <= limit {
		l.next = l.ends[l.taken]
		l.taken++
	}
	return l.bytes[from:l.next]
}

// An Encoder turns updates into frames in the one form that FORMAT.md calls canonical.
type Encoder struct {
	start Start
	tick  uint64 // of the last frame
	begun bool
	lists [MaxPlayers + 1]encoded
}

// NewEncoder returns an encoder of a game.
func NewEncoder(s Start) (*Encoder, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return &Encoder{start: s}, nil
}

// Append appends the frames of an update, whose tick must be above that of the last one. An update
// without messages appends nothing. After an error nothing is appended.
func (e *Encoder) Append(dst []byte, u *Update) ([]byte, error) {
	if e.begun && u.Tick <= e.tick {
		return dst, &Error{Kind: ErrValue, Offset: -1, Tick: u.Tick, Detail: "the update must come after that of the tick before it"}
	}
	views, same := uint8(0), true
	var first *encoded
	for v := range u.Views {
		if len(u.Views[v]) == 0 {
			continue
		}
		l := &e.lists[v]
		err := l.encode(u.Views[v], &e.start)
		if v > e.start.Players {
			err = unwritable(ErrView, "view %d of %d players", v, e.start.Players)
		}
		if err != nil {
			err.Tick = u.Tick
			return dst, err
		}
		if first == nil {
			first = l
		}
		views |= 1 << v
		same = same && bytes.Equal(first.bytes, l.bytes)
	}
	if views == 0 {
		return dst, nil
	}
	dst, delta := appendFillers(dst, u.Tick-e.tick, false)
	e.tick, e.begun = u.Tick, true
	if !same {
		return e.appendHeterogeneous(dst, delta, views), nil
	}
	mask := homogeneous | views
	if views == 1<<(e.start.Players+1)-1 {
		mask = everyone
	}
	return appendHomogeneous(dst, delta, mask, first), nil
}

// appendHeterogeneous appends frames until the lists of all views are empty.
func (e *Encoder) appendHeterogeneous(dst []byte, delta uint16, views uint8) []byte {
	var parts [MaxPlayers + 1][]byte
	for views != 0 {
		dst = append(binary.BigEndian.AppendUint16(dst, delta), views)
		limit, left := maxFirst, uint8(0)
		for v := range e.lists {
			if views>>v&1 == 0 {
				continue
			}
			parts[v] = e.lists[v].take(limit)
			dst = append(dst, byte(len(parts[v])))
			if limit = maxPayload; !e.lists[v].done() {
				left |= 1 << v
			}
		}
		for v := range parts {
			if views>>v&1 != 0 {
				dst = append(dst, parts[v]...)
			}
		}
		views, delta = left, 0
	}
	return dst
}

// AppendIdle appends what moves time on to a tick in which nothing happens, such as the last one.
func (e *Encoder) AppendIdle(dst []byte, tick uint64) []byte {
	if tick <= e.tick {
		return dst
	}
	dst, _ = appendFillers(dst, tick-e.tick, true)
	e.tick, e.begun = tick, true
	return dst
}
