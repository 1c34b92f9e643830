//go:build browser

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const flow = `murksim: 1
name: flow
seed: 3
tick_rate: 10
ticks: 30
space: {kind: square4, rows: 8, cols: 8}
fields:
  - {name: flow, type: vector(2), initial: [0, 0]}
  - {name: mass, element: fixed, initial: %s}
  - {name: pull, type: vector(2), initial: [0, 0]}
commands:
  - {tick: 5, set: {field: flow, cell: [2, 3], value: %s}}
  - {tick: 9, set: {field: pull, cell: [1, 1], value: [3, -4]}}
`

// flows records two runs that differ in a vector of the same length, and in a number by less than a float32 can tell.
func flows(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, values := range map[string][2]any{"a": {"[1, 0]", "16777216"}, "b": {"[0, 1]", "16777216.5"}} {
		if err := os.WriteFile(filepath.Join(folder, name+".yaml"), fmt.Appendf(nil, flow, values[1], values[0]), 0o644); err != nil {
			t.Fatal(err)
		}
		murksim(t, folder, "run", name+".yaml", "-q", "-o", name+".murk")
	}
	return folder
}

// differing is the text that the page shows about the difference.
const differing = `document.querySelectorAll("#stage figcaption")[2].textContent`

// TestDifference checks that cells differ if their numbers do, even if the drawn values do not.
func TestDifference(t *testing.T) {
	t.Parallel()
	url := serve(t, flows(t), "a.murk", "b.murk")
	for field, want := range map[string]string{
		"flow": "flow: 1 cell differs by up to 1.4142", "flow[1]": "flow: 1 cell differs by up to 1", "mass": "mass: 64 cells differ by up to 0.5", "pull": "pull: no cell differs",
	} {
		p := browse(t, plain(url+"#tick=10&field="+field), 1280, 720)
		p.until(verdict, "verified")
		p.until(differing, want)
		legend := map[string]string{"flow": "length of b.murk − a.murk,0,1.4142", "flow[1]": "b.murk − a.murk,-1,1", "mass": "b.murk − a.murk,-0.5,0.5", "pull": "length of b.murk − a.murk,0,0"}[field]
		p.until(`[...document.querySelectorAll("#legend > div")].at(-1).textContent && [...document.querySelectorAll("#legend > div:last-child :is(strong, span)")].map((x) => x.textContent.trim()).join()`, legend)
		p.picture("difference-" + field)
		p.quiet()
		p.close()
	}
}

// TestForkOfRing checks that rows over time stand beside the same ticks of the other world, even if one of them begins later.
func TestForkOfRing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ring.yaml"), []byte(ring), 0o644); err != nil {
		t.Fatal(err)
	}
	murksim(t, folder, "run", "ring.yaml", "-q", "-o", "ring.murk")
	p := browse(t, plain(serve(t, folder, "ring.murk")+"#tick=50"), 1280, 720)
	p.until(verdict, "verified")
	p.do(chromedp.Click("#fork"))
	p.until(state, "held at tick 50")
	p.fill("#speed", "0")
	p.do(chromedp.KeyEvent(" "))
	p.until(run, "ended")
	p.do(chromedp.KeyEvent(kb.End))
	p.until(tick, "90")
	p.until(differing, "heat: no cell differs")
	p.picture("fork-ring")
	p.quiet()
}

// TestVectorScale checks that a vector's length has the same colours at all ticks, like other
// numbers.
func TestVectorScale(t *testing.T) {
	t.Parallel()
	p := browse(t, plain(serve(t, flows(t), "a.murk")+"#tick=3&field=pull"), 1280, 720)
	p.until(verdict, "verified")
	for _, at := range []string{"3", "10"} { // before the only vector that is not 0, and after
		p.fill("#tick", at)
		p.until(tick, at)
		p.until(`[...document.querySelectorAll("#legend span")].map((x) => x.textContent.trim()).join()`, "0,5")
	}
	p.quiet()
}

// TestVectorCharts checks that charts name their component and are in order.
func TestVectorCharts(t *testing.T) {
	t.Parallel()
	url := serve(t, flows(t), "a.murk")
	for field, want := range map[string]string{"flow": "flow[0]: total,flow[0],flow[1]: total,flow[1]", "flow[0]": "flow[0]: total,flow[0]", "flow[1]": "flow[1]: total,flow[1]"} {
		p := browse(t, plain(url+"#tick=10&field="+field), 1280, 720)
		p.until(verdict, "verified")
		p.until(`[...document.querySelectorAll("#charts strong")].map((x) => x.textContent).filter((x) => !x.startsWith("time")).join()`, want)
		p.quiet()
		p.close()
	}
}
