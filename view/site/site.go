// Package site is the viewer as a web page: the files that a browser loads, and a handler that serves
// them to clients with the token.
//
// The page is written in TypeScript, in folder src. go run ./tools/assets builds dist, which is
// committed. A test checks that dist is up to date.
package site

import (
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/murksim/murksim/view"
)

//go:embed dist
var dist embed.FS

// A Config says what to serve, and to whom.
type Config struct {
	Session *view.Session
	Token   string                            // first part of every path
	Film    func(name string) ([]byte, error) // returns a GIF of a gallery scenario; nil: there are none
	Hosts   []string                          // accepted host names, without a port; nil: any IP address, and localhost
}

// policy lets a page load files from this server only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const maxRequest = 1 << 16 // bytes

// asset returns a file of dist. It panics if there is none.
func asset(name string) string {
	b, err := dist.ReadFile("dist/" + name)
	if err != nil {
		panic("site: " + err.Error()) // a test covers it
	}
	return string(b)
}

// cutScript splits the page at its final script.
func cutScript(page string) (before, script, after string) {
	script = `<script type="module" src="app.js"></script>`
	before, after, ok := strings.Cut(page, script)
	if !ok {
		panic("site: the page has no script")
	}
	return before, script, after
}

// Handler serves the page at /TOKEN/ and answers its requests at /TOKEN/ask. Anything else is not
// found.
func Handler(c Config) http.Handler {
	var turn sync.Mutex // guards the session
	inner := http.NewServeMux()
	ask := func(request []byte) []byte {
		turn.Lock()
		defer turn.Unlock()
		return c.Session.Answer(request)
	}
	for _, f := range [...]struct{ path, file, kind string }{{"/app.js", "app.js", "text/javascript"}, {"/app.css", "app.css", "text/css"}} {
		text := asset(f.file)
		inner.HandleFunc("GET "+f.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", f.kind+"; charset=utf-8")
			io.WriteString(w, text)
		})
	}
	before, script, after := cutScript(asset("index.html"))
	inner.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// The page contains its first answer, so the world appears one request earlier.
		about := base64.StdEncoding.EncodeToString(ask([]byte(`{"op":"about"}`)))
		io.WriteString(w, before+`<script type="text/plain" id="about">`+about+"</script>\n"+script+after)
	})
	inner.HandleFunc("GET /film/{name}", func(w http.ResponseWriter, r *http.Request) {
		if c.Film == nil {
			http.NotFound(w, r)
			return
		}
		b, err := c.Film(r.PathValue("name"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "image/gif")
		w.Write(b)
	})
	inner.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(ask(text))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case !known(r.Host, c.Hosts): // an attacker's name for this address
			http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		case foreign(r):
			http.Error(w, "pages of other sites may not ask", http.StatusForbidden)
		case !ok || subtle.ConstantTimeCompare([]byte(token), []byte(c.Token)) != 1:
			http.NotFound(w, r)
		default:
			r.URL.Path = "/" + rest
			inner.ServeHTTP(w, r)
		}
	})
}

// known reports whether a browser may use this host name for the server. The port may differ, as
// behind a tunnel.
func known(host string, hosts []string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil { // such as 127.0.0.1:80.evil.example
		return false
	}
	name = strings.ToLower(name)
	if hosts != nil {
		return slices.Contains(hosts, name)
	}
	return name == "localhost" || net.ParseIP(name) != nil
}

// foreign reports whether a request comes from a page of another site.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return true
		}
	}
	return false
}

// Hosts returns the host names that a browser may use for a listener's address; nil if it listens on all addresses.
func Hosts(a net.Addr) []string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return nil
	}
	switch ip := net.ParseIP(host); {
	case ip.IsUnspecified():
		return nil
	case ip.IsLoopback():
		return []string{host, "localhost"}
	}
	return []string{host}
}
