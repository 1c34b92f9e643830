//go:build browser

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const foundText = `document.getElementById("found").textContent`

// TestFind: the page goes to the ticks in which a condition becomes true, forwards and backwards, which are those of find, and says what find says of them.
func TestFind(t *testing.T) {
	t.Parallel()
	const condition = "most(heat) > 250"
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "300", "--set", "expect=[]", "-o", "heat.murk")
	murksim(t, folder, "export", "heat.murk", "-q", "-o", "heat.html")
	type stretch struct {
		First, Last, Held, Ticks uint64
		Found                    string
	}
	var want []stretch
	var whole stretch
	lines := strings.Split(strings.TrimSpace(murksim(t, folder, "find", "heat.murk", condition, "--json")), "\n")
	for i, line := range lines {
		var s stretch
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if i == len(lines)-1 {
			whole = s
		} else {
			want = append(want, s)
		}
	}
	if len(want) < 2 {
		t.Fatalf("the condition holds in %v", want)
	}
	for _, source := range []string{"server", "page"} {
		t.Run(source, func(t *testing.T) {
			url := "file://" + filepath.Join(folder, "heat.html")
			if source == "server" {
				url = serve(t, folder, "heat.murk")
			}
			p := browse(t, plain(url+"#tick=0"), 1280, 800)
			p.until(verdict, "verified")
			p.do(chromedp.KeyEvent("/"))
			p.until(`document.activeElement.id`, "condition")
			p.eval(`document.getElementById("condition").value = ""`) // the driver types what a browser does not
			p.do(chromedp.KeyEvent(condition))
			at := func(key, what string, s stretch, options ...chromedp.KeyOption) {
				t.Helper()
				p.do(chromedp.KeyEvent(key, options...))
				p.until(tick, fmt.Sprint(s.First))
				p.until(foundText, fmt.Sprintf("%s, in %d of %d states", s.Found, whole.Held, whole.Ticks+1))
			}
			for _, s := range want {
				at(kb.Enter, "the next", s)
			}
			p.picture("find-" + source)
			p.do(chromedp.KeyEvent(kb.Enter))
			p.until(foundText+`.split("  ·  ")[0]`, fmt.Sprintf("not again after tick %d", want[len(want)-1].First))
			for i := len(want) - 2; i >= 0; i-- {
				at(kb.Enter, "the one before", want[i], chromedp.KeyModifiers(chromedp.ModifierShift))
			}
			p.do(chromedp.Click("#later"))
			p.until(tick, fmt.Sprint(want[1].First))
			p.do(chromedp.KeyEvent(kb.Home), chromedp.Click("#back"))
			p.fill("#tick", "0")
			p.until(tick, "0")
			p.fill("#speed", "64")
			p.eval(`document.getElementById("play").click()`) // as fast as it goes, it stops there
			p.until(`document.getElementById("play").ariaLabel + `+tick, fmt.Sprint("Play", want[0].First))
			p.do(chromedp.Focus("#condition"), chromedp.KeyEvent(kb.Escape))
			p.until(`document.getElementById("find").hidden`, "true")
			p.until(`document.activeElement.id`, "search")
			p.eval(`document.getElementById("play").click()`) // and no more
			p.until(tick, "300")
			p.quiet()
		})
	}
}

// TestFindWrong: what is wrong with a condition stands beside it, in the words of find, and where.
func TestFindWrong(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	out, _ := command(folder, "find", "heat.murk", "most(heta) > 250").CombinedOutput()
	reason, _, _ := strings.Cut(strings.TrimPrefix(string(out), "the condition: "), "\n")
	for _, width := range []int64{1280, 390} {
		p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=5"), width, 800)
		p.until(verdict, "verified")
		p.do(chromedp.Click("#search"), chromedp.KeyEvent("most(heta) > 250"+kb.Enter))
		p.until(foundText, reason+" most(heta) > 250")
		p.until(`document.querySelector("#found mark").textContent`, "heta")
		p.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
		accessible(t, p, fmt.Sprintf("find-wrong-%d", width))
		p.fill("#condition", "most(heat) > 1e9")
		p.do(chromedp.Focus("#condition"), chromedp.KeyEvent(kb.Enter))
		p.until(foundText, "never in ticks 0 to 60")
		p.until(tick, "5")
		p.fill("#condition", "sum(heat) > 350000")
		p.do(chromedp.Focus("#condition"), chromedp.KeyEvent(kb.Enter))
		p.until(`/in [0-9]+ of 61 states$/.test(`+foundText+`)`, "true")
		accessible(t, p, fmt.Sprintf("find-%d", width))
		p.quiet()
		p.close()
	}
}

// TestFindInRun: a run that goes on is held when the condition becomes true, and the page stands at that tick.
func TestFindInRun(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(serve(t, t.TempDir(), "heat")), 1280, 800)
	p.until(run, "goes on")
	p.do(chromedp.Click("#search"), chromedp.KeyEvent("sum(heat) > 400000"+kb.Enter))
	p.until(`/^sum\(heat\) is 400/.test(`+foundText+`)`, "true")
	p.until(`/^held/.test(document.getElementById("verdict").textContent)`, "true")
	at := p.eval(tick)
	p.do(chromedp.Focus("#condition"), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.End))
	p.picture("find-run")
	if p.until(`String(+`+tick+` >= `+at+`)`, "true"); p.eval(run) != "held" {
		t.Errorf("the run is %s", p.eval(run))
	}
	p.quiet()
}
