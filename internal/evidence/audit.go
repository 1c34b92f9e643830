package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// A Reach says which ticks are audited.
type Reach struct {
	From   *uint64 // the tick of a snapshot at which it begins; nil: the first
	To     *uint64 // the last; nil: all that are committed
	Follow bool    // also what is committed meanwhile, until the run has ended
}

// An Audit is the audit of one run.
type Audit struct {
	Builder
	Reach
	src      *Source
	id       audit.ID
	say      func(lines []string) // is told what was found before the verdict; nil: it stays in lines
	Report   *Report
	Lines    []string
	checker  audit.Checker
	rerun    *audit.Rerun // nil: no tick is computed yet
	Ended    bool         // it has a verdict
	err      error        // that the verdict stands for; nil: PASS
	progress *Progress
}

// PollEvery is how often --follow looks for new ticks.
const PollEvery = 200 * time.Millisecond

// AuditRun checks the evidence of a run, and computes the run again. If the context ends while it follows a run, the verdict is about the ticks so far.
func AuditRun(ctx context.Context, b Builder, src *Source, l *store.Listed, how Reach, p *Progress, say func(lines []string)) *Audit {
	x := &Audit{Builder: b, Reach: how, src: src, id: l.Run.ID, progress: p, say: say}
	x.Report = &Report{Event: "audit", Format: 1, Run: l.Key, Replayed: session.ViewBuild(replay.ThisBuild()), Start: "genesis", ID: x.id, started: time.Now()}
	err := l.Wrong
	if err == nil {
		err = x.all(ctx)
	}
	x.progress.Clear()
	if again := x.rerun; again != nil && again.To > again.World.Tick() {
		x.progress.forget(again.To - again.World.Tick())
	}
	interrupted := x.Follow && err != nil && err == ctx.Err() && x.Report.Ticks > 0 // then with a verdict on the ticks so far
	if interrupted {
		parting, stop := report.After(ctx, report.PartingTime)
		err = x.again(parting)
		stop()
	}
	x.Ended = ctx.Err() == nil || interrupted
	x.rerun = nil // the world takes memory, and others may be told first
	d, differs := errors.AsType[*audit.DivergenceError](err)
	x.Report.Hidden = differs && x.matches(ctx, d.Tick)
	if src.DB != nil {
		if written := src.DB.Unwritten(); written != nil {
			err, x.Report.Hidden = written, false
		}
	}
	x.err = err
	x.Report.Conclude(err)
	if x.Report.Hidden {
		if x.Report.Reason = Once(d).Error(); x.From != nil {
			x.Report.Reason = fmt.Sprintf("it differs only when it is computed from the snapshot of tick %d: something is remembered outside the state, or the world does not compute the same each time; synctest, given its scenario, names it", *x.From)
		}
	}
	x.Report.Seconds = time.Since(x.Report.started).Seconds()
	return x
}

// Once is the error of a tick that differed in the first computation, but not in the second.
func Once(d *audit.DivergenceError) error {
	return fmt.Errorf("tick %s differed once, and is as committed now that it was computed again: the world does not compute the same each time, or the machine fails; synctest, given its scenario, may name it", words.Number(d.Tick))
}

// matches reports whether the ticks of a run, up to one that differs, are as committed when they are computed again, from the first.
func (x *Audit) matches(ctx context.Context, until uint64) bool {
	again := &Audit{Builder: x.Builder, Reach: Reach{To: &until}, src: x.src, id: x.id, progress: x.progress, Report: &Report{}}
	return again.all(ctx) == nil
}

// all looks at what is committed, and with --follow at what is committed from then on.
func (x *Audit) all(ctx context.Context) error {
	for {
		writing := false
		if x.Follow {
			var err error
			if writing, err = x.src.DB.Writing(ctx, x.id); err != nil {
				return err
			}
		}
		err := x.look(ctx, writing)
		if err != nil || !writing || x.Report.Halted != "" || x.To != nil && x.rerun != nil && x.rerun.World.Tick() == *x.To {
			if err == nil && x.Follow {
				if err = x.again(ctx); err == nil {
					x.tell()
				}
			}
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(PollEvery):
		}
	}
}

// again checks all the evidence once more: rows that were read first may have been changed since.
func (x *Audit) again(ctx context.Context) error {
	if x.rerun == nil { // it is halted, and has no tick
		return nil
	}
	e, done, err := x.evidence(ctx)
	if err != nil {
		return err
	}
	defer done()
	found, err := x.checker.Again(ctx, e)
	if err != nil {
		return err
	}
	for _, refused := range found.Refused {
		if text := fmt.Sprintf("%s: %s", refused.Row, refused.Reason); !slices.Contains(x.Report.Refused, text) {
			x.Report.Refused = append(x.Report.Refused, text)
		}
	}
	_, _, err = x.src.HoldParent(ctx, found.Held(e))
	return err
}

// evidence opens what is committed of the run.
func (x *Audit) evidence(ctx context.Context) (audit.Evidence, func(), error) {
	e, done, err := x.src.Run(ctx, x.id)
	if x.rerun != nil && errors.Is(err, store.ErrNoRun) {
		err = &audit.EvidenceError{Table: "runs", Row: x.id.String(), Reason: "it is missing; it was there when it was first read"}
	}
	return e, done, err
}

// look looks at what was committed since the last time, of a run to which more comes or not.
func (x *Audit) look(ctx context.Context, more bool) error {
	e, done, err := x.evidence(ctx)
	if err != nil {
		return err
	}
	defer done()
	r, v := e.Run(), x.Report
	if x.rerun == nil {
		v.Label, v.Seed, v.RateNum, v.RateDen, v.Rules, v.Recorded = r.Label, words.Whole(r.Seed), r.Rate.Num, r.Rate.Den, r.Rules, r.Engine
	}
	halt, err := e.Halt(ctx)
	if err != nil {
		return err
	}
	if halt != nil {
		v.Halted, v.Code = halt.Code, report.StatusHalted
	}
	found, err := x.checker.Check(ctx, x.progress.Watch(e))
	if _, broken := errors.AsType[*audit.EvidenceError](err); broken && more && x.rerun == nil && NoLinks(ctx, e) {
		x.checker = audit.Checker{} // it has just begun
		return nil
	}
	if err != nil {
		return err
	}
	e = found.Held(e)
	v.Inputs, v.links = found.Inputs, found.Ticks
	v.Refused = nil
	for _, refused := range found.Refused {
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %s", refused.Row, refused.Reason))
	}
	if x.rerun == nil {
		v.From, v.To = r.First, found.Tick // unless it cannot be computed here
		if !x.Follow {
			x.tell()
		}
		if err := x.begin(ctx, e); err != nil {
			return err
		}
		v.From, v.To = x.rerun.World.Tick(), x.rerun.World.Tick()
	}
	return x.compute(ctx, e, found, more)
}

// NoLinks reports whether no tick of a run is committed.
func NoLinks(ctx context.Context, e audit.Evidence) bool {
	for range e.Links(ctx, e.Run().First) {
		return false
	}
	return true
}

// begin makes the world where the audit begins.
func (x *Audit) begin(ctx context.Context, e audit.Evidence) error {
	r := e.Run()
	s, err := x.Genesis(r, 0)
	if err != nil {
		return err
	}
	x.Report.Scenario, x.Report.Planned = s.Name, s.PlannedTicks()
	if err := x.holdParent(ctx, e); err != nil {
		return err
	}
	again, from := &audit.Rerun{Evidence: e, Descriptor: r.Genesis, Passed: x.progress.Tick}, r.First
	if x.From != nil {
		from = *x.From
	}
	if from > 0 {
		x.Report.Start = "snapshot"
	}
	if x.To != nil && *x.To < from {
		return fmt.Errorf("--to is %s; the audit begins at tick %s", words.Number(*x.To), words.Number(from))
	}
	err = x.Place(ctx, e, s, again, from)
	if err == nil {
		x.rerun = again
	}
	return err
}

// compute computes the ticks that are new.
func (x *Audit) compute(ctx context.Context, e audit.Evidence, found *audit.Checked, more bool) (err error) {
	again, v := x.rerun, x.Report
	to, hash := found.Tick, found.Hash
	if x.To != nil && *x.To <= to {
		if to = *x.To; to < found.Tick {
			if hash, err = linkAt(ctx, e, to); err != nil {
				return err
			}
		}
	} else if x.To != nil && !more {
		return fmt.Errorf("--to is %s; the last tick that is committed is %s", words.Number(*x.To), words.Number(to))
	}
	switch {
	case v.Ticks > 0 && to == again.World.Tick():
		return nil
	case x.From != nil && to == *x.From && (!more || x.To != nil && *x.To == to):
		return fmt.Errorf("no tick is audited behind the snapshot of tick %s, so nothing would be computed; begin at an earlier one", words.Number(to))
	}
	if x.From != nil && to == *x.From { // more may come
		return nil
	}
	if err := planned(v.Planned, found.Tick); err != nil {
		return err
	}
	x.progress.Expect(to - again.World.Tick())
	again.Evidence, again.To, again.Hashes = e, to, found.Hashes
	if err := again.Run(ctx); err != nil {
		if d, ok := errors.AsType[*audit.DivergenceError](err); ok {
			v.To, v.Ticks = max(v.To, d.Tick), d.Tick-v.From // those before it are equal
		}
		return err
	}
	head := found.Head
	again.From = &head
	v.To, v.Ticks, v.Computed = to, to-v.From+1, hash
	return nil
}

// tell says what was found before the verdict.
func (x *Audit) tell() {
	x.Lines = append(x.Lines, fmt.Sprintf("evidence  %s, %s: whole", words.Count(x.Report.links, "link"), words.Count(x.Report.Inputs, "input")))
	for _, text := range x.Report.Refused {
		x.Lines = append(x.Lines, "refused   the snapshot of "+text)
	}
	if x.say == nil {
		return
	}
	x.progress.Clear()
	x.say(x.Lines)
	x.Lines = nil
}

// linkAt returns the hash of a tick.
func linkAt(ctx context.Context, e audit.Evidence, tick uint64) (audit.Hash, error) {
	l, err := audit.LinkAt(ctx, e, tick)
	if err != nil {
		return audit.Hash{}, err
	}
	return l.Hash, nil
}

// holdParent compares a run with its parent, if it is a fork, and notes the parent in the report.
func (x *Audit) holdParent(ctx context.Context, e audit.Evidence) error {
	p, held, err := x.src.HoldParent(ctx, e)
	if err != nil {
		return err
	}
	if p != nil {
		x.Report.Parent, x.Report.Held = p.Run.String(), &held
	}
	if told := Begins(e.Run(), p, held); told != "" {
		x.Lines = append(x.Lines, told)
	}
	return nil
}
