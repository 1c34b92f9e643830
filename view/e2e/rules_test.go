//go:build browser

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRules: a page replays a world whose rules are in its recording, and comes to the same bits; its parameters are there to try.
func TestRules(t *testing.T) {
	t.Parallel()
	models, err := filepath.Glob("../../examples/rules/*.yaml")
	if err != nil || len(models) < 7 {
		t.Fatalf("%d models, %v", len(models), err)
	}
	if testing.Short() {
		models = models[:4]
	}
	folder := t.TempDir()
	for _, file := range models {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			full, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			murksim(t, folder, "run", full, "-q", "--ticks", "60", "-o", name+".murk")
			murksim(t, folder, "export", name+".murk", "-q", "-o", name+".html")
			p := browse(t, "file://"+filepath.Join(folder, name+".html")+"#tick=60", 1280, 720)
			p.until(verdict, "verified")
			p.until(`document.getElementById("verdict").textContent`, "60 of 60 ticks verified")
			p.picture("rules-" + name)
			if text := p.eval(`document.querySelector("#rules summary")?.textContent + " " + [...document.querySelectorAll("#rules dd")].map((d) => d.textContent).join("; ")`); !strings.HasPrefix(text, "Rule") || len(text) < 30 || name == "sir" && !strings.HasPrefix(text, "Rule epidemic count(state == infected); if state == susceptible and chance(1 - pow(1 - beta, sick)) then infected\n") {
				t.Errorf("the page says of its rules: %q", text)
			}
			p.quiet()
		})
	}
}
