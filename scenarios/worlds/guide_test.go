package worlds_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

const guide = "../../docs/SCENARIO.md"

func readGuide(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestGuideRows holds that the guide has a row for every key of the form, with its
// default and what its tag says, and a section for every component.
func TestGuideRows(t *testing.T) {
	page := readGuide(t)
	b, err := worlds.Registry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	_, regions, _ := strings.Cut(page, "\n**rect**\n")
	regions, _, _ = strings.Cut(regions, "\n**noise**\n")
	rows := 0
	for _, name := range []string{"propagator", "system"} {
		for _, one := range defs[name].(map[string]any)["oneOf"].([]any) {
			for kind, s := range one.(map[string]any)["properties"].(map[string]any) {
				about := s.(map[string]any)["description"].(string)
				heading := kind
				for _, c := range worlds.Components() {
					if c.Name == kind && c.About == about {
						heading = c.Heading()
					}
				}
				_, section, ok := strings.Cut(page, "\n### "+heading+"\n\n"+about)
				if !ok {
					t.Errorf("the guide has no section %s that says %q", kind, about)
				}
				section, _, _ = strings.Cut(section, "\n## ")
				section, _, _ = strings.Cut(section, "\n### ")
				rows += checkRows(t, section+regions, kind, s)
			}
		}
		delete(defs, name)
	}
	rows += checkRows(t, page, "scenario", root)
	if rows < 130 {
		t.Errorf("looked for %d rows; want 130 at least", rows)
	}
}

// checkRows looks for the rows of all keys within a schema and counts them.
func checkRows(t *testing.T, page, at string, v any) (rows int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			rows += checkRows(t, page, at, x)
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for key, p := range properties {
			p := p.(map[string]any)
			about, ok := p["description"].(string)
			if !ok || strings.HasPrefix(about, "Of this instance") {
				continue
			}
			rows++
			need := ""
			if d, ok := p["default"]; ok {
				need = fmt.Sprint(d)
			}
			if slices.Contains(listed(v["required"]), any(key)) {
				need = "required"
			}
			row := regexp.QuoteMeta(fmt.Sprintf("| `%s` | %s | %s |", key, need, about))
			if kind, ok := properties["kind"].(map[string]any); ok && kind["const"] != nil { // a branch of space
				row = regexp.QuoteMeta("| `"+key+"` | ") + ".*" + regexp.QuoteMeta(" | "+about+" |")
			}
			if !regexp.MustCompile("(?m)^" + row + "$").MatchString(page) {
				t.Errorf("%s: the guide has no row | `%s` | %s | %s |", at, key, need, about)
			}
		}
		for key, x := range v {
			rows += checkRows(t, page, at+" "+key, x)
		}
	}
	return rows
}

// TestGuideSamples runs every sample of the guide to its end.
func TestGuideSamples(t *testing.T) {
	dir := t.TempDir()
	island := image.NewGray(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		island.SetGray(i%16, i/16, color.Gray{Y: uint8(i)})
	}
	f, err := os.Create(filepath.Join(dir, "island.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, island); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	depths := append([]byte("\x93NUMPY\x01\x00\x3c\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4, 3), }\n"), 9, 9, 9, 9, 4, 9, 9, 2, 9, 9, 9, 9)
	if err := os.WriteFile(filepath.Join(dir, "depth.npy"), depths, 0o644); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(readGuide(t), "```yaml\n")
	if len(parts) < 9 {
		t.Errorf("the guide has %d samples; want 8 at least", len(parts)-1)
	}
	for i, part := range parts[1:] {
		text, _, _ := strings.Cut(part, "```")
		s, err := yaml.Parse(worlds.Registry(), fmt.Sprintf("sample %d", i+1), os.DirFS(dir), []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		scenariotest.Check(t, s.Name, s)
	}
}
