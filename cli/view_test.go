package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/filelock"
	"github.com/murksim/murksim/internal/waiting"
)

// viewed: of a recording, a game and a YREP file the viewer's page is there under the address that is printed and nowhere else, it answers, and a
// signal ends it, while a replay is under way too.
func (p program) viewed(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it cannot send signals
	}
	if status, out, errs := p.run(t, p.command("run", "heat", "-q", "--set", "ticks=20000", "--set", "expect=[]", "--no-index", "-o", "heat.murk")); status != 0 {
		t.Fatal(out + errs)
	}
	vectors, err := filepath.Abs("../testdata/vectors")
	if err != nil {
		t.Fatal(err)
	}
	for file, scenario := range map[string]string{
		"heat.murk": "heat", filepath.Join(vectors, "minewars", "03-heterogeneous.mw1"): "MineWars",
		filepath.Join(vectors, "yrep", "wide", "walk_one_player.yrep"): "walk_one_player.yrep",
	} {
		p.viewedFile(t, file, scenario)
	}
	p.viewedRun(t)
	p.viewedSources(t)
	p.viewedSweep(t)
}

func (p program) viewedFile(t *testing.T, file, scenario string) {
	t.Helper()
	c := p.command("view", file, "--json")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var o viewingObject
	if err != nil || json.Unmarshal(line, &o) != nil || o.Event != "viewing" || len(o.Files) != 1 || o.Files[0] != file {
		t.Fatalf("%q, %v", line, err)
	}
	get := func(url string, status int, want string) {
		t.Helper()
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if text, _ := io.ReadAll(r.Body); r.StatusCode != status || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %.60q, want %d with %q", url, r.StatusCode, text, status, want)
		}
	}
	get(o.URL, 200, "<!doctype html>")
	get(o.URL[:strings.LastIndex(strings.TrimSuffix(o.URL, "/"), "/")]+"/", 404, "")
	r, err := http.Post(o.URL+"ask", "application/json", strings.NewReader(`{"op":"about"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); !strings.Contains(string(text), `"scenario":"`+scenario+`"`) {
		t.Errorf("it answers %.100q", text)
	}
	p.interrupt(t, c)
}

// interrupt ends a viewer, which is no error.
func (p program) interrupt(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v ended with %v", c.Args, err)
	}
}

// viewing starts a command that serves the viewer, and returns what asks it.
func (p program) viewing(t *testing.T, args ...string) (c *exec.Cmd, ask func(request string) string) {
	t.Helper()
	c = p.command(append(args, "--json")...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var o viewingObject
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		if o.Event != "viewing" {
			continue
		}
		go func() { // the rest, until it ends
			for lines.Scan() {
			}
		}()
		return c, func(request string) string {
			t.Helper()
			r, err := http.Post(o.URL+"ask", "application/json", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err != nil || len(text) < 4 {
				t.Fatal(err)
			}
			return string(text[4:])
		}
	}
	t.Fatalf("%v does not say where the page is", args)
	return nil, nil
}

// until asks again and again until an answer has some text.
func until(t *testing.T, ask func(string) string, request, want string) {
	t.Helper()
	got := ""
	if !waiting.Until(func() bool { got = ask(request); return strings.Contains(got, want) }) {
		t.Errorf("%s: %s, want %s", request, got, want)
	}
}

// viewedRun: run --view waits for the page, does what it says, and records that as any run does.
func (p program) viewedRun(t *testing.T) {
	c, ask := p.viewing(t, "run", "heat", "--view", "--set", "ticks=300", "--set", "expect=[]", "-o", "viewed.murk")
	until(t, ask, `{"op":"check"}`, `"run":{"last":0,"held":true,"speed":1}`)
	until(t, ask, `{"op":"submit","order":{"set":{"field":"heat","cell":[5,6],"value":77}}}`, `"answer":{}`)
	until(t, ask, `{"op":"drive","speed":0}`, `"answer":{}`)
	until(t, ask, `{"op":"check"}`, `"ticks":300,"done":true`)
	until(t, ask, `{"op":"inputs","tick":1}`, `{"what":"set heat at [5, 6] to 77","source":"4294967295","sequence":"1"}`)
	until(t, ask, `{"op":"submit","order":{"set":{"field":"heat","cell":[5,6],"value":77}}}`, `"error":"the run has ended"`)
	p.interrupt(t, c)
	if status, out, errs := p.run(t, p.command("verify", "viewed.murk")); status != 0 || !strings.Contains(out, "300 of 300") {
		t.Errorf("verify: %d %s%s", status, out, errs)
	}
	if _, out, _ := p.run(t, p.command("convert", "viewed.murk", "-")); !strings.Contains(out, "4294967295") {
		t.Error("the recording does not have the command")
	}
	c, ask = p.viewing(t, "run", "heat", "--view", "--no-record", "--set", "ticks=300")
	until(t, ask, `{"op":"check"}`, `"held":true`)
	p.interrupt(t, c) // before its first tick
}

// viewedSources: scenarios, saved states and the gallery are shown, too.
func (p program) viewedSources(t *testing.T) {
	if status, _, errs := p.run(t, p.command("run", "heat", "-q", "--no-record", "--seed", "5", "--until", "50", "--save-state", "half.state")); status != 0 {
		t.Fatal(errs)
	}
	for _, args := range [][]string{{"half.state"}, {"heat", "--state", "half.state", "--seed", "5"}} {
		c, ask := p.viewing(t, append([]string{"view"}, args...)...)
		until(t, ask, `{"op":"about"}`, `"first":50,`)
		p.interrupt(t, c)
	}
	c, ask := p.viewing(t, "view", "fire", "--set", "ticks=40")
	until(t, ask, `{"op":"about"}`, `"again":"fire"`)
	until(t, ask, `{"op":"begin","scenario":"fire","seed":"99"}`, `{"source":1}`)
	until(t, ask, `{"op":"about","source":1}`, `"seed":"99"`)
	until(t, ask, `{"op":"check","source":1}`, `"last":40`)
	p.interrupt(t, c)
	c, ask = p.viewing(t, "view")
	until(t, ask, `{"op":"about"}`, `there is no source 0; there are 0`)
	for _, name := range scenarioNames() {
		until(t, ask, `{"op":"gallery"}`, `"name":"`+name+`"`)
	}
	until(t, ask, `{"op":"begin","scenario":"heat","set":{"propagators.0.diffusion.rate":2}}`, `{"source":0}`)
	until(t, ask, `{"op":"about"}`, `"value":2,`)
	until(t, ask, `{"op":"begin","scenario":"heat","set":{"space.rows":2}}`, `heat has no setting \"space.rows\"`)
	until(t, ask, `{"op":"begin","scenario":"heat","seed":"x"}`, `the seed must be a whole number`)
	until(t, ask, `{"op":"begin","scenario":"../heat"}`, `there is no scenario`)
	p.interrupt(t, c)
}

// viewedSweep: the folder of a sweep is shown while it grows, and what was recorded of its jobs.
func (p program) viewedSweep(t *testing.T) {
	sweep := func(seeds string, more ...string) {
		t.Helper()
		args := []string{"sweep", "heat", "-q", "--ticks", "20", "--set", "propagators.diffusion.rate=1,30", "--keep", "all", "-o", "swept", "--seeds", seeds}
		if status, out, errs := p.run(t, p.command(append(args, more...)...)); status != 1 { // some have no world
			t.Fatal(status, out, errs)
		}
	}
	sweep("1..2")
	c, ask := p.viewing(t, "view", "swept")
	until(t, ask, `{"op":"gallery"}`, `{"items":[],"sweep":true}`)
	until(t, ask, `{"op":"sweep"}`, `"folder":"swept","scenario":"heat","text":"2 of propagators.diffusion.rate × 2 seeds","jobs":4,"done":4,"statuses":[{"status":"ok","jobs":2,"job":0},{"status":"error","jobs":2,"job":2,"reason":"heat (built in):`)
	until(t, ask, `{"op":"rows","query":{"status":"not ok","count":1,"sort":"seed","down":true}}`, `"from":0,"all":2,"rows":[{"job":3,"cells":["3","2",30,"error","0","",null,`)
	until(t, ask, `{"op":"plot","query":{"stats":["gap"]}}`, `<svg xmlns=`)
	until(t, ask, `{"op":"plot","query":{"stats":["gab"]}}`, `"none":"there is no statistic \"gab\"; did you mean \"gap\"?"`)
	until(t, ask, `{"op":"rows","query":{"sort":"nothing"}}`, `there is no column \"nothing\"`)
	until(t, ask, `{"op":"rows","sort":"job"}`, `unknown key \"sort\"`)
	until(t, ask, `{"op":"open","query":{"job":3}}`, `no recording of job 3 was kept`)
	until(t, ask, `{"op":"open","query":{"job":1}}`, `{"sources":[0]}`)
	until(t, ask, `{"op":"check"}`, `"ticks":20,"done":true`)
	held, err := os.Open(filepath.Join(p.dir, "swept", "recordings", "job-0.murk"))
	if err == nil {
		err = filelock.Lock(held)
	}
	if err != nil {
		t.Fatal(err)
	}
	until(t, ask, `{"op":"open","query":{"job":0}}`, `{"sources":[1]}`) // it was whole when it was kept
	held.Close()
	sweep("1..3", "--extend")
	until(t, ask, `{"op":"sweep"}`, `"jobs":6,"done":6`)
	if err := os.RemoveAll(filepath.Join(p.dir, "swept")); err != nil {
		t.Fatal(err)
	}
	until(t, ask, `{"op":"sweep"}`, `"problem":"`)
	until(t, ask, `{"op":"open","query":{"job":0}}`, `no such file or directory`)
	sweep("1..4")
	until(t, ask, `{"op":"sweep"}`, `"jobs":8,"done":8`)
	p.interrupt(t, c)
}
