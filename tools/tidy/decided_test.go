package tidy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decider is a link of the table: a name, and the file in which it must be made.
var decider = regexp.MustCompile("\\[`(?:[A-Za-z]+\\.)?([A-Za-z_]+)`\\]\\((\\.\\./[^)]+\\.go)\\)")

// TestWhereItIsDecided holds that each name in ARCHITECTURE's table stands in the file to which it leads.
func TestWhereItIsDecided(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Where it is decided\n")
	table, _, _ = strings.Cut(table, "\n## ")
	links := decider.FindAllStringSubmatch(table, -1)
	if len(links) < 15 {
		t.Fatalf("the table has only %d names", len(links))
	}
	for _, link := range links {
		text, err := os.ReadFile(filepath.Join(root, "docs", link[2]))
		if err != nil {
			t.Error(err)
			continue
		}
		made := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |\t)` + link[1] + `[ (\[]`)
		if !made.Match(text) {
			t.Errorf("%s is not in %s", link[1], link[2])
		}
	}
}
