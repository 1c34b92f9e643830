// Command assets makes what a browser loads of the viewer's sources: view/site/dist of view/site/src.
// Run it in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const src, dist = "view/site/src", "view/site/dist"

func main() {
	files, err := build(src)
	if err == nil {
		for name, text := range files {
			if err = os.WriteFile(filepath.Join(dist, name), text, 0o644); err != nil {
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
