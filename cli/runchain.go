package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// isDatabase reports whether a name is that of a database of chains.
func isDatabase(name string) bool {
	is, err := files.Begins(name, session.DatabaseMark)
	return store.IsServer(name) || is && err == nil
}

// checkResumeChain looks at the flags that do not go with --resume of a database.
func (j *runJob) checkResumeChain(given func(flag string) bool) error {
	for _, flag := range []string{"audit", "ticks", "seed", "set", "state", "view", "audit-label"} {
		if given(flag) {
			return report.Usage("--resume with a database and --%s cannot be used together: the chain says how the run goes on", flag)
		}
	}
	j.auditing.dsn, j.auditing.resumes, j.resume = j.resume, true, ""
	return nil
}

// rejoin continues the run of a chain: it checks the evidence, computes the ticks and compares every hash on the way. It starts at the
// first tick, or at the last snapshot of a chain that this user's programs have computed. Broken evidence halts the run, and so does a
// tick that differs twice, in the same way.
func (j *runJob) rejoin(ctx context.Context) error {
	x := &j.auditing
	if err := x.open(ctx); err != nil {
		return err
	}
	src := evidence.SourceOf(x.db, j.Session)
	id, err := src.One(ctx, x.wanted, "audit-run")
	if err != nil {
		return err
	}
	if x.writer, err = x.db.Writer(ctx, id); err != nil {
		if errors.Is(err, store.ErrHalted) {
			return report.Exit(report.StatusHalted, evidence.Stored(err))
		}
		return evidence.Stored(err)
	}
	e, done, err := src.Run(ctx, id)
	if err != nil {
		return evidence.Stored(err)
	}
	defer done()
	x.run = *e.Run()
	if evidence.NoLinks(ctx, e) {
		return fmt.Errorf("%s: no tick of run %s is committed; begin anew", x.name, id)
	}
	err = j.catchUp(ctx, src, e)
	code := ""
	fault, broken := errors.AsType[*audit.EvidenceError](err)
	if broken {
		code = audit.EvidenceFault
	}
	d, differs := errors.AsType[*audit.DivergenceError](err)
	if differs {
		code = audit.Divergence
	}
	if code == "" {
		return err
	}
	a := alarm{Code: code, Run: id.String(), Reason: words.InWords(err).Error(), id: id}
	if broken {
		a.Tick = evidence.TickOf(fault)
	}
	if differs {
		a.Tick, a.Expected, a.Calculated = d.Tick, d.Expected.String(), d.Calculated.String()
		j.noteWrong(ctx, src, id, d.Tick)
	}
	done() // else a file that is not in WAL mode, such as a copy, cannot be written to
	j.raise(ctx, x.db, nil, &a, true, x.webhook)
	return report.Exit(report.StatusHalted, words.About(x.name, err))
}

// catchUp brings the world to the end of the chain, and compares every hash on the way, even for a complete chain: it may come from
// anywhere.
func (j *runJob) catchUp(ctx context.Context, src *evidence.Source, e audit.Evidence) error {
	p := &evidence.Progress{Meter: j.Meter(0)}
	found, err := src.Check(ctx, p.Watch(e))
	p.Clear()
	if err != nil {
		return err
	}
	e = found.Held(e)
	src.Parent = j.parentHeld(src, true, !j.force)
	parent, held, err := src.HoldParent(ctx, e)
	if err != nil {
		return err
	}
	again := &evidence.Builder{Opener: j.Session, Workers: j.workers, MaxMemory: j.maxMemory}
	s, err := again.Genesis(e.Run(), found.Tick)
	if err != nil {
		return err
	}
	j.title = s.Name
	complete := found.Tick >= s.Ticks
	switch {
	case j.until > s.Ticks:
		return report.Usage("--until must be at most %s, the last tick that the run plans, not %s", words.Number(s.Ticks), words.Number(j.until))
	case j.until != 0 && found.Tick >= j.until && !complete:
		return fmt.Errorf("%s: it ends with tick %s, but --until ends the run after tick %s", j.auditing.name, words.Number(found.Tick), words.Number(j.until))
	}
	if err := j.savable(s); err != nil {
		return err
	}
	from, err := j.startOfChain(ctx, e, found)
	if err != nil {
		return err
	}
	if complete { // nothing will compute it again
		from = e.Run().First
	}
	j.force = false // it was for the chain; recordings that people made stay
	r, err := j.decided(e.Run().First, from, func(from uint64) (*audit.Rerun, error) {
		return j.compared(ctx, again, e, s, found, from, p)
	})
	switch {
	case err != nil:
		return err
	case complete:
		return errComplete
	}
	j.auditing.head = &found.Head
	if err := j.auditing.memory.note(j.auditing.db.Place(), found.Tick, found.Hash, found.Events.Hash); err != nil {
		if err := j.Say("%s", noNote(words.InWords(err).Error())); err != nil {
			return err
		}
	}
	j.other = newOtherBuild(replay.Build{Version: e.Run().Engine}, replay.Build{Version: replay.ThisBuild().Version})
	if err := cmp.Or(chainNames(ctx, e, s, found.Tick), s.CheckKinds(r.World)); err != nil {
		return words.About(j.auditing.name, err)
	}
	if err := j.startAt(r.World, s); err != nil {
		return err
	}
	if begins := evidence.Begins(e.Run(), parent, held); begins != "" {
		if err := j.Say("%s", begins); err != nil {
			return err
		}
	}
	return j.Say("resumed   %s  run %s  after tick %s", j.auditing.name, e.Run().ID, words.Number(found.Tick))
}

// decided computes a chain with a function that takes the tick to start from. A tick that differs is an error of the chain only when
// the chain, computed again from its first tick, comes to the same. Where something is remembered outside the state, or a tick before the
// snapshot differs, one from a snapshot and one from the first tick are not alike: then two from the first tick decide. Unlike ones accuse no chain.
func (j *runJob) decided(first, from uint64, compute func(from uint64) (*audit.Rerun, error)) (*audit.Rerun, error) {
	r, err := compute(from)
	for {
		before, differs := errors.AsType[*audit.DivergenceError](err)
		if !differs {
			return r, err
		}
		whole := from == first
		from = first
		r, err = compute(from)
		now, differs := errors.AsType[*audit.DivergenceError](err)
		switch {
		case err == nil && whole:
			return nil, report.Exit(report.StatusDiverged, evidence.Once(before))
		case !differs, before.Error() == now.Error():
			return r, err
		case whole: // the errors are not wrapped, since they halt
			return nil, report.Exit(report.StatusDiverged, fmt.Errorf("%s: two replays of it in this process came to different things:\n  first: %v\n  then, from where it begins: %v\n"+
				"  %s; this tells nothing against the chain, and nothing is added to it\n  synctest, given its scenario, may name it",
				j.auditing.name, words.InWords(before), words.InWords(now), session.Remembers))
		}
	}
}

// chainNames returns an error if a chain, up to a tick, did not make the entities to which its scenario gives names as the scenario makes them.
func chainNames(ctx context.Context, e audit.Evidence, s *scenarios.Scenario, upTo uint64) error {
	last := min(s.LastNamed(), upTo)
	if last <= e.Run().First {
		return nil
	}
	given := map[uint64][]commands.Command{} // by tick
	for input, err := range e.Inputs(ctx, 0) {
		if err != nil {
			return evidence.Stored(err)
		}
		if input.Tick > last {
			break
		}
		event := input.Event
		event.Payload = bytes.Clone(event.Payload)
		c, err := event.Command()
		if err != nil {
			return err
		}
		if c.Kind == commands.KindSpawn {
			given[input.Tick] = append(given[input.Tick], c)
		}
	}
	for tick := e.Run().First + 1; tick <= last; tick++ {
		if err := s.CheckNames(tick, given[tick]); err != nil {
			return err
		}
	}
	return nil
}

// startOfChain returns the tick from which to compute a chain: the first, or, if the chain has what this program noted in this database,
// and no audit of it has failed, here or by a program of this user, the last snapshot before that.
func (j *runJob) startOfChain(ctx context.Context, e audit.Evidence, found *audit.Checked) (from uint64, err error) {
	if err := extensible(e.Run()); err != nil && !j.noRecord && found.Tick > 0 {
		err = fmt.Errorf("there is no recording from tick %s on: %w\n  --no-record goes on without one", words.Number(found.Tick), err)
		return 0, words.About(j.auditing.name, err)
	}
	j.auditing.memory = memoryOf(e.Run().ID)
	noted := j.auditing.memory.read()
	if why := j.auditing.memory.none(); why != "" {
		err = j.Say("%s", noNote(why))
	}
	if noted == nil {
		if damaged := j.auditing.memory.damaged(); damaged != nil && !j.force {
			return 0, damaged
		}
		return e.Run().First, err
	}
	ours, err := noted.agrees(ctx, e)
	switch {
	case err != nil && !j.force:
		return 0, report.Exit(report.StatusEvidence, fmt.Errorf("%s: %w\n  --force goes on with this chain", j.auditing.name, err))
	case ours && noted.wrong == nil && noted.in == j.auditing.db.Place():
		doubted, err := j.auditing.db.Doubted(ctx, e.Run().ID)
		switch {
		case errors.Is(err, store.ErrUnreadable):
			err = j.Say("computes  all ticks again, since it is not known whether an audit failed: %s", words.InWords(err))
			return e.Run().First, err
		case err != nil || doubted: // what it noted may be wrong
			return e.Run().First, evidence.Stored(err)
		}
		return lastSnapshot(ctx, e, found, noted.tick)
	}
	return e.Run().First, nil
}

// compared computes a chain from its first tick, or from a snapshot, to its end, and compares every hash on the way.
func (j *runJob) compared(ctx context.Context, b *evidence.Builder, e audit.Evidence, s *scenarios.Scenario, found *audit.Checked, from uint64, p *evidence.Progress) (*audit.Rerun, error) {
	r := &audit.Rerun{Evidence: e, Descriptor: e.Run().Genesis, Hashes: found.Hashes, To: found.Tick, Passed: p.Tick}
	err := b.Place(ctx, e, s, r, from)
	if err == nil {
		p.Expect(found.Tick - from)
		err = r.Run(ctx)
		p.Clear()
	}
	return r, err
}

// lastSnapshot returns the tick of the last snapshot up to another tick that belongs to its link and has a tick after it to compare: this
// program may not be the one that computed the chain. Without one, it returns the first tick.
func lastSnapshot(ctx context.Context, e audit.Evidence, found *audit.Checked, until uint64) (uint64, error) {
	ticks, err := e.Snapshots(ctx)
	if err != nil {
		return 0, err
	}
	for _, tick := range slices.Backward(ticks) {
		if tick <= until && tick < found.Tick && !slices.ContainsFunc(found.Refused, func(r *audit.EvidenceError) bool { return r.Row == fmt.Sprintf("tick %d", tick) }) {
			return tick, nil
		}
	}
	return e.Run().First, nil
}

// startAt begins the run in the state of a world.
func (j *runJob) startAt(w *engine.World, s *scenarios.Scenario) error {
	w.Record(nil)
	j.start = w.Tick()
	j.Run = &runner.Run{Scenario: s, World: w, Checker: scenarios.NewChecker(s, w), Realtime: j.Realtime, Speed: j.Speed}
	if j.noRecord || j.start == 0 {
		return nil
	}
	state, err := w.Save(s.Descriptor())
	if err == nil {
		j.began, err = replay.NewBegin(state)
	}
	return err
}
