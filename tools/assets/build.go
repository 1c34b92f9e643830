package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// build returns what is served, by file.
func build(src string) (map[string][]byte, error) {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(src, "app.ts"), filepath.Join(src, "worker.ts"), filepath.Join(src, "loader.ts"), filepath.Join(src, "app.css")},
		Bundle:      true, Outdir: "out", Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("%s", api.FormatMessages(r.Errors, api.FormatMessagesOptions{})[0])
	}
	files := map[string][]byte{}
	for _, f := range r.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	page, err := os.ReadFile(filepath.Join(src, "index.html"))
	files["index.html"] = page
	return files, err
}
