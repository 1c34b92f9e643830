//go:build browser

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestDamaged checks that a single-file page says so if a character of any part is wrong, or its end is missing.
func TestDamaged(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	murksim(t, folder, "run", "heat", "-q", "--ticks", "60", "--set", "expect=[]", "-o", "heat.murk")
	murksim(t, folder, "export", "heat.murk", "-q", "-o", "heat.html")
	name := filepath.Join(folder, "heat.html")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const text = `document.body.innerText.trim()`
	check := func(what string, page []byte) {
		t.Helper()
		if err := os.WriteFile(name, page, 0o644); err != nil {
			t.Fatal(err)
		}
		p := browse(t, "file://"+name, 1280, 720)
		p.until(`/this file is damaged/i.test(`+text+`)`, "true")
		p.until(`document.querySelector("#title") === null`, "true")
		p.picture("damaged-" + what)
	}
	for _, id := range []string{"style", "markup", "program", "worker", "name", "recording", "engine"} {
		at := bytes.Index(whole, []byte(`id="`+id+`">`)) + len(id) + 8
		b := bytes.Clone(whole)
		b[at] ^= 1
		check(id, b)
	}
	b := bytes.Replace(whole, []byte("addEventListener"), []byte("addEven(Listener"), 1) // of the loader itself
	check("loader", b)
	for what, size := range map[string]int{"engine-cut": len(whole) / 2, "end-cut": len(whole) - 20, "loader-cut": bytes.Index(whole, []byte("data-parts")) + 700} {
		check(what, whole[:size])
	}

	if err := os.WriteFile(name, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	p := browse(t, plain("file://"+name), 390, 844, first(`window.Worker = class { postMessage() {} };`)) // an engine that never answers
	p.until(`document.querySelector("#loading p")?.checkVisibility() && document.querySelector("#loading p").textContent`, "Starting the engine …")
	p.until(`document.querySelector("#loading progress").checkVisibility()`, "true")
	p.picture("loading")
	p.quiet()
}
