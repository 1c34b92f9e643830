package readme_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The files of docs/PROPAGATOR.md make a module that depends on this one; its commands
// run there and print what the guide says, and its snippets compile.
func TestPropagatorGuide(t *testing.T) {
	const name = "docs/PROPAGATOR.md"
	d := read(t, name)
	r := newModule(t)
	var snippets []string
	want, files := d.String(), 0
	for i := range d.blocks {
		b := &d.blocks[i]
		lang, file, _ := strings.Cut(b.lang, " ")
		switch {
		case (lang == "go" || lang == "yaml") && file != "":
			files++
			r.file(t, file, b.body)
			if !strings.HasSuffix(d.texts[i], "`"+file+"`:\n\n```"+b.lang+"\n") {
				t.Errorf("line %d: the text does not name the file %s", b.at, file)
			}
		case lang == "go":
			snippets = append(snippets, b.body)
		case lang == "console":
			b.body = r.console(t, b.body)
		case lang == "sh":
			r.setUp(t, b.body)
		default:
			t.Errorf("line %d: no test knows what to do with %q", b.at, b.lang)
		}
	}
	if files < 6 || len(snippets) < 11 {
		t.Errorf("found %d files and %d snippets; want at least 6 and 11", files, len(snippets))
	}
	r.compile(t, snippets)
	for _, command := range []string{"gofmt -l sandpile.go *_test.go cmd | grep . && exit 1; go vet ./...", "GOARCH=386 go vet ."} {
		if out, err := r.bash(command).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	compare(t, name, d.String(), want)
}

// newModule makes a runner in a folder with a clone of this tree, named murksim, for
// modules beside it. What they need is there already: nothing is downloaded.
func newModule(t *testing.T) *runner {
	t.Helper()
	ours, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	download := exec.Command("go", "mod", "download") // also what other systems need, which go mod tidy looks at
	download.Dir = ours
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	downloadForUsers(t, ours)
	dir := t.TempDir()
	if err := os.Symlink(ours, filepath.Join(dir, "murksim")); err != nil {
		t.Fatal(err)
	}
	// What changes how is compiled stays, else all is compiled once more.
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(f string) bool { return f != "-trimpath" && !strings.HasPrefix(f, "-gcflags=") })
	return &runner{dir: dir, env: append(os.Environ(), "LC_ALL=C.UTF-8", "GOWORK=off", "GOFLAGS="+strings.Join(flags, " "), "GOPROXY=off", "GOSUMDB=off")}
}

// downloadForUsers downloads what go mod tidy looks at in a module that uses ours: also the tests of the
// modules that we use, in versions of its own.
func downloadForUsers(t *testing.T, ours string) {
	t.Helper()
	user := runner{dir: t.TempDir()}
	user.file(t, "go.mod", "module example.com/user\n\ngo 1.26.0\n\nreplace github.com/murksim/murksim => "+strconv.Quote(ours)+"\n")
	user.file(t, "user.go", "package user\n\nimport _ \"github.com/murksim/murksim/cli\"\n")
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir, tidy.Env = user.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("go mod tidy in a module that uses ours: %v\n%s", err, out)
	}
}

// file writes a file into the runner's folder.
func (r *runner) file(t *testing.T, name, body string) {
	t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// setUp runs the commands with which a reader follows the guide. Benchmarks run once.
func (r *runner) setUp(t *testing.T, body string) {
	t.Helper()
	for line := range strings.Lines(body) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "mkdir "):
			name := regexp.MustCompile(`^mkdir (\w+) && cd (\w+)$`).FindStringSubmatch(line)
			if name == nil || name[1] != name[2] {
				t.Fatalf("%q: it makes no folder to go into", line)
			}
			r.dir = filepath.Join(r.dir, name[1])
			if err := os.Mkdir(r.dir, 0o755); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(line, "go mod "):
			if out, err := r.bash(line).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		case strings.HasPrefix(line, "go test "):
			line = strings.Replace(line, "-bench ", "-benchtime 1x -bench ", 1)
			if out, err := r.bash(line).CombinedOutput(); err != nil || !strings.Contains(string(out), "ok  \t") {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		default:
			t.Errorf("%q: no test knows this command", line)
		}
	}
}

// compile compiles snippets, each as a function of its own that has what they use.
func (r *runner) compile(t *testing.T, snippets []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`package snippets

import (
	"maps"
	"math"
	"math/rand"
	"slices"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact"
)

var (
	visits int
	_      = exact.Sin
	_      = math.Sin
	_      = rand.Float32
	_      = time.Since
	_      = slices.Sorted[string]
	_      = maps.Keys[map[string]int]
)

`)
	for i, s := range snippets {
		fmt.Fprintf(&b, "func snippet%d(c *engine.Context, prev, next, slope []float32, weights map[string]float32, rate, x, sum float32,\n"+
			"y float64, cell, lo, hi, steps int, key uint64, start time.Time) {\n%s}\n\n", i+1, s)
	}
	r.file(t, "snippets/snippets.go", b.String())
	if out, err := r.bash("go build ./snippets && rm -r snippets").CombinedOutput(); err != nil {
		t.Errorf("go build ./snippets: %v\n%s", err, out)
	}
}
