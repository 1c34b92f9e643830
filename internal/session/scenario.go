package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// ScenarioOf returns the scenario that a header holds, or that of the world which the program builds for it.
func (a *Session) ScenarioOf(h *replay.Header) (*scenarios.Scenario, error) {
	s, err := runner.ScenarioOf(a.Registry, a.Build, a.Name, h)
	if errors.Is(err, runner.ErrBuild) {
		_, why, _ := strings.Cut(err.Error(), "\n") // after that of ErrBuild
		err = words.NewProblem("the program cannot build its world: "+words.Bare(errors.New(why)), errors.Join(replay.ErrIncompatible, err))
	}
	return s, err
}

// LoadScenario finds a scenario by what the user calls it: the name of one that
// comes with the program, a file, or - for standard input. Reading it takes no more memory than
// its world may take.
func (a *Session) LoadScenario(name string, sets []string, limit Size) (*scenarios.Scenario, error) {
	t, err := a.Template(name, limit)
	if err != nil {
		return nil, err
	}
	return t.With(sets...)
}

// Template is loadScenario for scenarios of one text with different values.
func (a *Session) Template(name string, limit Size) (*yaml.Template, error) {
	registry := a.Registry.Within(limit.Bytes)
	const maxStdin = 16<<20 + 1 // one byte more than a scenario may have
	switch {
	case name == "-":
		b, err := io.ReadAll(io.LimitReader(a.In, maxStdin))
		if err != nil {
			return nil, words.About(name, err)
		}
		return yaml.NewTemplate(registry, "standard input", yaml.Folder("."), b)
	case worlds.IsEmbedded(name):
		return worlds.Template(a.Registry, name)
	}
	if ours, err := files.Begins(name, RecordingMark); err == nil && ours {
		return nil, fmt.Errorf("%s: it is a recording; %s verify %s", document.FileName(name), a.Name, words.Argument(name))
	}
	if state, err := files.Begins(name, StateMark); err == nil && state {
		return nil, fmt.Errorf("%s: it is a saved state; %s run SCENARIO --state %s", document.FileName(name), a.Name, words.Argument(name))
	}
	t, err := yaml.LoadTemplate(registry, name)
	if e, placed := errors.AsType[*document.Error](err); placed {
		if strings.HasPrefix(e.Msg, `unknown key "sweep"`) {
			e.Hint = "it is a design, which " + a.Name + " sweep " + words.Argument(name) + " carries out"
		}
		return t, err // it names a file that has an error
	}
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, a.UnknownScenario(name)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, words.About(name, err)
	}
	return t, err
}

// UnknownScenario returns the error of an unknown name, with the names that the user may have meant.
func (a *Session) UnknownScenario(name string) error {
	for _, file := range []string{name + ".yaml", name + ".yml"} {
		if _, err := os.Stat(file); err == nil {
			return fmt.Errorf("there is no scenario %q; there is %s: %s run %s", name, document.FileName(file), a.Name, words.Argument(file))
		}
	}
	if lower := strings.ToLower(name); worlds.IsEmbedded(lower) {
		return fmt.Errorf("there is no scenario %q; did you mean %q?", name, lower)
	}
	_, err := worlds.Open(a.Registry, name)
	if e, ok := errors.AsType[*worlds.UnknownError](err); ok && e.Near == "" {
		return fmt.Errorf("%w; %s scenarios lists those that there are", err, a.Name)
	}
	return err
}

// CheckMemory refuses a world that would take too much.
func CheckMemory(s *scenarios.Scenario, limit Size) error {
	need, err := s.Memory()
	if err != nil {
		return err
	}
	if need > limit.Bytes {
		return TooLarge(s.Name, need, limit)
	}
	return nil
}

// MoreMemory is the flag that a command needs to hold a world several times; "" if the limit suffices.
func MoreMemory(s *scenarios.Scenario, limit Size) string {
	const held = 4
	if CheckMemory(s, limit.Share(held)) == nil {
		return ""
	}
	return fmt.Sprintf(" --max-memory %dGiB", (held*limit.Bytes+1<<30-1)>>30)
}

// TooLarge is the error of a world that takes more memory than it may.
func TooLarge(name string, need uint64, limit Size) error {
	return fmt.Errorf("%s: its world takes about %s of memory, the limit is %s; raise it with --max-memory",
		name, words.Size(int64(min(need, 1<<62))), limit.Text)
}
