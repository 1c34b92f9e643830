package readme_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The map of docs/ARCHITECTURE.md names every package that there is but tools and those
// for tests, and none that there is not; so do the paths in its text.
func TestArchitecture(t *testing.T) {
	d := read(t, "docs/ARCHITECTURE.md")
	if len(d.blocks) != 1 {
		t.Fatalf("%d blocks; want the map alone", len(d.blocks))
	}
	named := map[string]bool{}
	for line := range strings.Lines(d.blocks[0].body) {
		folder := ""
		for _, word := range strings.Fields(line) { // packages, then what they are for
			path := word
			if folder != "" && folder != "." && !isPackage(word) {
				path = folder + "/" + word // of the same folder as the one before
			}
			if !isPackage(path) {
				break
			}
			named[path], folder = true, filepath.ToSlash(filepath.Dir(path))
		}
	}
	for _, path := range packagePaths(t) {
		if !named[path] {
			t.Errorf("the map does not name %s", path)
		}
	}
	paths := 0
	for _, m := range regexp.MustCompile("`((?:[a-z0-9_]+/)+[a-z0-9_]+(?:\\.[a-z]+)?)`").FindAllStringSubmatch(d.prose(), -1) {
		if paths++; !exists(m[1]) {
			t.Errorf("there is no %s", m[1])
		}
	}
	if paths == 0 {
		t.Error("the text names no path")
	}
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

func isPackage(path string) bool {
	files, err := filepath.Glob(filepath.Join(root, path, "*.go"))
	return err == nil && len(files) > 0
}

// packagePaths lists the packages of the product.
func packagePaths(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case rel != "." && exists(rel+"/go.mod"): // another module
			return filepath.SkipDir
		case rel != "." && strings.HasPrefix(e.Name(), "."), rel == "tools", e.Name() == "testdata":
			return filepath.SkipDir
		case strings.HasSuffix(rel, "/gen"), strings.HasSuffix(rel, "/bench"), strings.HasSuffix(rel, "test"), rel == "internal/vectors":
			return nil // for those who build or test it
		}
		if isPackage(rel) {
			list = append(list, rel)
		}
		return nil
	})
	if err != nil || len(list) < 25 {
		t.Fatalf("found %d packages, want 25 at least: %v", len(list), err)
	}
	return list
}
