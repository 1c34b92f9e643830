package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestState holds that a run that goes on from a saved state has the same hashes as one
// from genesis, line by line, and that what --state-hash prints is the state's SHA-256.
func TestState(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"--hashes", at("whole.tsv"), "--save-state", at("whole.state")},
		{"--until", "7", "--save-state", at("half.state")},
		{"--state", at("half.state"), "--hashes", at("rest.tsv"), "--save-state", at("rest.state")},
	} {
		args = append([]string{"run", "predators", "--ticks", "20", "--no-record", "--state-hash"}, args...)
		status, out, errs := murksim(t, nil, args...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, errs)
		}
		want := fmt.Sprintf("state hash  %x\n", sha256.Sum256(read(t, args[len(args)-1])))
		if !strings.Contains(out, want) {
			t.Errorf("%q printed %s, want %s", args, out, want)
		}
	}
	whole, rest := bytes.SplitAfter(read(t, at("whole.tsv")), []byte("\n")), bytes.SplitAfter(read(t, at("rest.tsv")), []byte("\n"))
	if want := len(whole) - 7; len(rest) != want {
		t.Fatalf("%d lines after tick 7, want %d", len(rest), want)
	}
	for i, line := range rest[1:] {
		if want := whole[8+i]; !bytes.Equal(line, want) {
			t.Errorf("from the state: %s, from genesis: %s", line, want)
		}
	}
	if !bytes.Equal(read(t, at("whole.state")), read(t, at("rest.state"))) {
		t.Error("the states at the end differ")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
