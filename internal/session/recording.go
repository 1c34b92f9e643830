package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A Recording is an open recording and the scenario that its header holds.
type Recording struct {
	Session  *Session
	Name     string
	Frames   replay.Source
	Scenario *scenarios.Scenario
	begin    *replay.Begin   // nil: genesis
	state    []byte          // of the latter, once it is known
	follower *files.Follower // nil: the recording ends where it ends
	Close    func() error
}

// OpenRecording opens a recording, bytes or JSON lines, by path, or - for standard input,
// and reads its header. A file cut short is read to where it ends, which tells more than a
// count too high. Waiting for a pipe ends with the context.
func (a *Session) OpenRecording(ctx context.Context, name string) (*Recording, error) {
	return a.openRecording(ctx, name, false)
}

// openRecording opens a recording, to be followed while another process writes it or to be read to where it ends.
func (a *Session) openRecording(ctx context.Context, name string, follow bool) (_ *Recording, err error) {
	rec := &Recording{Session: a, Name: name, Close: func() error { return nil }}
	in := files.Patient(ctx, a.In)
	switch {
	case follow:
		if rec.follower, err = files.Follow(ctx, name, draft.Writing); err != nil {
			return nil, err
		}
		in, rec.Close = rec.follower, rec.follower.Close
	case name != "-":
		f, err := files.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		in, rec.Close = f, f.Close
	}
	if rec.Frames, err = replay.Open(in); err != nil {
		rec.Close()
		return nil, err
	}
	return rec, nil
}

// stateOf returns the state at which the recording begins: from one of the files of --state, or
// else the one that the recording holds.
func (rec *Recording) stateOf(ctx context.Context, begin *replay.Begin, s *scenarios.Scenario) ([]byte, error) {
	if rec.Session.lastState != nil && sha256.Sum256(rec.Session.lastState) == begin.SHA256 { // a pipe is read once
		rec.state = rec.Session.lastState
		return rec.state, nil
	}
	wanted := fmt.Sprintf("it begins at the state of tick %s with the SHA-256 %x", words.Number(begin.Tick), begin.SHA256)
	var wrong error
	for _, path := range rec.Session.States {
		state, err := ReadState(ctx, path, s)
		if err == nil {
			state, err = engine.Unseal(state)
		}
		sum := sha256.Sum256(state)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case path == "-":
			wrong = ErrStateStdin
		case errors.As(err, new(*fs.PathError)): // whose file is not the recording
			wrong = words.NewProblem(fmt.Sprintf("%s; %v", wanted, words.About(path, err)), replay.ErrBegin)
		case err != nil:
			wrong = words.NewProblem(fmt.Sprintf("%s; %v", wanted, words.About(path, StateProblem(err))), err)
		case sum == begin.SHA256:
			rec.state, rec.Session.lastState = state, state
			return state, nil
		default:
			wrong = words.NewProblem(fmt.Sprintf("%s; that of %s is %x", wanted, document.FileName(path), sum), replay.ErrBegin)
		}
	}
	switch {
	case wrong != nil && (begin.State == nil || !rec.Session.Several):
		return nil, wrong
	case begin.State == nil:
		return nil, words.NewProblem(wanted+", which it does not hold; give its file with --state", replay.ErrBegin)
	}
	rec.state = begin.State
	return begin.State, nil
}

// worldAt builds the world of a recording where it begins. Only the recording decides what it
// is, so an error of the state is one of the recording.
func (rec *Recording) worldAt(ctx context.Context, begin *replay.Begin, s *scenarios.Scenario, workers int) (*engine.World, error) {
	if begin == nil {
		if len(rec.Session.States) > 0 && !rec.Session.Several {
			return nil, errors.New("it begins at the first tick; --state is for recordings that begin at a saved state")
		}
		w, err := report.Made(ctx, rec.Session.Printer, func(step func(share float64) error) (*engine.World, error) { return s.Make(workers, step) })
		return w, Unbuilt(err)
	}
	if begin.Tick >= s.Ticks {
		return nil, words.NewProblem(fmt.Sprintf("malformed header: it begins at the state of tick %s, and its scenario has %s", words.Number(begin.Tick), words.Count(s.Ticks, "tick")), replay.ErrMalformed)
	}
	state, err := rec.stateOf(ctx, begin, s)
	if err != nil {
		return nil, err
	}
	w, err := report.Made(ctx, rec.Session.Printer, func(step func(share float64) error) (*engine.World, error) { return s.Restore(workers, state, step) })
	if err == engine.ErrUnsavable {
		return nil, words.NewProblem("malformed header: a world with the rules "+s.Rules+" cannot begin at a state", errors.Join(replay.ErrMalformed, err))
	}
	if e, ok := errors.AsType[*engine.StateError](err); ok {
		what := "the state at which it begins: "
		if e.Kind == engine.ErrStateOther {
			what = "the state at which it begins is not one of its scenario: "
		}
		return nil, words.NewProblem("malformed header: "+what+StateProblem(e).Error(), errors.Join(replay.ErrMalformed, err))
	}
	return w, Unbuilt(err)
}

// GivenInputs compares the frames of a recording that are replayed in a world.
func (rec *Recording) GivenInputs(w *engine.World) (*GivenInputs, error) {
	run := &runner.Run{Scenario: rec.Scenario, World: w}
	g := &GivenInputs{Source: rec.Frames, world: w, list: run.Scheduled, scenario: rec.Scenario, queue: commands.NewQueue(commands.MaxQueue), arrival: 1}
	if rec.state != nil {
		s, err := engine.ReadState(rec.state)
		if err != nil {
			return nil, err
		}
		g.arrival = s.Arrival
	}
	return g, nil
}

// LinesError is the error of JSON lines, in which no tick can be found but by reading those before it.
func (a *Session) LinesError(name string) error {
	return fmt.Errorf("it is JSON lines; make a recording: %s convert %s NEW.murk", a.Name, words.Argument(name))
}

// Unbuilt explains an error of building a world from a descriptor, which nothing but the
// descriptor decides. Other errors stay as they are.
func Unbuilt(err error) error {
	_, document := errors.AsType[*document.Error](err)
	_, config := errors.AsType[*engine.ConfigError](err)
	if !document && !config {
		return err
	}
	if errors.Is(err, engine.ErrWork) {
		return words.NewProblem("the world is too much work for this program: "+words.Bare(err), errors.Join(replay.ErrIncompatible, err))
	}
	return words.NewProblem("malformed header: the world cannot be built: "+words.Bare(err), errors.Join(replay.ErrMalformed, err))
}

// Player rebuilds the world that the header describes, within a limit of memory. It ends with
// the context.
func (rec *Recording) Player(ctx context.Context, workers int, limit Size) (*replay.Player, error) {
	return replay.NewPlayer(rec.Frames, rec.Builder(ctx, workers, limit))
}

// Builder rebuilds worlds as player does.
func (rec *Recording) Builder(ctx context.Context, workers int, limit Size) replay.Builder {
	return func(h *replay.Header) (*engine.World, error) {
		begin, err := h.Begin()
		if err != nil {
			return nil, err
		}
		s, err := rec.Session.ScenarioOf(h)
		if err != nil {
			return nil, rec.DescriptorError(h, err)
		}
		rec.Scenario, rec.begin = s, begin
		if err := h.Check(s.Setup(h.Descriptor)); err != nil {
			return nil, err
		}
		if err := CheckMemory(s, limit); err != nil {
			return nil, Unbuilt(err)
		}
		return rec.worldAt(ctx, begin, s, workers)
	}
}

// DescriptorError explains a descriptor that this build cannot use.
func (rec *Recording) DescriptorError(h *replay.Header, err error) error {
	if e, ok := errors.AsType[*scenarios.IncompatibleError](err); ok {
		text := "incompatible header: " + words.Bare(e)
		switch v := h.Build.Version; {
		case e.Last != "":
			text += fmt.Sprintf("\n  the last program that has it: go run %s verify %s", e.Last, words.Argument(rec.Name))
		case v == replay.ThisBuild().Version: // plain murksim of this version does not have it either
			text += "\n  verify it with the program that recorded it"
		case releasePattern.MatchString(v):
			text += fmt.Sprintf("\n  recorded with version %s; try: go run github.com/murksim/murksim/cmd/murksim@v%s verify %s"+
				"\n  or verify it with the program that recorded it, if that has components of its own", v, v, words.Argument(rec.Name))
		}
		return words.NewProblem(text, errors.Join(replay.ErrIncompatible, err))
	}
	if errors.Is(err, runner.ErrBuild) {
		return err
	}
	foreign := runner.Foreign(h, err)
	if foreign && h.Build.Version == originalVersion {
		text := "recorded by the original engine, which does not say what world it is of; try: " + rec.Session.Name + " verify --world WORLD.json " + words.Argument(rec.Name)
		return words.NewProblem(text, replay.ErrIncompatible)
	}
	if len(h.Descriptor) == 0 {
		return words.NewProblem("incompatible: the header holds no scenario, so the world cannot be rebuilt from this file alone", replay.ErrIncompatible)
	}
	if foreign {
		const text = "recorded by another program, so this one cannot rebuild its world (the header holds no scenario); verify it with that program"
		return words.NewProblem(text, replay.ErrIncompatible)
	}
	text := words.Bare(err)
	return words.NewProblem("malformed header: "+text, errors.Join(replay.ErrMalformed, err))
}

// HeaderFault says what is wrong with a header that this program wrote, if anything is.
func (a *Session) HeaderFault(name string, h *replay.Header) error {
	if _, err := h.Begin(); err != nil {
		return err
	}
	s, err := a.ScenarioOf(h)
	if err == nil {
		return h.Check(s.Setup(h.Descriptor))
	}
	rec := Recording{Session: a, Name: name}
	if err = rec.DescriptorError(h, err); errors.Is(err, replay.ErrIncompatible) {
		return nil // it is another program's
	}
	return err
}
