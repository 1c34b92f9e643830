package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
)

// An apartError reports a tick of a recording that fails in one replay here, while another one comes to something else: that accuses neither the
// recording nor the build.
type apartError struct {
	file     string
	tick     uint64 // that fails
	equal    uint64 // ticks before it
	recorded string // hash of the tick
	first    error
	second   error // nil: every tick matches
}

// Error implements error.
func (e *apartError) Error() string {
	then := "every tick matches"
	if e.second != nil {
		then = words.InWords(e.second).Error()
	}
	return fmt.Sprintf("%s was replayed twice here; first: %v; then: %s", words.Argument(e.file), words.InWords(e.first), then)
}

// verified replays a recording, notes how many ticks match, and returns the first tick that does not, or nil. It replays a recording again
// before it says that a tick fails; the error is an [*apartError] if the second replay comes to something else. Other errors are ready to be
// returned by a command.
func (j *Comparison) verified(ctx context.Context, s *Side) (wrong *replay.MismatchError, err error) {
	wrong, err = j.replayed(ctx, s)
	fails, failed := errors.AsType[*engine.TickError](err)
	if !failed || files.IsPipe(s.File) { // a pipe is read once
		return wrong, err
	}
	apart := &apartError{file: s.File, tick: fails.Tick, equal: s.Ticks, recorded: s.Hash, first: fails}
	wrong, again := j.replayed(ctx, s)
	switch other, failed := errors.AsType[*engine.TickError](again); {
	case ctx.Err() != nil:
		return nil, again
	case failed && other.Error() != fails.Error():
		apart.second = other
	case again != nil: // it fails again, or cannot be read any more
		return nil, err
	case wrong != nil:
		apart.second = wrong
	}
	return nil, apart
}

// apart sets the result to a tick that fails in one replay alone. No state of it is compared: another replay may come to a third thing.
func (j *Comparison) apart(s *Side, e *apartError) {
	r := &j.Result
	r.Status, r.Tick, r.Equal, r.Inputs = "ticks", e.tick, e.equal, nil
	s.Ticks, s.Hash = 0, e.recorded
	j.Apart = true
	j.Notes = append(j.Notes, e.Error(), "the world remembers something outside its state, or the machine fails; this tells nothing against the recording")
}

// Begins reports whether the recording begins at a saved state, so synctest does not take it.
func (s *Side) Begins() bool {
	begin, err := s.header.Begin()
	return begin != nil || err != nil
}
