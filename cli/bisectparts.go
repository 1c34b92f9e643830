package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
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
		j.apart("", *x, *y)
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
		j.notes = append(j.notes, argument(s.File)+" has hashes of whole ticks alone, not of their parts")
		return nil, nil
	case s.program != nil:
		j.notes = append(j.notes, fmt.Sprintf("%s printed no parts of tick %s; with --phases seek prints them", j.letter(s), number(j.found.Tick)))
		return nil, nil
	case d == nil || d.visit == nil || d.trace == nil:
		return nil, nil
	}
	t, err := j.alone(ctx, d)
	if err != nil || t == nil {
		return nil, err
	}
	if t.hash == s.Hash {
		j.notes = append(j.notes, "this build comes to the hash of "+j.letter(s)+" with one worker")
		return t, nil
	}
	j.notes = append(j.notes, "nothing here comes to the hash of "+j.letter(s)+"; name a program that does with --command")
	for _, f := range j.result.Tiles {
		if by := d.trace.changing(f.Field); f.Field != engine.WorldRest && len(by) > 0 {
			j.notes = append(j.notes, f.Field+" is changed by "+strings.Join(by, ", "))
		}
	}
	return nil, nil
}

// alone computes the tick with one worker; nil if that fails.
func (j *bisectJob) alone(ctx context.Context, d *diffSide) (*try, error) {
	one := j.visitor
	one.workers = 1
	v, err := one.visit(ctx, d.File, j.found.Tick-1)
	if ctx.Err() != nil {
		return nil, stopped(d.File)
	}
	if err != nil {
		return nil, nil
	}
	defer v.close()
	t := d.again(v.World, nil)
	return &t, nil
}

// apart notes the first part in which two computations differ.
func (j *bisectJob) apart(side string, x, y try) {
	p := firstPart(x.parts, y.parts)
	if p == nil {
		return
	}
	p.Side = side
	if x.trace != nil && y.trace != nil && len(p.Fields) > 0 {
		if w, other := j.worlds(side); shapes(w, other) == "" {
			p.values(w, j.found.Tick, x.trace, y.trace)
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
func (j *bisectJob) partBlocks() (blocks []block) {
	for i := range j.found.Parts {
		p := &j.found.Parts[i]
		what := p.Part
		if p.Kind != p.Part {
			what += " (" + p.Kind + ")"
		}
		b := block{label: "part", head: fmt.Sprintf("%s, %d of %d, is the first that differs", what, p.Index, p.Of)}
		switch {
		case len(p.Fields) == 0 && p.Other == "":
			b.head = fmt.Sprintf("%s, %d of %d, is in a alone", what, p.Index, p.Of)
		case len(p.Fields) == 0 && p.Part == "":
			b.head = fmt.Sprintf("%s, %d of %d, is in b alone", p.Other, p.Index, p.Of)
		case len(p.Fields) == 0:
			b.head = fmt.Sprintf("part %d of %d is %s in a and %s in b", p.Index, p.Of, what, p.Other)
		case p.Side != "":
			b.head += " between two computations of " + j.letterOrReplay(p.Side)
		}
		blocks = append(blocks, j.partDetails(b, p))
	}
	return blocks
}

func (j *bisectJob) letterOrReplay(side string) string {
	if side == "b" && j.pair[1].Replay {
		return "the replay"
	}
	return side
}

// partDetails adds the fields to a block, with values if there are any.
func (j *bisectJob) partDetails(b block, p *partDifference) block {
	if p.State == nil {
		if len(p.Fields) > 0 {
			b.head += ": " + strings.Join(fieldNames(p.Fields), ", ")
		}
		return b
	}
	w, other := j.worlds(p.Side)
	var n names
	for _, s := range j.pair {
		if s.recording != nil {
			n = names{s.recording.scenario}
		}
	}
	t := stateText{p.State, j.found.Tick, w, []*engine.World{w, other}, n}
	for i := range t.Fields {
		f := t.field(&t.Fields[i])
		b.details = append(b.details, []string{f.label + "  " + f.head})
		for _, line := range aligned(f.details) {
			b.details = append(b.details, []string{"  " + line})
		}
	}
	if slices.Contains(p.Fields, engine.WorldRest) {
		b.details = append(b.details, []string{restText})
	}
	return b
}
