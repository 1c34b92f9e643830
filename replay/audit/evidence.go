package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
)

// An EvidenceError names the first row of a run that cannot be the committed one.
type EvidenceError struct {
	Table  string // as the database calls it: runs, input_events, chain_hashes or snapshots
	Row    string // its key, such as "tick 17" or "seq 4"
	Reason string
}

// Error implements error.
func (e *EvidenceError) Error() string {
	return fmt.Sprintf("audit: %s, %s: %s", e.Table, e.Row, e.Reason)
}

// A Checked is the result of checking the evidence.
type Checked struct {
	Head
	Ticks  uint64 // links
	Inputs uint64

	// Hashes are those of the links from the first on, at most 2^20, so that a rerun need not read them again.
	Hashes []LinkHashes

	// Refused lists snapshots that do not belong to their links. A run from genesis does not need them.
	Refused []*EvidenceError

	keep   int    // so many Hashes
	blocks []Hash // digests of links after those
	noted  int    // of these links
}

// LinkHashes are the two hashes of a link.
type LinkHashes struct{ World, Inputs Hash }

// Check checks all rows of a run, without computing a tick: it follows both chains from the first row to the last, recomputes the hash
// of every input, and compares the chains with each other and the snapshots with the links. If a recorder can have written all of it,
// Check returns the end of the chain. The error is an [*EvidenceError], or that of reading.
func Check(ctx context.Context, e Evidence) (*Checked, error) { return new(Checker).Check(ctx, e) }

// maxHashes is how many hashes of links are kept in memory: 64 MiB.
const maxHashes = 1 << 20

// A Checker checks a run that is still going.
type Checker struct {
	run   *Run
	meta  Hash // of section 1 of all its states
	keep  int  // how many hashes of links to keep; 0: the usual number, below 0: none
	found *Checked
	next  func() (*Input, error, bool)
	input *Input // the next one; nil: there is none
}

// Check is [Check] for the rows committed since the last call, and for the run's row, which must not have changed. It must not be called
// again after an error.
func (c *Checker) Check(ctx context.Context, e Evidence) (*Checked, error) {
	if c.found != nil {
		if err := c.unchanged(e.Run()); err != nil {
			return nil, err
		}
	}
	if c.found == nil {
		run := *e.Run() // which may be another one the next time
		c.run = &run
		c.found = &Checked{keep: cmp.Or(c.keep, maxHashes)}
		if err := c.genesis(); err != nil {
			return nil, err
		}
		c.meta = run.meta()
	}
	from, all := c.run.First+c.found.Ticks, c.found.Ticks == 0
	next, stop := iter.Pull2(e.Inputs(ctx, c.found.Events.Seq))
	defer stop()
	c.next = next
	snapshots, err := e.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	begins := slices.Contains(snapshots, c.run.First)
	if !all {
		snapshots = slices.DeleteFunc(snapshots, func(tick uint64) bool { return tick < from })
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	if all { // and what lies before the first
		from = 0
	}
	for l, err := range e.Links(ctx, from) {
		if err == nil {
			err = c.link(l)
		}
		for err == nil && len(snapshots) > 0 && snapshots[0] <= l.Tick {
			err = c.snapshot(ctx, e, snapshots[0], l)
			snapshots = snapshots[1:]
		}
		if err != nil {
			return nil, err
		}
	}
	if first := fmt.Sprintf("tick %d", c.run.First); all && c.run.First > 0 && (!begins || slices.ContainsFunc(c.found.Refused, func(r *EvidenceError) bool { return r.Row == first })) {
		return nil, &EvidenceError{"snapshots", first, "it is missing, or refused; the run begins with it"}
	}
	switch f := c.found; {
	case f.Ticks == 0:
		return nil, &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", c.run.First), "it is missing, as are all others"}
	case c.input != nil:
		return nil, &EvidenceError{"input_events", fmt.Sprintf("seq %d", c.input.Seq), fmt.Sprintf("it is of tick %d; the last that is committed is %d", c.input.Tick, f.Tick)}
	}
	known := map[string]bool{} // since the last time
	for _, r := range c.found.Refused {
		known[r.Row] = true
	}
	for _, tick := range snapshots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if row := fmt.Sprintf("tick %d", int64(tick)); !known[row] {
			known[row] = true
			c.found.Refused = append(c.found.Refused, &EvidenceError{"snapshots", row, "there is no such tick"})
		}
	}
	return c.found, nil
}

// Again is [Check] of all rows. It returns an error, too, if rows that were checked before are gone or changed.
func (c *Checker) Again(ctx context.Context, e Evidence) (*Checked, error) {
	if err := c.unchanged(e.Run()); err != nil {
		return nil, err
	}
	now, err := Check(ctx, e)
	if err != nil {
		return nil, err
	}
	was := c.found
	l, err := LinkAt(ctx, e, was.Tick)
	if err != nil {
		return nil, err
	}
	if l.Hash != was.Hash || l.InputHash != was.Events.Hash {
		return nil, &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", l.Tick), "its hash, or that of its inputs, is not the one that it had when it was first read"}
	}
	return now, nil
}

// unchanged checks that the row of the run is unchanged.
func (c *Checker) unchanged(now *Run) error {
	if column := c.run.Difference(now); column != "" {
		return &EvidenceError{"runs", c.run.ID.String(), "its " + column + " is not as it was when it was first read"}
	}
	return nil
}

// genesis looks at the row of the run.
func (c *Checker) genesis() error {
	r, wrong := c.run, ""
	_, p, err := SplitGenesis(r.Genesis)
	if p == nil {
		p = &Parent{Tick: r.First}
	}
	switch {
	case sha256.Sum256(r.Genesis) != r.Digest:
		wrong = "its genesis has another SHA-256 than the row says"
	case len(r.Genesis) > MaxGenesis:
		wrong = fmt.Sprintf("its genesis has %d bytes; the most are %d", len(r.Genesis), MaxGenesis)
	case len(r.Label) > MaxText || len(r.Engine) > MaxText || len(r.Generator) > MaxText:
		wrong = fmt.Sprintf("its label, engine_version or generator has more than %d bytes", MaxText)
	case r.Format != StateFormat:
		wrong = fmt.Sprintf("its states have format %d; this program reads format %d", r.Format, StateFormat)
	case r.Rate.Num <= 0 || r.Rate.Den <= 0:
		wrong = fmt.Sprintf("its tick rate is %d/%d", r.Rate.Num, r.Rate.Den)
	case r.First > MaxTick:
		wrong = fmt.Sprintf("its first tick is %d", r.First)
	case err != nil:
		wrong = strings.TrimPrefix(err.Error(), "audit: ")
	case r.Parent != p.Run || r.First != p.Tick:
		wrong = fmt.Sprintf("it is a fork of %s at tick %d; its genesis names %s and tick %d", r.Parent, r.First, p.Run, p.Tick)
	default:
		return nil
	}
	return &EvidenceError{"runs", r.ID.String(), wrong}
}

// read reads the next input.
func (c *Checker) read() error {
	x, err, ok := c.next()
	if c.input = x; !ok {
		c.input = nil
	}
	return err
}

// link looks at the next link, and at the inputs up to its tick.
func (c *Checker) link(l *Link) error {
	f, want := c.found, c.run.First+c.found.Ticks
	wrong := func(format string, args ...any) error {
		return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", l.Tick), fmt.Sprintf(format, args...)}
	}
	switch {
	case l.Tick < want && f.Ticks == 0:
		return wrong("the run begins with tick %d", want)
	case l.Tick != want:
		return &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", want), fmt.Sprintf("it is missing; tick %d follows", l.Tick)}
	case l.Prev != f.Hash && f.Ticks == 0:
		return wrong("it is the first, and stands on a hash that is not zeros")
	case l.Prev != f.Hash:
		return wrong("it stands on %s; tick %d has %s", l.Prev, l.Tick-1, f.Hash)
	case l.StateLen < stateHead:
		return wrong("its state has %d bytes", l.StateLen)
	case len(l.Digests) != len(engine.SectionNames):
		return wrong("it has the digests of %d sections; a state has %d", len(l.Digests), len(engine.SectionNames))
	}
	for i := range l.Digests {
		if l.Digests[i].Section != uint16(i+1) {
			return wrong("the digests of its sections are not those of 1 to %d, in order", len(l.Digests))
		}
	}
	if h := l.Digests[0].Sum; f.Ticks == 0 && h != c.meta {
		return c.otherMeta(h)
	} else if h != c.meta {
		return wrong("the digest of its section meta is not that of the run")
	}
	if h := l.hash(); h != l.Hash {
		return wrong("its hash is %s; that of what it holds is %s", l.Hash, h)
	}
	for c.input != nil && c.input.Tick <= l.Tick {
		if err := c.add(c.input, l.Tick); err != nil {
			return err
		}
		if err := c.read(); err != nil {
			return err
		}
	}
	if seq := f.Events.Seq; c.input != nil && l.InputSeq > seq { // if the input is not as it was committed, that comes first
		if err := c.add(c.input, l.Tick); err != nil {
			return err
		}
		return wrong("its last input is %d; that of the events is %d", l.InputSeq, seq)
	}
	switch {
	case l.InputSeq != f.Events.Seq:
		return wrong("its last input is %d; that of the events is %d", l.InputSeq, f.Events.Seq)
	case l.InputHash != f.Events.Hash:
		return wrong("its inputs have the hash %s; that of the events is %s", l.InputHash, f.Events.Hash)
	}
	f.Ticks, f.Tick, f.Hash = f.Ticks+1, l.Tick, l.Hash
	f.note(l)
	return nil
}

// otherMeta returns the error of a run whose states were hashed with another section 1 than its row and its genesis give.
func (c *Checker) otherMeta(sum Hash) error {
	reason := "its seed, tick rate, rules, generator or genesis is not what the states of its ticks were hashed with"
	r := *c.run
	if r.Rules = engine.RulesVersion; r.meta() == sum {
		reason = fmt.Sprintf("its rules have version %d; the states of its ticks were hashed with version %d", c.run.Rules, r.Rules)
	}
	return &EvidenceError{"runs", c.run.ID.String(), reason}
}

// add looks at an input.
func (c *Checker) add(x *Input, tick uint64) error {
	e := &c.found.Events
	wrong := func(reason string) error {
		return &EvidenceError{"input_events", fmt.Sprintf("seq %d", x.Seq), reason}
	}
	if x.Prev != e.Hash {
		return wrong(fmt.Sprintf("it stands on %s; the input before it has %s", x.Prev, e.Hash))
	}
	if x.Tick < tick || x.Tick <= c.run.First {
		return wrong(fmt.Sprintf("it is of tick %d, and comes after inputs or ticks that are later", x.Tick))
	}
	if err := e.Add(&x.Event); err != nil {
		if order, ok := errors.AsType[*OrderError](err); ok {
			return wrong(order.Reason)
		}
		return err
	}
	if x.Hash != e.Hash {
		return wrong(fmt.Sprintf("its hash is %s; that of what it holds is %s", x.Hash, e.Hash))
	}
	if _, err := x.Command(); err != nil {
		return wrong(err.(*EventError).Reason)
	}
	c.found.Inputs++
	return nil
}

// snapshot looks at a snapshot, at the link of its tick or the next one.
func (c *Checker) snapshot(ctx context.Context, e Evidence, tick uint64, l *Link) error {
	s, err := e.Snapshot(ctx, tick)
	if err == nil {
		err = s.check(l)
	}
	if refused, ok := errors.AsType[*EvidenceError](err); ok {
		c.found.Refused = append(c.found.Refused, refused)
		return nil
	}
	return err
}

// check checks that a snapshot belongs to a link.
func (s *Snapshot) check(l *Link) error {
	wrong := ""
	switch {
	case s.Tick != l.Tick:
		wrong = "there is no such tick"
	case s.Hash != l.Hash:
		wrong = "it is for another hash than that of its tick"
	case int64(len(s.State)) != l.StateLen:
		wrong = fmt.Sprintf("it has %d bytes; the state of its tick has %d", len(s.State), l.StateLen)
	default:
		if of, err := NewLink(l.Prev, s.State); err != nil {
			wrong = err.Error()
		} else if of.Hash != l.Hash {
			wrong = "it is not the state of its tick"
		} else {
			return nil
		}
	}
	return &EvidenceError{"snapshots", fmt.Sprintf("tick %d", s.Tick), wrong}
}

// Open returns the snapshot of a tick and the head of the chain there, if they belong together: the events up to it are hashed, and its
// state is. The error is an [*EvidenceError], or that of reading.
func Open(ctx context.Context, e Evidence, tick uint64) (*Snapshot, *Head, error) {
	s, err := e.Snapshot(ctx, tick)
	if err != nil {
		return nil, nil, err
	}
	h := &Head{Tick: tick}
	for x, err := range e.Inputs(ctx, 0) {
		if err != nil {
			return nil, nil, err
		}
		if x.Tick > tick {
			break
		}
		if err := h.Events.Add(&x.Event); err != nil {
			return nil, nil, &EvidenceError{"input_events", fmt.Sprintf("seq %d", x.Seq), err.Error()}
		}
	}
	for l, err := range e.Links(ctx, tick) {
		if err != nil {
			return nil, nil, err
		}
		if err := s.check(l); err != nil {
			return nil, nil, err
		}
		if l.InputHash != h.Events.Hash {
			return nil, nil, &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", tick), "its inputs have another hash than the events"}
		}
		h.Hash = l.Hash
		return s, h, nil
	}
	return nil, nil, &EvidenceError{"chain_hashes", fmt.Sprintf("tick %d", tick), "it is missing"}
}
