package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/document"
)

// A wrongPart is a recording that ends with the first tick which is not as recorded.
type wrongPart struct {
	bytes []byte
	state []byte // at which it begins; nil: it holds that
	from  uint64 // its first tick
	last  replay.Frame
	given []givenView
	wrong string // in what its last tick differs
}

// shrinkWrong makes the smallest recording that does not verify, of one that does not: the state before the first tick which is not as recorded, and that tick as it was
// recorded. Where that state alone leads to what was recorded, it begins earlier.
func (j *shrinkJob) shrinkWrong(ctx context.Context, name string) error {
	tick, err := j.wrongTick(ctx, name)
	if err != nil {
		return err
	}
	x := &shrinking{shrinkJob: j, shrinkResult: shrinkResult{Event: "shrink", File: name, Output: j.output, First: tick}}
	if x.cursor, err = j.cursor(ctx, name, j.maxMemory, 2); err != nil {
		return j.Diverged(name, err)
	}
	defer x.cursor.Close()
	x.scenario = x.cursor.Scenario
	first, _ := x.cursor.Ticks()
	var part *wrongPart
	for back := uint64(1); part == nil; back *= 2 {
		at := tick - min(back, tick-first)
		switch part, err = x.wrongFrom(ctx, at, tick); {
		case ctx.Err() != nil:
			return session.Interrupted(name)
		case err != nil:
			return j.Diverged(name, err)
		case part == nil && at == first:
			return x.hides()
		}
		x.Trials++
	}
	return x.writeWrong(ctx, part)
}

// wrongTick is the first tick that is not as recorded.
func (j *shrinkJob) wrongTick(ctx context.Context, name string) (uint64, error) {
	v := j.Verify(ctx, name, session.Verification{Workers: j.workers, MaxMemory: j.maxMemory})
	blameless := j.blameless(name, v)
	switch {
	case ctx.Err() != nil:
		return 0, session.Interrupted(name)
	case v.OK:
		return 0, report.Exit(report.StatusNever, fmt.Errorf("%s: all of its %s are as recorded; to shrink it, say what is to become true in it", document.FileName(name), words.Count(v.Ticks, "tick")))
	case blameless != nil:
		return 0, blameless
	case v.Code != report.StatusDiverged || v.Tick == 0:
		return 0, j.Diverged(name, v.Err)
	}
	return uint64(v.Tick), nil
}

// noTickIsToBlame reports an error of a recording whose ticks all match, if they are computed in another way.
func noTickIsToBlame(err error) bool {
	_, hidden := errors.AsType[*index.HiddenError](err)
	_, workers := errors.AsType[*session.WorkersError](err)
	_, changes := errors.AsType[*session.ChangesError](err)
	return hidden || workers || changes
}

// blameless is the error for a recording that does not verify although no tick of it is to blame: computed in another way, or once more, all match. Nil: that is not so.
func (a *app) blameless(name string, v *session.Verdict) error {
	unsteady, twice := errors.AsType[*index.UnsteadyError](v.Err)
	switch {
	case twice:
		return report.Exit(v.Code, fmt.Errorf("%s: %s: %s; %s synctest may name the part", document.FileName(name), session.Twice(unsteady), session.Remembers, a.Name))
	case noTickIsToBlame(v.Err):
		return report.Exit(v.Code, fmt.Errorf("%s: it does not verify, but its ticks are not to blame; %s verify %s says more", document.FileName(name), a.Name, words.Argument(name)))
	}
	return nil
}

// accused is an error that says that a recording diverged, for a command that computes its ticks in its own way: verify has the last word.
func (a *app) accused(ctx context.Context, name string, limit session.Size, err error) error {
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Code != report.StatusDiverged {
		return err
	}
	v := a.Verify(ctx, name, session.Verification{MaxMemory: limit})
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(name)
	case v.OK:
		return fmt.Errorf("%s: every tick matches when it is verified, but not when it is computed in another way: %s; %s synctest may name the part",
			document.FileName(name), session.RemembersOrShares, a.Name)
	}
	return cmp.Or(a.blameless(name, v), err)
}

// wrongFrom is the part that begins at a state and ends with a wrong tick; nil: from that state alone the tick is as recorded.
func (x *shrinking) wrongFrom(ctx context.Context, at, tick uint64) (*wrongPart, error) {
	if err := x.cursor.Seek(at); err != nil {
		return nil, err
	}
	w, descriptor, state, err := startAt(x.cursor.World(), x.cursor.Head(), x.scenario, x.workers)
	if err != nil {
		return nil, err
	}
	if err := session.CheckNames(ctx, x.Session, x.File, x.scenario, at); err != nil {
		return nil, err
	}
	h := replay.HeaderOf(w, descriptor)
	h.Build = x.cursor.Head().Build // which came to what it says
	p := &wrongPart{state: state, from: at + 1}
	if err := p.copy(ctx, x, h, tick); err != nil {
		return nil, err
	}
	frames, err := replay.NewReader(bytes.NewReader(p.bytes))
	if err != nil {
		return nil, err
	}
	player, err := replay.NewPlayer(frames, func(*replay.Header) (*engine.World, error) { return w, nil })
	if err != nil {
		return nil, err
	}
	for err == nil && w.Tick() < tick {
		err = player.Step()
	}
	mismatch, wrong := errors.AsType[*replay.MismatchError](err)
	failed, fails := errors.AsType[*engine.TickError](err)
	switch {
	case wrong && mismatch.Tick == tick:
		p.wrong = fmt.Sprintf("%s recorded %s, replayed %s", mismatch.What, mismatch.Format(mismatch.Recorded), mismatch.Format(mismatch.Replayed))
		return p, nil
	case fails && failed.Tick == tick:
		p.wrong = "it was recorded, and fails in the replay: " + words.InWords(failed).Error()
		return p, nil
	}
	return nil, nil // an earlier one may be wrong from that state alone: it lacks what the world remembered
}

// copy copies the ticks of the part as they were recorded.
func (p *wrongPart) copy(ctx context.Context, x *shrinking, h replay.Header, tick uint64) error {
	rec, err := x.OpenRecording(ctx, x.File)
	if err != nil {
		return err
	}
	defer rec.Close()
	var b bytes.Buffer
	w, err := replay.NewWriter(&b, h)
	names := session.Names{Scenario: x.scenario}
	p.given = []givenView{}
	for f := &p.last; err == nil && f.Tick < tick; {
		if err = rec.Frames.Next(f); err == nil && f.Tick >= p.from {
			err = w.CopyFrame(f)
			for i := range f.Records {
				p.given = append(p.given, givenView{f.Tick, session.DescribeRecord(names, &f.Records[i])})
			}
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if err == nil {
		err = w.Flush()
	}
	p.bytes = b.Bytes()
	return err
}

// writeWrong writes the part, and says what it holds.
func (x *shrinking) writeWrong(ctx context.Context, part *wrongPart) error {
	p, err := x.placePart(ctx, x.output, part.state, x.force, append([]string{x.File}, x.States...))
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := p.file.Write(part.bytes); err != nil {
		return words.About(x.output, err)
	}
	if err := p.finish(); err != nil {
		return err
	}
	x.From, x.To, x.State, x.Wrong, x.Hash = part.from, part.last.Tick, p.stateName, part.wrong, words.Hash16(part.last.Hash)
	x.Commands, x.Recorded = part.given, len(part.given)
	if err := x.Emit(x.shrinkResult); err != nil {
		return err
	}
	return x.Say("%s", x.text())
}
