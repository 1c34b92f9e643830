package audit

import (
	"cmp"
	"context"
	"iter"
	"slices"
)

// FirstDifference returns the first tick, up to the last one, at which the links of two stores differ or one is missing.
func FirstDifference(ctx context.Context, a, b Evidence, last uint64) (tick uint64, differs bool, err error) {
	next, stop := iter.Pull2(b.Links(ctx, 0))
	defer stop()
	for l, err := range a.Links(ctx, 0) {
		if err != nil || l.Tick > last {
			return 0, false, err
		}
		o, err, ok := next()
		if err != nil {
			return 0, false, err
		}
		if !ok || !l.equal(o) {
			return l.Tick, true, nil
		}
		if l.Tick == last {
			return 0, false, nil
		}
	}
	return last, true, nil
}

// equal reports whether two links are the same.
func (l *Link) equal(o *Link) bool {
	return l.Tick == o.Tick && l.Prev == o.Prev && l.Hash == o.Hash && l.InputSeq == o.InputSeq && l.InputHash == o.InputHash && l.StateLen == o.StateLen && slices.Equal(l.Digests, o.Digests)
}

// Copy commits the ticks of a run from one on to a store, in batches. The evidence has been checked, see [Check].
func Copy(ctx context.Context, to Store, e Evidence, from uint64) error {
	ticks, err := e.Snapshots(ctx)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(e.Inputs(ctx, 0))
	defer stop()
	var events Events
	x, err, more := next()
	b := new(Batch)
	for ; more && err == nil && x.Tick < from; x, err, more = next() {
		if err := events.Add(&x.Event); err != nil {
			return err
		}
	}
	for len(ticks) > 0 && ticks[0] < from {
		ticks = ticks[1:]
	}
	for l, wrong := range e.Links(ctx, from) {
		if err = cmp.Or(wrong, err); err != nil {
			return err
		}
		for ; more && err == nil && x.Tick <= l.Tick; x, err, more = next() {
			if err := events.Add(&x.Event); err != nil {
				return err
			}
			in := *x
			in.Payload = slices.Clone(x.Payload)
			b.Inputs = append(b.Inputs, in)
			b.bytes += len(in.Payload)
		}
		if err != nil {
			return err
		}
		if events.Hash != l.InputHash { // which is that of the inputs that were checked
			return otherInputs(&Link{Tick: l.Tick, InputHash: events.Hash}, l.InputHash)
		}
		link := *l
		link.Digests = slices.Clone(l.Digests)
		b.Links = append(b.Links, link)
		if len(ticks) > 0 && ticks[0] == l.Tick {
			s, err := e.Snapshot(ctx, ticks[0])
			if err != nil {
				return err
			}
			b.Snapshots, ticks, b.bytes = append(b.Snapshots, *s), ticks[1:], b.bytes+len(s.State)
		}
		if b.full() {
			if err := to.Commit(ctx, b); err != nil {
				return err
			}
			b.reset()
		}
	}
	if len(b.Links) == 0 {
		return nil
	}
	return to.Commit(ctx, b)
}
