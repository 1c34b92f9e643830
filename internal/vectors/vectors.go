// Package vectors finds the conformance vectors, for tests.
package vectors

import (
	"os"
	"path/filepath"
)

// Path is the path of a file or folder of the vectors, such as murk/codec: in
// $MURKSIM_VECTORS, from the module's root if that is relative, else in the module's own
// testdata.
func Path(name string) string {
	folder := os.Getenv("MURKSIM_VECTORS")
	if folder == "" {
		folder = filepath.Join("testdata", "vectors")
	}
	if !filepath.IsAbs(folder) { // tests run in the folders of their packages
		folder = filepath.Join(root(), folder)
	}
	return filepath.Join(folder, filepath.FromSlash(name))
}

// root is the module's root, up from where the program runs.
func root() string {
	dir := "."
	for range 16 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	return "."
}
