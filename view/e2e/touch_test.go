//go:build browser

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// touch puts fingers on the page, moves them or lifts them.
func (p *page) touch(what input.DispatchTouchEventType, at ...[2]float64) {
	p.t.Helper()
	params := input.DispatchTouchEventParams{Type: what, TouchPoints: []*input.TouchPoint{}}
	for i, xy := range at {
		id := float64(i)
		params.TouchPoints = append(params.TouchPoints, &input.TouchPoint{X: xy[0], Y: xy[1], ID: &id})
	}
	call(p, input.DispatchTouchEvent, params)
}

// fingers opens a page on a device with touch and no mouse.
func fingers(t *testing.T, url string, width, height int64) *page {
	p := browse(t, "about:blank", width, height)
	call(p, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 5})
	p.do(chromedp.Navigate(url))
	p.until(verdict, "verified")
	return p
}

// TestFingers checks that two fingers zoom the world where they are, and that buttons do the same. One finger scrolls the page while the
// whole world is visible, and moves the world otherwise.
func TestFingers(t *testing.T) {
	t.Parallel()
	p := fingers(t, plain(recorded(t, "heat")+"#tick=5"), 390, 844)
	p.until(tick, "5")
	box := func(what string) (v float64) {
		fmt.Sscan(p.eval(`document.querySelector("#stage canvas").getBoundingClientRect().`+what), &v)
		return v
	}
	x, y := box("x")+box("width")/2, box("y")+box("height")/2
	cell := func(dx float64) (row, col int) { // that a tap chooses
		p.eval(`document.querySelector("#looked h2")?.replaceChildren("?")`)
		p.touch(input.DispatchTouchEventTypeTouchStart, [2]float64{x + dx, y})
		p.touch(input.DispatchTouchEventTypeTouchEnd)
		p.until(`/^Cell/.test(document.querySelector("#looked h2")?.textContent ?? "")`, "true")
		said := p.eval(`document.querySelector("#looked h2").textContent`)
		if _, err := fmt.Sscanf(said, "Cell [%d, %d]", &row, &col); err != nil {
			t.Fatalf("a tap says %q", said)
		}
		return row, col
	}
	row, col := cell(0)
	_, far := cell(100)
	p.touch(input.DispatchTouchEventTypeTouchStart, [2]float64{x - 40, y}, [2]float64{x + 40, y})
	for i := range 10 {
		d := 40 + 4*float64(i+1)
		p.touch(input.DispatchTouchEventTypeTouchMove, [2]float64{x - d, y}, [2]float64{x + d, y})
	}
	p.touch(input.DispatchTouchEventTypeTouchEnd)
	p.picture("pinched")
	if r, c := cell(0); max(r-row, row-r, c-col, col-c) > 1 {
		t.Errorf("after two fingers went apart, their middle is at [%d, %d]; it was at [%d, %d]", r, c, row, col)
	}
	if _, c := cell(100); c-col > (far-col)*2/3 || c <= col {
		t.Errorf("after two fingers went apart, what is 100 pixels away went from column %d to %d; the middle is at %d", far, c, col)
	}
	p.touch(input.DispatchTouchEventTypeTouchStart, [2]float64{x, y})
	p.touch(input.DispatchTouchEventTypeTouchMove, [2]float64{x - 50, y})
	p.touch(input.DispatchTouchEventTypeTouchMove, [2]float64{x - 100, y})
	p.touch(input.DispatchTouchEventTypeTouchEnd)
	if _, c := cell(0); c <= col+5 {
		t.Errorf("one finger did not move the world: column %d, before %d", c, col)
	}
	p.eval(`[...document.querySelectorAll("#zoom button")].at(-1).click()`)
	if r, c := cell(0); r != row || c != col {
		t.Errorf("all of it: [%d, %d], want [%d, %d]", r, c, row, col)
	}
	p.eval(`document.querySelector("#zoom button").click()`)
	if _, c := cell(100); c >= far {
		t.Errorf("larger: column %d, before %d", c, far)
	}
	p.eval(`[...document.querySelectorAll("#zoom button")].at(-1).click()`)
	p.until(`getComputedStyle(document.querySelector("#stage canvas")).touchAction`, "pan-x pan-y")
	small := p.eval(`[...document.querySelectorAll("button, select, input")].filter((e) => e.checkVisibility() && (e.getBoundingClientRect().height < 44 || e.getBoundingClientRect().width < 44)).map((e) => e.id || e.textContent).join()`)
	if small != "" {
		t.Errorf("smaller than 44 pixels for a finger: %s", small)
	}
	p.quiet()
}

// TestPhoneOnItsSide checks that the time line can be used and the world is visible without
// scrolling.
func TestPhoneOnItsSide(t *testing.T) {
	t.Parallel()
	p := fingers(t, plain(recorded(t, "heat")+"#tick=5"), 844, 390)
	p.until(tick, "5")
	p.picture("phone-on-its-side")
	hidden := p.eval(`["play", "back", "on", "scrub", "strip", "legend", "stage"].filter((id) => { const b = document.getElementById(id).getBoundingClientRect(); return b.top < 0 || b.bottom > innerHeight || b.height < 10; }).join()`)
	if hidden != "" {
		t.Errorf("not to be seen: %s", hidden)
	}
	if high := p.eval(`document.getElementById("stage").clientHeight >= 180`); high != "true" {
		t.Errorf("the world has %s pixels", p.eval(`document.getElementById("stage").clientHeight`))
	}
	p.quiet()
}
