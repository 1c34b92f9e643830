//go:build browser

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const verdict = `document.body.dataset.verdict`

// TestSources shows the same recording from both sources: a server, and a page with the engine in it.
func TestSources(t *testing.T) {
	t.Parallel()
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

// TestFlipped checks that a page names the tick in which its recording was changed, as verify does.
func TestFlipped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, scenario := range []string{"heat", "predators"} {
		name := filepath.Join(folder, scenario+".murk")
		murksim(t, folder, "run", scenario, "-q", "-o", name, "--no-index")
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		places := []int{len(whole) / 2, len(whole) / 3, len(whole) - 1}
		if testing.Short() {
			places = places[:1]
		}
		for _, at := range places {
			b := bytes.Clone(whole)
			b[at] ^= 1
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
			said, _ := command(folder, "verify", name).CombinedOutput()
			tick := regexp.MustCompile(`tick ([0-9,]+)`).FindSubmatch(said)
			if tick == nil {
				t.Fatalf("verify says %s", said)
			}
			page := strings.TrimSuffix(name, ".murk") + ".html"
			murksim(t, folder, "export", name, "-q", "--force", "-o", page)
			p := browse(t, plain("file://"+page), 1280, 720)
			p.until(`/bad/.test(document.getElementById("verdict").className)`, "true")
			if got := p.eval(`document.getElementById("verdict").textContent`); !strings.Contains(got, "tick "+string(tick[1])) {
				t.Errorf("%s with byte %d changed: the page says %q, verify %s", scenario, at, got, said)
			}
			p.picture(fmt.Sprintf("%s-flipped-%d", scenario, at))
		}
	}
}

// TestScenarios shows each scenario that comes with murksim (every fourth with -short), and looks for errors in the
// console.
func TestScenarios(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	seen := 0
	for line := range strings.Lines(murksim(t, folder, "scenarios", "--json")) {
		var s struct{ Event, Name string }
		if err := json.Unmarshal([]byte(line), &s); err != nil || s.Event != "scenario" {
			continue
		}
		if seen++; testing.Short() && seen%4 > 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			murksim(t, folder, "run", s.Name, "-q", "--ticks", "120", "--set", "expect=[]", "-o", s.Name+".murk")
			p := browse(t, serve(t, folder, s.Name+".murk")+"#tick=120", 1280, 720)
			p.until(verdict, "verified")
			p.until(`document.body.dataset.tick`, "120")
			p.picture("scenario-" + s.Name)
			p.quiet()
		})
	}
}

// TestPicture takes the picture in README: with PICTURES=docs/view it writes docs/view/viewer.png.
func TestPicture(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "minewars", "-q", "-o", "minewars.murk")
	p := browse(t, serve(t, folder, "minewars.murk")+"#tick=3300", 1280, 720)
	p.until(verdict, "verified")
	p.until(`document.body.dataset.tick`, "3300")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 500, 330))
	p.until(`document.querySelectorAll("#looked td").length > 1`, "true")
	p.picture("viewer")
	p.quiet()
}

// TestCompare shows two recordings side by side, and goes to the tick that diff reports.
func TestCompare(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "-o", "a.murk")
	murksim(t, folder, "run", "heat", "-q", "-o", "b.murk", "--set", "propagators.0.diffusion.rate=4.4", "--set", "expect=[]")
	said, _ := command(folder, "diff", "a.murk", "b.murk").CombinedOutput()
	tick := regexp.MustCompile(`tick ([0-9,]+)`).FindSubmatch(said)
	if tick == nil {
		t.Fatalf("diff says %s", said)
	}
	p := browse(t, serve(t, folder, "a.murk", "b.murk")+"#tick=640", 1280, 720)
	p.until(verdict, "verified")
	p.until(`document.body.dataset.tick`, "640")
	p.until(`document.getElementById("differ")?.textContent ?? ""`, "first difference: tick "+string(tick[1]))
	p.until(`document.getElementById("verdict").textContent`, "a.murk: 1,000 of 1,000 ticks verified  ·  b.murk: 1,000 of 1,000 ticks verified")
	p.picture("compare")
	p.do(chromedp.Click("#differ"))
	p.until(`document.body.dataset.tick`, string(tick[1]))
	p.until(`/cells differ by up to/.test(document.querySelectorAll("#stage figcaption")[2].textContent)`, "true")
	p.do(chromedp.KeyEvent(kb.ArrowLeft))
	p.until(`document.querySelectorAll("#stage figcaption")[2].textContent`, "heat: no cell differs")
	p.quiet()
}

// TestPointer checks that the cell under the pointer has the value found in an export.
func TestPointer(t *testing.T) {
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "-o", "heat.murk")
	murksim(t, folder, "export", "heat.murk", "-q", "--tick", "500", "--fields", "heat", "-o", "heat.csv")
	table, err := os.ReadFile(filepath.Join(folder, "heat.csv"))
	if err != nil {
		t.Fatal(err)
	}
	p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=500"), 1280, 720)
	p.until(`document.body.dataset.tick`, "500")
	for _, at := range [][2]float64{{300, 200}, {488, 338}, {700, 600}} {
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
		p.until(`document.querySelectorAll("#looked td").length > 1`, "true")
		time.Sleep(300 * time.Millisecond)
		cell := regexp.MustCompile(`\[(\d+), (\d+)\]`).FindStringSubmatch(p.eval(`document.querySelector("#looked h2").textContent`))
		if cell == nil {
			t.Fatalf("the page says %q", p.eval(`document.getElementById("looked").textContent`))
		}
		value, _, _ := strings.Cut(p.eval(`(({ title, textContent }) => title || textContent)(document.querySelector("#looked td:last-child"))`), " ")
		if row := fmt.Sprintf(",%s,%s,%s\n", cell[1], cell[2], value); !strings.Contains(string(table), row) {
			t.Errorf("the page has %s, the table does not", strings.TrimSpace(row))
		}
	}
}
