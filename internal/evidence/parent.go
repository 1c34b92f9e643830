package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// A forkStart is the part of a fork that is compared with its parent: its row and its first state.
type forkStart struct {
	run    *audit.Run
	world  []byte        // the descriptor of its world: the genesis document without the parent
	parent *audit.Parent // nil: it is no fork
	link   *audit.Link   // of its first tick
	meta   []byte        // section 1 of its first state
}

// startOf reads the start of a run.
func startOf(ctx context.Context, e audit.Evidence) (s *forkStart, err error) {
	s = &forkStart{run: e.Run()}
	if s.world, s.parent, err = audit.SplitGenesis(s.run.Genesis); err != nil || s.parent == nil {
		return s, err
	}
	if s.link, err = audit.LinkAt(ctx, e, s.run.First); err != nil {
		return nil, err
	}
	snapshots, err := e.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(snapshots, s.run.First) {
		return nil, &audit.EvidenceError{Table: "snapshots", Row: fmt.Sprintf("tick %d", s.run.First), Reason: "it is missing; a fork begins with it"}
	}
	first, _, err := audit.Open(ctx, e, s.run.First)
	if err == nil {
		s.meta, err = audit.Meta(first.State)
	}
	return s, err
}

// HoldParent holds a fork against the run from which it comes: its genesis, its row and its first state, and the evidence of that run, which must
// be whole; and so on for that run. The evidence of the fork has been checked. It returns the parent, nil for a run that is no fork, and
// whether the source has it. One run is open at a time.
func (s *Source) HoldParent(ctx context.Context, e audit.Evidence) (p *audit.Parent, held bool, err error) {
	fork, err := startOf(ctx, e)
	if err != nil || fork.parent == nil {
		return nil, false, err
	}
	p, top := fork.parent, fork.run.ID
	seen := []audit.ID{top}
	for fork.parent != nil {
		if slices.Contains(seen, fork.parent.Run) {
			return nil, false, &audit.EvidenceError{Table: "runs", Row: top.String(), Reason: "it comes from itself, by way of its parents"}
		}
		seen = append(seen, fork.parent.Run)
		next, err := s.parentOf(ctx, fork)
		if next == nil && err == nil {
			break // it is not in this source
		}
		if broken, ok := errors.AsType[*audit.EvidenceError](err); ok && fork.run.ID != top {
			return nil, false, &audit.EvidenceError{Table: "runs", Row: top.String(), Reason: fmt.Sprintf("the evidence of run %s, from which its parent comes, is broken: %s, %s: %s", fork.run.ID, broken.Table, broken.Row, broken.Reason)}
		}
		if err != nil {
			return nil, false, err
		}
		fork = next
	}
	return p, fork.run.ID != top, nil
}

// parentOf compares a fork with its parent, and returns the start of the parent; nil: the source does not have it.
func (s *Source) parentOf(ctx context.Context, fork *forkStart) (*forkStart, error) {
	p := fork.parent
	wrong := func(format string, args ...any) error {
		return &audit.EvidenceError{Table: "runs", Row: fork.run.ID.String(), Reason: fmt.Sprintf(format, args...)}
	}
	told := func(e audit.Evidence) error {
		if s.Parent == nil {
			return nil
		}
		return s.Parent(ctx, e, p)
	}
	if s.DB == nil {
		return nil, told(nil)
	}
	e, done, err := s.Run(ctx, p.Run)
	if errors.Is(err, store.ErrNoRun) {
		return nil, told(nil)
	}
	if broken, ok := errors.AsType[*audit.EvidenceError](err); ok {
		return nil, wrong("the evidence of its parent %s is broken: %s, %s: %s", p.Run, broken.Table, broken.Row, broken.Reason)
	}
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := s.Check(ctx, e)
	var parent *forkStart
	if err == nil {
		e = found.Held(e)
		parent, err = startOf(ctx, e)
	}
	if broken, ok := errors.AsType[*audit.EvidenceError](err); ok {
		return nil, wrong("the evidence of its parent %s is broken: %s, %s: %s", p.Run, broken.Table, broken.Row, broken.Reason)
	}
	if err != nil {
		return nil, err
	}
	if err := told(e); err != nil {
		return nil, err
	}
	theirs, err := audit.LinkAt(ctx, e, p.Tick)
	if err != nil {
		return nil, wrong("its parent %s has no tick %d", p.Run, p.Tick)
	}
	ours, of := fork.run, parent.run
	switch {
	case theirs.Hash != p.Hash:
		return nil, wrong("its genesis names the hash %s of tick %d of %s; that has %s", p.Hash, p.Tick, p.Run, theirs.Hash)
	case !bytes.Equal(fork.world, parent.world):
		return nil, wrong("its genesis is not that of its parent %s", p.Run)
	case ours.Seed != of.Seed || ours.Rate != of.Rate || ours.Rules != of.Rules || ours.Format != of.Format || ours.Generator != of.Generator:
		return nil, wrong("its seed, tick rate, rules, state format or generator is not that of its parent %s", p.Run)
	}
	// The digest of the genesis document, which is another one, stands in section 1.
	if fork.link.StateLen != theirs.StateLen || !slices.Equal(fork.link.Digests[1:], theirs.Digests[1:]) || audit.MetaSum(fork.meta, of.Digest) != theirs.Digests[0].Sum {
		return nil, &audit.EvidenceError{Table: "chain_hashes", Row: fmt.Sprintf("tick %d", ours.First), Reason: "it is not the state of its parent " + p.Run.String()}
	}
	return parent, nil
}

// Begins says with what a run begins, if not with its genesis; "": with that.
func Begins(r *audit.Run, p *audit.Parent, held bool) string {
	switch {
	case p == nil && r.First == 0:
		return ""
	case p == nil:
		return fmt.Sprintf("begins    with the state of tick %s, which it is proved from; how that came about it does not show", words.Number(r.First))
	case !held:
		return fmt.Sprintf("fork      of run %s, hash %s at tick %s; that run is not in this source", p.Run, p.Hash, words.Number(p.Tick))
	}
	return fmt.Sprintf("fork      of run %s, whose state of tick %s it begins with and is proved from; how that run came to it, an audit of that run shows", p.Run, words.Number(p.Tick))
}
