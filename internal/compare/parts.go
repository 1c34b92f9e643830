package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// parts names the first part of the tick that differs, if it is asked for: between the sides,
// and for a side that is unstable between two of its computations.
func (j *Search) parts(ctx context.Context) error {
	if !j.Phases {
		return nil
	}
	a, b := j.Pair[0], j.Pair[1]
	if !j.parted() {
		x, err := j.standFor(ctx, a)
		if err != nil {
			return err
		}
		y, err := j.standFor(ctx, b)
		if err != nil {
			return err
		}
		if x != nil && y != nil {
			if err := j.between(ctx, *x, *y); err != nil {
				return err
			}
		}
	}
	for _, s := range j.Pair {
		if s.Stable == nil || *s.Stable {
			continue
		}
		traced := slices.DeleteFunc(slices.Clone(s.tries), func(t Computation) bool { return t.failure != "" || t.parts == nil })
		if i := slices.IndexFunc(traced, func(t Computation) bool { return t.hash != traced[0].hash }); i > 0 {
			j.apart(j.Letter(s), traced[0], traced[i])
		}
	}
	return nil
}

// parted reports whether two replays of a recording came to different things: then none of them stands for it.
func (j *Search) parted() bool {
	return len(j.Sides) > 0 && j.Sides[0].earlier.hash+j.Sides[0].earlier.failure != ""
}

// between names the first part that differs between the sides. No part is at fault if the sides
// differ before the tick already.
func (j *Search) between(ctx context.Context, x, y Computation) error {
	p := session.FirstPart(x.parts, y.parts)
	if p == nil {
		if x.hash != y.hash {
			j.Notes = append(j.Notes, fmt.Sprintf("the parts of tick %s are equal in a and b, though its hashes are not", words.Number(j.Found.Tick)))
		}
		return nil
	}
	equal, known, err := j.equalBefore(ctx)
	switch {
	case err != nil:
		return err
	case known && !equal:
		j.Found.DifferBefore = true
		return nil
	}
	j.apart("", x, y)
	if !known && p.Index == 1 {
		j.Unsure = true
		j.Notes = append(j.Notes, fmt.Sprintf("there are no hashes of tick %s of both, which may differ already", words.Number(j.Found.Tick-1)))
	}
	return nil
}

// equalBefore reports whether the sides are equal before the tick that differs, and whether that
// is known.
func (j *Search) equalBefore(ctx context.Context) (equal, known bool, err error) {
	a, b := j.Pair[0], j.Pair[1]
	switch {
	case j.Found.EqualTick+1 == j.Found.Tick && j.Found.EqualTick > 0, a.Recording == nil && b.Replay:
		return true, true, nil
	case j.Alike(): // two recordings
		return !j.others && j.Result.State != nil && j.Result.State.Tick == j.Found.Tick, true, nil
	}
	var hashes [2]string
	for i, s := range j.Pair {
		if hashes[i], err = j.hashBefore(ctx, s); err != nil || hashes[i] == "" {
			return false, false, err
		}
	}
	return hashes[0] == hashes[1], true, nil
}

// hashBefore returns the hash that a side has before the tick that differs, or "" if it is not
// known: a recording that begins at a state has none of it, and some programs have none of tick 0.
func (j *Search) hashBefore(ctx context.Context, s *SearchSide) (string, error) {
	tick := j.Found.Tick - 1
	if s.Program == nil {
		if hash, ok := s.hashes.Hash(tick); ok {
			return words.Hash16(hash), nil
		}
		return s.Recording.genesis, nil
	}
	x, err := j.askAgain(ctx, s, tick)
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", nil
	}
	return x.hash, nil
}

// standFor returns a computation that came to the hash of a side, whose parts stand for its
// own; nil and a note if there is none.
func (j *Search) standFor(ctx context.Context, s *SearchSide) (*Computation, error) {
	d, tries := s.Recording, s.tries
	if d == nil && s.Program == nil && j.Pair[1].Replay { // the recorded tick
		d, tries = j.Pair[1].Recording, j.Pair[1].tries
	}
	for i := range tries {
		if t := &tries[i]; t.hash == s.Hash && t.parts != nil {
			return t, nil
		}
	}
	switch {
	case s.table != nil:
		j.Notes = append(j.Notes, words.Argument(s.File)+" has hashes of whole ticks alone, not of their parts")
		return nil, nil
	case s.Program != nil:
		j.Notes = append(j.Notes, fmt.Sprintf("%s printed no parts of tick %s; with --phases seek prints them", j.Letter(s), words.Number(j.Found.Tick)))
		return nil, nil
	case d == nil || d.Visit == nil || d.trace == nil:
		return nil, nil
	}
	recorded := fmt.Sprintf(" comes to the hash that %s has of tick %s", words.Argument(s.File), words.Number(j.Found.Tick))
	for _, workers := range []int{1, 2} {
		t, err := j.with(ctx, d, workers)
		if err != nil {
			return nil, err
		}
		if t != nil && t.hash == s.Hash {
			j.Notes = append(j.Notes, fmt.Sprintf("this build%s with %s", recorded, words.Count(uint64(workers), "worker")))
			return t, nil
		}
	}
	if other := j.Pair[1].Program; other != nil && j.Pair[1].Hash == d.Replayed {
		changed := " the file was changed,"
		if j.sealed(d) {
			changed = ""
		}
		j.Notes, j.Neither = append(j.Notes, "neither build"+recorded+": a third one recorded it,"+changed+" or the run went on from a state and remembers something outside it, which synctest may name"), true
		return nil, nil
	}
	note := "nothing here" + recorded
	if !j.Unsteady {
		j.Found.Next = j.older(s)
		note += "; put the build that recorded it for OLD, also if that is this one: each time that it is asked is another process"
	}
	j.Notes = append(j.Notes, note)
	for _, f := range j.Result.Tiles {
		if by := d.trace.Changing(f.Field); f.Field != engine.WorldRest && len(by) > 0 {
			j.Notes = append(j.Notes, f.Field+" is changed by "+strings.Join(by, ", "))
		}
	}
	return nil, nil
}

// older is the command that names the part with the help of the build that recorded a side.
func (j *Search) older(s *SearchSide) string {
	file, other := words.Argument(s.File), j.Pair[1].Program
	if other == nil {
		return fmt.Sprintf("%s bisect %s --phases%s%s --command %s", j.Opener.Name, file, j.WorkersFlag(), j.Flags(true), words.Argument("OLD seek "+file+" --no-index --tick {tick} --phases --json"+j.Flags(false)))
	}
	return fmt.Sprintf("OLD bisect %s --phases%s --command %s", file, j.Flags(true), words.Argument(words.Printable(j.Pair[1].Command)))
}

// WorkersFlag is the number of workers as it is typed, if one was asked for.
func (j *Search) WorkersFlag() string {
	if j.Workers == 0 {
		return ""
	}
	return fmt.Sprintf(" --workers %d", j.Workers)
}

// with computes the tick with a number of workers; nil if that fails.
func (j *Search) with(ctx context.Context, d *Side, workers int) (*Computation, error) {
	one := j.Visitor
	one.Workers = workers
	v, err := d.revisit(ctx, &one, j.Found.Tick-1)
	if ctx.Err() != nil {
		return nil, session.Interrupted(d.File)
	}
	if err != nil {
		return nil, nil
	}
	defer v.Close()
	t := d.again(v.World, nil)
	return &t, nil
}

// apart notes the first part in which two computations differ.
func (j *Search) apart(side string, x, y Computation) {
	p := session.FirstPart(x.parts, y.parts)
	if p == nil {
		return
	}
	p.Side = side
	if x.trace != nil && y.trace != nil && len(p.Fields) > 0 {
		if w, other := j.Worlds(side); shapes(w, other) == "" {
			p.Values(w, j.Found.Tick, x.trace, y.trace)
			if p.State == nil {
				j.Notes = append(j.Notes, fmt.Sprintf("the values after %s are not shown: what the parts of the tick wrote takes more than %s", p.Part, words.Size(session.MostTraced)))
			}
		}
	}
	j.Found.Parts = append(j.Found.Parts, *p)
}

// Worlds returns those of the two sides, or twice that of one of them.
func (j *Search) Worlds(side string) (a, b *engine.World) {
	x, y := j.Pair[0].Recording, j.Pair[1].Recording
	if x == nil || side == "b" {
		x = y
	}
	if y == nil || side == "a" {
		y = x
	}
	return x.Visit.World, y.Visit.World
}
