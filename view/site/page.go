package site

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"html"
	"io"
	"strings"
)

// An Engine is the engine for browsers: the command page, and the script of the Go that built it.
type Engine struct {
	Module []byte // WebAssembly
	Script []byte // wasm_exec.js
}

// pagePolicy lets a page in a file run what is in it, and load nothing from elsewhere.
const pagePolicy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; img-src data: blob:; connect-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"

// WritePage writes a page that holds a recording and the engine, and needs nothing else: it replays and
// verifies the recording where it is opened.
func WritePage(w io.Writer, name string, recording []byte, e Engine) error {
	page := asset("index.html")
	for _, r := range []struct{ old, new string }{
		{`<meta charset="utf-8">`, `<meta charset="utf-8">` + "\n" + `<meta http-equiv="Content-Security-Policy" content="` + pagePolicy + `">`},
		{`<link rel="stylesheet" href="app.css">`, "<style>" + asset("app.css") + "</style>"},
	} {
		page = strings.Replace(page, r.old, r.new, 1)
	}
	before, _, after := cutScript(page)
	out := &pageWriter{w: w}
	out.text(before)
	out.text(`<script type="text/plain" id="worker">` + inline(string(e.Script)+"\n"+asset("worker.js")) + "</script>\n")
	out.text(`<script type="text/plain" id="recording" data-name="` + html.EscapeString(name) + `">`)
	out.packed(recording)
	out.text("</script>\n" + `<script type="text/plain" id="engine">`)
	out.packed(e.Module)
	out.text("</script>\n" + `<script type="module">` + inline(asset("app.js")) + "</script>" + after)
	return out.err
}

// inline keeps a script from ending the element that it stands in.
func inline(script string) string { return strings.ReplaceAll(script, "</script", `<\/script`) }

// A pageWriter keeps the first error.
type pageWriter struct {
	w   io.Writer
	err error
}

func (p *pageWriter) text(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// packed writes bytes as base64 of gzip.
func (p *pageWriter) packed(b []byte) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if p.err == nil {
		p.err = err
	}
	p.text(base64.StdEncoding.EncodeToString(packed.Bytes()))
}
