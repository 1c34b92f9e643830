//go:build browser

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestWhy: the page says why a number is what it is in the words of why; a click on a cause goes to its tick and cell, and asks again, as --depth does.
func TestWhy(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	murksim(t, folder, "export", "heat.murk", "-q", "-o", "heat.html")
	want := strings.Fields(murksim(t, folder, "why", "heat.murk", "--tick", "50", "--field", "heat", "--cell", "64,64"))
	deep := strings.Fields(murksim(t, folder, "why", "heat.murk", "--tick", "50", "--field", "heat", "--cell", "64,64", "--depth", "2"))
	const said = `[...document.querySelectorAll("#why p")].map((x) => x.textContent).join(" ").split(/\s+/).filter(Boolean).join(" ")`
	for _, source := range []string{"server", "page"} {
		for _, width := range []int64{1280, 390} {
			url := "file://" + filepath.Join(folder, "heat.html")
			if source == "server" {
				url = serve(t, folder, "heat.murk")
			}
			p := browse(t, plain(url+"#tick=50"), width, 800)
			p.until(verdict, "verified")
			p.until(tick, "50")
			p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter))
			p.until(looked, "Cell [64, 64], tick 50")
			p.until(`String(document.querySelectorAll("#looked .why").length > 0)`, "true")
			p.eval(`document.querySelector("#looked .why").click()`)
			p.until(said, strings.Join(want, " "))
			p.eval(`document.querySelector("#why button").click()`)
			p.until(said, strings.Join(deep, " "))
			p.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
			if source == "server" {
				accessible(t, p, "why-"+map[int64]string{1280: "wide", 390: "narrow"}[width])
			}
			p.eval(`document.querySelector("#looked button:not(.why)").click()`)
			p.until(`document.getElementById("why").children.length`, "0")
			p.quiet()
			p.close()
		}
	}
}
