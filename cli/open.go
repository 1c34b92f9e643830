package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// loadScenario finds a scenario by what the user calls it: the name of one that
// comes with the program, a file, or - for standard input. Reading it takes no more memory than
// its world may take.
func (a *session) loadScenario(name string, sets []string, limit bytesFlag) (*scenarios.Scenario, error) {
	t, err := a.template(name, limit)
	if err != nil {
		return nil, err
	}
	return t.With(sets...)
}

// template is loadScenario for scenarios of one text with different values.
func (a *session) template(name string, limit bytesFlag) (*yaml.Template, error) {
	registry := a.registry.Within(limit.bytes)
	const maxStdin = 16<<20 + 1 // one byte more than a scenario may have
	switch {
	case name == "-":
		b, err := io.ReadAll(io.LimitReader(a.in, maxStdin))
		if err != nil {
			return nil, words.About(name, err)
		}
		return yaml.NewTemplate(registry, "standard input", yaml.Folder("."), b)
	case worlds.IsEmbedded(name):
		return worlds.Template(a.registry, name)
	}
	if ours, err := files.Begins(name, recordingMark); err == nil && ours {
		return nil, fmt.Errorf("%s: it is a recording; %s verify %s", document.FileName(name), a.name, words.Argument(name))
	}
	if state, err := files.Begins(name, stateMark); err == nil && state {
		return nil, fmt.Errorf("%s: it is a saved state; %s run SCENARIO --state %s", document.FileName(name), a.name, words.Argument(name))
	}
	t, err := yaml.LoadTemplate(registry, name)
	if e, placed := errors.AsType[*document.Error](err); placed {
		if strings.HasPrefix(e.Msg, `unknown key "sweep"`) {
			e.Hint = "it is a design, which " + a.name + " sweep " + words.Argument(name) + " carries out"
		}
		return t, err // it names a file that has an error
	}
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, a.unknownScenario(name)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, words.About(name, err)
	}
	return t, err
}

// unknownScenario says what may have been meant.
func (a *session) unknownScenario(name string) error {
	for _, file := range []string{name + ".yaml", name + ".yml"} {
		if _, err := os.Stat(file); err == nil {
			return fmt.Errorf("there is no scenario %q; there is %s: %s run %s", name, document.FileName(file), a.name, words.Argument(file))
		}
	}
	if lower := strings.ToLower(name); worlds.IsEmbedded(lower) {
		return fmt.Errorf("there is no scenario %q; did you mean %q?", name, lower)
	}
	_, err := worlds.Open(a.registry, name)
	if e, ok := errors.AsType[*worlds.UnknownError](err); ok && e.Near == "" {
		return fmt.Errorf("%w; %s scenarios lists those that there are", err, a.name)
	}
	return err
}

// checkMemory refuses a world that would take too much.
func checkMemory(s *scenarios.Scenario, limit bytesFlag) error {
	need, err := s.Memory()
	if err != nil {
		return err
	}
	if need > limit.bytes {
		return tooLarge(s.Name, need, limit)
	}
	return nil
}

// share is the limit of each of several worlds that are there at the same time, with what is
// held of their states.
func (b bytesFlag) share(worlds uint64) bytesFlag {
	return bytesFlag{text: fmt.Sprintf("1/%d of %s", worlds, b.text), bytes: b.bytes / worlds, typed: b.typed}
}

// moreMemory is the flag that a command needs which holds a world several times; "" if the limit is enough for that.
func moreMemory(s *scenarios.Scenario, limit bytesFlag) string {
	const held = 4
	if checkMemory(s, limit.share(held)) == nil {
		return ""
	}
	return fmt.Sprintf(" --max-memory %dGiB", (held*limit.bytes+1<<30-1)>>30)
}

func tooLarge(name string, need uint64, limit bytesFlag) error {
	return fmt.Errorf("%s: its world takes about %s of memory, the limit is %s; raise it with --max-memory",
		name, words.Size(int64(min(need, 1<<62))), limit.text)
}

// A recording is an open recording and the scenario that its header holds.
type recording struct {
	session  *session
	name     string
	frames   replay.Source
	scenario *scenarios.Scenario
	begin    *replay.Begin // nil: genesis
	state    []byte        // of the latter, once it is known
	close    func() error
}

// openRecording opens a recording, bytes or JSON lines, by path, or - for standard input,
// and reads its header. A file cut short is read to where it ends, which tells more than a
// count too high. Waiting for a pipe ends with the context.
func (a *session) openRecording(ctx context.Context, name string) (*recording, error) {
	rec := &recording{session: a, name: name, close: func() error { return nil }}
	in := files.Patient(ctx, a.in)
	if name != "-" {
		f, err := files.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		in, rec.close = f, f.Close
	}
	var err error
	if rec.frames, err = replay.Open(in); err != nil {
		rec.close()
		return nil, err
	}
	return rec, nil
}

// isLines refuses JSON lines, in which no tick can be found but by reading those before it.
func (a *session) isLines(name string) error {
	return fmt.Errorf("it is JSON lines; make a recording: %s convert %s NEW.murk", a.name, words.Argument(name))
}

// unbuilt explains an error of building a world from a descriptor, which nothing but the
// descriptor decides. Other errors stay as they are.
func unbuilt(err error) error {
	_, document := errors.AsType[*document.Error](err)
	_, config := errors.AsType[*engine.ConfigError](err)
	if !document && !config {
		return err
	}
	if errors.Is(err, engine.ErrWork) {
		return words.NewProblem("the world is too much work for this program: "+strings.TrimPrefix(err.Error(), "engine: "), errors.Join(replay.ErrIncompatible, err))
	}
	return words.NewProblem("malformed header: the world cannot be built: "+strings.TrimPrefix(err.Error(), "engine: "), errors.Join(replay.ErrMalformed, err))
}

// player rebuilds the world that the header describes, within a limit of memory. It ends with
// the context.
func (rec *recording) player(ctx context.Context, workers int, limit bytesFlag) (*replay.Player, error) {
	return replay.NewPlayer(rec.frames, rec.builder(ctx, workers, limit))
}

// builder rebuilds worlds as player does.
func (rec *recording) builder(ctx context.Context, workers int, limit bytesFlag) replay.Builder {
	return func(h *replay.Header) (*engine.World, error) {
		begin, err := h.Begin()
		if err != nil {
			return nil, err
		}
		s, err := rec.session.scenarioOf(h)
		if err != nil {
			return nil, rec.descriptorError(h, err)
		}
		rec.scenario, rec.begin = s, begin
		if err := h.Check(s.Setup(h.Descriptor)); err != nil {
			return nil, err
		}
		if err := checkMemory(s, limit); err != nil {
			return nil, unbuilt(err)
		}
		return rec.worldAt(ctx, begin, s, workers)
	}
}
