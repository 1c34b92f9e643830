//go:build unix

package yaml_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// Opening a pipe would wait until somebody writes to it.
func TestPipeAsPNGIsRefused(t *testing.T) {
	folder, scenario := island(t, "link.png")
	if err := syscall.Mkfifo(filepath.Join(folder, "link.png"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, scenario, "link.png: is not a regular file")
}

// A link to a file in the scenario's folder may be named, one that leads out may not.
func TestLinkOutOfTheFolderIsRefused(t *testing.T) {
	folder, scenario := island(t, "link.png")
	link := filepath.Join(folder, "link.png")
	for _, target := range []string{filepath.Join(folder, "..", "outside.png"), "../outside.png"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		refused(t, scenario, "link.png: path escapes from parent")
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(folder, "..", "outside.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "inside.png"), b, 0o644), os.Symlink("inside.png", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := yaml.Load(worlds.Registry(), scenario); err != nil {
		t.Errorf("a link within the folder: %v", err)
	}
}
