//go:build browser

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const verdict = `document.body.dataset.verdict`

// TestSources shows the same recording from both sources: a server, and a page with the engine in it.
func TestSources(t *testing.T) {
	folder := t.TempDir()
	for _, scenario := range []string{"heat", "predators"} {
		murksim(t, folder, "run", scenario, "-q", "-o", scenario+".murk")
		murksim(t, folder, "export", scenario+".murk", "-q", "-o", scenario+".html")
		for source, url := range map[string]string{"server": serve(t, folder, scenario+".murk"), "page": "file://" + filepath.Join(folder, scenario+".html")} {
			t.Run(scenario+" "+source, func(t *testing.T) {
				p := browse(t, url, 1280, 720)
				p.until(verdict, "verified")
				p.until(`document.getElementById("verdict").textContent`, "1,000 of 1,000 ticks verified")
				p.do(chromedp.KeyEvent(kb.End))
				p.until(`document.getElementById("tick").value`, "1000")
				p.picture(scenario + "-" + source)
				p.quiet()
			})
		}
	}
}

// TestFlipped holds that a page names the tick in which its recording was changed.
func TestFlipped(t *testing.T) {
	folder := t.TempDir()
	for _, scenario := range []string{"heat", "predators"} {
		name := filepath.Join(folder, scenario+".murk")
		murksim(t, folder, "run", scenario, "-q", "-o", name, "--no-index")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Clone(b)
		b[len(b)-1] ^= 1 // in the hash of the last tick
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		murksim(t, folder, "export", name, "-q", "-o", strings.TrimSuffix(name, ".murk")+".html")
		p := browse(t, "file://"+strings.TrimSuffix(name, ".murk")+".html", 1280, 720)
		p.until(verdict, "differs 1000")
		p.picture(scenario + "-flipped")
	}
}
