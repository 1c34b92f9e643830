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

// rerun goes to the tick of one recording that differs, and compares it with what is known
// of the recorded run.
func (j *Comparison) rerun(ctx context.Context, s *Side) error {
	if build := replay.ThisBuild(); s.header.Build != build {
		j.Notes = append(j.Notes, fmt.Sprintf("recorded by %s, replayed by %s", session.DescribeBuild(s.header.Build), session.DescribeBuild(build)))
	}
	steady := j.goTo(ctx, s)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if s.Err != nil {
		j.noState(s)
		return nil
	}
	if !steady { // the difference is not in the recorded run
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
	if x = j.goBack(ctx, s); x != nil {
		err = j.recordedState(ctx, s, x)
	}
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	return err
}

// goBack goes to the tick that differs once more, because the visit has read the frame after it, and returns the index; nil if the tick
// does not come to the same.
func (j *Comparison) goBack(ctx context.Context, s *Side) *session.OpenedIndex {
	replayed := s.Replayed
	s.Visit.Close()
	s.Visit = nil
	switch s.Err = j.replayTick(ctx, s); {
	case ctx.Err() != nil:
		return nil
	case s.Err != nil:
		j.noState(s)
		return nil
	case s.Replayed != replayed:
		j.Unsteady, s.Replayed = true, replayed
		return nil
	}
	return s.Visit.Index
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
		if _, vouched := s.Visit.Index.Vouched(s.Visit.File, tick); vouched {
			return true
		}
	}
	return false
}

// goTo replays a recording up to the tick that differs, and through it, and reports whether it comes to what it came to
// before. Where what this build computes depends on more than the state, another replay may differ at an earlier tick,
// which is then the one, or not at all: then it is replayed again.
func (j *Comparison) goTo(ctx context.Context, s *Side) (steady bool) {
	r, first := &j.Result, s.Replayed
	found, lucky := r.Tick, 0
	const tries = 8
	for {
		s.Err = j.replayTick(ctx, s)
		wrong, other := errors.AsType[*replay.MismatchError](s.Err)
		failed, fails := errors.AsType[*engine.TickError](s.Err)
		switch {
		case fails && failed.Tick < r.Tick && j.recordedHash(ctx, s, failed.Tick):
			j.Notes = append(j.Notes, fmt.Sprintf("one replay here comes through tick %s, another one comes to %s in it", words.Number(failed.Tick), index.Failure(failed)))
			j.Unsteady = true
			r.Equal -= r.Tick - failed.Tick
			r.Tick, r.Inputs, first = failed.Tick, nil, ""
			continue
		case fails && failed.Tick == r.Tick && first != "":
			j.Notes = append(j.Notes, fmt.Sprintf("tick %s was computed twice here, and came to %s and to %s", words.Number(r.Tick), first, index.Failure(failed)))
			j.Unsteady = true
		case other && wrong.Tick != 0 && wrong.Tick < r.Tick:
			r.Equal -= r.Tick - wrong.Tick
			r.Tick, r.Inputs = wrong.Tick, nil
			s.Hash, first = words.Hash16(wrong.Recorded), words.Hash16(wrong.Replayed)
			continue
		case s.Err == nil && s.Replayed == s.Hash && lucky < tries:
			lucky++
			s.Visit.Close()
			s.Visit = nil
			continue
		}
		break
	}
	if r.Tick < found && first != "" {
		j.Notes = append(j.Notes, fmt.Sprintf("one replay here differs at tick %s, another at tick %s already", words.Number(found), words.Number(r.Tick)))
	}
	if lucky > 0 {
		j.Lucky = true
		j.Notes = append(j.Notes, fmt.Sprintf("of %d replays here some come to the recorded hash of tick %s", lucky+2, words.Number(r.Tick)))
	}
	steady = r.Tick == found && lucky == 0 && s.Replayed == first
	if s.Err == nil && r.Tick == found && s.Replayed != s.Hash && s.Replayed != first {
		j.Unsteady = true
		j.Notes = append(j.Notes, fmt.Sprintf("tick %s was computed twice here, and came to %s and to %s", words.Number(r.Tick), first, s.Replayed))
	}
	if s.Err != nil || s.Replayed == s.Hash {
		s.Replayed = first
	}
	return steady
}

// recordedHash notes the hash that a recording has of a tick, and reports whether it has one.
func (j *Comparison) recordedHash(ctx context.Context, s *Side, tick uint64) bool {
	rec, err := j.open(ctx, s)
	if err != nil {
		return false
	}
	defer rec.Close()
	hashes, _ := session.RecordedHashes(ctx, rec.Frames)
	hash, has := hashes.Hash(tick)
	if has {
		s.Hash = words.Hash16(hash)
	}
	return has
}
