package site_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
)

const token, host = "SECRET", "127.0.0.1:4000"

// TestWhoMayAsk checks that the page is served only with the token, under the given address, and
// not to pages of other sites.
func TestWhoMayAsk(t *testing.T) {
	h := site.Handler(site.Config{Session: view.NewSession(), Token: token, Hosts: []string{"127.0.0.1", "localhost"}})
	type header = map[string]string
	for _, tt := range []struct {
		method, path, host string
		header             header
		body               string
		status             int
		says               string
	}{
		{"GET", "/SECRET/", host, nil, "", 200, "<!doctype html>"},
		{"GET", "/SECRET/", "LOCALHOST:4000", nil, "", 200, "<!doctype html>"},
		{"GET", "/SECRET/app.js", host, header{"Sec-Fetch-Site": "same-origin"}, "", 200, ""},
		{"GET", "/SECRET/app.css", host, nil, "", 200, ""},
		{"POST", "/SECRET/ask", host, header{"Origin": "http://" + host}, "{}", 200, "there is no source 0"},
		{"POST", "/SECRET/ask", host, nil, strings.Repeat(" ", 1<<16+1), 413, "too large"},
		{"GET", "/SECRET/ask", host, nil, "", 405, ""},
		{"GET", "/SECRET/site.go", host, nil, "", 404, ""},
		{"GET", "/SECRET/../../etc/passwd", host, nil, "", 307, `"/etc/passwd"`}, /* which is not found */
		{"GET", "/SECRET", host, nil, "", 404, ""},
		{"GET", "/", host, nil, "", 404, ""},
		{"GET", "/SECRE/", host, nil, "", 404, ""},
		{"GET", "/secret/", host, nil, "", 404, ""},
		{"POST", "/ask", host, nil, "{}", 404, ""},
		{"GET", "/SECRET/", "evil.example:4000", nil, "", 421, "another name"},
		{"GET", "/SECRET/", "127.0.0.1:9000", nil, "", 200, "<!doctype html>"}, // through a tunnel
		{"GET", "/SECRET/", "localhost", nil, "", 200, "<!doctype html>"},
		{"GET", "/SECRET/", "127.0.0.2:4000", nil, "", 421, "another name"},
		{"POST", "/SECRET/ask", "127.0.0.1:9000", header{"Origin": "http://" + host}, "{}", 403, "other sites"},
		{"POST", "/SECRET/ask", host, header{"Origin": "http://evil.example"}, "{}", 403, "other sites"},
		{"POST", "/SECRET/ask", host, header{"Origin": "null"}, "{}", 403, "other sites"},
		{"POST", "/SECRET/ask", host, header{"Sec-Fetch-Site": "cross-site"}, "{}", 403, "other sites"},
		{"GET", "/SECRET/", host, header{"Sec-Fetch-Site": "same-site"}, "", 403, "other sites"},
	} {
		r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
		r.Host = tt.host
		for name, value := range tt.header {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %s at %s with %v: %d %.80q, want %d with %q", tt.method, tt.path, tt.host, tt.header, w.Code, w.Body, tt.status, tt.says)
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; script-src 'self';") {
			t.Errorf("%s %s: the policy is %q", tt.method, tt.path, p)
		}
	}
}

// TestFirstAnswer checks that the page contains its first answer.
func TestFirstAnswer(t *testing.T) {
	h := site.Handler(site.Config{Session: view.NewSession(), Token: token, Hosts: []string{"127.0.0.1"}})
	get := func(method, path, body string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	_, rest, _ := strings.Cut(get("GET", "/SECRET/", ""), `<script type="text/plain" id="about">`)
	text, _, _ := strings.Cut(rest, "</script>")
	if got, err := base64.StdEncoding.DecodeString(text); err != nil || string(got) != get("POST", "/SECRET/ask", `{"op":"about"}`) {
		t.Errorf("the page says %q, %v", got, err)
	}
}

// TestFilm checks that films are served by the names of gallery scenarios, and for no other name.
func TestFilm(t *testing.T) {
	film := func(name string) ([]byte, error) {
		if name != "heat" {
			return nil, errors.New("there is none")
		}
		return []byte("GIF89a"), nil
	}
	h := site.Handler(site.Config{Session: view.NewSession(), Film: film, Token: token, Hosts: []string{"127.0.0.1"}})
	for path, want := range map[string]int{"/SECRET/film/heat": 200, "/SECRET/film/cold": 404, "/SECRET/film/a/b": 404, "/SECRET/film/": 404, "/film/heat": 404} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if kind := w.Header().Get("Content-Type"); w.Code != want || want == 200 && (kind != "image/gif" || w.Body.String() != "GIF89a") {
			t.Errorf("%s: %d, %s", path, w.Code, kind)
		}
	}
}

// TestHosts checks that a server on all addresses answers on each of them, but not under a name that a page
// gives it.
func TestHosts(t *testing.T) {
	for address, want := range map[string]map[string]bool{
		"127.0.0.1:4000": {"127.0.0.1:4000": true, "LocalHost:4000": true, "127.0.0.1:9000": true, "127.0.0.1": true, "10.0.0.1:4000": false, "evil.example:4000": false, "127.0.0.1:4000.evil.example": false, "127.0.0.1:99999": false},
		"10.0.0.1:4000":  {"10.0.0.1:4000": true, "localhost:4000": false},
		"[::]:4000":      {"10.0.0.1:4000": true, "[fe80::1]:4000": true, "[fe80::1]": true, "10.0.0.1": true, "localhost:4000": true, "evil.example:4000": false, "evil.example": false},
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		h := site.Handler(site.Config{Session: view.NewSession(), Token: token, Hosts: site.Hosts(a)})
		for host, ok := range want {
			r := httptest.NewRequest("GET", "/SECRET/", nil)
			r.Host = host
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); (w.Code == 200) != ok {
				t.Errorf("a server at %s, called %s: status %d", address, host, w.Code)
			}
		}
	}
}

// TestPage checks that a page contains all it needs, and that no name can end an element in it.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	e := site.Engine{Module: []byte("engine"), Script: []byte("'</script>'")}
	if err := site.WritePage(&b, `"><script>alert(1)</script>.murk`, []byte("recording"), e); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, once := range []string{"http-equiv=\"Content-Security-Policy\"", `id="engine"`, `id="recording"`, `id="worker"`, `id="program"`, `id="loading"`, "<script data-parts="} {
		if n := strings.Count(page, once); n != 1 {
			t.Errorf("the page has %q %d times", once, n)
		}
	}
	if n, scripts := strings.Count(page, "</script>"), strings.Count(page, "<script "); n != scripts || n != 8 {
		t.Errorf("the page begins %d scripts and ends %d, want 8", scripts, n)
	}
	for _, outside := range []string{"alert(1)</script>", `src="app.js"`, `href="app.css"`, "http://", "https://"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %q", outside)
		}
	}
	if err := site.WritePage(failing{}, "x", nil, e); err != io.ErrShortWrite {
		t.Errorf("a full disk gives %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
