package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// maxMemory is what the world of a scenario may take, in bytes: what murksim allows, too.
const maxMemory = 4 << 30

var registry = sync.OnceValue(worlds.Registry)

// scenariosOf checks what the user names; nothing means all that come with murksim. The error
// has a line for each that does not exist or is no scenario of murksim's components.
func scenariosOf(names []string) ([]string, error) {
	if len(names) == 0 {
		for _, info := range worlds.Embedded() {
			names = append(names, info.Name)
		}
		return names, nil
	}
	var bad []string
	for _, name := range names {
		if !isFile(name) {
			continue
		}
		if err := tryFile(name); err != nil {
			bad = append(bad, lineOf(name, err))
		}
	}
	if bad != nil {
		return nil, errors.New(strings.Join(bad, "\n"))
	}
	return names, nil
}

// tryFile makes the world of a scenario.
func tryFile(name string) error {
	s, err := open(name)
	if err == nil {
		_, err = runner.New(runner.Config{Scenario: s, Workers: 1, MaxMemory: maxMemory})
	}
	return err
}

// lineOf says in one line what is wrong with a scenario, and with which.
func lineOf(name string, err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*document.Error](err); ok {
		short := *e
		short.Excerpt = ""
		err = &short
	}
	line := strings.NewReplacer("\n  ", "; ", "\n", "; ").Replace(err.Error())
	if !strings.Contains(line, name) {
		line = document.FileName(name) + ": " + line
	}
	return line
}

// isFile reports whether a scenario is a file of the user's.
func isFile(name string) bool { return !worlds.IsEmbedded(name) }

// open reads a scenario: one that comes with murksim, by its name, or a file.
func open(name string, sets ...string) (*scenarios.Scenario, error) {
	if !isFile(name) {
		return worlds.Open(registry(), name, sets...)
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `./\`) {
		return worlds.Open(registry(), name) // says which name may have been meant
	}
	return yaml.Load(registry(), name, sets...)
}
