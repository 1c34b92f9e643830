package compare

import (
	"context"
	"errors"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
)

// Repeats is how many more times a tick is computed.
const Repeats = 3

// A RepeatView is a result of computing a tick repeatedly, and how often it came.
type RepeatView struct {
	Hash  string `json:"hash,omitempty"`
	Error string `json:"error,omitempty"` // instead: the tick failed
	Times int    `json:"times"`
}

// A Computation is one computation of the tick that differs.
type Computation struct {
	hash, failure string             // one of them
	parts         []session.PartView // if they were asked for
	trace         *session.Trace     // in a replay
}

// again computes the tick that differs three times more, in each replay and by each program.
func (j *Search) again(ctx context.Context) error {
	for _, s := range j.Pair {
		d := s.Recording
		switch {
		case s.Program != nil:
			x := s.answers[j.Found.Tick]
			s.note(Computation{hash: x.hash, parts: x.parts})
			for range Repeats {
				x, err := j.askAgain(ctx, s, j.Found.Tick)
				if err != nil {
					return err
				}
				s.note(Computation{hash: x.hash, parts: x.parts})
			}
		case d != nil && d.Visit != nil && d.came != "":
			if d.earlier.hash+d.earlier.failure != "" {
				s.note(d.earlier)
			}
			first := Computation{hash: d.came, trace: d.trace}
			if d.trace != nil {
				first.parts = d.trace.Parts
			}
			s.note(first)
			for i := range Repeats {
				if err := j.rewind(ctx, d, i == Repeats-1); err != nil {
					return err
				}
				s.note(d.again(d.Visit.World, d.trace))
			}
		}
	}
	return nil
}

// note counts what computing the tick came to.
func (s *SearchSide) note(t Computation) {
	s.tries = append(s.tries, t)
	i := slices.IndexFunc(s.Repeats, func(r RepeatView) bool { return r.Hash == t.hash && r.Error == t.failure })
	if i < 0 {
		i = len(s.Repeats)
		s.Repeats = append(s.Repeats, RepeatView{Hash: t.hash, Error: t.failure})
	}
	s.Repeats[i].Times++
	stable := len(s.Repeats) == 1
	s.Stable = &stable
}

// again computes the tick in a world that is in the state before it. If the parts of the tick
// are asked for, there is a trace to begin with.
func (d *Side) again(w *engine.World, base *session.Trace) (t Computation) {
	tick := func() error {
		_, err := w.Replay(d.kept.Inputs)
		return err
	}
	var err error
	if d.trace == nil {
		err = tick()
	} else if t.trace, err = session.Traced(w, base, tick); err == nil {
		t.parts = t.trace.Parts
	}
	if err != nil {
		return Computation{failure: words.Bare(err)}
	}
	t.hash = words.Hash16(w.Hash())
	return t
}

// rewind puts the world of a recording into the state before the tick, or another world: one that draws a number when it is made
// computes the same however often it is rewound.
func (j *Search) rewind(ctx context.Context, d *Side, another bool) error {
	if d.kept.State != nil && !another {
		return d.Visit.World.LoadTick(nil, d.kept.State, d.kept.Rest)
	}
	v, err := d.revisit(ctx, &j.Visitor, j.Found.Tick-1)
	if err != nil {
		return errors.Join(err, ctx.Err())
	}
	d.Visit.Close()
	d.Visit = v
	return nil
}

// revisit goes to a tick once more. It starts at the first tick if the visit of the side did: a world that remembers something outside its state
// comes to something else from a keyframe.
func (d *Side) revisit(ctx context.Context, by *session.Visitor, tick uint64) (*session.Visit, error) {
	v, err := by.Visit(ctx, d.File, tick)
	if err == nil && v.Keyframe > 0 && d.Visit.Keyframe == 0 {
		if err = v.Seek(nil, tick); err != nil {
			v.Close()
		}
	}
	return v, err
}
