package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate holds that what is served is made of the sources.
func TestUpToDate(t *testing.T) {
	const root = "../.."
	files, err := build(filepath.Join(root, src))
	if err != nil {
		t.Fatal(err)
	}
	served, err := os.ReadDir(filepath.Join(root, dist))
	if err != nil {
		t.Fatal(err)
	}
	if len(served) != len(files) {
		t.Errorf("%d files are served, want %d", len(served), len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, dist, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources make: run go run ./tools/assets (%v)", name, err)
		}
	}
}
