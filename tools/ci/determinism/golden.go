package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// goldenPath is the table of committed hashes, below the root of the repository.
const goldenPath = "tools/ci/golden_hashes.tsv"

// A golden holds the committed hash of every scenario after 1000 ticks: a name and a hash a
// line.
type golden struct {
	path   string
	names  []string // in the order of the lines
	hashes map[string]string
}

func readGolden(root string) (*golden, error) {
	g := &golden{path: filepath.Join(root, goldenPath), hashes: map[string]string{}}
	text, err := os.ReadFile(g.path)
	for line := range strings.Lines(string(text)) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), "\t")
		g.set(name, hash)
	}
	return g, err
}

// set replaces the hash of a scenario, or adds one at the end.
func (g *golden) set(name, hash string) {
	if _, ok := g.hashes[name]; !ok {
		g.names = append(g.names, name)
	}
	g.hashes[name] = hash
}

func (g *golden) write() error {
	var b strings.Builder
	for _, name := range g.names {
		fmt.Fprintf(&b, "%s\t%s\n", name, g.hashes[name])
	}
	return os.WriteFile(g.path, []byte(b.String()), 0o666)
}
