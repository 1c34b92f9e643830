package readme_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write what the samples print into the documents")

// Every sample of the README runs, and prints what the README says it prints.
func TestREADME(t *testing.T) {
	d := read(t, "README.md")
	r := newRunner(t)
	want := d.String()
	for i := range d.blocks {
		b := &d.blocks[i]
		t.Run(fmt.Sprintf("%s in line %d", b.lang, b.at), func(t *testing.T) {
			switch b.lang {
			case "sh":
				if strings.Contains(b.body, " --serve ") {
					r.cluster(t, b.body)
				} else {
					r.shell(t, b.body)
				}
			case "console":
				b.body = r.console(t, b.body)
			case "go":
				out := r.goProgram(t, b.body)
				if i+1 < len(d.blocks) && d.blocks[i+1].lang == "text" {
					d.blocks[i+1].body = out
				}
			case "python":
				inPython(t, "README.md", `_run\(blocks, README\)`)
			case "yaml":
				r.scenario(t, b.body)
			case "text":
				if i == 0 || d.blocks[i-1].lang != "go" {
					t.Error("it shows the output of nothing")
				}
			default:
				t.Errorf("no test knows what to do with %q", b.lang)
			}
		})
	}
	if len(d.blocks) < 10 {
		t.Errorf("found %d samples; want at least 10", len(d.blocks))
	}
	compare(t, "README.md", d.String(), want)
}

// compare holds a document whose samples have run against what it was, or updates it.
func compare(t *testing.T, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s\n%s is stale; run: go test ./tools/readme -update", firstDifference(got, want), name)
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d: the sample prints %q, the document says %q", i+1, g[i], w[min(i, len(w)-1)])
		}
	}
	return fmt.Sprintf("the document goes on after line %d", len(g))
}

// bin is the folder of the programs, once they are built.
var bin string

// programs builds murksim and the examples that samples call, once for all tests.
var programs = sync.OnceValues(func() (string, error) {
	absolute, err := filepath.Abs(root)
	if err == nil {
		bin, err = os.MkdirTemp("", "murksim-readme-")
	}
	if err != nil {
		return "", err
	}
	source := "-ldflags=-X 'github.com/murksim/murksim/cli.sourceFolder=" + absolute + "'" // for pages that are exported, if paths are trimmed
	build := exec.Command("go", "build", source, "-o", bin+string(filepath.Separator), "./cmd/murksim", "./cmd/murksim-cluster", "./examples/smoke")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if bin != "" {
		os.RemoveAll(bin)
	}
	os.Exit(status)
}

// A runner runs samples in a folder of its own, which has the tree's testdata and
// examples, with murksim and the examples on the path.
type runner struct {
	dir string
	env []string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	dir := t.TempDir()
	for _, name := range []string{"testdata", "examples"} {
		ours, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(ours, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return &runner{dir: dir, env: append(os.Environ(), "PATH="+path, "LC_ALL=C.UTF-8")}
}

func (r *runner) bash(script string) *exec.Cmd {
	c := exec.Command("bash", "-c", script)
	c.Dir, c.Env = r.dir, r.env
	return c
}

// shell runs commands, a line each. Those of the source tree are only checked; the
// others run where the README's reader would.
func (r *runner) shell(t *testing.T, body string) {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if checkTreeCommand(t, line) {
			continue
		}
		line = strings.Replace(line, "go run ./cmd/murksim", "murksim", 1)
		if !strings.HasPrefix(line, "murksim ") {
			t.Errorf("%q: no test knows this command", line)
			continue
		}
		if out, err := r.bash(line).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// cluster runs a sweep and its workers at the same time, all on this machine. Workers end when there is nothing to do.
func (r *runner) cluster(t *testing.T, body string) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	var all sync.WaitGroup
	for line := range strings.Lines(strings.ReplaceAll(body, "10.0.0.1:4222", address)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "murksim worker ") {
			line += " --idle 5s"
		}
		all.Go(func() {
			out, err := r.bash(line).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "200 of 200 jobs") && !strings.Contains(string(out), " has done ") {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		})
	}
	all.Wait()
}

// varying matches what differs from run to run (speeds, ids, keys) or with the toolchain, whose
// name stands in the recording (sizes and offsets).
var varying = regexp.MustCompile(`[0-9]+ cores?  [0-9.]+ m?s|[0-9]+ rechecked|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}|[0-9,.]+ ticks/s|[0-9.]+ [KM]?B\b|byte [0-9,]+`)

// console runs the commands after "$ " and returns the block with what they print.
// A block that differs in what varies only stays as it is.
func (r *runner) console(t *testing.T, body string) string {
	const end = "\x1e" // stands after the output of each command
	var list []string
	script := "true\n"
	for line := range strings.Lines(body) {
		if c, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
			list = append(list, c)
			script += c + "\nstatus=$?; printf '" + end + "'; (exit $status)\n"
		}
	}
	if len(list) == 0 {
		t.Fatal("no line begins with $")
	}
	out, err := r.bash(script).CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	parts := strings.Split(string(out), end)
	if len(parts) != len(list)+1 {
		t.Fatalf("%d commands printed %d outputs: %q", len(list), len(parts)-1, out)
	}
	var b strings.Builder
	for i, c := range list {
		fmt.Fprintf(&b, "$ %s\n%s", c, parts[i])
	}
	if got := b.String(); varying.ReplaceAllString(got, "") != varying.ReplaceAllString(body, "") {
		return got
	}
	return body
}

// goProgram runs a program as one that imports this module and returns what it prints.
func (r *runner) goProgram(t *testing.T, body string) string {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	formatted, err := exec.Command("gofmt", "-d", file).CombinedOutput()
	if err != nil || len(formatted) > 0 {
		t.Errorf("gofmt: %v\n%s", err, formatted)
	}
	run := exec.Command("go", "run", file)
	run.Dir = root
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, &stderr)
	}
	return string(out)
}

func (r *runner) scenario(t *testing.T, body string) {
	const name = "sample.yaml"
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := r.bash("murksim run --no-record " + name).CombinedOutput(); err != nil {
		t.Errorf("murksim run: %v\n%s", err, out)
	}
}

// The table of commands names every command that there is, and no other.
func TestCommandTable(t *testing.T) {
	out, err := newRunner(t).bash("murksim --help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(out), "\nRun and record:\n")
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	var want []string
	for _, m := range regexp.MustCompile("(?m)^  ([a-z]+)  ").FindAllStringSubmatch(list, -1) {
		want = append(want, m[1])
	}
	_, table, ok := strings.Cut(read(t, "README.md").prose(), "\n## Commands\n")
	if !ok {
		t.Fatal("the README has no section Commands")
	}
	table, _, _ = strings.Cut(table, "exit status")
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("the README lists %v; murksim --help lists %v", got, want)
	}
}
