//go:build browser

package e2e

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed audit.js
var auditScript string

// found runs a check of audit.js and returns its findings.
func (p *page) found(check string) []string {
	p.t.Helper()
	var list []string
	p.eval(auditScript + `; ""`)
	p.value("audit."+check+"()", &list)
	return list
}

// value decodes the value of an expression.
func (p *page) value(expression string, into any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.eval("JSON.stringify("+expression+")")), into); err != nil {
		p.t.Fatal(err)
	}
}

// nameless returns the controls and pictures without a name in the accessibility tree.
func (p *page) nameless() (list []string) {
	p.t.Helper()
	tree := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	for _, n := range tree.Nodes {
		if n.Ignored || n.Name != nil && strings.Trim(string(n.Name.Value), ` "`) != "" {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		needs := slices.Contains([]string{"button", "link", "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "checkbox", "radio", "image", "img", "application", "dialog", "Canvas", "DisclosureTriangle"}, role)
		for _, x := range n.Properties {
			needs = needs || x.Name == accessibility.PropertyNameFocusable && string(x.Value.Value) == "true"
		}
		if !needs {
			continue
		}
		is := call(p, dom.GetOuterHTML, dom.GetOuterHTMLParams{BackendNodeID: n.BackendDOMNodeID}).OuterHTML
		list = append(list, fmt.Sprintf("a %s has no name: %.120s", role, is))
	}
	return list
}

// live returns the roles of live regions.
func (p *page) live() (list []string) {
	p.t.Helper()
	for _, n := range call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		for _, x := range n.Properties {
			if x.Name == accessibility.PropertyNameLive && !n.Ignored {
				list = append(list, strings.Trim(string(n.Role.Value), `"`))
			}
		}
	}
	return list
}

var checks = []string{"text", "shapes", "structure", "targets"}

// accessible checks a page in the light and in the dark.
func accessible(t *testing.T, p *page, name string) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.do(prefers("color-scheme", scheme))
		p.until(`matchMedia("(prefers-color-scheme: dark)").matches`, fmt.Sprint(scheme == "dark"))
		p.eval(`window.drawn = false; requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true; })); ""`)
		p.until("window.drawn", "true") // the strip and the charts in the new colours
		for _, check := range checks {
			for _, wrong := range p.found(check) {
				t.Errorf("%s, %s: %s", name, scheme, wrong)
			}
		}
		p.picture("accessible-" + name + "-" + scheme)
	}
	for _, wrong := range p.nameless() {
		t.Errorf("%s: %s", name, wrong)
	}
	p.do(prefers("color-scheme", "light"))
}

// walk goes through a page with Tab, and back.
func walk(t *testing.T, p *page, name string) {
	t.Helper()
	p.eval(auditScript + `; ""`)
	var want []string
	p.value("audit.begin()", &want)
	for _, way := range []struct {
		name  string
		shift []chromedp.KeyOption
	}{{"Tab", nil}, {"Shift and Tab", []chromedp.KeyOption{chromedp.KeyModifiers(chromedp.ModifierShift)}}} {
		var got []string
		for range 2*len(want) + 10 { // some of them are scrollable regions
			p.do(chromedp.KeyEvent(kb.Tab, way.shift...))
			var now struct {
				At, Other string
				Wrong     []string
			}
			p.value("audit.at()", &now)
			for _, wrong := range now.Wrong {
				t.Errorf("%s, %s: %s", name, way.name, wrong)
			}
			if now.At != "" && (len(got) == 0 || got[len(got)-1] != now.At) {
				got = append(got, now.At)
			}
			if now.At == "" && now.Other == "" || len(got) == len(want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s reaches\n%s\nwant\n%s", name, way.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		p.do(chromedp.KeyEvent(kb.Tab, way.shift...)) // beyond the last
		slices.Reverse(want)
	}
}

// TestAccessible checks that readers with low vision or without a mouse can read and use each view of the viewer.
func TestAccessible(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "200", "--set", "expect=[]", "-o", "a.murk")
	murksim(t, folder, "run", "heat", "-q", "--ticks", "200", "--set", "expect=[]", "--set", "propagators.0.diffusion.rate=4.4", "-o", "b.murk")
	murksim(t, folder, "export", "a.murk", "-q", "-o", "a.html")
	unlike(t, folder)
	swept := func(p *page) {
		p.until(rows, "up all 6")
		p.until(`document.querySelectorAll("#sweep svg").length`, "1")
		p.until(`document.querySelectorAll("#sweep tr.bad").length`, "2")
	}
	pinned := func(p *page) {
		p.until(verdict, "verified")
		p.until(tick, "100")
		p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowDown))
		p.until(`/^Cell/.test(`+looked+`)`, "true")
		p.do(chromedp.KeyEvent(kb.Enter))
		p.until(`document.querySelectorAll("#trace canvas").length`, "1")
		p.until(`document.querySelectorAll("#inputs li").length > 0`, "true")
	}
	for _, tt := range []struct {
		name, url     string
		width, height int64
		ready         func(p *page)
	}{
		{"recording", serve(t, folder, "a.murk") + "#tick=100&field=heat,wall&over=wall", 1280, 720, pinned},
		{"phone", serve(t, folder, "a.murk") + "#tick=100", 390, 844, pinned},
		{"page", "file://" + filepath.Join(folder, "a.html") + "#tick=100", 1280, 720, pinned},
		{"comparison", serve(t, folder, "a.murk", "b.murk") + "#tick=100", 1280, 720, pinned},
		{"run", serve(t, folder, "fire"), 1280, 720, func(p *page) {
			p.until(`+`+tick+` > 2`, "true")
			p.do(chromedp.KeyEvent(" "))
			p.until(run, "held")
			p.do(chromedp.Focus("#stage canvas"), chromedp.KeyEvent(kb.ArrowDown))
			p.until(`document.querySelector("#run .here")?.hidden`, "false")
			p.eval(`document.querySelectorAll("#run details").forEach((d) => { d.open = true; })`)
		}},
		{"gallery", serve(t, folder), 1280, 720, func(p *page) {
			p.until(`document.querySelectorAll("#gallery li").length > 5`, "true")
			p.eval(`document.querySelector("#gallery details").open = true`)
			p.until(`document.querySelectorAll("#gallery form input").length > 2`, "true")
		}},
		{"sweep", serve(t, folder, "out"), 1280, 720, swept},
		{"sweep-phone", serve(t, folder, "out"), 390, 844, swept},
		{"keys", serve(t, folder, "a.murk") + "#tick=100", 1280, 720, func(p *page) {
			p.until(tick, "100")
			p.do(chromedp.Focus("#keys"), chromedp.KeyEvent(kb.Enter))
			p.until(`document.getElementById("help").open`, "true")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := browse(t, plain(tt.url), tt.width, tt.height)
			tt.ready(p)
			accessible(t, p, tt.name)
			walk(t, p, tt.name)
			if tt.name != "gallery" && tt.name != "keys" && !slices.Contains(p.live(), "status") {
				t.Errorf("%s: no status is spoken", tt.name)
			}
			for _, size := range [][2]int64{{640, 360}, {320, 640}} { // twice as large; four times
				p.do(chromedp.EmulateViewport(size[0], size[1]))
				for _, wrong := range p.found("room") {
					t.Errorf("%s, %d×%d: %s", tt.name, size[0], size[1], wrong)
				}
				p.picture(fmt.Sprintf("accessible-%s-%d", tt.name, size[0]))
			}
			p.quiet()
			p.close()
		})
	}
}

// TestHands checks that keys can do what the mouse can, starting from the focused element.
func TestHands(t *testing.T) {
	t.Parallel()
	const (
		panes  = `document.querySelectorAll("#stage figure").length`
		trace  = `document.querySelectorAll("#trace canvas").length`
		play   = `document.getElementById("play").ariaLabel`
		help   = `document.getElementById("help").open`
		moved  = `String(window.before !== document.querySelector("#stage canvas").toDataURL())`
		focus  = `document.activeElement.id`
		opened = `document.querySelector("#gallery details").open`
	)
	type act struct {
		what  string
		focus string // element to focus; "": leave the focus
		keys  []string
		see   string // expression to check then
		want  string
	}
	looks := []act{
		{"play", "body", []string{" "}, play, "Pause"},
		{"pause", "", []string{" "}, play, "Play"},
		{"a tick", "#tick", []string{kb.Backspace, kb.Backspace, kb.Backspace, "9", "9", kb.Enter}, tick, "99"},
		{"step", "#on", []string{kb.Enter}, tick, "100"},
		{"step back", "body", []string{kb.ArrowLeft}, tick, "99"},
		{"scrub", "#scrub", []string{kb.ArrowRight, kb.ArrowRight}, tick, "101"},
		{"the first tick", "", []string{kb.Home}, tick, "0"},
		{"the next mark", "", []string{"n"}, tick, "100"},
		{"the next mark, by its button", "#after", []string{" "}, tick, "150"},
		{"the mark before", "#before", []string{kb.Enter}, tick, "100"},
		{"speed", "#speed", []string{"2"}, `document.getElementById("speed").value`, "2"},
		{"choose a cell", "#stage canvas", []string{kb.ArrowDown}, `/^Cell/.test(` + looked + `)`, "true"},
		{"pin it", "", []string{kb.Enter}, trace, "1"},
		{"unpin", "", []string{kb.Escape}, trace, "0"},
		{"zoom", "", []string{"+"}, moved, "true"},
		{"pan", "", []string{"d"}, moved, "true"},
		{"all of it", "", []string{"0"}, moved, "true"},
		{"another field", "body", []string{"f"}, `document.getElementById("field").value`, "wall"},
		{"a field by name", "#field", []string{"h"}, `document.getElementById("field").value`, "heat"},
		{"fields beside each other", "#beside", []string{kb.Enter}, panes, "2"},
		{"without one", "#fields button[aria-label^=Without]", []string{kb.Enter}, panes, "1"},
		{"the keys", "#keys", []string{kb.Enter}, help, "true"},
		{"close them", "", []string{kb.Escape}, help, "false"},
		{"the focus is where it was", "", nil, focus, "keys"},
		{"fork", "#fork", []string{kb.Enter}, state, "held at tick 100"},
	}
	runs := []act{
		{"go on", "body", []string{" "}, `/goes on|ended/.test(` + state + `)`, "true"},
		{"hold a run", "", []string{" "}, run, "held"},
		{"set a parameter", "#run input[type=number]", []string{kb.Backspace, "3", kb.Enter}, `/next tick/.test(document.querySelector("#run [role=status]").textContent)`, "true"},
		{"another command", "#run summary", []string{" "}, `document.querySelector("#run details").open`, "true"},
		{"type one", "#order", []string{" ", "n", "0"}, `document.getElementById("order").value.includes(" n0") + document.body.dataset.run`, "trueheld"},
	}
	begins := []act{
		{"settings", "#gallery summary", []string{" "}, opened, "true"},
		{"stop the films", "#films", []string{kb.Enter}, `document.getElementById("films").textContent`, "Play the films"},
		{"begin with another seed", "#gallery [name=seed]", []string{"1", kb.Enter}, `+` + tick + ` > 2`, "true"},
		{"back to the gallery", "#home", []string{kb.Enter}, `document.body.classList.contains("choosing")`, "true"},
		{"begin", "#gallery .card", []string{kb.Enter}, `+` + tick + ` > 2`, "true"},
	}
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "200", "--set", "expect=[]", "-o", "heat.murk")
	for _, tt := range []struct {
		name, url, ready string
		acts             []act
	}{
		{"recording", serve(t, folder, "heat.murk") + "#tick=20", verdict + ` === "verified" && ` + tick + ` === "20"`, looks},
		{"run", serve(t, folder, "fire"), `+` + tick + ` > 2`, append([]act{{"hold", "body", []string{" "}, run, "held"}}, runs...)},
		{"gallery", serve(t, folder), `document.querySelectorAll("#gallery li").length > 5`, begins},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := browse(t, plain(tt.url), 1280, 720)
			p.until(tt.ready, "true")
			for _, a := range tt.acts {
				t.Log(a.what)
				p.eval(`window.before = document.querySelector("#stage canvas")?.toDataURL(); ""`)
				if a.focus == "body" {
					p.eval(`document.activeElement.blur()`)
				} else if a.focus != "" {
					p.do(chromedp.Focus(a.focus))
				}
				for _, key := range a.keys {
					p.do(chromedp.KeyEvent(key))
				}
				p.until(a.see, a.want)
			}
			p.quiet()
			p.close()
		})
	}
}

// TestPlanted checks that each check finds a mistake made on purpose.
func TestPlanted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "20", "--set", "expect=[]", "-o", "heat.murk")
	p := browse(t, serve(t, folder, "heat.murk"), 1280, 720)
	p.until(verdict, "verified")
	plant := func(html string) {
		p.eval(fmt.Sprintf(`(() => { document.getElementById("plant")?.remove(); const d = document.createElement("div"); d.id = "plant"; d.innerHTML = %q; document.querySelector("aside").prepend(d); return ""; })()`, html))
		p.eval(`document.querySelectorAll("#plant [data-style]").forEach((e) => { e.style.cssText = e.dataset.style; })`) // the page allows no styles in elements
	}
	for _, tt := range []struct{ check, html, want string }{
		{"text", `<p data-style="color: #999; background: #bbb">grey</p>`, "#plant > p has a contrast"},
		{"text", `<p data-style="color: rgb(0 0 0 / 40%)">pale</p>`, "#plant > p has a contrast"},
		{"shapes", `<input aria-label="x" data-style="border-color: #eee">`, "the border of #plant > input"},
		{"structure", `<i id="help"></i>`, "several #help"},
		{"structure", `<h1>another</h1>`, "2 h1"},
		{"structure", `<h5>deep</h5>`, "#plant > h5 follows a heading of level"},
		{"structure", `<input>`, "#plant > input has no label"},
		{"structure", `<canvas></canvas>`, "#plant > canvas has no name"},
		{"targets", `<button data-style="width: 9px; min-width: 9px; padding: 0">a</button><button>b</button>`, "#plant > button:nth-of-type(1) is 9×"},
		{"room", `<p data-style="white-space: nowrap; width: 9px; overflow: hidden">cut off</p>`, "#plant > p is"},
	} {
		plant(tt.html)
		if got := strings.Join(p.found(tt.check), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s of %s finds %q, want %q", tt.check, tt.html, got, tt.want)
		}
	}
	plant(`<button></button><i role="img" data-style="display: block; width: 9px; height: 9px"></i>`)
	if got := strings.Join(p.nameless(), "\n"); !strings.Contains(got, "a button has no name") || !strings.Contains(got, "a image has no name") {
		t.Errorf("the accessibility tree has %q without a name", got)
	}
	for html, want := range map[string]string{
		`<button data-style="outline: none">no ring</button>`:                      "#plant > button does not show that it has the focus",
		`<button data-style="position: fixed; left: -99px">far</button>`:           "#plant > button has the focus where nobody can see it",
		`<button data-style="outline: 2px solid #fdfdfd !important">pale</button>`: "the focus of #plant > button is hard to see",
	} {
		plant(html)
		p.eval(auditScript + `; audit.begin(); ""`)
		p.do(chromedp.Focus("#plant button"))
		if got := p.eval(`audit.at().wrong.join()`); !strings.Contains(got, want) {
			t.Errorf("with the focus on %s %q is found, want %q", html, got, want)
		}
	}
}

// TestStill checks that nothing moves by itself for readers who prefer little motion.
func TestStill(t *testing.T) {
	t.Parallel()
	p := browse(t, serve(t, t.TempDir()), 1280, 720, prefers("reduced-motion", "reduce"))
	const shown = `[...document.querySelectorAll("#gallery img")].filter((i) => i.complete && i.naturalWidth && i.checkVisibility()).length`
	const still = `[...document.querySelectorAll(".card canvas")].filter((c) => c.checkVisibility() && c.width > 100)`
	p.until(still+".length >= 2", "true")
	p.until(shown, "0")
	if got := p.eval(still + `[0].getContext("2d").getImageData(99, 99, 1, 1).data[3]`); got != "255" {
		t.Errorf("a picture that stands still has the opacity %s", got)
	}
	p.picture("gallery-still")
	p.do(chromedp.Click("#films"))
	p.until(shown+" >= 2", "true")
	p.quiet()
}
