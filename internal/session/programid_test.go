package session

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
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
