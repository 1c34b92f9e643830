//go:build browser

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// first runs a script in the page before any other.
func first(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// asked counts a page's requests by operation. It lets a test answer some of them itself: meddle gets a request and
// returns a [Response], or nothing.
const asked = `
window.asked = {};
window.meddle = () => undefined;
window.later = () => {
	const b = new Uint8Array(24);
	b.set([20]);
	b.set(new TextEncoder().encode('{"later": true}     '), 4); // the length of the object, and the object
	return new Response(b);
};
const real = window.fetch;
window.fetch = async (url, o) => {
	if (url !== "ask") return real(url, o);
	const q = JSON.parse(o.body);
	window.asked[q.op] = (window.asked[q.op] ?? 0) + 1;
	return await window.meddle(q) ?? real(url, o);
};
`

// answer sends a request to the server, bypassing the page.
func (p *page) answer(request string) string {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf(`fetch("ask", {method: "POST", body: %q}).then((r) => r.text())`, request), chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// TestBack checks that going back to the gallery closes the page of a run: the page holds the run and sends no more requests.
func TestBack(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(serve(t, t.TempDir())), 1280, 720, first(asked))
	p.until(`document.body.dataset.gallery !== undefined`, "true")
	p.eval(`[...document.querySelectorAll("#gallery .card")].find((x) => x.textContent.includes("heat")).click()`)
	p.until(`+`+tick+` > 5`, "true")
	p.eval(`history.back()`)
	p.until(`document.body.classList.contains("choosing")`, "true")
	if got := p.answer(`{"op": "check"}`); !strings.Contains(got, `"held":true`) {
		t.Errorf("the run goes on: %s", got)
	}
	before := p.eval(`JSON.stringify(window.asked)`)
	p.do(chromedp.Sleep(time.Second))
	if now := p.eval(`JSON.stringify(window.asked)`); now != before {
		t.Errorf("the gallery has asked for %s, and then for %s", before, now)
	}
	if got := p.eval(`document.onkeydown === null && location.hash === ""`); got != "true" {
		t.Errorf("keys act, or the address is that of a run: %s", p.eval(`location.hash`))
	}
	p.eval(`history.forward()`)
	p.until(`document.getElementById("run-state")?.textContent.startsWith("held at tick")`, "true")
	p.quiet()
}

// TestUnwanted checks that a request is not repeated once its answer is not needed, and that a closed page writes nothing.
func TestUnwanted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=5"), 1280, 720, first(asked))
	p.until(verdict, "verified")
	p.until(tick, "5")
	p.eval(`window.ends = 0; window.meddle = (q) => { if (q.op === "state" && q.tick === 60) { window.ends++; return window.later(); } }; ""`)
	p.do(chromedp.KeyEvent(kb.End))
	p.until(`window.ends > 3`, "true")
	p.do(chromedp.KeyEvent(kb.Home))
	p.until(tick, "0")
	before := p.eval(`window.ends`)
	p.do(chromedp.Sleep(time.Second / 2))
	if now := p.eval(`window.ends`); now != before {
		t.Errorf("the last tick was asked for %s times, and then %s", before, now)
	}
	p.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.End)) // to the end, back, and to the end again
	p.eval(`window.meddle = () => undefined; ""`)
	p.until(tick, "60")
	p.quiet()

	p = browse(t, plain(serve(t, t.TempDir())), 1280, 720, first(asked))
	p.until(`document.body.dataset.gallery !== undefined`, "true")
	p.eval(`[...document.querySelectorAll("#gallery .card")].find((x) => x.textContent.includes("heat")).click()`)
	p.until(run, "goes on")
	p.eval(`window.looks = 0; window.meddle = (q) => { if (q.op === "look") { window.looks++; return window.later(); } }; ""`)
	p.at(400, 300)
	p.until(`window.looks > 3`, "true")
	p.do(chromedp.Click("#home"))
	p.until(`document.body.classList.contains("choosing")`, "true")
	p.eval(`window.looks = 0; window.meddle = () => undefined; ""`)
	p.do(chromedp.Sleep(time.Second / 2))
	if got := p.eval(`document.getElementById("looked").textContent + document.getElementById("charts").textContent + document.getElementById("message").textContent`); got != "" {
		t.Errorf("a page that was closed writes %q", got)
	}
	p.quiet()
}

// TestRefusedRun checks that the gallery shows, in view, why a run cannot be started, and clears the message at the next
// attempt.
func TestRefusedRun(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(serve(t, t.TempDir())), 390, 844)
	p.until(`document.body.dataset.gallery !== undefined`, "true")
	p.eval(`(() => { const d = [...document.querySelectorAll("#gallery details")].at(-1); d.open = true; d.scrollIntoView(); return ""; })()`)
	p.until(`document.querySelectorAll("#gallery form input").length > 2`, "true")
	p.fill("#gallery form [name=seed]", "99999999999999999999999")
	p.eval(`document.querySelector("#gallery form button").click()`)
	p.until(`/cannot be run: .*seed/.test(document.getElementById("refused").textContent)`, "true")
	p.until(`(() => { const r = document.getElementById("refused").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.height > 20; })()`, "true")
	p.picture("gallery-refused")
	p.fill("#gallery form [name=seed]", "9")
	p.eval(`document.querySelector("#gallery form button").click()`)
	p.until(`document.body.classList.contains("choosing")`, "false")
	p.quiet()
}

// TestEngineEnds checks that a page whose engine ends says so, also for later requests.
func TestEngineEnds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	murksim(t, folder, "export", "heat.murk", "-q", "-o", "heat.html")
	p := browse(t, plain("file://"+filepath.Join(folder, "heat.html")+"#tick=5"), 1280, 720, first(`const real = Worker; window.Worker = class extends real { constructor(...a) { super(...a); window.engine = this; } };`))
	p.until(verdict, "verified")
	p.until(tick, "5")
	p.eval(`window.engine.terminate(); ""`)
	p.do(chromedp.KeyEvent(kb.End))
	p.eval(`window.engine.dispatchEvent(new ErrorEvent("error", {message: "out of memory"})); ""`)
	const said = `the engine has ended: out of memory; open the page again`
	p.until(`document.getElementById("message").textContent`, said)
	p.do(chromedp.KeyEvent(kb.Home))
	p.until(`document.getElementById("tick").value`, "0")
	p.at(400, 300)
	p.until(looked, said)
	p.picture("engine-ends")
}

// TestAsleep checks that a page says so while its requests fail, and continues once they succeed.
func TestAsleep(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	const message = `document.getElementById("message")`
	p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=5"), 1280, 720, first(asked+`window.meddle = (q) => {
		if (q.op === "check" || window.all) throw new Error("the line is down");
	};`))
	p.until(message+`.textContent`, "the line is down")
	p.until(tick, "5")
	p.eval(`window.all = true; ""`)
	p.do(chromedp.KeyEvent(kb.End))
	p.until(`document.getElementById("tick").value`, "60")
	p.until(message+`.hidden`, "false")
	p.eval(`window.meddle = () => undefined; ""`)
	p.until(verdict, "verified")
	p.until(tick, "60")
	p.until(message+`.hidden`, "true")
}
