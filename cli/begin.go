package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// stateFlag adds --state to a command that replays recordings.
func (a *app) stateFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&a.states, "state", nil, "the saved state at which the recording begins, a `file`, if the recording does not hold it; can be repeated")
}

// stateArguments returns the flags that name files of states, as they are typed on a command line.
func stateArguments(paths ...string) (flags string) {
	for _, path := range paths {
		flags += " --state " + words.Argument(path)
	}
	return flags
}

// apart returns the flag without which the recording of a run cannot be replayed, if its state is
// too large to lie in it.
func (j *runJob) apart() string {
	if j.began == nil || j.began.State != nil || j.state == "" {
		return ""
	}
	return stateArguments(j.state)
}

// notState refuses to write to a file of --state, which is read: a recording that does not hold the
// state at which it begins could not be replayed again.
func (a *app) notState(output string) error {
	for _, state := range a.states {
		if output != "" && files.Same(state, output) {
			return report.Usage("%s is the state at which the recording begins; write to another file", document.FileName(output))
		}
	}
	return nil
}

// scenarioOf returns the scenario that a header holds.
func (a *session) scenarioOf(h *replay.Header) (*scenarios.Scenario, error) {
	return a.registry.FromDescriptor(h.World())
}

// A beginView says where a recording begins that does not begin at genesis, with --json.
type beginView struct {
	FromTick  uint64 `json:"from_tick,omitempty"`       // the first
	FromState string `json:"from_state_hash,omitempty"` // SHA-256 of the state before it
}

func viewBegin(b *replay.Begin) beginView {
	if b == nil {
		return beginView{}
	}
	return beginView{b.Tick + 1, fmt.Sprintf("%x", b.SHA256)}
}

// String says the same for people, after the word from.
func (v beginView) String() string {
	return fmt.Sprintf("tick %s on, from the state with the SHA-256 %s", words.Number(v.FromTick), v.FromState)
}

var errStateStdin = words.NewProblem("--state takes a file, not standard input", replay.ErrBegin)

// stateOf returns the state at which the recording begins: from one of the files of --state, or
// else the one that the recording holds.
func (rec *recording) stateOf(ctx context.Context, begin *replay.Begin, s *scenarios.Scenario) ([]byte, error) {
	if rec.session.lastState != nil && sha256.Sum256(rec.session.lastState) == begin.SHA256 { // a pipe is read once
		rec.state = rec.session.lastState
		return rec.state, nil
	}
	wanted := fmt.Sprintf("it begins at the state of tick %s with the SHA-256 %x", words.Number(begin.Tick), begin.SHA256)
	var wrong error
	for _, path := range rec.session.states {
		state, err := readState(ctx, path, s)
		if err == nil {
			state, err = engine.Unseal(state)
		}
		sum := sha256.Sum256(state)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case path == "-":
			wrong = errStateStdin
		case errors.As(err, new(*fs.PathError)): // whose file is not the recording
			wrong = words.NewProblem(fmt.Sprintf("%s; %v", wanted, words.About(path, err)), replay.ErrBegin)
		case err != nil:
			wrong = words.NewProblem(fmt.Sprintf("%s; %v", wanted, words.About(path, stateProblem(err))), err)
		case sum == begin.SHA256:
			rec.state, rec.session.lastState = state, state
			return state, nil
		default:
			wrong = words.NewProblem(fmt.Sprintf("%s; that of %s is %x", wanted, document.FileName(path), sum), replay.ErrBegin)
		}
	}
	switch {
	case wrong != nil && (begin.State == nil || !rec.session.several):
		return nil, wrong
	case begin.State == nil:
		return nil, words.NewProblem(wanted+", which it does not hold; give its file with --state", replay.ErrBegin)
	}
	rec.state = begin.State
	return begin.State, nil
}

// worldAt builds the world of a recording where it begins. Only the recording decides what it
// is, so an error of the state is one of the recording.
func (rec *recording) worldAt(ctx context.Context, begin *replay.Begin, s *scenarios.Scenario, workers int) (*engine.World, error) {
	if begin == nil {
		if len(rec.session.states) > 0 && !rec.session.several {
			return nil, errors.New("it begins at the first tick; --state is for recordings that begin at a saved state")
		}
		w, err := report.Made(ctx, rec.session.Printer, func(step func(share float64) error) (*engine.World, error) { return s.Make(workers, step) })
		return w, unbuilt(err)
	}
	if begin.Tick >= s.Ticks {
		return nil, words.NewProblem(fmt.Sprintf("malformed header: it begins at the state of tick %s, and its scenario has %s", words.Number(begin.Tick), words.Count(s.Ticks, "tick")), replay.ErrMalformed)
	}
	state, err := rec.stateOf(ctx, begin, s)
	if err != nil {
		return nil, err
	}
	w, err := report.Made(ctx, rec.session.Printer, func(step func(share float64) error) (*engine.World, error) { return s.Restore(workers, state, step) })
	if err == engine.ErrUnsavable {
		return nil, words.NewProblem("malformed header: a world with the rules "+s.Rules+" cannot begin at a state", errors.Join(replay.ErrMalformed, err))
	}
	if e, ok := errors.AsType[*engine.StateError](err); ok {
		what := "the state at which it begins: "
		if e.Kind == engine.ErrStateOther {
			what = "the state at which it begins is not one of its scenario: "
		}
		return nil, words.NewProblem("malformed header: "+what+stateProblem(e).Error(), errors.Join(replay.ErrMalformed, err))
	}
	return w, unbuilt(err)
}
