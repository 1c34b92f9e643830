package readme_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// What the documents link to is there.
func TestLinks(t *testing.T) {
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md", "replay/FORMAT.md", "replay/DESCRIPTOR.md", "replay/JSONL.md", "replay/minewars/FORMAT.md", "exact/ACCURACY.md", "testdata/vectors/README.md", "testdata/vectors/spec/README.md", "testdata/vectors/spec/propagators/README.md", "docs/start/game.md", "docs/start/ci.md", "docs/start/world.md", "docs/start/questions.md"}
	for _, dir := range []string{"docs", "docs/propagators", "docs/spec"} {
		pages, err := filepath.Glob(filepath.Join(root, dir, "*.md"))
		if err != nil || len(pages) < 5 {
			t.Fatalf("found %d pages in %s: %v", len(pages), dir, err)
		}
		for _, page := range pages {
			names = append(names, dir+"/"+filepath.Base(page))
		}
	}
	for _, name := range names {
		for _, m := range link.FindAllStringSubmatch(read(t, name).prose(), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
}

var test = regexp.MustCompile(`\[(Test\w+)\]\(([^)]+)\)`)

// The tests that docs/VALIDATION.md names exist, where it says.
func TestVALIDATION(t *testing.T) {
	names := test.FindAllStringSubmatch(read(t, "docs/VALIDATION.md").prose(), -1)
	for _, m := range names {
		source, err := os.ReadFile(filepath.Join(root, "docs", m[2]))
		if err != nil || !strings.Contains(string(source), "func "+m[1]+"(") {
			t.Errorf("%s is not in %s: %v", m[1], m[2], err)
		}
	}
	if len(names) < 20 {
		t.Errorf("found %d tests; want at least 20", len(names))
	}
}

// The commands that CONTRIBUTING.md names exist.
func TestCONTRIBUTING(t *testing.T) {
	commands := checkTable(t)
	for _, b := range read(t, "CONTRIBUTING.md").blocks {
		switch b.lang {
		case "sh":
			for line := range strings.Lines(b.body) {
				commands++
				if line = strings.TrimSpace(line); !checkTreeCommand(t, line) {
					t.Errorf("line %d: %q: no test knows this command", b.at, line)
				}
			}
		case "text": // a message or a pattern
		default:
			t.Errorf("line %d: no test knows what to do with %q", b.at, b.lang)
		}
	}
	if commands < 10 {
		t.Errorf("found %d commands; want at least 10", commands)
	}
}

var row = regexp.MustCompile(`(?m)^\| ((?:` + "`[^`]+`(?:, )?" + `)+) \| ((?:` + "`[^`]+`(?:, )?" + `)+) \| [0-9]+ \|$`)

// checkTable checks that the table of what to run after a change has a line for each folder, and
// commands that exist. It returns how many.
func checkTable(t *testing.T) (commands int) {
	t.Helper()
	code := regexp.MustCompile("`([^`]+)`")
	var names []string
	for _, m := range row.FindAllStringSubmatch(read(t, "CONTRIBUTING.md").prose(), -1) {
		for _, name := range code.FindAllStringSubmatch(m[1], -1) {
			names = append(names, name[1])
		}
		for _, command := range code.FindAllStringSubmatch(m[2], -1) {
			commands++
			if !checkTreeCommand(t, command[1]) {
				t.Errorf("no test knows the command %q", command[1])
			}
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(names, e.Name()) {
			t.Errorf("the table of what to run after a change has no line for the folder %s", e.Name())
		}
	}
	return commands
}

// checkTreeCommand checks a command that works on the source tree, and says whether
// it is one. It runs none of them: some take minutes.
func checkTreeCommand(t *testing.T, line string) bool {
	t.Helper()
	for {
		setting, rest, ok := strings.Cut(line, " ")
		if !ok || !regexp.MustCompile(`^[A-Z0-9_]+=\S*$`).MatchString(setting) {
			break
		}
		line = rest
	}
	switch words := strings.Fields(line); {
	case len(words) == 0:
		t.Error("an empty command")
	case strings.HasPrefix(line, "./tools/ci/"):
		checkScript(t, words)
	case strings.HasPrefix(line, "pip install "):
		inPython(t, "tests", `pip install .* (\S*/)?python\b`)
	case strings.HasPrefix(line, "go test "):
		checkGoTest(t, line, words[2:])
	case strings.HasPrefix(line, "go run ./tools/"), strings.HasPrefix(line, "go vet "), strings.HasPrefix(line, "go generate "):
		goList(t, line, words[2])
	default:
		return false
	}
	return true
}

// inPython checks that tools/ci/python.sh, which needs more than Go, does with the samples in Python what is asked of the tests here:
// it installs the package from its folder, and its tests run what stands in the document.
func inPython(t *testing.T, what, pattern string) {
	t.Helper()
	path := map[string]string{"tests": "tools/ci/python.sh", "README.md": "python/tests/test_docs.py"}[what]
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(pattern).Match(b) {
		t.Errorf("%s does not have %s", path, pattern)
	}
}

// checkScript checks that a script can be run and knows the options it is given.
func checkScript(t *testing.T, words []string) {
	t.Helper()
	path := filepath.Join(root, words[0])
	info, err := os.Stat(path)
	if err != nil {
		t.Error(err)
		return
	}
	if info.Mode()&0o111 == 0 {
		t.Errorf("%s is not executable", words[0])
	}
	help, err := scriptSays(path, "--help")
	if err != nil && err.(*exec.ExitError).ExitCode() != 2 || !strings.Contains(help, "usage:") {
		t.Errorf("%s --help: %v\n%s", words[0], err, help)
	}
	for _, w := range words[1:] {
		if w == "go" || w == "-k" { // a command that it runs, or an option of pytest
			break
		}
		if strings.HasPrefix(w, "-") && !strings.Contains(help, w) {
			t.Errorf("%s does not know %s:\n%s", words[0], w, help)
		}
	}
	if words[0] != "./tools/ci/test.sh" {
		return
	}
	list, err := scriptSays(path, "--long --list")
	if err != nil {
		t.Errorf("%s --list: %v\n%s", words[0], err, list)
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !regexp.MustCompile("(?m)^"+regexp.QuoteMeta(w)+" ").MatchString(list) {
			t.Errorf("%s: there is no check %s:\n%s", words[0], w, list)
		}
	}
}

// said is what scripts said, by what they were asked.
var said = map[string]struct {
	text string
	err  error
}{}

// scriptSays returns what a script says to options, and asks it once only.
func scriptSays(path, option string) (string, error) {
	x, asked := said[path+option]
	if !asked {
		out, err := exec.Command("bash", append([]string{path}, strings.Fields(option)...)...).CombinedOutput()
		x.text, x.err = string(out), err
		said[path+option] = x
	}
	return x.text, x.err
}

// checkGoTest checks that a package has a test for each pattern.
func checkGoTest(t *testing.T, line string, words []string) {
	t.Helper()
	var packages, patterns []string
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "./"):
			packages = append(packages, w)
		case i > 0 && words[i-1] == "-run" && w != "xxx":
			patterns = append(patterns, w)
		case i > 0 && words[i-1] == "-bench":
			patterns = append(patterns, "^Benchmark.*"+strings.Trim(w, "'."))
		case i > 0 && words[i-1] == "-fuzz":
			patterns = append(patterns, "^"+w+"$")
		}
	}
	names := testNames(t, goList(t, line, packages...))
	for _, p := range patterns {
		p, _, _ = strings.Cut(p, "/") // subtests are known when they run
		if !slices.ContainsFunc(names, regexp.MustCompile(p).MatchString) {
			t.Errorf("%s: no test, benchmark or fuzz test matches %s", line, p)
		}
	}
}

// testNames returns the names of the tests, benchmarks and fuzz tests in folders of packages. It builds none, as go test -list would.
func testNames(t *testing.T, folders []string) (names []string) {
	t.Helper()
	for _, dir := range folders {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`).FindAllStringSubmatch(string(b), -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// goList returns the folders of packages that a command names, as go list does, which takes a second for each command. There must be some for each of them.
func goList(t *testing.T, line string, packages ...string) (folders []string) {
	t.Helper()
	for _, p := range packages {
		before := len(folders)
		dir, below := strings.CutSuffix(p, "/...")
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err == nil && isPackage(rel) {
				folders = append(folders, rel)
			}
			if err == nil && (!below || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2) {
				err = filepath.SkipDir
			}
			return err
		})
		if err != nil || len(folders) == before {
			t.Errorf("%s: %s is no package: %v", line, p, err)
		}
	}
	if len(packages) == 0 {
		t.Errorf("%s names no package", line)
	}
	return folders
}
