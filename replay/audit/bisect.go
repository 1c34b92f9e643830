package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/diff"
)

// A Step is a tick of a run as it is computed here, once or several times, from the same state.
type Step struct {
	Tick        uint64
	Committed   *Link
	EqualBefore bool   // the tick before it has the hash that was committed; false for the first tick, which has none
	Before      []byte // S(T-1), as it is computed here; nil for the first tick

	// State is S(T) and Calculated its link, of a computation that does not come to the committed hash if there is one; nil: the tick cannot
	// be computed, Err says why.
	State      []byte
	Calculated *Link
	Err        error

	Outcomes []Outcome // of the computations, each once, in the order of their first occurrence
}

// An Outcome is what a computation of a tick came to, and how often.
type Outcome struct {
	Hash  Hash
	Err   string // instead: why the tick cannot be computed
	Times int
}

// Stable reports whether all computations came to the same. If they did not, the tick depends on more than the state before it.
func (s *Step) Stable() bool { return len(s.Outcomes) == 1 }

// Equal reports whether all computations came to the committed hash.
func (s *Step) Equal() bool { return s.Stable() && s.Outcomes[0].Hash == s.Committed.Hash }

// Divergence returns the error of a tick that is not the one that was committed; nil: it is.
func (s *Step) Divergence() error {
	if s.Equal() {
		return nil
	}
	d := &DivergenceError{Tick: s.Tick, Expected: s.Committed.Hash, Err: s.Err}
	if s.Calculated != nil {
		d.Calculated, d.Sections = s.Calculated.Hash, differing(s.Committed, s.Calculated)
	}
	for _, o := range s.Outcomes { // if it came to another hash while it was searched, and not since
		if d.Calculated == d.Expected && o.Err == "" {
			d.Calculated = o.Hash
		}
	}
	return d
}

// note counts what a computation came to.
func (s *Step) note(o Outcome) {
	i := slices.IndexFunc(s.Outcomes, func(x Outcome) bool { return x.Hash == o.Hash && x.Err == o.Err })
	if i < 0 {
		i = len(s.Outcomes)
		s.Outcomes = append(s.Outcomes, Outcome{o.Hash, o.Err, 0})
	}
	s.Outcomes[i].Times++
}

// A Bisection is where a run and its rerun part.
type Bisection struct {
	Step     *Step  // the first tick whose hash is not the committed one; nil: there is none
	Compared int    // hashes, besides those of the first and the last tick
	Replayed uint64 // ticks
}

// Bisect finds the first tick whose hash differs from the committed one, as [Rerun.Run] does, but compares few of them: the first, the last,
// and at most ⌈log2(n)⌉ of the n ticks between. It computes no more than about 2n ticks, for it keeps the state of the last tick that is
// known to be equal. Then it computes the tick that it has found so many times more, once at least. If that comes to something else each time, an earlier tick
// may have done so, too. The error is an [*EvidenceError] for inputs that no tick can have, that of the context, or that of reading.
func (r *Rerun) Bisect(ctx context.Context, repeat int) (*Bisection, error) {
	s, first, err := r.search(ctx)
	if err != nil || first != nil && !first.Equal() {
		return &Bisection{Step: first}, err
	}
	b := new(Bisection)
	equal, err := s.equal(ctx, r.To)
	if err == nil && !equal {
		var tick uint64
		tick, b.Compared, err = diff.Bisect(s.low.Tick, s.high, func(tick uint64) (bool, error) { return s.equal(ctx, tick) })
		if err != nil {
			err = cmp.Or(errors.Unwrap(err), err) // which names the tick itself, if there is one
		} else {
			b.Step, err = s.repeat(ctx, tick, max(repeat, 1), false)
		}
	}
	b.Replayed = s.replayed
	return b, err
}

// At computes the run up to a tick, whether the ticks before it are equal or not, and that tick so many times more. The error is that of
// [Rerun.Bisect], or a [*DivergenceError] for a tick before it that cannot be computed.
func (r *Rerun) At(ctx context.Context, tick uint64, repeat int) (*Step, error) {
	if begin := r.World.Tick(); tick < begin {
		return nil, fmt.Errorf("audit: tick %d lies before tick %d, where the chain begins", tick, begin)
	}
	s, first, err := r.search(ctx)
	if err != nil || tick == s.low.Tick {
		return first, err
	}
	if err := s.advance(ctx, tick-1); err != nil {
		return nil, err
	}
	if err := s.keep(); err != nil {
		return nil, err
	}
	return s.repeat(ctx, tick, repeat+1, true)
}

// A searcher goes to and fro in a run.
type searcher struct {
	*Rerun
	head     Head          // of the chain that is computed here, where the world is
	low      Head          // likewise, where the kept world is: of the last tick that is known to be equal
	kept     *engine.World // nil: it is where the world is
	high     uint64        // the first tick that is known to differ; one more than the last if none is
	seen     *Outcome      // what high came to
	replayed uint64
}

// search begins a search, and returns the first tick, which is compared.
func (r *Rerun) search(ctx context.Context) (*searcher, *Step, error) {
	s := &searcher{Rerun: r, high: r.To + 1}
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
	step.note(Outcome{Hash: step.Calculated.Hash})
	s.head.Tick, s.head.Hash = step.Tick, step.Calculated.Hash
	return s, step, s.keep()
}

// keep keeps the state of the world, as that of the last tick that is equal.
func (s *searcher) keep() (err error) {
	s.low = s.head
	if s.kept == nil {
		s.kept, err = s.World.Fork()
		return err
	}
	return s.World.ForkInto(s.kept)
}

// equal reports whether a tick comes to the committed hash. It moves the end of what is known to be equal or that of what is known
// to differ.
func (s *searcher) equal(ctx context.Context, tick uint64) (bool, error) {
	switch {
	case tick <= s.low.Tick:
		return true, nil
	case tick >= s.high:
		return false, nil
	}
	if err := s.rewind(); err != nil {
		return false, err
	}
	err := s.advance(ctx, tick)
	failed, stopped := errors.AsType[*DivergenceError](err)
	if _, broken := errors.AsType[*EvidenceError](err); err != nil && !stopped && !broken {
		return false, err
	}
	// It may have ended before the tick, and have differed before that.
	committed, missing := LinkAt(ctx, s.Evidence, s.head.Tick)
	switch {
	case missing != nil:
		return false, missing
	case err == nil && committed.InputHash != s.head.Events.Hash:
		return false, s.otherInputs(committed)
	case committed.Hash != s.head.Hash:
		s.high, s.seen = s.head.Tick, &Outcome{Hash: s.head.Hash}
		return false, nil
	}
	if kept := s.keep(); kept != nil || err == nil {
		return true, kept
	}
	if stopped {
		s.high, s.seen = failed.Tick, &Outcome{Err: failed.Err.Error()}
		return false, nil
	}
	return false, err
}

// otherInputs is the error of inputs that are not those of a link that was checked.
func (s *searcher) otherInputs(l *Link) error {
	return otherInputs(&Link{Tick: l.Tick, InputHash: s.head.Events.Hash}, l.InputHash)
}

// rewind puts the world into the state of the last tick that is equal.
func (s *searcher) rewind() error {
	s.head = s.low
	return s.kept.ForkInto(s.World)
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
	part, begin := *s.Rerun, s.head.Tick
	part.To = to
	s.World.Record(recorder)
	err = part.ticks(ctx, s.head.Events.Seq)
	s.World.Record(nil)
	closed := recorder.Close()
	s.head = Head{Tick: s.World.Tick(), Hash: recorder.chain.prev, Events: recorder.chain.events}
	s.replayed += s.head.Tick - begin
	return cmp.Or(err, closed)
}

// A forgetful store keeps nothing: only where the chain ends is of interest. It is a [Store].
type forgetful struct{}

// Commit implements [Store].
func (forgetful) Commit(context.Context, *Batch) error { return nil }

// repeat computes the tick after the last that is kept, so many times; here: the world is before it, and the first time it goes on from
// there, as it came from the first tick. That one is then the step's.
func (s *searcher) repeat(ctx context.Context, tick uint64, times int, here bool) (*Step, error) {
	step := &Step{Tick: tick}
	if s.seen != nil {
		step.note(*s.seen)
	}
	before, err := LinkAt(ctx, s.Evidence, tick-1)
	if err != nil {
		return nil, err
	}
	if step.Committed, err = LinkAt(ctx, s.Evidence, tick); err != nil {
		return nil, err
	}
	step.EqualBefore = before.Hash == s.low.Hash
	if step.Before, err = s.kept.Save(s.Descriptor); err != nil {
		return nil, err
	}
	for i := range times {
		if !here || i > 0 {
			if err := s.rewind(); err != nil {
				return nil, err
			}
		}
		err := s.advance(ctx, tick)
		if failed, ok := errors.AsType[*DivergenceError](err); ok {
			step.note(Outcome{Err: failed.Err.Error()})
			step.Err = cmp.Or(step.Err, failed.Err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if step.Committed.InputHash != s.head.Events.Hash {
			return nil, s.otherInputs(step.Committed)
		}
		step.note(Outcome{Hash: s.head.Hash})
		if step.Calculated == nil || !here && step.Calculated.Hash == step.Committed.Hash && s.head.Hash != step.Committed.Hash {
			if err := s.take(step); err != nil {
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
func (s *searcher) take(step *Step) (err error) {
	if step.State, err = s.World.Save(s.Descriptor); err != nil {
		return err
	}
	if step.Calculated, err = NewLink(s.low.Hash, step.State); err != nil {
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
