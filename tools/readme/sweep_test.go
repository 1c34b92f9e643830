package readme_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/SWEEP.md print what it says, its design is one, and its other samples use flags that there are.
func TestSweepPage(t *testing.T) {
	const name = "docs/SWEEP.md"
	d := read(t, name)
	r := newRunner(t)
	want := d.String()
	for i := range d.blocks {
		b := &d.blocks[i]
		switch b.lang {
		case "console":
			b.body = r.console(t, b.body)
		case "yaml":
			if err := os.WriteFile(filepath.Join(r.dir, "design.yaml"), []byte(b.body), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := r.bash("murksim sweep design.yaml --dry-run").CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "heat      50 jobs: ") {
				t.Errorf("murksim sweep design.yaml: %v\n%s", err, out)
			}
		case "text":
			r.knowsFlags(t, b.body)
		default:
			t.Errorf("line %d: no test knows what to do with %q", b.at, b.lang)
		}
	}
	compare(t, name, d.String(), want)
}

// The commands of docs/start/questions.md print what it says.
func TestQuestionsPage(t *testing.T) {
	const name = "docs/start/questions.md"
	d := read(t, name)
	r := newRunner(t)
	want := d.String()
	for i := range d.blocks {
		if b := &d.blocks[i]; b.lang == "console" {
			b.body = r.console(t, b.body)
		} else {
			t.Errorf("line %d: no test knows what to do with %q", b.at, b.lang)
		}
	}
	compare(t, name, d.String(), want)
}

// knowsFlags checks that commands of ours have the flags that a sample gives them.
func (r *runner) knowsFlags(t *testing.T, body string) {
	t.Helper()
	for line := range strings.Lines(body) {
		at := strings.Index(line, "murksim")
		words := strings.Fields(line[max(at, 0):])
		if at < 0 || len(words) < 2 || strings.HasPrefix(line, "#") || strings.Contains(words[0], "/") {
			continue
		}
		help, err := r.bash(words[0] + " " + words[1] + " --help").Output()
		if err != nil {
			continue // a path of an image
		}
		for _, w := range words {
			if strings.HasPrefix(w, "--") && !strings.Contains(string(help), " "+w+" ") {
				t.Errorf("%s %s has no flag %s", words[0], words[1], w)
			}
		}
	}
}
