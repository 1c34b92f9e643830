package tidy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/murksim/murksim"

// A pkg is one of our packages, parsed without its tests.
type pkg struct {
	Path  string // below the module, "." for its root
	Files []*ast.File
	Fset  *token.FileSet
}

// listed is what go list tells.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Standard        bool
	Module          *struct{ Path string }
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Standard,Module"}, args...)...)
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

// packages parses all our packages.
func packages(t *testing.T) []*pkg {
	t.Helper()
	fset := token.NewFileSet()
	var ours []*pkg
	for _, l := range goList(t, "./...") {
		p := &pkg{Path: strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/"), Fset: fset}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			p.Files = append(p.Files, f)
		}
		ours = append(ours, p)
	}
	if len(ours) < 8 {
		t.Fatalf("found %d packages of ours; want at least 8", len(ours))
	}
	return ours
}

// at is a position as file:line below the project's root.
func (p *pkg) at(pos token.Pos) string {
	where := p.Fset.Position(pos)
	root, _ := filepath.Abs("../..")
	name, err := filepath.Rel(root, where.Filename)
	if err != nil {
		name = where.Filename
	}
	return fmt.Sprintf("%s:%d", filepath.ToSlash(name), where.Line)
}
