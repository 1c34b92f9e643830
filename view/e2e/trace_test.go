//go:build browser

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const drip = `murksim: 1
name: drip
seed: 3
tick_rate: 10
ticks: 12000
space: {kind: square4, rows: 4, cols: 4}
fields:
  - {name: heat, initial: 1}
propagators:
  - diffusion: {field: heat, rate: 1, decay: 0.001}
`

// TestLiveTrace pins a cell of a long run: its history continues to the end with a limited number of points, even after a request that
// fails.
func TestLiveTrace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "drip.yaml"), []byte(drip), 0o644); err != nil {
		t.Fatal(err)
	}
	url := serve(t, folder, "drip.yaml")
	p := browse(t, plain(url), 1280, 720, first(asked))
	p.until(run, "goes on")
	p.do(chromedp.MouseClickXY(400, 300))
	p.until(`document.querySelectorAll("#trace canvas").length`, "1")
	p.eval(`window.refused = 0; window.meddle = (q) => { if (q.op === "history" && !window.refused++) throw new Error("the line is down"); }; ""`)
	p.until(`document.getElementById("trace").textContent.includes("the line is down")`, "true")
	p.fill("#speed", "0")
	p.until(run, "ended")
	p.until(`document.getElementById("trace").textContent.includes("the line is down")`, "false")
	p.until(tick, "12000")
	p.until(`(`+looked+`).endsWith("tick 12,000")`, "true")
	p.until(`document.querySelector("#trace canvas").ariaLabel.endsWith("at tick 12000 " + String(+Number(document.querySelector("#looked td:last-child").textContent).toPrecision(5)))`, "true")
	points, err := strconv.Atoi(p.eval(`document.getElementById("trace").dataset.points`))
	if err != nil || points < 250 || points > 1001 {
		t.Errorf("the history has %d points (%v), want 250 to 1,001", points, err)
	}
	p.picture("trace-live")
}

// TestClickChart checks that a slow click on a chart works while the run proceeds.
func TestClickChart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "drip.yaml"), []byte(drip), 0o644); err != nil {
		t.Fatal(err)
	}
	p := browse(t, plain(serve(t, folder, "drip.yaml")), 1280, 900)
	p.until(run, "goes on")
	p.fill("#speed", "16")
	p.until(`+`+tick+` > 200 && document.querySelectorAll("#charts canvas").length > 1`, "true")
	p.eval(`document.querySelector("#charts canvas").scrollIntoView({block: "center"})`)
	if got := p.eval(`document.getElementById("to-tip").disabled`); got != "true" {
		t.Error("the way to the last tick is offered where that is shown")
	}
	x, y := p.place("#charts canvas", 0.01)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)), chromedp.Sleep(time.Second/2),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	p.until(`document.getElementById("play").ariaLabel`, "Play") // the tick shown is earlier than the run's
	p.until(`document.getElementById("to-tip").disabled`, "false")
	p.quiet()
}
