package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A Chain is a run of a source whose ticks are computed again.
type Chain struct {
	Builder
	Source string
	ID     string // of the run, or the beginning of it; "": the only one
	Repeat int

	Evidence audit.Evidence
	Scenario *scenarios.Scenario
	Found    *audit.Checked
	Begins   string // a line that says with what the run begins, if not with its genesis; else ""
	name     string // of the open source, without a password
	close    func()
}

// Name returns the name of the source for people: never with a password.
func (x *Chain) Name() string { return x.name }

// Open opens the run and looks at its evidence. The caller must close it, also after an error. The flag names the run.
func (x *Chain) Open(ctx context.Context, flag string) error {
	x.MaxMemory = x.MaxMemory.Share(3) // two worlds and states of both
	r, err := OpenRun(ctx, x.Opener, x.Source, x.ID, flag)
	if err != nil {
		return err
	}
	x.close, x.name = r.Close, r.Source.Name
	err = r.Hold(ctx)
	x.Evidence, x.Found, x.Begins = r.Evidence, r.Found, r.Begins
	if err != nil {
		return err
	}
	x.Scenario, err = x.Genesis(x.Evidence.Run(), x.Found.Tick)
	return err
}

// Close closes the source, if it is open.
func (x *Chain) Close() {
	if x.close != nil {
		x.close()
	}
}

// Failed is an error of a command that only works on evidence that is whole: it names the run, and has its exit status.
func (x *Chain) Failed(ctx context.Context, err error) error {
	_, broken := errors.AsType[*audit.EvidenceError](err)
	_, exits := errors.AsType[*report.Error](err)
	_, named := errors.AsType[*runError](err)
	switch {
	case err == nil || exits || named:
		return err
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	}
	if x.Evidence != nil {
		err = &runError{x.Evidence.Run().ID, words.InWords(err)}
	}
	if broken {
		return report.Exit(report.StatusEvidence, err)
	}
	return err
}

// A runError names the run that an error is about.
type runError struct {
	run audit.ID
	err error
}

// Error implements [error].
func (e *runError) Error() string { return fmt.Sprintf("run %s: %v", e.run, e.err) }

// Unwrap returns what went wrong.
func (e *runError) Unwrap() error { return e.err }

// Rerun returns a rerun of the whole run.
func (x *Chain) Rerun(ctx context.Context) (*audit.Rerun, *report.Meter, error) {
	r := &audit.Rerun{Evidence: x.Evidence, Descriptor: x.Evidence.Run().Genesis, To: x.Found.Tick}
	if err := x.Place(ctx, x.Evidence, x.Scenario, r, x.Evidence.Run().First); err != nil {
		return nil, nil, err
	}
	m := x.Opener.Meter(r.To)
	r.Passed = m.Show
	return r, m, nil
}

// Bisect finds the tick in which the run and its rerun part.
func (x *Chain) Bisect(ctx context.Context) (*audit.Step, *audit.Rerun, error) {
	clear := func() {}
	defer func() { clear() }()
	return audit.FirstDivergence(ctx, func() (*audit.Rerun, error) {
		clear()
		r, m, err := x.Rerun(ctx)
		if err == nil {
			clear = m.Clear
		}
		return r, err
	}, x.Repeat)
}

// CheckTick holds that the run has a tick.
func (x *Chain) CheckTick(tick uint64) error {
	switch first := x.Evidence.Run().First; {
	case tick < first:
		return report.Usage("--tick must be %s or more, where the run begins, not %s", words.Number(first), words.Number(tick))
	case tick > x.Found.Tick:
		return report.Usage("--tick must be at most %s, the last that is committed, not %s", words.Number(x.Found.Tick), words.Number(tick))
	}
	return nil
}

// At computes a tick of the run. If it differs from what was committed, At computes it once more, from the first tick and in another world, before anything is accused:
// the step is then that of the second time, with the outcomes of both.
func (x *Chain) At(ctx context.Context, tick uint64, repeat int) (*audit.Step, *audit.Rerun, error) {
	if err := x.CheckTick(tick); err != nil {
		return nil, nil, err
	}
	first, r, err := x.at(ctx, tick, repeat)
	if err != nil || first.Calculated != nil && first.Calculated.Hash == first.Committed.Hash {
		return first, r, err
	}
	s, r, err := x.at(ctx, tick, repeat)
	if err == nil {
		s.Also(first.Outcomes)
	}
	return s, r, err
}

func (x *Chain) at(ctx context.Context, tick uint64, repeat int) (*audit.Step, *audit.Rerun, error) {
	r, m, err := x.Rerun(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer m.Clear()
	m.Last, m.Total = tick, tick
	s, err := r.At(ctx, tick, repeat)
	return s, r, err
}

// EngineState lets another build of the program compute the state of a tick, in a process of its own.
func (x *Chain) EngineState(ctx context.Context, program string, tick uint64) (state []byte, err error) {
	folder, err := os.MkdirTemp("", "murksim-audit-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "state")
	var errs words.LastLine
	c := exec.CommandContext(ctx, program, "audit", "state", x.Source, "--run", x.Evidence.Run().ID.String(), "--tick", strconv.FormatUint(tick, 10), "-o", file, "--quiet")
	c.Stderr, c.WaitDelay = &errs, time.Second
	err = c.Run()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !(exited && exit.ExitCode() == report.StatusDiverged): // then it is another state, which is there
		why := words.Bare(err)
		if last := errs.Text(); last != "" {
			why += ": " + last
		}
		return nil, fmt.Errorf("%s: %s", document.FileName(program), why)
	}
	if state, err = session.ReadState(ctx, file, x.Scenario); err == nil {
		state, err = engine.Unseal(state)
	}
	if err == nil {
		err = audit.Under(state, x.Evidence.Run().Digest)
	}
	if err != nil {
		return nil, fmt.Errorf("the state that %s wrote: %w", document.FileName(program), session.StateProblem(err))
	}
	return state, nil
}
