package worlds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

const pages = "../../docs/propagators"

// worldly are the kinds that belong to single worlds and have no page here; rule has docs/start/rules.md.
var worldly = []string{"rule", "pin", "forest_fire", "crystal_growth", "grazing", "hunting", "bodies",
	"colony_ai", "colony_work", "colony_physics", "colony_bio", "colony_terrain", "minewars"}

// documented are the kinds that have a page.
func documented() []string {
	var list []string
	for _, c := range worlds.Components() {
		if !slices.Contains(worldly, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(pages, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPages holds that every kind has a page with a picture and samples that run, a
// world of its own that uses it, and a row in the index; and that no example of the Go
// types was lost.
func TestPages(t *testing.T) {
	index := readPage(t, "README.md")
	examples, shown := exampleNames(t), 0
	for _, kind := range documented() {
		t.Run(kind, func(t *testing.T) {
			page := readPage(t, kind+".md")
			if heading, _, _ := strings.Cut(page, "\n"); heading != "# "+kind {
				t.Errorf("the page begins with %q, want %q", heading, "# "+kind)
			}
			if info, err := os.Stat(filepath.Join(pages, kind+".png")); err != nil {
				t.Error(err)
			} else if info.Size() > 40_000 {
				t.Errorf("the picture has %d bytes, want 40,000 at most", info.Size())
			}
			if !strings.Contains(page, "]("+kind+".png)") {
				t.Errorf("the page does not show %s.png", kind)
			}
			if !regexp.MustCompile(`(?m)^\|.*` + kind + `\.png.*\[` + kind + `\]\(` + kind + `\.md\)`).MatchString(index) {
				t.Errorf("the index has no row with %s.png and [%s](%s.md)", kind, kind, kind)
			}
			if strings.Count(page, "```yaml\n") == 0 {
				t.Error("the page has no sample in YAML")
			}
			runSamples(t, kind, page)
			if examples["Example"+goType(t, kind)] {
				shown++
			}
		})
	}
	if shown < 20 {
		t.Errorf("%d kinds have an example of their Go type, want 20 at least", shown)
	}
	runSamples(t, "", index)
}

// TestNoOrphans holds that pages, pictures, worlds and rows of the index are those of
// kinds that there are.
func TestNoOrphans(t *testing.T) {
	kinds := documented()
	var names []string
	for _, pattern := range []string{pages + "/*", "propagators/*"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, list...)
	}
	if len(names) < 3*7 {
		t.Errorf("there are %d files; want 3 for each of 7 kinds at least", len(names))
	}
	for _, name := range names {
		kind, _, _ := strings.Cut(filepath.Base(name), ".")
		if kind != "README" && !slices.Contains(kinds, kind) {
			t.Errorf("%s: there is no kind %q", name, kind)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\|.*\]\((\w+)\.md\)`).FindAllStringSubmatch(readPage(t, "README.md"), -1) {
		if !slices.Contains(kinds, m[1]) {
			t.Errorf("the index has a row for %q, which is no kind", m[1])
		}
	}
}

// runSamples runs the YAML samples of a page to their end. Some sample must use the
// kind, unless that is empty.
func runSamples(t *testing.T, kind, page string) {
	t.Helper()
	used := kind == ""
	for i, part := range strings.Split(page, "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		name := fmt.Sprintf("sample %d", i+1)
		s, err := scenariotest.Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		used = used || uses(s, kind) >= 0
		scenariotest.Check(t, name, s)
	}
	if !used {
		t.Errorf("no sample uses %s", kind)
	}
}

// uses is the index of the first component of a kind, systems after propagators; -1 if
// there is none.
func uses(s *scenarios.Scenario, kind string) int {
	return slices.IndexFunc(slices.Concat(s.Propagators, s.Systems), func(c scenarios.Instance) bool { return c.Component == kind })
}

// goType is the type of a kind's component in the world that is named after it.
func goType(t *testing.T, kind string) string {
	t.Helper()
	s, err := scenariotest.Open(kind)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Config(1)
	if err != nil {
		t.Fatal(err)
	}
	i := uses(s, kind)
	switch {
	case i < 0:
		t.Fatalf("the scenario %s does not use it", kind)
	case i < len(c.Propagators):
		return reflect.TypeOf(c.Propagators[i]).Name()
	}
	return reflect.TypeOf(c.Systems[i-len(c.Propagators)]).Name()
}

// exampleNames are the examples of the library, without their suffixes.
func exampleNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../engine/propagators/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d test files: %v", len(files), err)
	}
	names := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Example[A-Za-z0-9]+)`).FindAllSubmatch(b, -1) {
			names[string(m[1])] = true
		}
	}
	return names
}
