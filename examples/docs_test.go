package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGamePage: each sample of docs/start/game.md is a piece of the example.
func TestGamePage(t *testing.T) {
	page, err := os.ReadFile("../docs/start/game.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, pattern := range []string{"lockstep/*.go", "lockstep/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(b)
		}
	}
	samples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(samples) < 5 {
		t.Fatalf("the page has %d samples", len(samples))
	}
	for _, m := range samples {
		if !strings.Contains(source.String(), m[1]) {
			t.Errorf("no piece of the example:\n%s", m[1])
		}
	}
}
