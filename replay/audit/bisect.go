package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
)

// A Step is a tick of a run as computed here, once or several times, from the same state.
type Step struct {
	Tick        uint64
	Committed   *Link
	EqualBefore bool   // the tick before it has the hash that was committed; false for the first tick, which has none
	Before      []byte // S(T-1), as it is computed here; nil for the first tick

	// State is S(T) and Calculated its link, as given by the computation straight from the first tick; nil: the tick cannot be computed,
	// and Err says why.
	State      []byte
	Calculated *Link
	Err        error

	Outcomes []Outcome // of the computations, each once, in the order of their first occurrence
}

// An Outcome is the result of computing a tick, and how often it came.
type Outcome struct {
	Hash  Hash
	Err   string // instead: why the tick cannot be computed
	Times int
}

// Stable reports whether all computations gave the same result. If not, the tick depends on more than the state before it.
func (s *Step) Stable() bool { return len(s.Outcomes) == 1 }

// Equal reports whether all computations gave the committed hash.
func (s *Step) Equal() bool { return s.Stable() && s.Outcomes[0].Hash == s.Committed.Hash }

// Divergence returns the error of a tick that differs from the committed one; nil: it does not.
func (s *Step) Divergence() error {
	if s.Equal() {
		return nil
	}
	d := &DivergenceError{Tick: s.Tick, Expected: s.Committed.Hash, Err: s.Err}
	if s.Calculated != nil {
		d.Calculated, d.Sections = s.Calculated.Hash, differing(s.Committed, s.Calculated)
	}
	for _, o := range s.Outcomes { // if it came to another hash another time
		if d.Calculated == d.Expected && o.Err == "" {
			d.Calculated = o.Hash
		}
	}
	for _, o := range s.Outcomes { // if it only failed another time
		if d.Calculated == d.Expected && o.Err != "" {
			d.Calculated, d.Err = Hash{}, errors.New(o.Err)
		}
	}
	return d
}

// note counts the results of computations.
func (s *Step) note(o Outcome) {
	i := slices.IndexFunc(s.Outcomes, func(x Outcome) bool { return x.Hash == o.Hash && x.Err == o.Err })
	if i < 0 {
		i = len(s.Outcomes)
		s.Outcomes = append(s.Outcomes, Outcome{Hash: o.Hash, Err: o.Err})
	}
	s.Outcomes[i].Times += o.Times
}

// FirstDivergence finds the first tick whose hash differs from the committed one, as [Rerun.Run] does. It then computes the run again up
// to that tick, and the tick so many times more, to see whether the result stays the same. It asks for one or two reruns; each has its
// own world. The step is nil if the whole run passes; the returned rerun is the last one. The error is an [*EvidenceError] for inputs
// that no tick can have, that of the context, or that of reading; or the [*DivergenceError] of an earlier tick, if that one cannot be
// computed the second time.
func FirstDivergence(ctx context.Context, rerun func() (*Rerun, error), repeat int) (*Step, *Rerun, error) {
	r, err := rerun()
	if err != nil {
		return nil, nil, err
	}
	err = r.Run(ctx)
	d, diverged := errors.AsType[*DivergenceError](err)
	if !diverged {
		return nil, r, err
	}
	if r, err = rerun(); err != nil {
		return nil, nil, err
	}
	step, err := r.At(ctx, d.Tick, max(repeat-1, 0)) // once more from the first tick on
	if err != nil {
		return step, r, err
	}
	first := Outcome{Hash: d.Calculated, Times: 1}
	if d.Err != nil {
		first.Err = d.Err.Error()
	}
	step.Also([]Outcome{first})
	return step, r, nil
}

// Also adds what the same tick came to when it was computed before.
func (s *Step) Also(before []Outcome) {
	again := s.Outcomes
	s.Outcomes = nil
	for _, o := range slices.Concat(before, again) {
		s.note(o)
	}
}

// At computes the run up to a tick, whether the ticks before it are equal or not, and that tick so many times more from the state before it.
// The error is that of [FirstDivergence].
func (r *Rerun) At(ctx context.Context, tick uint64, repeat int) (*Step, error) {
	if begin := r.World.Tick(); tick < begin {
		return nil, fmt.Errorf("audit: tick %d lies before tick %d, where the chain begins", tick, begin)
	}
	s, first, err := r.begin(ctx)
	if err != nil || tick == s.head.Tick {
		return first, err
	}
	if err := s.advance(ctx, tick-1); err != nil {
		return nil, r.expected(ctx, err)
	}
	if s.before, err = s.World.Fork(); err != nil {
		return nil, err
	}
	return s.repeat(ctx, s.head, repeat+1)
}

// A searcher computes a run, and a tick of it several times.
type searcher struct {
	*Rerun
	head   Head          // of the chain that is computed here, where the world is
	before *engine.World // before the tick that is computed several times
}

// begin returns the first tick, which is compared.
func (r *Rerun) begin(ctx context.Context) (*searcher, *Step, error) {
	s := &searcher{Rerun: r}
	state, err := r.World.Save(r.Descriptor)
	if err != nil {
		return nil, nil, err
	}
	step := &Step{Tick: r.World.Tick(), State: state}
	if step.Committed, err = LinkAt(ctx, r.Evidence, step.Tick); err != nil {
		return nil, nil, err
	}
	var prev Hash
	if r.From != nil {
		s.head, prev = *r.From, step.Committed.Prev
	}
	if step.Calculated, err = NewLink(prev, state); err != nil {
		return nil, nil, err
	}
	step.Calculated.InputSeq, step.Calculated.InputHash = s.head.Events.Seq, s.head.Events.Hash
	step.note(Outcome{Hash: step.Calculated.Hash, Times: 1})
	s.head.Tick, s.head.Hash = step.Tick, step.Calculated.Hash
	return s, step, nil
}

// otherInputs returns the error of inputs that do not belong to a checked link.
func (s *searcher) otherInputs(l *Link) error {
	return otherInputs(&Link{Tick: l.Tick, InputHash: s.head.Events.Hash}, l.InputHash)
}

// advance computes ticks, and their chain.
func (s *searcher) advance(ctx context.Context, to uint64) error {
	if to == s.head.Tick {
		return nil
	}
	recorder, err := ResumeRecorder(forgetful{}, s.World, s.Descriptor, 0, &s.head)
	if err != nil {
		return err
	}
	part := *s.Rerun
	part.To = to
	s.World.Record(recorder)
	err = part.ticks(ctx, s.head.Events.Seq)
	s.World.Record(nil)
	closed := recorder.Close()
	s.head = Head{Tick: s.World.Tick(), Hash: recorder.chain.prev, Events: recorder.chain.events}
	return cmp.Or(err, closed)
}

// A forgetful store keeps only the end of the chain. It is a [Store].
type forgetful struct{}

// Commit implements [Store].
func (forgetful) Commit(context.Context, *Batch) error { return nil }

// repeat computes the tick after a head, where the world is, so many times. The step's state comes from the first time, straight from the
// first tick, or otherwise from the first time that the tick does not fail.
func (s *searcher) repeat(ctx context.Context, head Head, times int) (*Step, error) {
	step := &Step{Tick: head.Tick + 1}
	before, err := LinkAt(ctx, s.Evidence, head.Tick)
	if err != nil {
		return nil, err
	}
	if step.Committed, err = LinkAt(ctx, s.Evidence, step.Tick); err != nil {
		return nil, err
	}
	step.EqualBefore = before.Hash == head.Hash
	if step.Before, err = s.before.Save(s.Descriptor); err != nil {
		return nil, err
	}
	for i := range times {
		if i > 0 {
			s.head = head
			if err := s.before.ForkInto(s.World); err != nil {
				return nil, err
			}
		}
		err := s.advance(ctx, step.Tick)
		if failed, ok := errors.AsType[*DivergenceError](err); ok {
			step.note(Outcome{Err: failed.Err.Error(), Times: 1})
			step.Err = cmp.Or(step.Err, failed.Err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if step.Committed.InputHash != s.head.Events.Hash {
			return nil, s.otherInputs(step.Committed)
		}
		step.note(Outcome{Hash: s.head.Hash, Times: 1})
		if step.Calculated == nil {
			if err := s.take(step, head.Hash); err != nil {
				return nil, err
			}
		}
	}
	if step.State != nil {
		step.Err = nil // that of another computation is among the outcomes
	}
	return step, nil
}

// take takes the state of the world as that of the step.
func (s *searcher) take(step *Step, prev Hash) (err error) {
	if step.State, err = s.World.Save(s.Descriptor); err != nil {
		return err
	}
	if step.Calculated, err = NewLink(prev, step.State); err != nil {
		return err
	}
	step.Calculated.InputSeq, step.Calculated.InputHash = s.head.Events.Seq, s.head.Events.Hash
	return nil
}

// LinkAt returns the link of a tick. The error is an [*EvidenceError] if there is none, or that of reading.
func LinkAt(ctx context.Context, e Evidence, tick uint64) (*Link, error) {
	for l, err := range e.Links(ctx, tick) {
		if err != nil {
			return nil, err
		}
		if l.Tick != tick {
			break
		}
		link := *l
		link.Digests = slices.Clone(l.Digests)
		return &link, nil
	}
	return nil, &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", tick), "it is missing"}
}

// differing returns the sections whose digests differ.
func differing(want, got *Link) (sections []uint16) {
	for _, x := range want.Digests {
		for _, y := range got.Digests {
			if x.Section == y.Section && x.Sum != y.Sum {
				sections = append(sections, x.Section)
			}
		}
	}
	return sections
}
