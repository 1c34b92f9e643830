//go:build browser

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestGame shows a game of MineWars: its map, the owners, and that nothing can be verified.
func TestGame(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "minewars", "-q", "-o", "game.murk")
	murksim(t, folder, "export", "game.murk", "-q", "-o", "game.mw1")
	url := serve(t, folder, "game.mw1")
	p := browse(t, url+"#tick=3300", 1280, 720)
	p.until(verdict, "unverifiable")
	p.until(`document.getElementById("verdict").textContent`, "a .mw1 cannot be verified: it holds effects, not inputs")
	p.until(`document.getElementById("verdict").className`, "")
	p.until(`document.getElementById("strip").checkVisibility()`, "false")
	p.until(`document.body.dataset.tick`, "3300")
	p.until(`document.querySelectorAll("#charts canvas").length`, "2")
	p.noInputs("3300")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 500, 330))
	p.until(`document.querySelectorAll("#looked td").length > 1`, "true")
	p.picture("game")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 290, 600)) // beside the map
	p.do(chromedp.KeyEvent("f"), chromedp.KeyEvent("f"))
	p.until(`document.getElementById("field").selectedOptions[0].textContent`, "item")
	p.do(chromedp.KeyEvent(kb.End))
	p.until(`document.body.dataset.tick`, "12000")
	p.picture("game-item")
	p.quiet()

	sizes(t, url+"#tick=3300", "game")

	p = browse(t, plain(url+"#tick=3300"), 390, 844)
	p.until(`document.body.dataset.tick`, "3300")
	p.until(`(() => { // the map, and not the empty corners around it, is fitted to a phone
		const c = document.querySelector("#stage canvas"), d = c.getContext("2d", {}).getImageData(0, Math.round(c.height / 2), c.width, 1).data;
		return d.filter((v, i) => i % 4 === 3 && v > 0).length > 0.8 * c.width;
	})()`, "true")

	b, err := os.ReadFile(filepath.Join(folder, "game.mw1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "cut.mw1"), b[:len(b)*2/3], 0o644); err != nil {
		t.Fatal(err)
	}
	p = browse(t, plain(serve(t, folder, "cut.mw1")), 1280, 720)
	p.until(verdict, "unverifiable")
	p.until(`/^After tick \d+: frames_truncated at byte \d+/.test(document.getElementById("message").textContent)`, "true")
	p.picture("game-cut")
	p.quiet()
}

// noInputs checks that the panel of commands is empty at a tick: a film has none.
func (p *page) noInputs(tick string) {
	p.t.Helper()
	p.until(`document.getElementById("inputs").dataset.tick`, tick)
	p.until(`document.getElementById("inputs").textContent`, "")
}

// TestMatch shows a YREP file from above, and says who stands where.
func TestMatch(t *testing.T) {
	folder := t.TempDir()
	murksim(t, folder, "run", "colony", "-q", "--ticks", "240", "--set", "expect=[]", "-o", "colony.murk")
	murksim(t, folder, "export", "colony.murk", "-q", "-o", "colony.yrep")
	url := serve(t, folder, "colony.yrep")
	p := browse(t, url+"#tick=200", 1280, 720)
	p.until(verdict, "unverifiable")
	p.until(`document.getElementById("verdict").textContent`, "a .yrep cannot be verified: it holds effects, not inputs")
	p.until(`document.body.dataset.tick`, "200")
	p.noInputs("200")
	p.until(`/2\d\d alive/.test(document.getElementById("when").textContent)`, "true")
	found := ""
	for x := 300.0; x < 700 && !strings.Contains(found, "player"); x += 3 {
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, 330))
		found = p.eval(`document.getElementById("looked").textContent`)
	}
	if !strings.Contains(found, "player") {
		t.Errorf("under the pointer is nobody: %q", found)
	}
	p.picture("match")
	for range 3 {
		p.do(chromedp.KeyEvent("f"))
	}
	p.until(`document.getElementById("field").selectedOptions[0].textContent`, "height of entities")
	p.picture("match-height")
	p.quiet()

	sizes(t, url+"#tick=200", "match")
}

// sizes takes screenshots of a page on a large screen, on a phone, and drawn without the graphics
// card.
func sizes(t *testing.T, url, name string) {
	t.Helper()
	for _, s := range []struct {
		name, url     string
		width, height int64
	}{
		{"large", url, 1920, 1080}, {"phone", plain(url), 390, 844},
	} {
		p := browse(t, s.url, s.width, s.height)
		p.until(verdict, "unverifiable")
		p.until(`document.body.dataset.tick !== undefined`, "true")
		p.picture(name + "-" + s.name)
		p.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
		p.quiet()
	}
}
