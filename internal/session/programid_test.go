package session

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestBuildID holds the build ID of this program against what Go's own tool says of it.
func TestBuildID(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := exec.Command("go", "tool", "buildid", path).Output()
	if id := buildID(f); err != nil || len(want) < 2 || !bytes.Contains(id, bytes.TrimSpace(want)) {
		t.Errorf("%q; go tool buildid: %q, %v", id, want, err)
	} else if !ofContents.Match(id) {
		t.Errorf("%q is not taken for an ID of the go command", id)
	}
	for _, given := range []string{"redacted", "X", "abc/def", "v1.2/2026-11-28/linux/amd64", ""} { // go build -ldflags=-buildid=…
		if ofContents.MatchString("\x04\x00\x00\x00S\x00\x00\x00\x04\x00\x00\x00Go\x00\x00" + given + "\x00") {
			t.Errorf("%q, which was given to the linker, is taken for an ID of the contents", given)
		}
	}
	for what, program := range map[string]string{
		"a program of another system": "MZ" + strings.Repeat("x", 5000) + "\xff Go build ID: \"abc/def\"\n \xff",
		"a script":                    "#!/bin/sh\n",
		"one that is cut":             "\xff Go build ID: \"abc",
		"an empty one":                "\xff Go build ID: \"\"",
	} {
		want := ""
		if what == "a program of another system" {
			want = "abc/def"
		}
		if id := buildID(strings.NewReader(program)); string(id) != want {
			t.Errorf("%s: %q, want %q", what, id, want)
		}
	}
}

// TestKeyOfAnotherProgram: what another program of the same user has computed, this one does not believe.
func TestKeyOfAnotherProgram(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AppData", t.TempDir())
	own := IndexKey(true)
	defer func(id func() [sha256.Size]byte) { ProgramID = id }(ProgramID)
	ProgramID = func() [sha256.Size]byte { return [sha256.Size]byte{1} }
	if other := IndexKey(true); own == nil || other == nil || bytes.Equal(own, other) {
		t.Errorf("two programs have the keys %x and %x", own, other)
	}
}

// TestMappedFile finds the file of an address among what Linux lists.
func TestMappedFile(t *testing.T) {
	const maps = `00400000-004b0000 r-xp 00000000 fe:00 17 /usr/bin/python3
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
7f0000002000-7f0000003000 r--p 00000000 fe:00 99 /a folder/lib murksim.so
7f0000003000-7f0000009000 r-xp 00001000 fe:00 99 /a folder/lib murksim.so
7fff00000000-7fff00001000 rw-p 00000000 00:00 0 [stack]
`
	for address, want := range map[uint64]string{
		0x400000: "/usr/bin/python3", 0x4affff: "/usr/bin/python3", 0x4b0000: "", 0x7f0000000010: "",
		0x7f0000003000: "/a folder/lib murksim.so", 0x7fff00000000: "", 1: "",
	} {
		if got := mappedFile(maps, address); got != want {
			t.Errorf("%#x: %q, want %q", address, got, want)
		}
	}
	if f, ours, err := openProgram(); err != nil || runtime.GOOS == "linux" && !ours {
		t.Errorf("%v, %t", err, ours)
	} else {
		f.Close()
	}
}
