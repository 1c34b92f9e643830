package export_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/export"
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

// An ffmpeg that ends well after its disk was full, as it does, has not made a film: one that is
// cut, or has no table of its frames, is an error, with what ffmpeg said.
func TestMP4OnFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a script is no program there
	}
	const (
		head   = `\000\000\000\020ftypisomisom`
		table  = `\000\000\000\014moov1234`
		frames = `\000\000\000\014mdat1234`
		large  = `\000\000\000\001mdat\000\000\000\000\000\000\000\0241234`
		full   = "ffmpeg: no space left on device"
		silent = "ffmpeg: the film that it wrote is not whole"
	)
	for _, tt := range []struct{ film, says, want string }{
		{head + table + frames, "", ""},
		{head + table + large, "", ""},
		{head + frames, "no space left on device", full},
		{head + table + frames[:len(frames)-1], "no space left on device", full},
		{head + table + large[:len(large)-1], "", silent},
		{head + table + frames + `\000\000\000`, "", silent},
		{head + table, "", silent},
		{`\000\000\000\000moov`, "", silent},
		{"", "", silent},
		{"none", "", "ffmpeg: it wrote no film"},
		{"none", "no such encoder", "ffmpeg: no such encoder"},
	} {
		path := os.Getenv("PATH")
		writes := "printf '" + tt.film + "' >film.mp4"
		if tt.film == "none" {
			writes = ":"
		}
		s, err := openFilm(t, "PATH='"+path+"'; cat >/dev/null; "+writes+"; echo '"+tt.says+"' >&2; exit 0")
		t.Setenv("PATH", path)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		if err := s.Close(); err != nil {
			said = err.Error()
		}
		if said != tt.want {
			t.Errorf("%s: Close: %q, want %q", tt.film, said, tt.want)
		}
	}
}
