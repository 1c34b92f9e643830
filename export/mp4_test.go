package export_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/export"
)

// openFilm begins a film where the PATH is one folder, in which ffmpeg may be a script.
func openFilm(t *testing.T, ffmpeg string) (export.Sink, error) {
	t.Helper()
	dir := t.TempDir()
	if ffmpeg != "" {
		if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+ffmpeg), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("TMPDIR", dir)
	p, err := export.NewPlan(parse(t, all), export.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := export.FormatOf("x.mp4")
	if err != nil {
		t.Fatal(err)
	}
	return f.Open(new(memory), p, export.Ticks{Every: 1, Count: 1}, export.Look{})
}

// The script tools/ci/exports.sh makes films with ffmpeg itself; this is about what can go wrong.
func TestMP4WithoutFFmpeg(t *testing.T) {
	const want = "made by ffmpeg, which is not on the PATH\n  install it (on Debian and Ubuntu: apt-get install ffmpeg), or write a .gif"
	if _, err := openFilm(t, ""); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Open: %v, want %q", err, want)
	}
}

// An ffmpeg that fails is quoted, and nothing of it stays.
func TestMP4Failure(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a script is no program there
	}
	for _, end := range []func(export.Sink) error{
		export.Sink.Close,
		func(s export.Sink) error { s.Discard(); return nil },
	} {
		s, err := openFilm(t, "echo 'no encoder' >&2; exit 3")
		if err != nil {
			t.Fatal(err)
		}
		if err := end(s); err != nil && err.Error() != "ffmpeg: no encoder" {
			t.Errorf("Close: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "murksim-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
