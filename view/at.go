package view

import (
	"context"
	"fmt"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// At brings the world that is looked at to a tick, compares its hash, and returns it. If a replay gives another hash than was
// recorded, At returns the world with a [*replay.MismatchError]. It is as [Recording.Replay] otherwise.
func (r *Recording) At(ctx context.Context, tick uint64) (*engine.World, error) {
	w, err := r.Replay(ctx, tick)
	if err != nil {
		return nil, err
	}
	if f := r.show.player.Frame(); tick > r.first && f.Tick == tick {
		if found := w.Hash(); found != f.Hash {
			return w, &replay.MismatchError{Offset: f.Position.Offset + f.Position.Size - 8, Tick: tick, What: "state hash", Recorded: f.Hash, Replayed: found}
		}
	}
	return w, nil
}

// Replay brings the world that is looked at to a tick and returns it: what a replay gives, whether that was recorded or
// not. The world must not be changed, and is valid until the next call; calls must not overlap. The context ends the way there, and
// the next call goes on.
//
// Without an index the way back begins anew. When that has taken as long as the whole recording, Replay verifies it once, which
// gives it an index in memory.
func (r *Recording) Replay(ctx context.Context, tick uint64) (*engine.World, error) {
	const turn = 20 * time.Millisecond
	if err := r.prepare(ctx, tick); err != nil {
		return nil, err
	}
	for {
		switch err := r.show.to(tick, time.Now().Add(turn)); {
		case err == nil:
			return r.show.player.World, nil
		case err != errNotYet:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// prepare makes an index where that pays.
func (r *Recording) prepare(ctx context.Context, tick uint64) error {
	if err := r.has(tick); err != nil {
		return err
	}
	p := r.show.player
	if r.Live != nil || r.index.Load() != nil || p != nil && p.World.Tick() <= tick {
		return nil
	}
	if r.replayed += tick - r.first; r.replayed <= r.last-r.first {
		return nil
	}
	r.replayed = 0
	return r.Verify(ctx, nil)
}

// Frame returns the frame of a tick, to which it goes as Replay does. It is valid until the next call. The tick at
// which the recording begins has none.
func (r *Recording) Frame(ctx context.Context, tick uint64) (*replay.Frame, error) {
	if tick == r.first {
		return nil, fmt.Errorf("tick %d has no frame: the recording begins there", tick)
	}
	if _, err := r.Replay(ctx, tick); err != nil {
		return nil, err
	}
	return r.show.player.Frame(), nil
}

// Scenario returns the recording's scenario.
func (r *Recording) Scenario() *scenarios.Scenario { return r.scenario }
