package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/sweep/cluster"
)

// An auditAsk is what a worker is to do with a bundle.
type auditAsk struct {
	From *uint64 `json:"from_snapshot,omitempty"`
	To   *uint64 `json:"to,omitempty"`
}

// An auditAnswer is what came of it: PASS if it has neither of the last two.
type auditAnswer struct {
	Scenario string       `json:"scenario"`
	Planned  uint64       `json:"planned_ticks"`
	From     uint64       `json:"from_tick"`
	To       uint64       `json:"to_tick"`
	Ticks    uint64       `json:"ticks"`
	Hash     audit.Hash   `json:"hash"`
	Replayed buildView    `json:"replayed_with"`
	Start    string       `json:"start"`
	Diverged *auditDiffer `json:"diverged,omitempty"`
	Error    string       `json:"error,omitempty"`
	Broken   *auditBroken `json:"broken,omitempty"`
}

// auditDiffer is an [audit.DivergenceError] as it is sent, auditBroken an [audit.EvidenceError].
type auditDiffer struct {
	Tick       uint64     `json:"tick"`
	Expected   audit.Hash `json:"expected"`
	Calculated audit.Hash `json:"calculated"`
	Sections   []uint16   `json:"sections,omitempty"`
	Error      string     `json:"error,omitempty"`
}

type auditBroken struct {
	Table  string `json:"table"`
	Row    string `json:"row"`
	Reason string `json:"reason"`
}

// send has a worker compute a run again, whose evidence was checked here.
func (x *auditOf) send(ctx context.Context, e audit.Evidence, found *audit.Checked) error {
	if err := x.holdParent(ctx, e); err != nil {
		return err
	}
	s, err := x.genesis(e.Run())
	if _, broken := errors.AsType[*audit.EvidenceError](err); broken {
		return err
	}
	path, err := bundleOf(ctx, e)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	ask := auditAsk{}
	if from := uint64(x.from); x.fromState {
		ask.From = &from
	}
	if to := uint64(x.to); x.toTick {
		ask.To = &to
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	answer, err := x.errands.Do(ctx, cluster.Errand{Path: path, Ask: text})
	if err != nil {
		return err
	}
	var a auditAnswer
	if err := json.Unmarshal([]byte(words.Clean(string(answer.Text))), &a); err != nil {
		return fmt.Errorf("worker %s is of another version of this program: %w", answer.Worker, err)
	}
	if err := x.believable(ctx, e, found, &a); err != nil {
		return fmt.Errorf("worker %s: %w", answer.Worker, err)
	}
	if s != nil {
		a.Scenario, a.Planned = s.Name, s.Ticks
	}
	return x.take(&a)
}

// bundleOf writes the evidence of a run into a temporary file.
func bundleOf(ctx context.Context, e audit.Evidence) (path string, err error) {
	f, err := os.CreateTemp("", "murksim-audit-*")
	if err != nil {
		return "", err
	}
	if err = errors.Join(audit.WriteBundle(ctx, f, e), f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// believable holds an answer against what is committed: a verdict must be one on these ticks.
func (x *auditOf) believable(ctx context.Context, e audit.Evidence, found *audit.Checked, a *auditAnswer) error {
	tick, hash := a.To, a.Hash
	want, from := found.Tick, e.Run().First
	if x.toTick {
		want = uint64(x.to)
	}
	if x.fromState {
		from = uint64(x.from)
	}
	switch d := a.Diverged; {
	case a.Error != "":
		return nil
	case a.Broken != nil:
		return fmt.Errorf("it says that the evidence is broken, which it is not here: %s, %s: %s", a.Broken.Table, a.Broken.Row, a.Broken.Reason)
	case d != nil:
		if tick, hash = d.Tick, d.Expected; tick < from || tick > want || a.From != from {
			return fmt.Errorf("it says that tick %s differs, which is none of those from %s to %s", words.Number(tick), words.Number(from), words.Number(want))
		}
		if d.Calculated == d.Expected {
			return fmt.Errorf("it says that tick %s differs, and gives the hash that is committed", words.Number(tick))
		}
	default:
		if a.To != want || a.From != from || a.Ticks != want-from+1 {
			return fmt.Errorf("it compared the ticks %s to %s, not %s to %s", words.Number(a.From), words.Number(a.To), words.Number(from), words.Number(want))
		}
	}
	if committed, err := linkAt(ctx, e, tick); err != nil {
		return err
	} else if committed != hash {
		return fmt.Errorf("it says that tick %s has the hash %s, which is not committed", words.Number(tick), hash)
	}
	return nil
}

// take makes an answer the outcome of the audit.
func (x *auditOf) take(a *auditAnswer) error {
	v := x.report
	v.Scenario, v.Planned, v.Replayed, v.Start = a.Scenario, a.Planned, a.Replayed, a.Start
	v.From, v.To, v.Ticks, v.computed = a.From, a.To, a.Ticks, a.Hash
	switch {
	case a.Diverged != nil:
		d := audit.DivergenceError{Tick: a.Diverged.Tick, Expected: a.Diverged.Expected, Calculated: a.Diverged.Calculated}
		for _, id := range a.Diverged.Sections {
			if id > 0 && int(id) <= len(engine.SectionNames) {
				d.Sections = append(d.Sections, id)
			}
		}
		if a.Diverged.Error != "" {
			d.Err = errors.New(a.Diverged.Error)
		}
		return &d
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// auditErrand is the [cluster.Doer] of audit.
func (j *workerJob) auditErrand(ctx context.Context, path string, text []byte) ([]byte, error) {
	var ask auditAsk
	if err := json.Unmarshal(text, &ask); err != nil {
		return nil, fmt.Errorf("it was sent by another version of this program: %w", err)
	}
	there, _, _ := j.captured(j.Name, false, true)
	again := &auditJob{app: there, unkept: true, jobs: 1, workers: 1, maxMemory: j.share()}
	if ask.From != nil {
		again.from, again.fromState = tickFlag(*ask.From), true
	}
	if ask.To != nil {
		again.to, again.toTick = tickFlag(*ask.To), true
	}
	src, err := there.openEvidence(ctx, path)
	if err != nil {
		return json.Marshal(auditAnswer{Error: words.InWords(err).Error(), Replayed: viewBuild(replay.ThisBuild())})
	}
	defer src.close()
	runs, err := src.pick(ctx, nil, false, "")
	if err != nil {
		return nil, err
	}
	x := again.audit(ctx, src, &runs[0], &auditProgress{Meter: there.Meter(0)})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return json.Marshal(x.answer())
}

// answer is the outcome of an audit as it is sent.
func (x *auditOf) answer() *auditAnswer {
	v := x.report
	a := &auditAnswer{
		Scenario: v.Scenario, Planned: v.Planned, From: v.From, To: v.To, Ticks: v.Ticks, Hash: v.computed, Replayed: v.Replayed, Start: v.Start,
	}
	diverged, differs := errors.AsType[*audit.DivergenceError](x.err)
	evidence, broken := errors.AsType[*audit.EvidenceError](x.err)
	switch {
	case differs:
		a.Diverged = &auditDiffer{Tick: diverged.Tick, Expected: diverged.Expected, Calculated: diverged.Calculated, Sections: diverged.Sections}
		if diverged.Err != nil {
			a.Diverged.Error = diverged.Err.Error()
		}
	case broken:
		a.Broken = &auditBroken{evidence.Table, evidence.Row, evidence.Reason}
	case x.err != nil:
		a.Error = words.InWords(x.err).Error()
	}
	return a
}
