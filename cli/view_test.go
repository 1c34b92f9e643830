package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
)

// viewed: the viewer's page is there under the address that is printed and nowhere else, it answers, and a
// signal ends it while a replay is under way.
func (p program) viewed(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it cannot send signals
	}
	if status, out, errs := p.run(t, p.command("run", "heat", "-q", "--set", "ticks=20000", "--set", "expect=[]", "--no-index", "-o", "heat.murk")); status != 0 {
		t.Fatal(out + errs)
	}
	c := p.command("view", "heat.murk", "--json")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var o viewingObject
	if err != nil || json.Unmarshal(line, &o) != nil || o.Event != "viewing" || len(o.Files) != 1 || o.Files[0] != "heat.murk" {
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
	if text, _ := io.ReadAll(r.Body); !strings.Contains(string(text), `"scenario":"heat"`) {
		t.Errorf("it answers %.100q", text)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
