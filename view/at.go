package view

import (
	"context"
	"fmt"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// At brings the world on show to a tick, checks its hash, and returns it. If the replay gives another hash than the
// recording, At returns the world together with a [*replay.MismatchError]. Otherwise it behaves like [Recording.Replay].
func (r *Recording) At(ctx context.Context, tick uint64) (*engine.World, error) {
	w, err := r.Replay(ctx, tick)
	if err != nil {
		return nil, err
	}
	if r.show.wrong(tick) {
		return w, r.show.mismatch(tick)
	}
	return w, nil
}

// Replay brings the world on show to a tick and returns it. The world is what the replay gives, whether or not it matches the
// recording. The caller must not change it; it is valid until the next call. Calls must not overlap. If the context ends on the
// way, the next call continues from there.
//
// Without an index, going back means starting over. Once that has cost as many ticks as the recording has, Replay verifies the
// recording, which builds an index in memory.
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

// prepare builds an index if that pays.
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

// Frame returns the frame of a tick, after going there as Replay does. The frame is valid until the next call. The
// tick at which the recording begins has no frame.
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
