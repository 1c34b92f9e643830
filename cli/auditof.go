package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// An auditOf is the audit of one run.
type auditOf struct {
	*auditJob
	src      *evidence.Source
	id       audit.ID
	report   *auditReport
	lines    []string // what it says before the verdict, where others are audited at the same time
	checker  audit.Checker
	rerun    *audit.Rerun // nil: no tick is computed yet
	ended    bool         // it has a verdict
	err      error        // that the verdict stands for; nil: PASS
	progress *auditProgress
}

// pollEvery is how often --follow looks for new ticks.
const pollEvery = 200 * time.Millisecond

// audit looks at the evidence of a run, and computes it again.
func (j *auditJob) audit(ctx context.Context, src *evidence.Source, l *store.Listed, p *auditProgress) *auditOf {
	id := l.Run.ID
	x := &auditOf{auditJob: j, src: src, id: id, progress: p}
	x.report = &auditReport{Event: "audit", Format: 1, Run: l.Key, Replayed: session.ViewBuild(replay.ThisBuild()), Start: "genesis", id: id, started: time.Now()}
	err := l.Wrong
	if err == nil {
		err = x.all(ctx)
	}
	x.progress.clear()
	if again := x.rerun; again != nil && again.To > again.World.Tick() {
		x.progress.forget(again.To - again.World.Tick())
	}
	interrupted := j.follow && err != nil && err == ctx.Err() && x.report.Ticks > 0 // then with a verdict on the ticks so far
	if interrupted {
		parting, stop := after(ctx, partingTime)
		err = x.again(parting)
		stop()
	}
	x.ended = ctx.Err() == nil || interrupted
	x.rerun = nil // the world takes memory, and others may be told first
	x.err = err
	x.report.conclude(err)
	if d, ok := errors.AsType[*audit.DivergenceError](err); ok && x.fromState && x.matchesFromGenesis(ctx, d.Tick) {
		x.report.hidden = true
		x.report.Reason = fmt.Sprintf("it differs only when it is computed from the snapshot of tick %d: something is remembered outside the state, which synctest names", uint64(x.from))
	}
	x.report.Seconds = time.Since(x.report.started).Seconds()
	return x
}

// matchesFromGenesis reports whether the ticks of a run, up to one that differs when it is computed from a snapshot, are as committed when they are computed from the first.
func (x *auditOf) matchesFromGenesis(ctx context.Context, until uint64) bool {
	job := *x.auditJob
	job.fromState, job.follow, job.toTick, job.to, job.many = false, false, true, tickFlag(until), true // which says nothing before its verdict
	again := &auditOf{auditJob: &job, src: x.src, id: x.id, progress: x.progress, report: &auditReport{}}
	return again.all(ctx) == nil
}

// all looks at what is committed, and with --follow at what is committed from then on.
func (x *auditOf) all(ctx context.Context) error {
	for {
		writing := false
		if x.follow {
			var err error
			if writing, err = x.src.DB.Writing(ctx, x.id); err != nil {
				return err
			}
		}
		err := x.look(ctx, writing)
		if err != nil || !writing || x.report.Halted != "" || x.toTick && x.rerun != nil && x.rerun.World.Tick() == uint64(x.to) {
			if err == nil && x.follow {
				if err = x.again(ctx); err == nil {
					x.tell()
				}
			}
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// again looks at all the evidence once more: what was read first may have been changed since.
func (x *auditOf) again(ctx context.Context) error {
	if x.rerun == nil { // it is halted, and has no tick
		return nil
	}
	e, done, err := x.evidence(ctx)
	if err != nil {
		return err
	}
	defer done()
	return x.checker.Again(ctx, e)
}

// evidence opens what is committed of the run.
func (x *auditOf) evidence(ctx context.Context) (audit.Evidence, func(), error) {
	e, done, err := x.src.Run(ctx, x.id)
	if x.rerun != nil && errors.Is(err, store.ErrNoRun) {
		err = &audit.EvidenceError{Table: "runs", Row: x.id.String(), Reason: "it is missing; it was there when it was first read"}
	}
	return e, done, err
}

// look looks at what was committed since the last time, of a run to which more comes or not.
func (x *auditOf) look(ctx context.Context, more bool) error {
	e, done, err := x.evidence(ctx)
	if err != nil {
		return err
	}
	defer done()
	r, v := e.Run(), x.report
	if x.rerun == nil {
		v.Label, v.Seed, v.RateNum, v.RateDen, v.Rules, v.Recorded = r.Label, words.Whole(r.Seed), r.Rate.Num, r.Rate.Den, r.Rules, r.Engine
	}
	halt, err := e.Halt(ctx)
	if err != nil {
		return err
	}
	if halt != nil {
		v.Halted, v.code = halt.Code, report.StatusHalted
	}
	found, err := x.checker.Check(ctx, x.progress.watch(e))
	if _, broken := errors.AsType[*audit.EvidenceError](err); broken && more && x.rerun == nil && noLinks(ctx, e) {
		x.checker = audit.Checker{} // it has just begun
		return nil
	}
	if err != nil {
		return err
	}
	v.Inputs, v.links = found.Inputs, found.Ticks
	v.Refused = nil
	for _, refused := range found.Refused {
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %s", refused.Row, refused.Reason))
	}
	if x.rerun == nil {
		v.From, v.To = r.First, found.Tick // unless it cannot be computed here
		if !x.follow {
			x.tell()
		}
		if err := x.begin(ctx, e); err != nil {
			return err
		}
		v.From, v.To = x.rerun.World.Tick(), x.rerun.World.Tick()
	}
	return x.compute(ctx, e, found, more)
}

// noLinks reports whether no tick of a run is committed.
func noLinks(ctx context.Context, e audit.Evidence) bool {
	for range e.Links(ctx, e.Run().First) {
		return false
	}
	return true
}

// begin makes the world where the audit begins.
func (x *auditOf) begin(ctx context.Context, e audit.Evidence) error {
	r := e.Run()
	s, err := x.Genesis(r)
	if err != nil {
		return err
	}
	x.report.Scenario, x.report.Planned = s.Name, s.Ticks
	if err := x.holdParent(ctx, e); err != nil {
		return err
	}
	again, from := &audit.Rerun{Evidence: e, Descriptor: r.Genesis, Passed: x.progress.tick}, r.First
	if x.fromState {
		from = uint64(x.from)
	}
	if from > 0 {
		x.report.Start = "snapshot"
	}
	if to := uint64(x.to); x.toTick && to < from {
		return fmt.Errorf("--to is %s; the audit begins at tick %s", words.Number(to), words.Number(from))
	}
	err = x.Place(ctx, e, s, again, from)
	if err == nil {
		x.rerun = again
	}
	return err
}

// compute computes the ticks that are new.
func (x *auditOf) compute(ctx context.Context, e audit.Evidence, found *audit.Checked, more bool) (err error) {
	again, v := x.rerun, x.report
	to, hash := found.Tick, found.Hash
	if x.toTick && uint64(x.to) <= to {
		if to = uint64(x.to); to < found.Tick {
			if hash, err = linkAt(ctx, e, to); err != nil {
				return err
			}
		}
	} else if x.toTick && !more {
		return fmt.Errorf("--to is %s; the last tick that is committed is %s", words.Number(uint64(x.to)), words.Number(to))
	}
	switch {
	case v.Ticks > 0 && to == again.World.Tick():
		return nil
	case x.fromState && !x.toTick && to == uint64(x.from) && !more:
		return fmt.Errorf("no tick is audited behind the snapshot of tick %s, so nothing would be computed; begin at an earlier one", words.Number(to))
	}
	x.progress.expect(to - again.World.Tick())
	again.Evidence, again.To, again.Hashes = e, to, found.Hashes
	if err := again.Run(ctx); err != nil {
		if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
			v.To, v.Ticks = max(v.To, d.Tick), d.Tick-v.From // those before it are equal
		}
		return err
	}
	head := found.Head
	again.From = &head
	v.To, v.Ticks, v.computed = to, to-v.From+1, hash
	return nil
}

// tell says what was found before the verdict.
func (x *auditOf) tell() {
	x.lines = append(x.lines, fmt.Sprintf("evidence  %s, %s: whole", words.Count(x.report.links, "link"), words.Count(x.report.Inputs, "input")))
	for _, text := range x.report.Refused {
		x.lines = append(x.lines, "refused   the snapshot of "+text)
	}
	if x.many {
		return
	}
	x.progress.clear()
	for _, line := range x.lines {
		_ = x.Say("%s", words.Clean(line)) // what comes of it must not depend on who reads it; the program ends with that error
	}
	x.lines = nil
}

// linkAt returns the hash of a tick.
func linkAt(ctx context.Context, e audit.Evidence, tick uint64) (audit.Hash, error) {
	l, err := audit.LinkAt(ctx, e, tick)
	if err != nil {
		return audit.Hash{}, err
	}
	return l.Hash, nil
}
