package view

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/murksim/murksim/replay"
)

// Grows opens a recording that another process is writing, for a [Session], which reads its frames as they come; without one it stays without
// ticks, see [Config].Written. From is read from its first byte on, and waits where no more is there yet; at its end there will be no more. The
// ticks so far are those that have been read. Config needs neither Recording nor Size.
func Grows(c Config, from io.Reader) (*Recording, error) {
	l := &Live{tape: &tape{most: mostTape}, grows: true, speed: math.Inf(1), changed: make(chan struct{})}
	frames, err := replay.NewReader(io.TeeReader(from, l.tape))
	if err != nil {
		return nil, err
	}
	l.tape.reach(frames.Position().Offset)
	c.Live = l
	r, err := Open(c)
	if err != nil {
		return nil, err
	}
	l.last = r.first
	r.drive = func(ctx context.Context) { l.End(l.read(ctx, frames)) }
	return r, nil
}

// read reads frames as they come, until there are no more.
func (l *Live) read(ctx context.Context, frames *replay.Reader) error {
	var f replay.Frame
	ordered := replay.InOrder(frames)
	for {
		switch err := ordered.Next(&f); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case !l.tape.reach(frames.Position().Offset):
			return errFull{l.tape.most}
		}
		l.mu.Lock()
		l.last = f.Tick
		l.mu.Unlock()
	}
}

// reach marks the bytes up to an offset as complete, and reports whether they are all there.
func (t *tape) reach(offset int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if int64(len(t.b)) < offset {
		return false
	}
	t.whole = offset
	return true
}
