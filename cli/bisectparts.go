package cli

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
func (j *bisectJob) parts(ctx context.Context) error {
	if !j.phases {
		return nil
	}
	a, b := j.pair[0], j.pair[1]
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
	for _, s := range j.pair {
		if s.Stable == nil || *s.Stable {
			continue
		}
		if i := slices.IndexFunc(s.tries, func(t try) bool { return t.hash != s.tries[0].hash && t.failure == "" }); i > 0 {
			j.apart(j.letter(s), s.tries[0], s.tries[i])
		}
	}
	return nil
}

// between names the first part that differs between the sides. No part is at fault if the sides
// differ before the tick already.
func (j *bisectJob) between(ctx context.Context, x, y try) error {
	p := session.FirstPart(x.parts, y.parts)
	if p == nil {
		if x.hash != y.hash {
			j.notes = append(j.notes, fmt.Sprintf("the parts of tick %s are equal in a and b, though its hashes are not", words.Number(j.found.Tick)))
		}
		return nil
	}
	equal, known, err := j.equalBefore(ctx)
	switch {
	case err != nil:
		return err
	case known && !equal:
		j.found.DifferBefore = true
		return nil
	}
	j.apart("", x, y)
	if !known && p.Index == 1 {
		j.unsure = true
		j.notes = append(j.notes, fmt.Sprintf("there are no hashes of tick %s of both, which may differ already", words.Number(j.found.Tick-1)))
	}
	return nil
}

// equalBefore reports whether the sides are equal before the tick that differs, and whether that
// is known.
func (j *bisectJob) equalBefore(ctx context.Context) (equal, known bool, err error) {
	a, b := j.pair[0], j.pair[1]
	switch {
	case j.found.EqualTick+1 == j.found.Tick && j.found.EqualTick > 0, a.recording == nil && b.Replay:
		return true, true, nil
	case j.compared(): // two recordings
		return !j.others && j.result.State != nil && j.result.State.Tick == j.found.Tick, true, nil
	}
	var hashes [2]string
	for i, s := range j.pair {
		if hashes[i], err = j.hashBefore(ctx, s); err != nil || hashes[i] == "" {
			return false, false, err
		}
	}
	return hashes[0] == hashes[1], true, nil
}

// hashBefore returns the hash that a side has before the tick that differs, or "" if it is not
// known: a recording that begins at a state has none of it, and some programs have none of tick 0.
func (j *bisectJob) hashBefore(ctx context.Context, s *bisectSide) (string, error) {
	tick := j.found.Tick - 1
	if s.program == nil {
		if hash, ok := s.hashes.Hash(tick); ok {
			return words.Hash16(hash), nil
		}
		return s.recording.genesis, nil
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
func (j *bisectJob) standFor(ctx context.Context, s *bisectSide) (*try, error) {
	d, tries := s.recording, s.tries
	if d == nil && s.program == nil && j.pair[1].Replay { // the recorded tick
		d, tries = j.pair[1].recording, j.pair[1].tries
	}
	for i := range tries {
		if t := &tries[i]; t.hash == s.Hash && t.parts != nil {
			return t, nil
		}
	}
	switch {
	case s.table != nil:
		j.notes = append(j.notes, words.Argument(s.File)+" has hashes of whole ticks alone, not of their parts")
		return nil, nil
	case s.program != nil:
		j.notes = append(j.notes, fmt.Sprintf("%s printed no parts of tick %s; with --phases seek prints them", j.letter(s), words.Number(j.found.Tick)))
		return nil, nil
	case d == nil || d.visit == nil || d.trace == nil:
		return nil, nil
	}
	recorded := fmt.Sprintf(" comes to the hash that %s has of tick %s", words.Argument(s.File), words.Number(j.found.Tick))
	for _, workers := range []int{1, 2} {
		t, err := j.with(ctx, d, workers)
		if err != nil {
			return nil, err
		}
		if t != nil && t.hash == s.Hash {
			j.notes = append(j.notes, fmt.Sprintf("this build%s with %s", recorded, words.Count(uint64(workers), "worker")))
			return t, nil
		}
	}
	if other := j.pair[1].program; other != nil && j.pair[1].Hash == d.Replayed {
		j.notes, j.neither = append(j.notes, "neither build"+recorded+": a third one recorded it, or the file was changed"), true
		return nil, nil
	}
	note := "nothing here" + recorded
	if !slices.ContainsFunc(tries, func(t try) bool { return t.hash != tries[0].hash }) && j.result.Inputs == nil {
		j.found.Next = j.older(s)
		note += "; put the build that recorded it for OLD"
	}
	j.notes = append(j.notes, note)
	for _, f := range j.result.Tiles {
		if by := d.trace.Changing(f.Field); f.Field != engine.WorldRest && len(by) > 0 {
			j.notes = append(j.notes, f.Field+" is changed by "+strings.Join(by, ", "))
		}
	}
	return nil, nil
}

// older is the command that names the part with the help of the build that recorded a side.
func (j *bisectJob) older(s *bisectSide) string {
	file, other := words.Argument(s.File), j.pair[1].program
	if other == nil {
		here := ""
		if j.Workers > 0 {
			here = fmt.Sprintf(" --workers %d", j.Workers)
		}
		return fmt.Sprintf("%s bisect %s --phases%s%s --command %s", j.Name, file, here, j.Flags(true), words.Argument("OLD seek "+file+" --no-index --tick {tick} --phases --json"+j.Flags(false)))
	}
	return fmt.Sprintf("OLD bisect %s --phases%s --command %s", file, j.Flags(true), words.Argument(words.Printable(j.pair[1].Command)))
}

// with computes the tick with a number of workers; nil if that fails.
func (j *bisectJob) with(ctx context.Context, d *diffSide, workers int) (*try, error) {
	one := j.Visitor
	one.Workers = workers
	v, err := one.Visit(ctx, d.File, j.found.Tick-1)
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
func (j *bisectJob) apart(side string, x, y try) {
	p := session.FirstPart(x.parts, y.parts)
	if p == nil {
		return
	}
	p.Side = side
	if x.trace != nil && y.trace != nil && len(p.Fields) > 0 {
		if w, other := j.worlds(side); shapes(w, other) == "" {
			p.Values(w, j.found.Tick, x.trace, y.trace)
			if p.State == nil {
				j.notes = append(j.notes, fmt.Sprintf("the values after %s are not shown: what the parts of the tick wrote takes more than %s", p.Part, words.Size(session.MostTraced)))
			}
		}
	}
	j.found.Parts = append(j.found.Parts, *p)
}

// worlds returns those of the two sides, or twice that of one of them.
func (j *bisectJob) worlds(side string) (a, b *engine.World) {
	x, y := j.pair[0].recording, j.pair[1].recording
	if x == nil || side == "b" {
		x = y
	}
	if y == nil || side == "a" {
		y = x
	}
	return x.visit.World, y.visit.World
}

// partBlocks say which part of the tick differs first.
func (j *bisectJob) partBlocks() (blocks []words.Block) {
	if j.found.DifferBefore {
		blocks = append(blocks, words.Block{Label: "part", Head: fmt.Sprintf("none: they differ before tick %s already", words.Number(j.found.Tick))})
	}
	for i := range j.found.Parts {
		p := &j.found.Parts[i]
		what, other := words.Printable(p.Part), words.Printable(p.Other)
		if p.Kind != p.Part {
			what += " (" + words.Printable(p.Kind) + ")"
		}
		b := words.Block{Label: "part", Head: fmt.Sprintf("%s, %d of %d, is the first that differs", what, p.Index, p.Of)}
		switch {
		case len(p.Fields) == 0 && p.Other == "":
			b.Head = fmt.Sprintf("%s, %d of %d, is in a alone", what, p.Index, p.Of)
		case len(p.Fields) == 0 && p.Part == "":
			b.Head = fmt.Sprintf("%s, %d of %d, is in b alone", other, p.Index, p.Of)
		case len(p.Fields) == 0 && p.Part != p.Other:
			b.Head = fmt.Sprintf("part %d of %d is %s in a and %s in b", p.Index, p.Of, what, other)
		case p.Side == "" && j.unsure:
			b.Head = fmt.Sprintf("%s, %d of %d, or what came before it is the first that differs", what, p.Index, p.Of)
		case p.Side != "":
			b.Head += " between two computations of " + j.letterOrReplay(p.Side)
		}
		blocks = append(blocks, j.partDetails(b, p))
	}
	return blocks
}

func (j *bisectJob) letterOrReplay(side string) string {
	if s := j.pair[strings.Index("ab", side)]; s.Replay {
		return "the replay"
	}
	return side
}

// partDetails adds the fields to a block, with values if there are any.
func (j *bisectJob) partDetails(b words.Block, p *session.PartDifference) words.Block {
	if p.State == nil {
		if len(p.Fields) > 0 {
			b.Head += ": " + strings.Join(fieldNames(p.Fields), ", ")
		}
		return b
	}
	w, other := j.worlds(p.Side)
	var n session.Names
	for _, s := range j.pair {
		if s.recording != nil {
			n = session.Names{Scenario: s.recording.scenario}
		}
	}
	t := stateText{p.State, j.found.Tick, w, []*engine.World{w, other}, n}
	for i := range t.Fields {
		f := t.field(&t.Fields[i])
		b.Details = append(b.Details, []string{f.Label + "  " + f.Head})
		for _, line := range words.Aligned(f.Details) {
			b.Details = append(b.Details, []string{"  " + line})
		}
	}
	if slices.Contains(p.Fields, engine.WorldRest) {
		b.Details = append(b.Details, []string{restText})
	}
	return b
}
