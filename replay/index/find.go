package index

import (
	"io"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
)

// A Condition reports whether something holds in a world as it is, which it must not change. First says that it did not look at the tick before. It is called with each
// state at which a world begins to replay, and then after each of its ticks; what it says of the first state counts only where the recording begins. An error ends what it
// is part of.
type Condition func(w *engine.World, first bool) (bool, error)

// A Span is a stretch of ticks, in the state after each of which a condition holds.
type Span struct {
	First, Last uint64
}

// A Found says in which ticks a condition holds.
type Found struct {
	Verified
	Begin  uint64 // the tick at which the recording begins; its state is looked at, too
	Single bool   // one world replayed all, with the condition that was made last: what others saw does not count
	Spans  []Span // in order, and apart from each other; after an error those of the ticks that match
}

// Find replays a recording as [Verify] does, compares what Verify compares, and looks after each tick whether a condition holds. What it returns is
// thus about the run that was recorded, and the same for any number of worlds. Conditions is called for each world, once it was built, and returns a
// condition of its own, which only one goroutine uses at a time.
func Find(recording io.ReaderAt, size int64, x *Index, build replay.Builder, conditions func() (Condition, error), parallel int, progress func(ticks uint64) error) (Found, error) {
	v := &verification{recording: recording, size: size, index: x, progress: progress, conditions: conditions}
	of, err := v.run(build, parallel)
	return Found{of, v.begin, v.single, v.found}, err
}

// Ticks returns how many ticks the spans have.
func (f *Found) Ticks() (n uint64) {
	for _, s := range f.Spans {
		n += s.Last - s.First + 1
	}
	return n
}

// condition returns one for another world; nil: none is looked for.
func (v *verification) condition() (Condition, error) {
	if v.conditions == nil {
		return nil, nil
	}
	return v.conditions()
}

// look notes whether a condition holds after the ticks of a part. The state at which the part begins belongs to the part before it, if there is one.
func (p *part) look(w *engine.World, holds Condition, whole bool) error {
	if holds == nil {
		return nil
	}
	tick := w.Tick()
	is, err := holds(w, tick == p.begin)
	if err != nil || !is || tick == p.begin && !whole {
		return err
	}
	p.held = appendSpan(p.held, Span{tick, tick})
	return nil
}

// appendSpan appends a span to those before it. It becomes one with the last of them if no tick is between them.
func appendSpan(list []Span, s Span) []Span {
	if n := len(list); n > 0 && list[n-1].Last+1 == s.First {
		list[n-1].Last = s.Last
		return list
	}
	return append(list, s)
}

// spansUpTo returns the spans of these parts as those of one, without what is behind a tick.
func spansUpTo(last uint64, parts ...part) (list []Span) {
	for i := range parts {
		for _, s := range parts[i].held {
			if s.Last = min(s.Last, last); s.First <= last {
				list = appendSpan(list, s)
			}
		}
	}
	return list
}
