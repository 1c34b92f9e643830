// Package compare finds the tick at which two runs part, and what differs. It compares recordings, their replays, tables of hashes, and programs that print hashes.
package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/replay/index"
)

// A Comparison is one of two recordings, or of one with a replay of it.
type Comparison struct {
	session.Visitor
	Result Result
	Sides  []*Side
	Notes  []string
	Common uint64 // ticks that both recordings have
	begins bool   // a recording begins with the tick that differs
	others bool   // they are worlds of other spaces or fields
	Keep   bool   // what it takes to compute that tick again
	Phases bool   // trace the parts of that tick

	Unsteady bool // what this build computes for that tick is not the same each time

	Compared [2][]byte // the states of the report
}

// Compare compares two recordings, or one with a replay of it, into the result. The caller closes the comparison, also after an error, which is
// ready to be returned by a command.
func (j *Comparison) Compare(ctx context.Context, names []string) error {
	j.Result = Result{Event: "diff"}
	find, held := j.recordings, uint64(3) // two worlds and states of both
	if len(names) == 1 {
		find, held = j.replay, 2
	}
	j.MaxMemory = j.MaxMemory.Share(held)
	for _, name := range names {
		j.Sides = append(j.Sides, &Side{SideView: SideView{File: name}})
	}
	err := find(ctx)
	if len(names) == 1 {
		j.lone(j.Sides[0])
	}
	return err
}

// Close closes the recordings. The worlds of the sides stay.
func (j *Comparison) Close() {
	for _, s := range j.Sides {
		if s.Visit != nil {
			s.Visit.Close()
		} else {
			s.index.Close()
		}
	}
}

// Complete completes the result but for its notes.
func (j *Comparison) Complete() {
	r := &j.Result
	r.OK = r.Status == "equal"
	r.A = j.Sides[0].SideView
	if len(j.Sides) == 2 {
		r.B = &j.Sides[1].SideView
	}
}

// recordings compares two recordings.
func (j *Comparison) recordings(ctx context.Context) error {
	a, b := j.Sides[0], j.Sides[1]
	var sources []replay.Source
	for _, s := range j.Sides {
		rec, err := j.open(ctx, s)
		if err != nil {
			return err
		}
		defer rec.Close()
		s.Scenario, _ = j.Opener.ScenarioOf(s.header)
		s.Planned = planned(s.Scenario)
		sources = append(sources, rec.Frames)
	}
	m := j.Opener.Meter(max(a.Planned, b.Planned))
	f, err := diff.Recordings(sources[0], sources[1], func(tick uint64) error {
		m.Show(tick)
		return ctx.Err()
	})
	m.Clear()
	if err != nil {
		return session.Interrupted(a.File)
	}
	j.Result.Header = headerValues(a.header, b.header)
	a.note(&f.A)
	b.note(&f.B)
	return j.judge(ctx, f)
}

// open opens the recording of a side.
func (j *Comparison) open(ctx context.Context, s *Side) (*session.Recording, error) {
	rec, err := j.Opener.OpenRecording(ctx, s.File)
	if ctx.Err() != nil {
		return nil, session.Interrupted(s.File)
	}
	if err != nil {
		return nil, j.Opener.About(s.File, err)
	}
	_, bytes := rec.Frames.(*replay.Reader)
	s.header, s.lines = rec.Frames.Head(), !bytes
	if j.Index == "" {
		return rec, nil
	}
	x, err := j.IndexOf(s.File) // an error, whether it turns out to be of use or not
	if err == nil {
		defer x.Close()
		if err = j.CheckIndex(x, s.header); err == nil {
			return rec, nil
		}
		err = words.About(s.File, err)
	}
	rec.Close()
	return nil, err
}

// judge sets the result of comparing two files, and goes on to the states.
func (j *Comparison) judge(ctx context.Context, f *diff.Frames) error {
	r := &j.Result
	r.Tick, r.Equal, r.Differing = f.First, f.Equal, f.Differing
	j.Common = f.Common
	j.begins = f.First != 0 && (f.First == f.A.Begin || f.First == f.B.Begin)
	damaged := false
	for _, s := range j.Sides {
		if s.Damage != nil && f.First == 0 {
			return fmt.Errorf("%w\n  %s in both%s", words.About(s.File, s.Damage), r.Before(), j.Opener.Hint(s.File, s.Damage))
		}
		damaged = damaged || s.Damage != nil
	}
	switch {
	case f.First != 0:
		r.Status = "ticks"
		j.commands(f)
		return j.states(ctx)
	case f.A.Ticks != f.B.Ticks || f.A.Begin != f.B.Begin:
		r.Status = "length"
	case len(r.Header) > 0:
		r.Status = "header"
	default:
		r.Status = "equal"
	}
	return nil
}

// commands notes in which commands the first tick differs.
func (j *Comparison) commands(f *diff.Frames) {
	a, b := session.Names{Scenario: j.Sides[0].Scenario}, session.Names{Scenario: j.Sides[1].Scenario}
	diff.Records(f.A.Records, f.B.Records, func(x, y *replay.Record) {
		var p valuePair
		if x != nil {
			p.A = session.DescribeRecord(a, x)
		}
		if y != nil {
			p.B = session.DescribeRecord(b, y)
		}
		j.Result.CommandsDiffer++
		if len(j.Result.Commands) < diff.MaxDifferences {
			j.Result.Commands = append(j.Result.Commands, p)
		}
	})
	if f.Commands > f.First {
		j.Notes = append(j.Notes, fmt.Sprintf("the commands are the same up to tick %s, which has others", words.Number(f.Commands)))
	}
}

// note copies what was read from a file to the result.
func (s *Side) note(r *diff.Recording) {
	s.First, s.Ticks, s.Damage = r.Begin, r.Ticks, r.Err
	if r.Ticks > 0 {
		s.Hash = words.Hash16(r.Hash)
	}
	if s.Damage != nil {
		s.Error = words.InWords(s.Damage).Error()
	}
}

// replay compares a recording with a replay of it.
func (j *Comparison) replay(ctx context.Context) error {
	s, r := j.Sides[0], &j.Result
	first := j.replayed(ctx, s)
	if first == nil {
		r.Equal, r.Status = s.Ticks, "equal"
		return nil
	}
	if !index.Disputes(first) || files.IsPipe(s.File) { // which is read once
		return first
	}
	r.Equal, r.Status, s.Ticks = s.Ticks, "ticks", 0
	if wrong, ok := errors.AsType[*replay.MismatchError](first); ok {
		r.Tick, s.Hash, s.Replayed = wrong.Tick, words.Hash16(wrong.Recorded), words.Hash16(wrong.Replayed)
	} else if failed, ok := errors.AsType[*engine.TickError](first); ok {
		r.Tick = failed.Tick
	}
	return j.rerun(ctx, s, first)
}

// replayed replays a recording, and notes how many ticks match and the hash that is recorded of the last tick that it read. Its error is ready to
// be returned by a command.
func (j *Comparison) replayed(ctx context.Context, s *Side) error {
	rec, err := j.open(ctx, s)
	if err != nil {
		return err
	}
	defer rec.Close()
	p, err := rec.Player(ctx, j.Workers, j.MaxMemory)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if err != nil {
		return j.Opener.Diverged(s.File, err)
	}
	s.Scenario = rec.Scenario
	s.Planned = planned(s.Scenario)
	given, err := rec.GivenInputs(p.World)
	if err != nil {
		return words.About(s.File, err)
	}
	noticed := &session.NoticedInputs{GivenInputs: given}
	p.Source = noticed
	m := j.Opener.Meter(s.Planned)
	p.Before = func() error {
		m.Show(p.World.Tick())
		return ctx.Err()
	}
	s.Ticks, err = p.Verify()
	m.Clear()
	switch {
	case ctx.Err() != nil:
		return words.About(s.File, words.NewProblem(session.Interruption(s.Ticks), ctx.Err()))
	case err == nil:
		s.Hash = words.Hash16(p.World.Hash())
		return nil
	}
	s.Hash = words.Hash16(p.Frame().Hash)
	if wrong, ok := errors.AsType[*replay.MismatchError](err); ok {
		if e, ok := errors.AsType[*session.InputsError](noticed.Other); ok && e.Tick == wrong.Tick {
			j.Result.Inputs = e
		}
	}
	_, code := session.Outcome(err)
	return report.Exit(code, fmt.Errorf("%w\n  the %s before it match", words.About(s.File, err), words.Count(s.Ticks, "tick")))
}
