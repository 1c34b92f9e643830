package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

// A DivergenceError names the first tick whose state differs from the committed one.
type DivergenceError struct {
	Tick                 uint64
	Expected, Calculated Hash     // Calculated is zeros if the tick cannot be computed
	Sections             []uint16 // of the state, those whose digests differ; none: the state is the same, the hash before it is not
	Err                  error    // why the tick cannot be computed; nil: it can
}

// Error implements error.
func (e *DivergenceError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("audit: tick %d cannot be computed: %v", e.Tick, e.Err)
	}
	return fmt.Sprintf("audit: tick %d has hash %s, committed is %s", e.Tick, e.Calculated, e.Expected)
}

// Unwrap returns why the tick cannot be computed.
func (e *DivergenceError) Unwrap() error { return e.Err }

// A Rerun computes the ticks of a run again.
type Rerun struct {
	Evidence Evidence // which has been checked, see [Check]

	// World is in the first state of the chain, or in the state of a snapshot at From. Descriptor belongs to that state.
	World      *engine.World
	Descriptor []byte
	From       *Head // where to go on; nil: from the first link on, which is compared, too

	Hashes []LinkHashes      // of the links from the run's first on, as [Check] returns them; what is missing is read
	To     uint64            // the last tick
	Passed func(tick uint64) // is called now and then with the last tick that was computed; may be nil
}

// Run computes the ticks with the committed inputs, and compares the hash of each tick and of its inputs: the inputs may have been
// different when the evidence was checked. The error is a [*DivergenceError] for the first tick that differs, an [*EvidenceError] for
// inputs that no tick can have or that have changed, that of the context, or that of reading.
func (r *Rerun) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin, seq := r.World.Tick(), uint64(0)
	first := begin
	if r.From != nil {
		seq, first = r.From.Events.Seq, begin+1
	}
	compare := &comparer{Rerun: r, ctx: ctx, cancel: cancel, next: first}
	defer compare.close()
	var recorder *Recorder
	var err error
	if r.From == nil {
		recorder, err = NewRecorder(compare, r.World, r.Descriptor, 0)
	} else {
		recorder, err = ResumeRecorder(compare, r.World, r.Descriptor, 0, r.From)
	}
	if err != nil {
		return err
	}
	r.World.Record(recorder)
	err = r.ticks(ctx, seq)
	if commit, ok := errors.AsType[*CommitError](recorder.Close()); ok {
		return commit.Err // an earlier tick
	}
	return r.expected(ctx, err)
}

// expected adds what was committed to the error of a tick that cannot be computed.
func (r *Rerun) expected(ctx context.Context, err error) error {
	if d, ok := errors.AsType[*DivergenceError](err); ok {
		if l, wrong := committed(ctx, r.Evidence, d.Tick); wrong == nil {
			d.Expected = l.Hash
		}
	}
	return err
}

// ticks computes the ticks.
func (r *Rerun) ticks(ctx context.Context, seq uint64) error {
	next, stop := iter.Pull2(r.Evidence.Inputs(ctx, seq))
	defer stop()
	input, err, more := next()
	var list []commands.Command
	for r.World.Tick() < r.To {
		tick := r.World.Tick() + 1
		for list = list[:0]; more && err == nil && input.Tick == tick; input, err, more = next() {
			e := input.Event
			e.Payload = append([]byte(nil), e.Payload...)
			c, err := e.Command()
			if err != nil {
				return &EvidenceError{"input_events", fmt.Sprintf("seq %d", e.Seq), err.(*EventError).Reason}
			}
			list = append(list, c)
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := r.World.Replay(list); err != nil {
			return r.failed(tick, err)
		}
		if r.Passed != nil {
			r.Passed(tick)
		}
	}
	return nil
}

// failed returns the error of Run when a tick cannot be computed.
func (r *Rerun) failed(tick uint64, err error) error {
	switch {
	case errors.As(err, new(*CommitError)): // which Close returns, too
		return err
	case errors.Is(err, engine.ErrOrder):
		return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", tick), "its inputs are not in the order in which a tick takes them"}
	}
	return &DivergenceError{Tick: tick, Err: err}
}

// A comparer compares links with the committed ones. It is a [Store].
type comparer struct {
	*Rerun
	ctx    context.Context
	cancel func() // ends the rerun
	next   uint64 // tick
	read   func() (*Link, error, bool)
	stop   func() // reading; nil: it has not begun
}

// Commit implements [Store].
func (c *comparer) Commit(_ context.Context, b *Batch) (err error) {
	for i := range b.Links {
		if err = c.compare(&b.Links[i]); err != nil {
			c.cancel()
			return err
		}
	}
	return nil
}

func (c *comparer) compare(got *Link) error {
	i := c.next - c.Evidence.Run().First
	c.next++
	if i < uint64(len(c.Hashes)) {
		is := c.Hashes[i]
		if is == (LinkHashes{got.Hash, got.InputHash}) {
			return nil
		}
		if is.Inputs != got.InputHash {
			return otherInputs(got, is.Inputs)
		}
		want, err := committed(c.ctx, c.Evidence, got.Tick)
		if err == nil && want.Hash != is.World {
			err = &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", got.Tick), fmt.Sprintf("its hash is %s; it was %s when it was checked", want.Hash, is.World)}
		}
		if err != nil {
			return err
		}
		return divergence(want, got)
	}
	if c.stop == nil {
		c.read, c.stop = iter.Pull2(c.Evidence.Links(c.ctx, got.Tick))
	}
	want, err, ok := c.read()
	switch {
	case err != nil:
		return err
	case !ok || want.Tick != got.Tick:
		return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", got.Tick), "it is missing"}
	case want.InputHash != got.InputHash || want.InputSeq != got.InputSeq:
		return otherInputs(got, want.InputHash)
	case want.Hash == got.Hash:
		return nil
	}
	return divergence(want, got)
}

// committed returns the link that an outcome names, also when the context of the audit has ended.
func committed(ctx context.Context, e Evidence, tick uint64) (*Link, error) {
	within, done := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer done()
	return LinkAt(within, e, tick)
}

// otherInputs returns the error of a tick that was computed with other inputs than the checked ones.
func otherInputs(got *Link, checked Hash) error {
	return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", got.Tick), fmt.Sprintf("the inputs up to it have the hash %s; it was %s when they were checked", got.InputHash, checked)}
}

func (c *comparer) close() {
	if c.stop != nil {
		c.stop()
	}
}

// divergence returns the error of a link that differs from the committed one.
func divergence(want, got *Link) error {
	return &DivergenceError{Tick: got.Tick, Expected: want.Hash, Calculated: got.Hash, Sections: differing(want, got)}
}
