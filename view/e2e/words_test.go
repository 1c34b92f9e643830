//go:build browser

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestServerEnds checks that a page says so when its server has ended.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	url, end := started(t, command(folder, "view", "heat.murk"))
	p := browse(t, plain(url+"#tick=5"), 1280, 720)
	p.until(verdict, "verified")
	p.until(tick, "5")
	end()
	p.do(chromedp.KeyEvent("."))
	p.until(`/^The server has ended/.test(document.getElementById("message").textContent)`, "true")
	p.picture("server-ends")
}

// TestKeysInList checks that keys which a list does not use still act while it has the focus.
func TestKeysInList(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=5"), 1280, 720)
	p.until(tick, "5")
	p.do(chromedp.Focus("#field"), chromedp.KeyEvent("."))
	p.until(tick, "6")
	p.do(chromedp.KeyEvent(">"))
	p.until(tick, "16")
	p.do(chromedp.KeyEvent("?"))
	p.until(`document.getElementById("help").open`, "true")
	p.quiet()
}

// TestTickDiffers checks that a tick that differs is shown as a link, with both hashes.
func TestTickDiffers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := filepath.Join(folder, "heat.murk")
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "--no-index", "-o", name)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 390} {
		p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=5"), width, 844)
		p.until(verdict, "differs 60")
		p.until(`/^tick 60 differs from what was recorded recorded [0-9a-f]{16}, replayed [0-9a-f]{16}$/.test(document.getElementById("verdict").textContent)`, "true")
		p.picture("tick-differs")
		p.do(chromedp.Click("#verdict button"))
		p.until(`document.getElementById("tick").value`, "60")
		p.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
	}
}

// TestChartLabels checks that no line touches a number from the left, where it would look like a minus.
func TestChartLabels(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	p := browse(t, plain(serve(t, folder, "heat.murk")+"#tick=50"), 1280, 720)
	p.until(verdict, "verified")
	p.until(`[...document.querySelectorAll("#charts canvas")].slice(0, 2).every((c) => {
		const g = c.getContext("2d"), ground = g.getImageData(0, 0, 1, 1).data.join();
		return [[0, 12], [c.height - 12, 12]].every(([y, rows]) => {
			const d = g.getImageData(0, y, 2, rows).data;
			return Array.from({ length: 2 * rows }, (_, i) => d.slice(4 * i, 4 * i + 4).join()).every((x) => x === ground);
		});
	})`, "true")
	p.picture("chart-labels")
}

// TestLiveTimeLine checks that a run's time line has room for all planned ticks, and that nothing jumps while it plays.
func TestLiveTimeLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	long := strings.NewReplacer("ticks: 30", "ticks: 5000", "tick_rate: 10", "tick_rate: 50").Replace(fmt.Sprintf(flow, "1", "[1, 0]")) +
		"  - {every: 3, set: {field: mass, cell: [3, 3], value: 2}}\n"
	if err := os.WriteFile(filepath.Join(folder, "long.yaml"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 390} {
		p := browse(t, plain(serve(t, folder, "long.yaml")), width, 844)
		p.until(run, "goes on")
		p.until(`document.getElementById("scrub").max`, "5000")
		p.at(200, 200)
		p.until(`/^Cell/.test(`+looked+`)`, "true")
		p.until(`+`+tick+` > 20`, "true")
		p.eval(`(() => {
			const seen = window.places = new Set();
			const look = () => {
				seen.add(["#stage", "#charts", "#speed", "#tick"].map((x) => { const r = document.querySelector(x).getBoundingClientRect(); return [r.left, r.top, r.width].map(Math.round); }).join());
				requestAnimationFrame(look);
			};
			look();
			return "";
		})()`)
		p.until(`+`+tick+` > 150`, "true")
		p.eval(`document.getElementById("back").click()`)
		p.until(`document.getElementById("to-tip").disabled`, "false")
		if got := p.eval(`window.places.size`); got != "1" {
			t.Errorf("%d pixels wide, the layout jumps: %s", width, p.eval(`JSON.stringify([...window.places])`))
		}
		p.picture("live-line")
		p.quiet()
	}
}

// TestVerdictOfAPart checks that the verdict of a recording that is only a part of a run says so, as verify does: how many ticks were planned, and at which
// state it begins.
func TestVerdictOfAPart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "whole.murk")
	murksim(t, folder, "cut", "whole.murk", "-q", "--to", "20", "-o", "short.murk")
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "--no-record", "--until", "20", "--save-state", "20.state")
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "--state", "20.state", "-o", "part.murk")
	for _, width := range []int64{1280, 390} {
		for name, want := range map[string]string{
			"short": "20 of 20 ticks verified, of 60 planned", "part": "40 of 40 ticks verified, from tick 21 on, from the state ########…",
		} {
			p := browse(t, plain(serve(t, folder, name+".murk")+"#tick=50"), width, 800)
			p.until(verdict, "verified")
			p.until(`document.getElementById("verdict").textContent.replace(/[0-9a-f]{8}…/, "########…")`, want)
			p.until(`document.documentElement.scrollWidth <= innerWidth`, "true")
			p.picture(fmt.Sprintf("verdict-%s-%d", name, width))
			p.quiet()
			p.close()
		}
		p := browse(t, plain(serve(t, folder, "whole.murk", "part.murk")+"#tick=50"), width, 800)
		p.until(verdict, "verified")
		p.until(`document.getElementById("differ")?.textContent`, "the recordings are equal")
		p.picture(fmt.Sprintf("verdict-two-%d", width))
		p.close()
	}
}
