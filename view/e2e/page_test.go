//go:build browser

package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// both runs a test with the page from a server, and with one that contains the engine.
func both(t *testing.T, scenario, fragment string, test func(t *testing.T, p *page), flags ...string) {
	folder := t.TempDir()
	murksim(t, folder, append([]string{"run", scenario, "-q", "-o", "run.murk"}, flags...)...)
	murksim(t, folder, "export", "run.murk", "-q", "-o", "run.html")
	for _, source := range []string{"server", "page"} {
		t.Run(source, func(t *testing.T) {
			url := "file://" + filepath.Join(folder, "run.html")
			if source == "server" {
				url = serve(t, folder, "run.murk")
			}
			p := browse(t, plain(url+fragment), 1280, 720)
			p.until(verdict, "verified")
			test(t, p)
			p.quiet()
		})
	}
}

// at moves the pointer.
func (p *page) at(x, y float64) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// place returns the position of an element: its middle, or the given part of its width.
func (p *page) place(selector string, part float64) (x, y float64) {
	p.t.Helper()
	text := p.eval(fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return (r.left + %g * r.width) + " " + (r.top + r.height / 4); })()`, selector, part))
	if _, err := fmt.Sscan(text, &x, &y); err != nil {
		p.t.Fatal(err)
	}
	return x, y
}

const (
	looked = `document.querySelector("#looked h2")?.textContent ?? ""`
	listed = `document.getElementById("inputs").textContent`
	tick   = `document.body.dataset.tick`
)

// TestInputs lists the commands of a tick, and moves between ticks that have commands.
func TestInputs(t *testing.T) {
	t.Parallel()
	both(t, "heat", "#tick=60", func(t *testing.T, p *page) {
		p.do(chromedp.KeyEvent("n"))
		p.until(tick, "100")
		p.until(`document.querySelectorAll("#inputs li").length`, "25")
		p.until(listed+`.startsWith("Commands of tick 100set heat at [37, 108] to 300applied")`, "true")
		p.do(chromedp.KeyEvent("n"))
		p.until(tick, "150")
		p.do(chromedp.KeyEvent("N"))
		p.until(tick, "100")
		p.do(chromedp.Click("#after"), chromedp.Click("#after"))
		p.until(tick, "200")
		x, y := p.place("#strip", 0.5)
		p.at(x, y)
		p.until(`document.getElementById("tip").textContent`, "tick 500: 26 commands, 1 refused")
		p.until(`document.getElementById("tip").hidden`, "false")
		p.picture("inputs-tip-" + filepath.Base(t.Name()))
		p.do(chromedp.MouseClickXY(x, y))
		p.until(tick, "500")
		p.until(`document.querySelector("#inputs .refused")?.parentElement.textContent`, "set wall at [63, 10] to openrefused: a static field never changes")
		p.picture("inputs-" + filepath.Base(t.Name()))
		p.at(400, 300)
		p.until(`/^Cell/.test(`+looked+`)`, "true")
		p.at(10, 200) // beside the world
		p.until(looked, "")
		p.until(`document.getElementById("tip").hidden`, "true")
		p.do(chromedp.KeyEvent("."))
		p.until(tick, "501")
		p.until(listed, "")
	})
}

// TestTrace pins a cell, and compares its history with the values shown for it.
func TestTrace(t *testing.T) {
	t.Parallel()
	const points = `document.getElementById("trace").dataset.points`
	both(t, "heat", "#tick=500", func(t *testing.T, p *page) {
		p.until(tick, "500")
		p.do(chromedp.MouseClickXY(400, 300))
		p.until(points, "501")
		value := strings.Fields(p.eval(`document.querySelector("#looked td:last-child").textContent`))[0]
		got := p.eval(`document.querySelector("#trace canvas").getAttribute("aria-label")`)
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("at tick 500 %.5g", v); !strings.HasSuffix(got, want) {
			t.Errorf("the chart says %q, want %q", got, want)
		}
		at := p.eval(looked)
		p.picture("trace-" + filepath.Base(t.Name()))
		p.at(300, 200)
		p.do(chromedp.KeyEvent(",")) // one tick back, same cell
		p.until(tick, "499")
		p.until(looked, strings.Replace(at, "tick 500", "tick 499", 1))
		p.do(chromedp.KeyEvent(kb.Escape))
		p.until(`document.getElementById("trace").children.length`, "0")
		p.at(310, 210)
		p.until(fmt.Sprintf(`(%s) !== %q`, looked, strings.Replace(at, "tick 500", "tick 499", 1)), "true")
	})
}

// TestKeyboard goes from cell to cell, pins one, and checks that the keys are listed as in the
// documentation.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	cell := func(p *page) (row, col int) {
		p.t.Helper()
		p.until(`/^Cell \[/.test(`+looked+`)`, "true")
		at := regexp.MustCompile(`\[(\d+), (\d+)\]`).FindStringSubmatch(p.eval(looked))
		row, _ = strconv.Atoi(at[1])
		col, _ = strconv.Atoi(at[2])
		return row, col
	}
	both(t, "heat", "#tick=50", func(t *testing.T, p *page) {
		p.until(tick, "50")
		p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowDown))
		row, col := cell(p)
		p.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		p.until(looked, fmt.Sprintf("Cell [%d, %d], tick 50", row+1, col+2))
		p.do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowLeft))
		p.until(looked, fmt.Sprintf("Cell [%d, %d], tick 50", row, col+1))
		p.do(chromedp.KeyEvent(kb.Enter))
		p.until(`document.querySelectorAll("#trace canvas").length`, "1")
		p.picture("keyboard-" + filepath.Base(t.Name()))
		p.do(chromedp.KeyEvent("?"))
		p.until(`document.getElementById("help").open`, "true")
		p.picture("keys-" + filepath.Base(t.Name()))
		p.do(chromedp.KeyEvent(kb.ArrowLeft)) // has no effect
		rows := p.eval(`[...document.querySelectorAll("#help tr")].map((r) => "| " + [...r.cells].map((c) => c.textContent).join(" | ") + " |").join("\n")`)
		text, err := os.ReadFile("../../docs/VIEW.md")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "| key | what |\n| --- | --- |\n"+rows+"\n\n") {
			t.Errorf("docs/VIEW.md has other keys than\n%s", rows)
		}
		p.do(chromedp.KeyEvent(kb.Escape))
		p.until(`document.getElementById("help").open`, "false")
		p.until(`document.querySelectorAll("#trace canvas").length`, "1") // Escape closed the dialog only
		p.until(tick, "50")
	}, "--ticks", "60", "--set", "expect=[]")
}

// TestSeveralFields shows fields beside each other and over each other, as the address says.
func TestSeveralFields(t *testing.T) {
	t.Parallel()
	const panes, entries = `document.querySelectorAll("#stage figure").length`, `[...document.querySelectorAll("#legend strong")].map((e) => e.textContent).join()`
	both(t, "heat", "#tick=300", func(t *testing.T, p *page) {
		p.until(tick, "300")
		p.until(entries, "heat")
		p.do(chromedp.Click("#beside"))
		p.until(panes, "2")
		p.until(entries, "heat,wall")
		p.until(`[...document.querySelectorAll("#stage figcaption")].map((e) => e.textContent).join()`, "heat,wall")
		p.picture("beside-" + filepath.Base(t.Name()))
		p.do(chromedp.SetValue("#over", "wall"))
		p.eval(`document.getElementById("over").dispatchEvent(new Event("change"))`)
		p.until(entries, "heat,wall,over it wall")
		p.until(`location.hash`, "#tick=300&field=heat,wall&over=wall")
		p.eval(`document.querySelector("#fields button[aria-label='Without wall']").click()`)
		p.until(panes, "1")
		p.until(entries, "heat,over it wall")
		p.until(`location.hash`, "#tick=300&field=heat&over=wall")
	}, "--ticks", "400", "--set", "expect=[]")
}

// TestOverlay checks that the second field covers the first one where it is not 0, with and without the graphics card.
func TestOverlay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "30", "--set", "expect=[]", "-o", "heat.murk")
	url := serve(t, folder, "heat.murk") + "#tick=30&field=heat&over=wall"
	clear := `(() => { const from = document.querySelectorAll("#stage canvas")[1], c = document.createElement("canvas");
		[c.width, c.height] = [from.width, from.height];
		const g = c.getContext("2d");
		g.drawImage(from, 0, 0);
		const d = g.getImageData(0, 0, c.width, c.height).data, n = {};
		for (let i = 3; i < d.length; i += 4) n[d[i]] = (n[d[i]] ?? 0) + 1;
		return Object.keys(n).join() + " " + (n[166] > 100 || n[165] > 100);
	})()`
	for i, url := range []string{url, plain(url)} {
		p := browse(t, url, 1280, 720)
		p.until(tick, "30")
		p.until(`/^0,16[56] true$/.test(`+clear+`)`, "true")
		p.picture(fmt.Sprint("overlay-", i))
		p.quiet()
	}
}

// TestPainters checks that both painters, with and without the graphics card, paint the same, except for rounding at the edges of
// cells: squares, slices of a close packing, panels of a product, and hexes.
func TestPainters(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, scenario := range []string{"heat", "crystal", "colony", "minewars"} {
		murksim(t, folder, "run", scenario, "-q", "--ticks", "30", "--set", "expect=[]", "-o", scenario+".murk")
		url := serve(t, folder, scenario+".murk") + "#tick=30"
		var pixels [2]string
		for i, url := range []string{url, plain(url)} {
			p := browse(t, url, 1280, 720)
			p.until(verdict, "verified")
			p.until(tick, "30")
			p.do(chromedp.Sleep(time.Second)) // the maximum of the verified ticks changes the colours
			p.value(`(() => { const from = document.querySelector("#stage canvas"), c = document.createElement("canvas");
				[c.width, c.height] = [from.width, from.height];
				const g = c.getContext("2d");
				g.drawImage(from, 0, 0);
				return Array.from(new Uint32Array(g.getImageData(0, 0, c.width, c.height).data.buffer), (v) => String.fromCharCode(v & 255, v >>> 8 & 255, v >>> 16 & 255)).join("");
			})()`, &pixels[i])
			p.close()
		}
		a, b := []rune(pixels[0]), []rune(pixels[1])
		differ := 0
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				differ++
			}
		}
		if len(a) != len(b) || differ > len(a)/100 {
			t.Errorf("%s: %d of %d bytes differ, want one in 100 at most (the other picture has %d)", scenario, differ, len(a), len(b))
		}
		t.Logf("%s: %d of %d bytes differ", scenario, differ, len(a))
	}
}

// TestUlps checks that the distance between two recordings matches the numbers shown.
func TestUlps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "-o", "a.murk")
	murksim(t, folder, "run", "heat", "-q", "-o", "b.murk", "--set", "propagators.0.diffusion.rate=4.001", "--set", "expect=[]")
	p := browse(t, plain(serve(t, folder, "a.murk", "b.murk")+"#tick=640"), 1280, 720)
	p.until(verdict, "verified")
	p.until(tick, "640")
	x, y := p.place("#stage canvas", 0.5)
	p.do(chromedp.MouseClickXY(x, y+200))
	p.until(`document.querySelectorAll("#looked .apart").length`, "1")
	var a, b float32
	if _, err := fmt.Sscan(p.eval(`[...document.querySelectorAll("#looked tr.differs td")].slice(1).map((e) => parseFloat(e.textContent)).join(" ")`), &a, &b); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("(%.0f ulp)", math.Abs(float64(math.Float32bits(a))-float64(math.Float32bits(b))))
	if got := p.eval(`document.querySelector("#looked .apart").textContent`); !strings.HasSuffix(strings.ReplaceAll(got, ",", ""), want) {
		t.Errorf("%v and %v are %q apart, want %q", a, b, got, want)
	}
	p.until(`document.getElementById("trace").dataset.points`, "1002") // points of both recordings
	p.picture("ulps")
	p.quiet()
}

// TestTickTime shows the time of the replay's ticks.
func TestTickTime(t *testing.T) {
	t.Parallel()
	both(t, "heat", "", func(t *testing.T, p *page) {
		p.until(`[...document.querySelectorAll("#charts figcaption")].pop().textContent`, "time of a tick, µsin the replay on this machine; the slowest hundredth is cut off")
		p.eval(`document.querySelector("aside").scrollTo(0, 9999)`)
		p.picture("time-" + filepath.Base(t.Name()))
	})
}

// TestTraceEntity pins an entity; its history offers a choice of fields.
func TestTraceEntity(t *testing.T) {
	both(t, "predators", "#tick=200", func(t *testing.T, p *page) {
		p.until(tick, "200")
		isEntity := `/^(rabbit|fox|\w+) .* at \[/.test(` + looked + `)`
		pinned := func() bool { // its text may still describe the pointer's last position
			if p.eval(isEntity) != "true" {
				return false
			}
			p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.Enter))
			p.until(`document.getElementById("trace").childElementCount > 0`, "true")
			if p.eval(`document.querySelectorAll("#trace select").length`) == "1" {
				return true
			}
			p.do(chromedp.KeyEvent(kb.Escape))
			return false
		}
		x, y := 260.0, 80.0
		for !pinned() {
			if x += 7; x > 700 {
				x, y = 260, y+11
			}
			if y > 560 {
				t.Fatal("there is no entity")
			}
			p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, chromedp.ButtonModifiers(chromedp.ModifierShift)))
			time.Sleep(50 * time.Millisecond) // until the text is up to date
		}
		p.until(`document.getElementById("trace").dataset.points`, "301")
		name := p.eval(`document.querySelector("#trace select option:checked").textContent`)
		value := p.eval(fmt.Sprintf(`[...document.querySelectorAll("#looked tr")].find((r) => r.cells[0].textContent === %q).cells[1].textContent`, name))
		v, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		p.until(fmt.Sprintf(`document.querySelector("#trace canvas").getAttribute("aria-label").endsWith("at tick 200 %.5g")`, v), "true")
		p.picture("entity-" + filepath.Base(t.Name()))
	}, "--ticks", "300", "--set", "expect=[]")
}

// TestCursor moves the cursor over hexes, slices and a ring, and back to where it started.
func TestCursor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, scenario := range []string{"minewars", "crystal", "fire"} {
		murksim(t, folder, "run", scenario, "-q", "--ticks", "30", "--set", "expect=[]", "-o", scenario+".murk")
		p := browse(t, plain(serve(t, folder, scenario+".murk")+"#tick=20"), 1280, 720)
		p.until(tick, "20")
		p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowDown))
		p.until(`/^Cell \[/.test(`+looked+`)`, "true")
		walk := func(key string) {
			t.Helper()
			before := p.eval(looked)
			p.do(chromedp.KeyEvent(key))
			p.until(fmt.Sprintf(`(%s) !== %q`, looked, before), "true")
		}
		begin := p.eval(looked)
		for _, there := range [][2]string{{kb.ArrowDown, kb.ArrowUp}, {kb.ArrowRight, kb.ArrowLeft}, {kb.ArrowUp, kb.ArrowDown}} {
			for range 5 {
				walk(there[0])
			}
			for range 5 {
				walk(there[1])
			}
			p.until(looked, begin)
		}
		p.picture("cursor-" + scenario)
		p.quiet()
	}
}

// TestSizes checks that nothing is wider than the screen: on a phone and on a large screen, in the dark, and with many things
// shown.
func TestSizes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "predators", "-q", "--ticks", "300", "--set", "expect=[]", "-o", "a.murk")
	murksim(t, folder, "run", "predators", "-q", "--ticks", "300", "--set", "expect=[]", "--seed", "9", "-o", "b.murk")
	murksim(t, folder, "run", "colony", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "colony.murk")
	for _, tt := range []struct {
		name   string
		width  int64
		height int64
		files  []string
		hash   string
	}{
		{"phone", 390, 844, []string{"a.murk"}, "#tick=60"},
		{"phone-compare", 390, 844, []string{"a.murk", "b.murk"}, "#tick=60"},
		{"large", 1920, 1080, []string{"colony.murk"}, "#tick=60&field=food,wood,stone,lives"},
		{"large-compare", 1920, 1080, []string{"a.murk", "b.murk"}, "#tick=60"},
		{"four", 1280, 720, []string{"colony.murk"}, "#tick=60&field=food,wood,stone&over=food"},
	} {
		scheme := "light"
		if tt.name == "four" || tt.name == "phone-compare" {
			scheme = "dark"
		}
		p := browse(t, plain(serve(t, folder, tt.files...)+tt.hash), tt.width, tt.height, prefers("color-scheme", scheme))
		p.until(`/verified|differs/.test(document.body.dataset.verdict)`, "true")
		p.until(tick, "60")
		x, y := p.place("#stage canvas", 0.5)
		p.do(chromedp.MouseClickXY(x, y))
		p.until(`document.querySelectorAll("#trace canvas").length`, "1")
		p.until(`document.querySelectorAll("#looked td").length > 1`, "true")
		for _, what := range []string{"document.documentElement", `document.querySelector("main")`, `document.querySelector("aside")`, `document.querySelector("footer")`} {
			if got := p.eval(what + `.scrollWidth - ` + what + `.clientWidth`); got != "0" {
				t.Errorf("%s: %s is %s pixels wider than there is room", tt.name, what, got)
			}
		}
		if got := p.eval(`document.querySelector("footer").offsetHeight <= 165 && document.getElementById("run").offsetTop - document.getElementById("fields").offsetTop < 140`); tt.width < 500 && got != "true" {
			t.Errorf("%s: the controls take much of the screen", tt.name)
		}
		p.picture("size-" + tt.name)
		p.quiet()
	}
}

const ring = `murksim: 1
name: ring
seed: 3
tick_rate: 10
ticks: 90
space: {kind: ring, length: 48}
fields:
  - {name: heat, initial: {noise: {from: 0, to: 9}}}
  - {name: smoke, initial: {noise: {from: 0, to: 1}}}
propagators:
  - diffusion: {field: heat, rate: 0.5}
  - diffusion: {field: smoke, rate: 2}
commands:
  - {tick: 40, set: {field: heat, cell: [7], value: 12}}
`

// TestRing shows a ring over time: fields beside and over each other, a cell cursor, and the difference of two
// runs.
func TestRing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ring.yaml"), []byte(ring), 0o644); err != nil {
		t.Fatal(err)
	}
	murksim(t, folder, "run", "ring.yaml", "-q", "-o", "a.murk")
	murksim(t, folder, "run", "ring.yaml", "-q", "-o", "b.murk", "--set", "propagators.0.diffusion.rate=0.51")
	p := browse(t, serve(t, folder, "a.murk")+"#tick=80&field=heat,smoke&over=smoke", 1280, 720)
	p.until(verdict, "verified")
	p.until(tick, "80")
	p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowRight))
	p.until(`/^Cell \[\d+\], tick 80/.test(`+looked+`)`, "true")
	begin := p.eval(looked)
	p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.until(looked, begin)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`document.getElementById("trace").dataset.points`, "91")
	p.picture("ring")
	p.quiet()
	p = browse(t, serve(t, folder, "a.murk", "b.murk")+"#tick=80", 1280, 720)
	p.until(verdict, "verified")
	p.until(tick, "80")
	p.until(`document.querySelectorAll("#stage figcaption")[2].textContent.startsWith("heat: 3,8")`, "true") // of 48 cells in 81 ticks, all but the first
	p.picture("ring-compare")
	p.quiet()
}
