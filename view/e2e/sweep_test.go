//go:build browser

package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/sweep"
)

const (
	rows = `document.body.dataset.rows?.replace(/^\d+ +/, "")` // sort, direction, filter and number of rows
	done = `+(document.body.dataset.done ?? 0)`
)

// results reads the table that a sweep has written.
func results(t *testing.T, folder string) (names []string, table [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err = csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return table[0], table[1:]
}

// shownTable returns the table of the page, numbers in full.
func (p *page) shownTable() (names []string, table [][]string) {
	p.t.Helper()
	p.value(`[...document.querySelectorAll("#sweep thead button")].map((b) => b.querySelector("span").textContent)`, &names)
	p.value(`[...document.querySelectorAll("#sweep tbody tr")].map((r) => [...r.cells].map((c) => c.dataset.value ?? c.lastChild.data.trim()))`, &table)
	return names, table
}

// same reports whether a cell of the page shows a value of results.csv, which has no commas between thousands.
func same(shown, written string) bool {
	x, err1 := strconv.ParseFloat(strings.ReplaceAll(shown, ",", ""), 64)
	y, err2 := strconv.ParseFloat(written, 64)
	return shown == written || err1 == nil && err2 == nil && x == y
}

// growing starts a sweep in a folder and waits until it has a journal.
func growing(t *testing.T, folder string, args ...string) (c *exec.Cmd, out string) {
	t.Helper()
	out = filepath.Join(folder, "out")
	c = command(folder, append([]string{"sweep", "heat", "-q", "-o", "out"}, args...)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for !sweep.Exists(filepath.Join(out, "journal")) {
		time.Sleep(5 * time.Millisecond)
	}
	return c, out
}

// TestSweepGrows watches a sweep from its first jobs to its end, then compares the page with results.csv.
func TestSweepGrows(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c, out := growing(t, folder, "--ticks", "300", "--seeds", "1..40", "--set", "propagators.diffusion.rate=1,2,4,30", "--workers", "1", "--keep", "2%")
	p := browse(t, serve(t, folder, "out"), 1280, 720)
	p.until(done+` > 0 && `+done+` < 160 && document.querySelectorAll("#sweep tbody tr").length > 0 && document.querySelectorAll("#sweep svg").length === 1`, "true")
	p.until(`/jobs\/s/.test(document.getElementById("sweep-words").textContent)`, "true")
	p.picture("sweep-grows")
	_ = c.Wait() // 1: some jobs are not ok
	p.until(`document.body.dataset.verdict`, "whole")
	p.until(rows, "up all 160")
	p.until(`/jobs are done/.test(document.querySelector("#sweep svg").textContent)`, "false")
	p.until(`document.getElementById("verdict").textContent`, "all jobs done, 40 not ok")
	p.until(`document.querySelectorAll("#sweep tbody tr").length`, "100")

	names, want := results(t, out)
	p.compare(names, want[:100], "as it is")
	p.do(chromedp.Click("#sweep [aria-label='The next page']"))
	p.until(`document.querySelectorAll("#sweep tbody tr").length`, "60")
	p.compare(names, want[100:], "the second page")

	p.until(`document.querySelector("#sweep-filters button[data-status='not ok']").textContent`, "40 not ok")
	p.do(chromedp.Click("#sweep-filters button[data-status='not ok']"))
	p.until(rows, "up not ok 40")
	status := slices.Index(names, "status")
	p.compare(names, slices.DeleteFunc(slices.Clone(want), func(r []string) bool { return r[status] == "ok" }), "those that are not ok")
	p.picture("sweep-not-ok")

	p.do(chromedp.Click("#sweep-filters button[data-status='ok']"))
	p.until(rows, "up ok 120")
	by := slices.Index(names, "gap")
	p.do(chromedp.Focus(fmt.Sprintf("#sweep thead th:nth-child(%d) button", p.column("gap")+1)), chromedp.KeyEvent(kb.Enter))
	p.until(rows, "gap up ok 120")
	p.do(chromedp.KeyEvent(kb.Enter)) // the focus is where it was
	p.until(rows, "gap down ok 120")
	p.until(fmt.Sprintf(`document.querySelectorAll("#sweep thead th")[%d].ariaSort`, p.column("gap")), "descending")
	ok := slices.DeleteFunc(slices.Clone(want), func(r []string) bool { return r[status] != "ok" })
	slices.SortStableFunc(ok, func(a, b []string) int {
		x, _ := strconv.ParseFloat(a[by], 64)
		y, _ := strconv.ParseFloat(b[by], 64)
		return -compare(x, y)
	})
	p.compare(names, ok[:100], "by gap, downward")
	p.until(`location.hash`, "#sort=gap&down=&status=ok")
	p.picture("sweep-whole")
	p.quiet()
}

func compare(x, y float64) int {
	if x < y {
		return -1
	} else if x > y {
		return 1
	}
	return 0
}

// column returns the place of a column in the page.
func (p *page) column(name string) int {
	p.t.Helper()
	names, _ := p.shownTable()
	return slices.Index(names, name)
}

// compare checks that the page shows some rows of results.csv, in their order.
func (p *page) compare(names []string, want [][]string, what string) {
	p.t.Helper()
	shown, got := p.shownTable()
	if len(got) != len(want) {
		p.t.Fatalf("%s: %d rows are shown, want %d", what, len(got), len(want))
	}
	for c, name := range names {
		at := slices.Index(shown, name)
		if at < 0 { // no row has anything in it
			if name != "recheck" && name != "kept" || slices.ContainsFunc(want, func(r []string) bool { return r[c] != "" }) {
				p.t.Errorf("%s: the page has no column %s", what, name)
			}
			continue
		}
		for i := range want {
			if !same(got[i][at], want[i][c]) {
				p.t.Errorf("%s: row %d has %s %q, want %q", what, i, name, got[i][at], want[i][c])
				break
			}
		}
	}
}

// choose picks a value in one of the picture's lists, in one step: a list takes typed letters as one word only on a quick machine.
func (p *page) choose(list, value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`{ const e = document.getElementById("sweep-%s"); e.value = %q; e.onchange(); "" }`, list, value))
}

// TestSweepPicture checks that the page shows the bytes that sweep plot writes for the chosen statistic and parameters, also after a
// reload.
func TestSweepPicture(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "sweep", "heat", "-q", "-o", "out", "--ticks", "40", "--seeds", "1..2", "--set", "propagators.diffusion.rate=1,2,4", "--set", "propagators.decay.rate=0.001,0.01")
	svg := func(args ...string) string {
		text := murksim(t, folder, append([]string{"sweep", "plot", "out", "-o", "-"}, args...)...)
		return strings.Join(words(text), " ")
	}
	p := browse(t, serve(t, folder, "out"), 1280, 720)
	const texts = `[...document.querySelectorAll("#sweep svg text, #sweep svg title")].map((e) => e.textContent).join(" ")`
	p.until(`document.querySelectorAll("#sweep svg").length`, "1")
	p.until(texts, svg())
	p.choose("stat", "heat_max")
	p.until(texts, svg("--stat", "heat_max"))
	p.choose("across", "seed")
	p.until(texts, svg("--stat", "heat_max", "--by", "seed"))
	p.until(`location.hash`, "#stat=heat_max&by=seed")
	p.do(chromedp.Reload())
	p.until(texts, svg("--stat", "heat_max", "--by", "seed"))
	p.quiet()
}

// TestSweepChoices checks that the lists show what the picture is drawn over, and that both can be changed.
func TestSweepChoices(t *testing.T) {
	t.Parallel()
	const rate, decay = "propagators.diffusion.rate", "propagators.decay.rate"
	folder := t.TempDir()
	murksim(t, folder, "sweep", "heat", "-q", "-o", "out", "--ticks", "20", "--seeds", "1..2", "--set", rate+"=1,2,4", "--set", decay+"=0.001,0.01")
	p := browse(t, serve(t, folder, "out"), 1280, 720)
	const chosen = `["across", "upward"].map((id) => document.getElementById("sweep-" + id)).map((e) => e.disabled ? "disabled" : e.selectedOptions[0].textContent).join(", ")`
	title := func(by string) {
		t.Helper()
		p.until(`document.querySelector("#sweep svg").ariaLabel.replace(/.* by /, "")`, by)
	}
	p.until(`document.querySelectorAll("#sweep svg").length`, "1")
	title(rate + " and " + decay)
	p.until(chosen, "automatic: …diffusion.rate, automatic: …decay.rate")
	for _, tt := range []struct{ list, path, chosen, by string }{
		{"upward", "-", rate + ", nothing", rate},
		{"upward", "seed", rate + ", seed", rate + " and seed"},
		{"across", "seed", "seed, " + rate, "seed and " + rate},
		{"across", decay, decay + ", " + rate, decay + " and " + rate},
		{"upward", "", "automatic: …diffusion.rate, automatic: …decay.rate", rate + " and " + decay},
		{"upward", rate, decay + ", " + rate, decay + " and " + rate},
		{"across", "", "automatic: …diffusion.rate, automatic: …decay.rate", rate + " and " + decay},
		{"across", "seed", "seed, nothing", "seed"},
	} {
		p.choose(tt.list, tt.path)
		title(tt.by)
		p.until(chosen, tt.chosen)
	}
	p.until(`location.hash`, "#by=seed")
	p.quiet()
}

// TestSweepRoom checks that statistics are visible without scrolling. A reason does not make the row of a job that is not ok higher than
// others; it stands beside the status when such jobs are filtered.
func TestSweepRoom(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, _ = command(folder, "sweep", "predators", "-q", "-o", "out", "--ticks", "10", "--seeds", "1..2", "--set", "systems.grazing.breed_at=2,-1", "--set", "systems.hunting.gain=0.3,0.5").Output() // 1: some are not ok
	for _, width := range []int64{1200, 1280} {
		p := browse(t, serve(t, folder, "out"), width, 720)
		p.until(rows, "up all 8")
		p.until(fmt.Sprintf(`{ const r = document.querySelector("#sweep-table .wide").getBoundingClientRect(); document.querySelectorAll("#sweep thead th")[%d].getBoundingClientRect().right <= r.right }`, p.column("population_grazer")), "true")
		p.until(`new Set([...document.querySelectorAll("#sweep tbody tr")].map((r) => Math.round(r.offsetHeight))).size`, "1")
		p.until(`document.querySelectorAll("#sweep tbody tr")[7].offsetHeight < 30`, "true")
		p.until(`/must be more than 0, not -1$/.test(document.querySelector("#sweep tr.bad").lastChild.textContent)`, "true")
		p.picture(fmt.Sprintf("sweep-room-%d", width))
		p.do(chromedp.Click("#sweep-filters button[data-status='not ok']"))
		p.until(rows, "up not ok 4")
		if got, want := p.column("reason"), p.column("status")+1; got != want {
			t.Errorf("the reason is column %d, want %d", got, want)
		}
		p.quiet()
	}
}

// words returns the texts and hints of an SVG in order, without its name.
func words(svg string) (list []string) {
	_, svg, _ = strings.Cut(svg, "</title>")
	for part := range strings.SplitSeq(svg, "<t") {
		name, rest, _ := strings.Cut(part, ">")
		if text, _, ok := strings.Cut(rest, "</t"); ok && (strings.HasPrefix(name, "ext") || strings.HasPrefix(name, "itle")) {
			list = append(list, strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&quot;", `"`, "&amp;", "&").Replace(text))
		}
	}
	return list
}

// unlike writes a sweep in which job 1 gave two different results and two jobs have no world.
func unlike(t *testing.T, folder string) {
	t.Helper()
	_, _ = command(folder, "sweep", "heat", "-q", "-o", "out", "--ticks", "40", "--seeds", "1..2", "--set", "propagators.diffusion.rate=1,2,30", "--keep", "all", "--recheck", "0").Output() // 1: some are not ok
	out := filepath.Join(folder, "out")
	j, err := sweep.OpenJournal(filepath.Join(out, "journal"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	row, err := j.Row(1)
	if err != nil {
		t.Fatal(err)
	}
	row.Worker = "elsewhere/7#1"
	names, err := sweep.FreeEvidence(out, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.AddCheck(sweep.Check{Job: 1, Differ: "final hashes 01 and 02", Tick: 17, Row: *row, Files: names[:]}); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(out, row.Kept))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(out, "differences"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		again(t, kept, filepath.Join(out, name), i == 1)
	}
}

// again reruns a recorded job and records it; a fault changes a cell in tick 17.
func again(t *testing.T, recording []byte, name string, fault bool) {
	t.Helper()
	frames, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	s, err := worlds.Registry().FromDescriptor(frames.Header.World())
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.NewRecorder(f, w, s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for w.Tick() < s.Ticks {
		list := slices.Clone(s.CommandsAt(w.Tick() + 1))
		if fault && w.Tick() == 16 {
			list = append(list, commands.SetField(space.At(3, 3), 0, 55))
		}
		if _, _, err := w.SubmitAll(list); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestSweepDiffers checks that a job with two different results is shown prominently, with its recordings side by
// side.
func TestSweepDiffers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	unlike(t, folder)
	p := browse(t, plain(serve(t, folder, "out")), 1280, 720)
	p.until(`document.getElementById("verdict").textContent`, "1 job DIFFERS when run again")
	p.until(`/job 1 differs: final hashes 01 and 02. Run by .*, and again by elsewhere.7#1. Tick 17 is the first/.test(document.querySelector("#sweep-alarm[role=alert]").textContent)`, "true")
	p.do(chromedp.Click("#sweep-filters button[data-status=differs]"))
	p.until(rows, "up differs 1")
	p.until(`document.querySelector("#sweep tbody tr").className`, "differs")
	p.picture("sweep-differs")
	p.do(chromedp.Focus("#sweep-alarm button"), chromedp.KeyEvent(kb.Enter))
	p.until(`document.querySelectorAll("#stage figure").length`, "3")
	p.until(`/^first difference: tick /.test(document.getElementById("differ")?.textContent)`, "true")
	p.eval(`history.back(); ""`)
	p.until(rows, "up differs 1")
	p.quiet()
}

// TestSweepRecordings opens a recording that was kept, and goes back.
func TestSweepRecordings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "sweep", "heat", "-q", "-o", "out", "--ticks", "40", "--seeds", "1..3", "--keep", "all")
	p := browse(t, plain(serve(t, folder, "out")), 1280, 720)
	p.until(`document.querySelectorAll("#sweep tbody button").length`, "3")
	p.do(chromedp.Focus("#sweep tbody tr:nth-child(2) button"), chromedp.KeyEvent(kb.Enter))
	p.until(`document.getElementById("verdict").textContent`, "40 of 40 ticks verified")
	p.until(`/seed 2/.test(document.getElementById("subtitle").textContent)`, "true")
	p.until(`document.activeElement.ariaLabel`, "The sweep")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`document.querySelectorAll("#sweep tbody button").length`, "3")
	p.until(`document.getElementById("verdict").textContent`, "all jobs ok")
	if err := os.Remove(filepath.Join(folder, "out", "recordings", "job-0.murk")); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Click("#sweep tbody tr:nth-child(1) button"))
	p.until(`/^Job 0 cannot be opened: .*job-0.murk: no such file/.test(document.getElementById("sweep-said").textContent)`, "true")
	p.quiet()
}
