package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// rerun goes to the tick of one recording that differs or fails, as the error of a first replay says, and compares it with what is known
// of the recorded run.
func (j *Comparison) rerun(ctx context.Context, s *Side, first error) error {
	j.All = true
	if build := replay.ThisBuild(); s.header.Build != build {
		j.Notes = append(j.Notes, fmt.Sprintf("recorded by %s, replayed by %s", session.DescribeBuild(s.header.Build), session.DescribeBuild(build)))
	}
	if steady, err := j.secondly(ctx, s, first); err != nil || !steady { // then the difference is not in the recorded run
		return err
	}
	if s.Err != nil {
		if s.Replayed == "" { // the tick fails
			return first
		}
		j.noState(s)
		return nil
	}
	s.given = len(s.Visit.Frame().Records) > 0
	x := j.indexOfRun(s, true)
	other := x != nil && j.located(s, s.Visit.World, x)
	err := j.goOn(ctx, s)
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(s.File)
	case err != nil:
		return err
	case s.after > 0:
		j.Result.Inputs = nil // commands that people gave are no evidence against a program
		return nil
	}
	if j.Result.Inputs != nil {
		j.Notes = append(j.Notes, "people and programs give commands that are not the scenario's, too; that alone is no fault")
	}
	if !other {
		return nil
	}
	s.Visit.Close() // it has read the frame after the tick
	s.Visit = nil
	if steady, err := j.secondly(ctx, s, first); err != nil || !steady {
		j.Result.Tiles = nil
		return err
	}
	if s.Err != nil {
		j.noState(s)
		return nil
	}
	if err = j.recordedState(ctx, s, s.Visit.Index); ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	return err
}

// secondly replays a recording through the tick that differs or fails, as an error of a first replay says, and reports whether that comes to the same.
// If it does not, the tick in which the two replays part is the result, and the state is that of the second one.
func (j *Comparison) secondly(ctx context.Context, s *Side, first error) (steady bool, err error) {
	r, came := &j.Result, s.Replayed
	s.Err = j.replayTick(ctx, s)
	if ctx.Err() != nil {
		return false, session.Interrupted(s.File)
	}
	second := s.Err
	if second == nil && s.Visit.Frame().Hash != s.Visit.World.Hash() {
		second = &replay.MismatchError{Tick: r.Tick, What: "state hash", Recorded: s.Visit.Frame().Hash, Replayed: s.Visit.World.Hash()}
	}
	e, unsteady := errors.AsType[*index.UnsteadyError](index.Unsteady(first, second))
	s.Replayed = came
	if !unsteady {
		return true, nil
	}
	j.Unsteady, s.earlier = true, Computation{hash: came}
	if failed, ok := errors.AsType[*engine.TickError](first); ok {
		s.earlier.failure = words.Bare(failed)
	}
	j.Notes = append(j.Notes, session.Twice(e)+": "+session.Remembers+"; this tells nothing against the recording")
	if e.Tick < r.Tick {
		r.Equal -= r.Tick - e.Tick
		r.Tick, r.Inputs, s.Replayed = e.Tick, nil, ""
		if wrong, ok := errors.AsType[*replay.MismatchError](second); ok {
			s.Replayed = words.Hash16(wrong.Replayed)
		}
	}
	return false, j.recordedHash(ctx, s)
}

// mostAfter is how many ticks are replayed after one that differs.
const mostAfter = 1000

// goOn notes how many ticks after the one that differs match, of the next ones, and if any does, whether the one that differs comes to
// the same when it is computed again. The world is in that tick again.
func (j *Comparison) goOn(ctx context.Context, s *Side) error {
	w := s.Visit.World
	here := session.KeepTick(w)
	if here.State == nil {
		return nil
	}
	for s.after < mostAfter && ctx.Err() == nil && s.Visit.Step() == nil {
		s.after++
	}
	for i := 0; i < Repeats && s.after > 0 && s.kept.State != nil && !j.Unsteady; i++ {
		if err := w.LoadTick(nil, s.kept.State, s.kept.Rest); err != nil {
			return err
		}
		_, err := w.Replay(s.kept.Inputs)
		j.Unsteady = err != nil || words.Hash16(w.Hash()) != s.Replayed
	}
	return w.LoadTick(nil, here.State, here.Rest)
}

// lone says what may be the reason where the ticks after the one that differs match. It accuses neither the file nor a program: a hash that
// was changed in the file looks like a state that was another for one tick.
func (j *Comparison) lone(s *Side) {
	if s.after == 0 {
		return
	}
	text := fmt.Sprintf("the %s after it match", words.Count(s.after, "tick"))
	if s.after == 1 {
		text = "the tick after it matches"
	}
	tick := "tick " + words.Number(j.Result.Tick)
	then := tick + " was computed differently then, by another build or with something outside of the state"
	changed := "in its hash alone"
	if s.given {
		changed = "in its hash, or in a command, of which nothing is left a tick later, or its source or arrival"
	}
	switch {
	case j.Unsteady:
		text += "; " + tick + " does not come to the same each time here: it depends on something outside of the state"
	case j.sealed(s):
		text += ", and the file is as a program of yours sealed it: " + then
	case len(j.Result.Tiles) > 0:
		text += "; its index, unchecked, has another state of " + tick + ", so it was computed differently then, by another build or with something outside of the state, unless both files were changed"
	default:
		text += "; either the file was changed there, " + changed + ", or " + then
	}
	j.Notes = append(j.Notes, text)
}

// sealed reports whether the index of a recording has a seal of this user on what it holds up to the tick that differs, at least: then
// a program of the user computed all of these hashes.
func (j *Comparison) sealed(s *Side) bool {
	if s.Visit == nil || s.Visit.Index == nil || s.Visit.Index.Belongs(s.header) != nil {
		return false
	}
	for _, tick := range s.Visit.Index.SealedTicks() {
		if tick < j.Result.Tick {
			continue
		}
		if _, vouched := s.Visit.Index.Vouched(s.Visit.Player, s.Visit.File, tick); vouched {
			return true
		}
	}
	return false
}

// recordedHash notes the hash that a recording has of the tick that differs.
func (j *Comparison) recordedHash(ctx context.Context, s *Side) error {
	rec, err := j.open(ctx, s)
	if err != nil {
		return err
	}
	defer rec.Close()
	hashes, _ := session.RecordedHashes(ctx, rec.Frames)
	if hash, has := hashes.Hash(j.Result.Tick); has {
		s.Hash = words.Hash16(hash)
	}
	return nil
}

// Begins reports whether the recording begins at a saved state, so synctest does not take it.
func (s *Side) Begins() bool {
	begin, err := s.header.Begin()
	return begin != nil || err != nil
}
