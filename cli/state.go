package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// checkState checks that the flags about states go together.
func (j *runJob) checkState(given func(flag string) bool) error {
	switch {
	case j.state == "-":
		return report.Usage("%w", session.ErrStateStdin)
	}
	for _, output := range []string{j.saveState, j.export.path} { // others replace no saved state
		if j.state != "" && output != "" && files.Same(j.state, output) {
			return report.Usage("%s is the state that the run starts from; write to another file", document.FileName(j.state))
		}
	}
	return nil
}

// savable refuses, before the run, a state that could not be saved after it.
func (j *runJob) savable(s *scenarios.Scenario) error {
	wanted := j.state != "" || j.saveEvery > 0 || j.saveState != "" || j.stateHash
	if wanted && s.Rules == engine.Murk019.String() {
		return words.About(s.Name, words.NewProblem("the rules murk-0.1.9 let propagators remember things outside the state; it cannot be saved, restored or hashed", engine.ErrUnsavable))
	}
	return nil
}

// build makes the run, at genesis or in the saved state that it starts from. Nothing is
// written before that.
func (j *runJob) build(ctx context.Context, s *scenarios.Scenario) error {
	c := runner.Config{Scenario: s, Workers: j.workers, MaxMemory: j.maxMemory.Bytes}
	if j.until > s.Ticks {
		return report.Usage("--until must be at most %s, the scenario's last tick, not %s; --ticks raises that", words.Number(s.Ticks), words.Number(j.until))
	}
	if err := j.savable(s); err != nil {
		return err
	}
	if j.state != "" {
		if err := session.CheckMemory(s, j.maxMemory); err != nil {
			return err
		}
		if ours, err := files.Begins(j.state, session.RecordingMark); err == nil && ours {
			return fmt.Errorf("%s: it is a recording, not a saved state; %s run --resume %s goes on with it", document.FileName(j.state), j.Name, words.Argument(j.state))
		}
		b, err := session.ReadState(ctx, j.state, s)
		if err == nil {
			c.State, err = engine.Unseal(b)
		}
		if err != nil {
			return words.About(j.state, session.StateProblem(err))
		}
	}
	r, err := report.Made(ctx, j.Printer, func(step func(share float64) error) (*runner.Run, error) {
		c.Making = step
		return runner.New(c)
	})
	if err != nil {
		return j.unbuilt(ctx, s, c.State, err)
	}
	if c.State != nil { // which is one of this world
		if j.viewer != nil {
			j.startState = c.State
		}
		if j.began, err = replay.NewBegin(c.State); err != nil {
			return words.About(j.state, session.StateProblem(err))
		}
	}
	if j.auditing.dsn != "" && c.State != nil && r.World.Tick() == 0 {
		if err := j.atGenesis(s, c.State); err != nil {
			return err
		}
	}
	if j.start = r.World.Tick(); j.until != 0 && j.start >= j.until {
		return fmt.Errorf("%s: the state is of tick %s, but --until ends the run after tick %s", document.FileName(j.state), words.Number(j.start), words.Number(j.until))
	}
	r.Realtime, r.Speed = j.Realtime, j.Speed
	j.Run = r
	return nil
}

// atGenesis checks that a state of tick 0 is the one with which its scenario begins: a chain from tick 0 on can have no other.
func (j *runJob) atGenesis(s *scenarios.Scenario, state []byte) error {
	w, err := s.World(1)
	if err != nil {
		return err
	}
	genesis, err := w.Save(s.Descriptor())
	if err == nil && !bytes.Equal(genesis, state) {
		err = fmt.Errorf("%s: it is a state of tick 0 that is not the one with which %s begins; a chain that begins at tick 0 begins with that", document.FileName(j.state), s.Name)
	}
	return err
}

// unbuilt explains why the world could not be made.
func (j *runJob) unbuilt(ctx context.Context, s *scenarios.Scenario, state []byte, err error) error {
	if e, ok := errors.AsType[*runner.MemoryError](err); ok {
		return session.TooLarge(s.Name, e.Need, j.maxMemory)
	}
	if e, ok := errors.AsType[*engine.StateError](err); ok {
		switch {
		case e.Kind != engine.ErrStateOther || e.What == "rules": // which no flag changes
		case e.What == "parameters" || e.What == "fields" || e.What == "random": // the descriptor, which comes first, is the same
			return words.About(j.state, words.NewProblem("it names this scenario, but is not a state of it: "+e.Err.Error(), err))
		default:
			other := j.otherState(ctx, s, state)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return words.About(j.state, words.NewProblem(other+
				"\n  a run goes on with the scenario, --set, --seed and --ticks that it began with", err))
		}
		return words.About(j.state, session.StateProblem(err))
	}
	if e, ok := errors.AsType[*runner.DoneError](err); ok {
		return fmt.Errorf("%s: the state is of tick %s, but the run has only %s ticks", document.FileName(j.state), words.Number(e.Tick), words.Number(e.Last))
	}
	if e, ok := errors.AsType[*scenarios.NameError](err); ok {
		return words.About(j.state, e)
	}
	return err
}

// otherState says how the run that saved a state differs from this run of the scenario, if
// that can be found out: the state identifies the scenario, but does not hold it. Searching
// reads the scenario again and again, and ends with the context.
func (j *runJob) otherState(ctx context.Context, s *scenarios.Scenario, b []byte) string {
	const unknown = "it was saved by a run of another scenario, or of this one with other values"
	state, err := engine.ReadState(b)
	if err != nil || j.source == "-" || files.IsPipe(j.source) { // which cannot be read again
		return unknown
	}
	fits := func(sets []string) bool {
		if ctx.Err() != nil {
			return false
		}
		load := func() (*scenarios.Scenario, error) { return j.LoadScenario(j.source, sets, j.maxMemory) }
		s, err := files.Await(ctx, load, nil, nil)
		return err == nil && sha256.Sum256(s.Descriptor()) == state.Descriptor
	}
	if state.Seed != s.Seed && fits(append(slices.Clip(j.applied), fmt.Sprintf("seed=%d", state.Seed))) {
		return fmt.Sprintf("it was saved by a run with the seed %d, not %d", state.Seed, s.Seed)
	}
	const most = 16 // tries
	for i, set := range j.applied[:min(len(j.applied), most)] {
		if !fits(slices.Concat(j.applied[:i], j.applied[i+1:])) {
			continue
		}
		flag := "--set " + set
		if i >= len(j.sets) { // "ticks=9"
			flag = "--" + strings.Replace(set, "=", " ", 1)
		}
		return "it was saved by a run without " + words.Printable(flag)
	}
	if len(j.applied) > 1 && fits(nil) {
		return "it was saved by a run without --set, --seed and --ticks"
	}
	return unknown
}

// save writes the state of the last whole tick, also after an error, and computes its
// digest. The last output is that of the state; finish publishes it.
func (j *runJob) save() error {
	if j.saveState == "" && !j.stateHash {
		return nil
	}
	b, err := j.World.Save(j.Scenario.Descriptor())
	if err != nil {
		return err
	}
	n := len(b)
	b = engine.Seal(b)
	copy(j.digest[:], b[n:])
	j.savedBytes = int64(len(b))
	if j.saveState == "" {
		return nil
	}
	_, err = j.stateOut.Write(b)
	return err
}

// descriptor describes the world of the run, and where it begins.
func (j *runJob) descriptor() ([]byte, error) {
	if j.began == nil {
		return j.Scenario.Descriptor(), nil
	}
	return j.began.Describe(j.Scenario.Descriptor())
}
