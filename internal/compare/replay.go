package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// againstReplay compares a recording with its replay here, if the program that is the other
// side agrees with the recording at the last of n ticks. It returns the number of the tick that
// differs, or 0, and whether the program stands in for the recorded run there, because it gives
// the recorded hashes of that tick and of the one before it. If it does not, it is the program
// that differs from the recording.
func (j *Search) againstReplay(ctx context.Context, n uint64, at func(i uint64) uint64) (first uint64, standsIn bool, err error) {
	a, b := j.Pair[0], j.Pair[1]
	if a.Recording == nil || b.Program == nil {
		return 0, false, nil
	}
	tick, err := j.otherReplay(ctx, a)
	if err != nil || tick == 0 {
		return 0, false, err
	}
	for first = 1; first <= n && at(first) != tick; first++ {
	}
	if first > n {
		j.Notes = append(j.Notes, fmt.Sprintf("a replay of %s here differs from it at tick %s, which is not compared", words.Argument(a.File), words.Number(tick)))
		return 0, false, nil
	}
	for i := first; i >= max(first-1, 1); i-- {
		if equal, err := j.same(ctx, at(i)); err != nil {
			return 0, false, err
		} else if !equal {
			first, err = j.first(ctx, i, at)
			return first, false, err
		}
	}
	return first, true, nil
}

// otherReplay returns the first tick in which the replay of a recording here differs from it;
// 0 and a note if there is none, or no replay.
func (j *Search) otherReplay(ctx context.Context, s *SearchSide) (tick uint64, err error) {
	err = j.replayed(ctx, s.Recording)
	if failed, ok := errors.AsType[*engine.TickError](err); ok && !files.IsPipe(s.File) {
		if e, ok := errors.AsType[*index.UnsteadyError](index.Unsteady(failed, j.replayed(ctx, s.Recording))); ok {
			err = errors.New(session.Twice(e))
		}
	}
	wrong, _ := errors.AsType[*replay.MismatchError](err)
	exit, _ := errors.AsType[*report.Error](err)
	switch {
	case wrong != nil && wrong.Tick > 0:
		s.Recording.Replayed = words.Hash16(wrong.Replayed)
		return wrong.Tick, nil
	case ctx.Err() != nil, exit != nil && exit.Code == report.StatusDiverged: // it fails
		return 0, err
	case err == nil:
		j.Notes = append(j.Notes, fmt.Sprintf("the replay of %s here is equal, too", words.Argument(s.File)))
	case s.damage == nil: // which is told anyway
		reason, _, _ := strings.Cut(err.Error(), "\n")
		j.Notes = append(j.Notes, "there is no replay here: "+reason)
	}
	return 0, nil
}
