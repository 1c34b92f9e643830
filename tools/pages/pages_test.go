package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestCurrent holds that the documents say what the code says.
func TestCurrent(t *testing.T) {
	if err := run([]string{"-root", root, "-check"}, io.Discard); err != nil {
		t.Error(err)
	}
}

// tree copies what the program reads and writes into a folder of its own.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"docs", "docs/propagators", "replay", "engine/propagators"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"*.md", "*.go"} {
			paths, err := filepath.Glob(filepath.Join(root, folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, folder, filepath.Base(path)), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return dir
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A page and sections that are missing are written in full, and are then up to date.
func TestMissing(t *testing.T) {
	dir := tree(t)
	if err := os.Remove(filepath.Join(dir, "docs/propagators/decay.md")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, heading string }{
		{"docs/SCENARIO.md", "### automaton"}, {"replay/DESCRIPTOR.md", "**decay@1**"}, {"replay/DESCRIPTOR.md", "**automaton@1**"},
	} {
		old := text(t, dir, tt.name)
		from, to, ok := section(old, tt.heading)
		if !ok {
			t.Fatalf("%s has no %q", tt.name, tt.heading)
		}
		if err := os.WriteFile(filepath.Join(dir, tt.name), []byte(old[:from]+old[to:]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"-root", dir, "-check"}, io.Discard); err == nil || !strings.Contains(err.Error(), "decay.md is stale") {
		t.Errorf("-check: %v, want that decay.md is stale", err)
	}
	if err := run([]string{"-root", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-root", dir, "-check"}, io.Discard); err != nil {
		t.Errorf("-check after writing: %v", err)
	}
	for _, tt := range []struct{ name, want string }{
		{"docs/propagators/decay.md", "# decay\n\nLets a field decay at a constant rate.\n\n![Sparks run around a ring"},
		{"docs/propagators/decay.md", "](decay.png)\n\n`murksim run decay` runs the world of the picture"},
		{"docs/propagators/decay.md", "\n## Formula\n\nDecay "},
		{"docs/propagators/decay.md", "| `field` | required | written in place | The field that decays"},
		{"docs/propagators/decay.md", "\n```yaml\nmurksim: 1\nname: decay\n"},
		{"docs/propagators/decay.md", "\n```go\nconst glow fields.ID = 0\n\nvar decay = propagators.Decay{\n\tField: glow,\n\tRate:  1.5,\n}\n```\n"},
		{"docs/SCENARIO.md", "### automaton\n\nRuns a cellular automaton such as Conway's Life or WireWorld.\n\n| key | default |"},
		{"docs/SCENARIO.md", "\n**table.when**, an item of the list:\n\n| key | default | what it says |\n| --- | --- | --- |\n| `state` | required | A state"},
		{"docs/SCENARIO.md", "\n[More](propagators/automaton.md).\n\n### shallow_water\n"},
		{"replay/DESCRIPTOR.md", "**table.when**, an item of the list:\n\n| key | value | left out if it is |\n| --- | --- | --- |\n| `state` | number | never |\n| `min` | integer, 0 to 63 | absent |"},
		{"replay/DESCRIPTOR.md", "**decay@1**\n\n| key | value | left out if it is |\n| --- | --- | --- |\n| `field` | text | never |\n| `rate` | number | never |\n\n**noise@1**"},
	} {
		if got := text(t, dir, tt.name); !strings.Contains(got, tt.want) {
			t.Errorf("%s does not have\n%s", tt.name, tt.want)
		}
	}
}

// A table that says something else is written anew, and nothing but it changes.
func TestStale(t *testing.T) {
	dir := tree(t)
	files := []string{"docs/propagators/README.md", "docs/propagators/emission.md", "docs/SCENARIO.md", "replay/DESCRIPTOR.md"}
	want := map[string]string{}
	for _, name := range files {
		old := text(t, dir, name)
		want[name] = old
		stale := old
		for _, row := range []string{"| `presence` |", "emission.png\" width=\"96\""} {
			stale = strings.Replace(stale, row, "| stale "+row, 1)
		}
		if stale == old {
			t.Fatalf("%s has no row to spoil", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(stale), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"-root", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if got := text(t, dir, name); got != want[name] {
			t.Errorf("%s is not as it was", name)
		}
	}
}
