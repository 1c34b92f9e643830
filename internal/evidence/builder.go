package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
)

// A Builder makes the worlds of chains again.
type Builder struct {
	Opener    *session.Session
	Workers   int // that share the work of a tick; 0: one per core where that pays
	MaxMemory session.Size
}

// Genesis reads the scenario of a run, and checks that the run's other values agree with it, and that the run has no tick after the last planned one.
func (j *Builder) Genesis(r *audit.Run, last uint64) (*scenarios.Scenario, error) {
	s, err := genesis(j.Opener, r, last)
	if err != nil {
		return nil, err
	}
	return s, session.CheckMemory(s, j.MaxMemory)
}

// Check is [audit.Check], and holds what [Builder.Genesis] does, as far as this program knows the world.
func (s *Source) Check(ctx context.Context, e audit.Evidence) (*audit.Checked, error) {
	found, err := audit.Check(ctx, e)
	if err != nil {
		return nil, err
	}
	_, err = genesis(s.opener, e.Run(), found.Tick)
	if _, broken := errors.AsType[*audit.EvidenceError](err); broken {
		return nil, err
	}
	return found, nil
}

func genesis(opener *session.Session, r *audit.Run, last uint64) (*scenarios.Scenario, error) {
	world, _, err := audit.SplitGenesis(r.Genesis)
	if err != nil {
		return nil, err
	}
	s, err := opener.ScenarioOf(&replay.Header{Seed: r.Seed, Descriptor: world})
	if err != nil {
		return nil, session.Unbuilt(err)
	}
	rate, err := audit.RateOf(s.TickRate)
	if err != nil {
		return nil, err
	}
	wrong := ""
	switch {
	case r.Seed != s.Seed:
		wrong = fmt.Sprintf("its seed is %d, that of its genesis %d", r.Seed, s.Seed)
	case r.Rate != rate:
		wrong = fmt.Sprintf("its tick rate is %d/%d, that of its genesis %d/%d", r.Rate.Num, r.Rate.Den, rate.Num, rate.Den)
	case r.Generator != s.Generator:
		wrong = fmt.Sprintf("its random numbers are of %s, those of its genesis of %s", r.Generator, s.Generator)
	}
	if wrong == "" && r.Rules != engine.RulesVersion { // which the genesis would have been refused for
		wrong = fmt.Sprintf("its rules have version %d, those of its genesis %d", r.Rules, engine.RulesVersion)
	}
	if wrong != "" {
		return nil, &audit.EvidenceError{Table: "runs", Row: r.ID.String(), Reason: wrong}
	}
	return s, planned(s.Ticks, last)
}

// planned checks that a chain has no tick after the last that its run plans; 0: nothing says which that is.
func planned(ticks, last uint64) error {
	if last <= ticks || ticks == 0 {
		return nil
	}
	return &audit.EvidenceError{Table: "chain_hashes", Row: fmt.Sprintf("tick %d", ticks+1), Reason: fmt.Sprintf("the run plans only %s", words.Count(ticks, "tick"))}
}

// Place makes the world of a rerun: at genesis, or in the state of a snapshot.
func (j *Builder) Place(ctx context.Context, e audit.Evidence, s *scenarios.Scenario, again *audit.Rerun, from uint64) (err error) {
	if from == e.Run().First && from == 0 {
		again.World, err = report.Made(ctx, j.Opener.Printer, func(step func(share float64) error) (*engine.World, error) { return s.Make(j.Workers, step) })
		return session.Unbuilt(err)
	}
	if ticks, err := e.Snapshots(ctx); err != nil {
		return err
	} else if !slices.Contains(ticks, from) {
		var there []string
		for _, tick := range ticks[:min(len(ticks), 20)] {
			there = append(there, words.Number(tick))
		}
		return fmt.Errorf("there is no snapshot of tick %s; there are %s, of the ticks %s", words.Number(from), words.Number(uint64(len(ticks))), strings.Join(there, ", "))
	}
	snapshot, head, err := audit.Open(ctx, e, from)
	if err != nil {
		return err
	}
	again.From = head
	again.World, err = report.Made(ctx, j.Opener.Printer, func(step func(share float64) error) (*engine.World, error) {
		return s.RestoreAs(e.Run().Genesis, j.Workers, snapshot.State, step)
	})
	if state, ok := errors.AsType[*engine.StateError](err); ok {
		return &audit.EvidenceError{Table: "snapshots", Row: fmt.Sprintf("tick %d", from), Reason: session.StateProblem(state).Error()}
	}
	return session.Unbuilt(err)
}
