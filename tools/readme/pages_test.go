package readme_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The Go samples of the pages of propagators stand outside of functions. They are
// formatted and compile, each as a package of its own, with what they import.
func TestPagesGo(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/propagators/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := newModule(t)
	r.setUp(t, "mkdir pages && cd pages\ngo mod init example.com/pages\n"+
		"go mod edit -require github.com/murksim/murksim@v0.0.0 -replace github.com/murksim/murksim=../murksim\n")
	samples := 0
	for _, page := range pages {
		name := filepath.Base(page)
		for _, b := range read(t, "docs/propagators/"+name).blocks {
			if b.lang == "go" {
				samples++
				r.file(t, fmt.Sprintf("%s/line%d.go", strings.TrimSuffix(name, ".md"), b.at), sample(b.body))
			}
		}
	}
	if samples < len(pages)-1 { // the index has none
		t.Errorf("found %d samples on %d pages; want one a page", samples, len(pages)-1)
	}
	const command = "go mod tidy && gofmt -d . | (! grep .) && go vet ./..."
	if out, err := r.bash(command).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

// sample is a file that holds a sample after the imports that it needs.
func sample(body string) string {
	var b strings.Builder
	b.WriteString("package sample\n\nimport (\n")
	for _, path := range []string{"engine", "engine/propagators", "fields", "space"} {
		if strings.Contains(body, path[strings.LastIndex(path, "/")+1:]+".") {
			fmt.Fprintf(&b, "\t\"github.com/murksim/murksim/%s\"\n", path)
		}
	}
	b.WriteString(")\n\n" + body)
	return b.String()
}
