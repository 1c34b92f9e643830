//go:build browser

package e2e

import (
	"testing"
)

// pinEntity pins the nearest entity that the arrow keys reach.
const pinEntity = `(async () => {
	const key = (key, shiftKey) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
	document.querySelector("#stage canvas").focus();
	const said = () => document.querySelector("#looked h2")?.textContent;
	for (let i = 0; i < 1000; i++) {
		const before = said();
		key(i % 26 < 25 ? (Math.floor(i / 26) % 2 ? "ArrowLeft" : "ArrowRight") : "ArrowDown");
		while (said() === before) await new Promise((done) => setTimeout(done, 10)); // the cell that is chosen now
		if (/colonist/.test(document.getElementById("looked").textContent)) { key("Enter", true); document.body.dataset.pinned = "yes"; return; }
	}
	document.body.dataset.pinned = "no";
})(); 1`

// TestEntityPanel checks that names take one line, and that numbers have few digits but show all of them under the
// pointer.
func TestEntityPanel(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(recorded(t, "colony")+"#tick=60"), 1280, 720)
	p.until(tick, "60")
	p.eval(pinEntity)
	p.until(`document.body.dataset.pinned`, "yes")
	p.until(`/^colonist/.test(document.querySelector("#looked h2")?.textContent ?? "")`, "true")
	p.picture("entity-panel")
	for _, name := range []string{"hormones: cortisol", "carried: tool"} {
		if p.eval(`[...document.querySelectorAll("#looked td")].some((d) => d.textContent === "`+name+`")`) != "true" {
			t.Errorf("there is no row %q", name)
		}
	}
	if tall := p.eval(`[...document.querySelectorAll("#looked tr")].filter((r) => r.offsetHeight > 30).map((r) => r.textContent).join()`); tall != "" {
		t.Errorf("more than a line: %s", tall)
	}
	if long := p.eval(`[...document.querySelectorAll("#looked td + td")].filter((d) => /\d\.\d{7}/.test(d.textContent)).map((d) => d.textContent).join()`); long != "" {
		t.Errorf("too many digits: %s", long)
	}
	if whole := p.eval(`[...document.querySelectorAll("#looked td[title]")].every((d) => d.title.length > d.textContent.length) && document.querySelectorAll("#looked td[title]").length > 3`); whole != "true" {
		t.Error("what is cut short is not there in full under the pointer")
	}
	p.quiet()
}

// TestDots checks that dots can be coloured by the values of entities.
func TestDots(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(recorded(t, "minewars")+"#tick=60&dots=number"), 1280, 720)
	p.until(tick, "60")
	p.until(`/dots number/.test(document.getElementById("legend").textContent)`, "true")
	p.picture("dots")
	// The middle of the overlay: how many colours the dots have.
	colours := `(() => { const c = document.querySelectorAll("#stage canvas")[2], g = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
		g.drawImage(c, 0, 0);
		const d = g.getImageData(0, 0, c.width, c.height).data, n = {};
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) { const k = d.slice(i, i + 3).join(); n[k] = (n[k] ?? 0) + 1; }
		return Object.values(n).filter((v) => v > 20).length; })()`
	if many := p.eval(colours + " >= 6"); many != "true" {
		t.Errorf("dots by number have %s colours", p.eval(colours))
	}
	p.eval(`(() => { const s = document.querySelector("[aria-label='Colours of dots']"); s.value = "-1"; s.onchange(); })()`)
	p.until(`/player/.test(document.getElementById("legend").textContent)`, "true")
	if few := p.eval(colours + " <= 2"); few != "true" {
		t.Errorf("dots by kind have %s colours", p.eval(colours))
	}
	p.until(`location.hash.includes("dots")`, "false")
	p.quiet()
}

// TestForcedColours checks that swatches and the strip keep their colours if the reader forces a few colours on all
// pages.
func TestForcedColours(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(recorded(t, "fire")+"#tick=5"), 1280, 720, media("forced-colors", "active"))
	p.until(verdict, "verified")
	p.until(`matchMedia("(forced-colors: active)").matches`, "true")
	p.until(`new Set([...document.querySelectorAll("#legend i")].map((i) => getComputedStyle(i).backgroundColor)).size >= 4`, "true")
	p.until(`(() => { const c = document.getElementById("strip"), d = c.getContext("2d").getImageData(c.width >> 1, c.height - 2, 1, 1).data; return d[1] > d[0] + 30; })()`, "true") // green
	p.picture("forced-colours")
	p.quiet()
}
