//go:build browser

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
)

const (
	run   = `document.body.dataset.run`
	state = `document.getElementById("run-state").textContent`
)

// fill sets the value of an input, as a user would.
func (p *page) fill(selector, value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); return ""; })()`, selector, value))
}

// TestRun watches a run, holds it, sets a parameter and a cell, and gives another command; the recording contains all of
// it.
func TestRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := command(folder, "run", "fire", "--view", "--ticks", "400", "--set", "expect=[]", "-o", "fire.murk")
	url, end := started(t, c)
	p := browse(t, plain(url), 1280, 720)
	p.until(`+`+tick+` > 20`, "true")
	p.do(chromedp.KeyEvent(" "))
	p.until(run, "held")
	var held string
	if _, err := fmt.Sscanf(p.eval(state), "held at tick %s", &held); err != nil {
		t.Fatal(err)
	}
	p.until(tick, held) // the page may be some ticks behind
	p.fill(`#run input[type=number]`, "3")
	p.until(`/next tick/.test(document.querySelector("#run [role=status]").textContent)`, "true")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 400, 300))
	p.until(`document.querySelector("#run .here")?.hidden`, "false")
	p.fill(`#run .here [name=value]`, "burning")
	p.do(chromedp.Click("#run .here button"))
	p.eval(`document.querySelector("#run details").open = true`)
	p.picture("run-held")
	time.Sleep(300 * time.Millisecond)
	if now := p.eval(tick); now != held {
		t.Errorf("a run that is held went from tick %s to %s", held, now)
	}
	p.fill("#speed", "64")
	p.do(chromedp.Click("#play"))
	p.until(run, "ended")
	p.until(verdict, "verified")
	p.until(`document.getElementById("verdict").textContent`, "400 of 400 ticks verified")
	var next int
	if _, err := fmt.Sscan(held, &next); err != nil {
		t.Fatal(err)
	}
	p.fill("#tick", fmt.Sprint(next+1))
	p.until(`document.getElementById("inputs").textContent.includes("set wind to 3")`, "true")
	p.until(`document.getElementById("inputs").textContent.includes("to burning")`, "true")
	p.picture("run-ended")
	p.quiet()
	end()
	if said := murksim(t, folder, "verify", "fire.murk"); !strings.Contains(said, "400 of 400") {
		t.Errorf("verify says %s", said)
	}
}

// TestFork forks a recording, from a server and in a page that contains the engine. Without a change the fork
// equals the original; with one it differs from its first tick on.
func TestFork(t *testing.T) {
	t.Parallel()
	both(t, "fire", "#tick=200", func(t *testing.T, p *page) {
		p.until(tick, "200")
		p.do(chromedp.Click("#fork"))
		p.until(state, "held at tick 200")
		p.until(`document.getElementById("differ")?.textContent ?? ""`, "equal so far")
		p.fill("#speed", "0")
		p.do(chromedp.KeyEvent(" "))
		p.until(run, "ended")
		p.until(verdict, "verified")
		p.until(`document.getElementById("differ")?.textContent ?? ""`, "the recordings are equal")
		p.fill("#tick", "300")
		p.until(tick, "300")
		p.do(chromedp.Click("#fork"))
		p.until(state, "held at tick 300")
		p.fill(`#run input[type=number]`, "0")
		p.fill("#speed", "0")
		p.do(chromedp.KeyEvent(" "))
		p.until(run, "ended")
		p.until(`/^first difference: tick 30[0-9]( |$)/.test(document.getElementById("differ")?.textContent ?? "")`, "true")
		p.picture("fork")
	}, "--ticks", "400", "--set", "expect=[]")
}

// TestGallery shows the scenarios and runs one with another seed.
func TestGallery(t *testing.T) {
	t.Parallel()
	for _, size := range [][3]int64{{1280, 1000, 8}, {390, 844, 2}} {
		p := browse(t, serve(t, t.TempDir()), size[0], size[1])
		p.until(`document.body.dataset.gallery`, fmt.Sprint(len(worlds.Embedded())))
		p.until(fmt.Sprintf(`[...document.querySelectorAll("#gallery img")].filter((i) => i.complete && i.naturalWidth > 0).length >= %d`, size[2]), "true")
		p.until(`[...document.querySelectorAll("#gallery .film")].every((x) => (x.querySelector("img").naturalWidth > 0) !== !!x.querySelector(".coming"))`, "true")
		p.picture(fmt.Sprintf("gallery-%d", size[0]))
		p.eval(`[...document.querySelectorAll("#gallery li")].find((x) => x.querySelector("strong").textContent === "heat").querySelector("details").open = true`)
		p.until(`document.querySelectorAll("#gallery form input").length > 2`, "true")
		p.fill("#gallery form [name=seed]", "99")
		p.do(chromedp.Click("#gallery form button"))
		p.until(`document.getElementById("subtitle").textContent.includes("seed 99")`, "true")
		p.until(`+`+tick+` > 5`, "true")
		p.picture(fmt.Sprintf("gallery-run-%d", size[0]))
		p.do(chromedp.Click("#home"))
		p.until(`document.body.classList.contains("choosing")`, "true")
		p.do(chromedp.KeyEvent(kb.Tab))
		p.quiet()
	}
}

// TestReload checks that a reloaded page keeps the speed of its run.
func TestReload(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(serve(t, t.TempDir(), "heat")), 1280, 720)
	p.until(run, "goes on")
	p.fill("#speed", "2")
	p.until(`+`+tick+` > 50`, "true")
	p.do(chromedp.Reload())
	p.until(run, "goes on")
	p.until(`document.getElementById("speed").value`, "2")
	p.do(chromedp.KeyEvent(" "))
	p.until(run, "held")
	if got := p.answer(`{"op": "check"}`); !strings.Contains(got, `"speed":2`) {
		t.Errorf("to hold the run has changed its speed: %s", got)
	}
	p.quiet()
}

// TestMovie takes the frames of README's animation and the picture of the gallery, if the environment names a folder for them:
//
//	PICTURES=/tmp/frames go test -count=1 -tags browser ./view/e2e -run TestMovie
//	ffmpeg -framerate 8 -i /tmp/frames/movie-%02d.png -vf "scale=960:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96[p];[b][p]paletteuse=dither=none" docs/view/fork.gif
func TestMovie(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "fire", "-q", "-o", "fire.murk")
	p := browse(t, serve(t, folder, "fire.murk")+"#tick=150", 1200, 640)
	p.until(verdict, "verified")
	p.do(chromedp.Click("#fork"))
	p.until(state, "held at tick 150")
	p.fill(`#run input[type=number]`, "2")
	p.fill("#speed", "0")
	p.do(chromedp.KeyEvent(" "))
	p.until(run, "ended")
	frames := 1
	if os.Getenv("PICTURES") != "" {
		frames = 40
	}
	for frame := range frames {
		at := fmt.Sprint(150 + 6*frame)
		p.fill("#tick", at)
		p.until(tick, at)
		p.picture(fmt.Sprintf("movie-%02d", frame))
	}
	p.until(`/^first difference: tick 15[0-9]( |$)/.test(document.getElementById("differ")?.textContent ?? "")`, "true")
	p.quiet()
}

// TestRecordingGrows: the page of a recording that another process is writing shows more ticks as they come, each verified, and its end.
func TestRecordingGrows(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--no-index", "--set", "expect=[]", "-o", "heat.murk")
	whole, err := os.ReadFile(filepath.Join(folder, "heat.murk"))
	if err != nil {
		t.Fatal(err)
	}
	const frame = 8 + 4 + 8
	f, err := os.Create(filepath.Join(folder, "live.murk"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(b []byte) {
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := replay.Lock(f); err != nil {
		t.Fatal(err)
	}
	write(whole[:len(whole)-40*frame])
	p := browse(t, plain(serve(t, folder, "live.murk")), 1280, 720)
	p.until(`document.getElementById("verdict").textContent`, "live, 20 of 20 ticks verified")
	p.picture("grows")
	write(whole[len(whole)-40*frame : len(whole)-10*frame+3])
	p.until(`document.getElementById("verdict").textContent`, "live, 50 of 50 ticks verified")
	write(whole[len(whole)-10*frame+3:])
	f.Close()
	p.until(verdict, "verified")
	p.until(`document.getElementById("scrub").max`, "60")
	p.quiet()
}
