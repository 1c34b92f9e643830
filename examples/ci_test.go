package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// steps runs the steps of the workflow, but for the installation, until one fails. It returns that one, and its status.
func steps(t *testing.T, folder string) (failed string, status int, said string) {
	t.Helper()
	workflow, err := os.ReadFile("ci/murksim.yml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^ *- run: (.*)$`).FindAllStringSubmatch(string(workflow), -1)
	if len(list) != 3 || !strings.HasPrefix(list[0][1], "go install "+modulePath) {
		t.Fatalf("the steps are %q", list)
	}
	for _, step := range list[1:] {
		if status, said = inShell(t, folder, step[1]); status != 0 {
			return step[1], status, said
		}
	}
	return "", 0, said
}

const modulePath = "github.com/murksim/murksim/cmd/murksim"

// inShell runs a command line.
func inShell(t *testing.T, folder, line string) (status int, said string) {
	t.Helper()
	c := exec.Command("sh", "-c", line)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// onPath builds murksim, and puts it on the path.
func onPath(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "murksim"), modulePath).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestCI: the commands of docs/start/ci.md make a check that passes, the workflow runs it, and a changed rule fails it, with its name.
func TestCI(t *testing.T) {
	folder := t.TempDir()
	onPath(t)
	page, err := os.ReadFile("../docs/start/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(string(page))
	if status, said := inShell(t, folder, "set -e\n"+commands[1]); status != 0 {
		t.Fatalf("%d: %s", status, said)
	}
	if step, status, said := steps(t, folder); step != "" {
		t.Fatalf("%s: %d: %s", step, status, said)
	}
	replace(t, filepath.Join(folder, "mine.yaml"), "rate: 4", "rate: 5")
	step, status, said := steps(t, folder)
	shown := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(string(page))
	if status != 3 || !strings.Contains(step, "check --golden") || !strings.Contains(said, shown[1]) {
		t.Errorf("%s: %d: %s", step, status, said)
	}
	if _, err := os.Stat(filepath.Join(folder, "golden", "mine.new.murk")); err != nil {
		t.Error(err)
	}
}
