package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sample = regexp.MustCompile("(?s)```([a-z]*)\n(.*?)```")

// TestPages: each sample of the pages in docs/start is a piece of an example, or of what murksim new writes, or a test runs it.
func TestPages(t *testing.T) {
	for page, want := range map[string]struct {
		examples []string
		pieces   int
		tested   []string // the sorts of samples that TestCI and TestWorldPage look at
	}{
		"game.md":   {[]string{"lockstep"}, 9, nil},
		"ci.md":     {nil, 0, []string{"sh", "text"}},
		"agents.md": {[]string{"agents"}, 7, []string{"sh"}},
		"rules.md":  {[]string{"rules"}, 9, []string{"sh", "text"}},
		"world.md":  {[]string{"component", "model"}, 9, []string{"sh"}},
	} {
		text, err := os.ReadFile("../docs/start/" + page)
		if err != nil {
			t.Fatal(err)
		}
		source := pieces(t, want.examples)
		n := 0
		for _, m := range sample.FindAllStringSubmatch(string(text), -1) {
			if slices.Contains(want.tested, m[1]) {
				continue
			}
			if n++; !strings.Contains(source, m[2]) {
				t.Errorf("%s: no piece of %q:\n%s", page, want.examples, m[2])
			}
		}
		if n != want.pieces {
			t.Errorf("%s has %d samples, want %d", page, n, want.pieces)
		}
	}
}

// pieces returns all code and scenarios of examples, and the scenario to begin from.
func pieces(t *testing.T, examples []string) string {
	t.Helper()
	starter, err := exec.Command("go", "run", modulePath, "new", "mine", "-o", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := string(starter)
	for _, name := range examples {
		for _, pattern := range []string{"*.go", "*/*.go", "*.yaml"} {
			files, err := filepath.Glob(filepath.Join(name, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				source += strings.ReplaceAll(string(b), "\n//\t", "\n") // also what the comment of a program shows
			}
		}
	}
	return source
}

// TestWorldPage runs the commands of docs/start/world.md: some with murksim, some in a copy of each example.
func TestWorldPage(t *testing.T) {
	onPath(t)
	page, err := os.ReadFile("../docs/start/world.md")
	if err != nil {
		t.Fatal(err)
	}
	begun := t.TempDir()
	folders := []string{begun, begun, copied(t, "component", "go.mod"), copied(t, "model", "go.mod")}
	for _, m := range sample.FindAllStringSubmatch(string(page), -1) {
		if m[1] != "sh" {
			continue
		}
		if len(folders) == 0 {
			t.Fatalf("no folder is known for:\n%s", m[2])
		}
		if status, said := inShell(t, folders[0], "set -e\n"+m[2]); status != 0 {
			t.Errorf("%s%d: %s", m[2], status, said)
		}
		folders = folders[1:]
	}
	if len(folders) > 0 {
		t.Errorf("%d blocks of commands are missing", len(folders))
	}
}

// TestAgentsPage runs the commands of docs/start/agents.md in a folder with the model.
func TestAgentsPage(t *testing.T) {
	onPath(t)
	page, err := os.ReadFile("../docs/start/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile("agents/people.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder, n := t.TempDir(), 0
	if err := os.WriteFile(filepath.Join(folder, "people.yaml"), model, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, m := range sample.FindAllStringSubmatch(string(page), -1) {
		if m[1] != "sh" {
			continue
		}
		n++
		if status, said := inShell(t, folder, "set -e\n"+m[2]); status != 0 {
			t.Errorf("%s%d: %s", m[2], status, said)
		}
	}
	if n != 1 {
		t.Errorf("%d blocks of commands", n)
	}
}

// TestRulesPage runs the commands of docs/start/rules.md in a folder with the model, and makes the mistake that it shows.
func TestRulesPage(t *testing.T) {
	onPath(t)
	page, err := os.ReadFile("../docs/start/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile("rules/sir.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder, n := t.TempDir(), 0
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "sir.yaml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range sample.FindAllStringSubmatch(string(page), -1) {
		switch n++; m[1] {
		case "sh":
			write(string(model))
			commands, page, _ := strings.Cut(m[2], "murksim export") // view/e2e makes pages of all models, and opens them
			if status, said := inShell(t, folder, "set -e\n"+commands); status != 0 || page != " sir.murk -o sir.html\n" {
				t.Errorf("%s%d: %s", m[2], status, said)
			}
		case "text":
			write(strings.Replace(string(model), "== susceptible", "== suceptible", 1))
			if _, said := inShell(t, folder, "murksim check sir.yaml"); !strings.Contains(said, m[2]) {
				t.Errorf("it is said\n%s\nnot\n%s", said, m[2])
			}
		}
	}
	if n < 8 {
		t.Errorf("%d samples", n)
	}
}
