package session

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/index"
)

// A WorkersError reports a recording of which all ticks match with the workers that other commands take, but not if one computes them: a part of its
// world depends on how cells are shared among workers.
type WorkersError struct {
	Err error // what one worker finds
}

// Error implements error.
func (e *WorkersError) Error() string {
	return "every tick matches, but not when one worker computes it: " + words.Bare(e.Err)
}

// Unwrap returns what one worker finds.
func (e *WorkersError) Unwrap() error { return e.Err }

// ofOneWorker reports an error of worlds with one worker each that may not be one if several workers compute them, as they do where there is no index.
func ofOneWorker(err error) bool {
	_, hidden := errors.AsType[*index.HiddenError](err)
	_, unsteady := errors.AsType[*index.UnsteadyError](err)
	return !hidden && !unsteady && index.Disputes(err)
}

// shared replays a recording once more that is not as recorded where one worker computes it, with the workers that diff and bisect take, so that they
// say the same. If this comes to something else, one worker computes it again, before their number is blamed.
func (j *verifying) shared(ctx context.Context, one error) error {
	if !ofOneWorker(one) {
		return one
	}
	p, ticks, many := j.anew(ctx, j.Workers, false)
	if p == nil || many != nil && index.Unsteady(one, many) == nil {
		return cmp.Or(ctx.Err(), one)
	}
	alone, matched, again := j.anew(ctx, 1, false)
	switch {
	case alone == nil || again != nil && !index.Disputes(again):
		return cmp.Or(ctx.Err(), one)
	case again == nil:
		j.v.Ticks = matched
		return cmp.Or(j.ended(alone.world, alone.runDigest()), error(&index.HiddenError{From: j.v.begin, Once: true, Err: one}))
	}
	if other := index.Unsteady(one, again); other != nil {
		j.v.Ticks = matched
		return other
	}
	if j.v.Ticks = ticks; many != nil {
		return many
	}
	return cmp.Or(j.ended(p.world, p.runDigest()), error(&WorkersError{one}))
}

// anew opens and replays the recording once more, whole or tick by tick, and returns how many ticks match and what is found then; no world: it cannot be replayed.
func (j *verifying) anew(ctx context.Context, workers int, stepped bool) (*played, uint64, error) {
	rec, err := j.OpenRecording(ctx, j.v.File)
	if err != nil {
		return nil, 0, err
	}
	defer rec.Close()
	other := *j
	other.Workers = workers
	p, err := other.start(ctx, rec)
	if err != nil {
		return nil, 0, err
	}
	if !stepped {
		ticks, err := p.whole(ctx.Err)
		return p, ticks, err
	}
	for ticks := uint64(0); ; ticks++ {
		if _, err := p.step(); err == io.EOF {
			return p, ticks, nil
		} else if err := cmp.Or(err, ctx.Err()); err != nil {
			return p, ticks, err
		}
	}
}
