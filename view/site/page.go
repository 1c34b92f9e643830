package site

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"html"
	"io"
	"strings"
)

// An Engine is the engine for browsers: the command page as WebAssembly, and the script of the Go
// toolchain that built it.
type Engine struct {
	Module []byte // WebAssembly
	Script []byte // wasm_exec.js
}

// pagePolicy lets a single-file page run its own content and load nothing from elsewhere.
const pagePolicy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; img-src data: blob:; connect-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"

// pageHead is the start of a single-file page. Its text shows before any script runs, and stays if the script is damaged.
const pageHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + pagePolicy + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>murksim</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; }
#loading { position: fixed; inset: 0; z-index: 2; display: grid; place-content: center; gap: .5rem; padding: 1rem; font: 14px/1.4 system-ui, sans-serif; background: Canvas; color: CanvasText; }
#loading p { max-width: 32rem; margin: 0; }
#loading progress { width: 100%; }
</style>
<body>
<div id="loading" role="status"><p>Loading … If these words stay, this file is damaged.</p><progress max="1"></progress></div>
`

// A part is a piece of a single-file page, held as the text of a script. The loader compares the
// checksum.
type part struct {
	ID   string `json:"id"`
	Sum  uint32 `json:"sum"`  // CRC-32
	Size int    `json:"size"` // bytes
	text string
}

// WritePage writes a page that holds a recording and the engine and needs nothing else. When opened,
// the page replays and verifies the recording. It first checks itself, and says so if it is damaged.
func WritePage(w io.Writer, name string, recording []byte, e Engine) error {
	index, _, _ := cutScript(asset("index.html"))
	_, markup, ok := strings.Cut(index, "<body>")
	if !ok {
		panic("site: the page has no body")
	}
	label, err := json.Marshal(name) // JSON escapes < and >
	if err != nil {
		return err
	}
	parts := []part{
		{ID: "style", text: asset("app.css")}, {ID: "markup", text: inline(markup)}, {ID: "program", text: inline(asset("app.js"))},
		{ID: "worker", text: inline(string(e.Script) + "\n" + asset("worker.js"))}, {ID: "name", text: string(label)},
	}
	for _, b := range [...]struct {
		id    string
		bytes []byte
	}{{"recording", recording}, {"engine", e.Module}} {
		text, err := packed(b.bytes)
		if err != nil {
			return err
		}
		parts = append(parts, part{ID: b.id, text: text})
	}
	for i := range parts {
		p := &parts[i]
		p.Sum, p.Size = crc32.ChecksumIEEE([]byte(p.text)), len(p.text)
	}
	sums, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	out := &pageWriter{w: w}
	out.text(pageHead + `<script data-parts="` + html.EscapeString(string(sums)) + `">` + inline(asset("loader.js")) + "</script>\n")
	for _, p := range parts {
		out.text(`<script type="text/plain" id="` + p.ID + `">` + p.text + "</script>\n")
	}
	return out.err
}

// inline keeps a script's text from ending the script element around it.
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

// packed returns bytes compressed with gzip and encoded as base64.
func packed(b []byte) (string, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}
