package tidy_test

import (
	"go/ast"
	"regexp"
	"testing"
)

// named matches what a comment names: [pkg.Name], [Type.Method], and what it says to mirror. The
// last of the names is the one that is looked up.
var named = regexp.MustCompile(`\[\*?(?:[\w/]+\.)*(\w+)\]|\bmirrors \(?\*?(?:\w+\)?\.)*(\w+)`)

// TestCommentsNameWhatExists: a function, type or field that a comment names is in the code.
func TestCommentsNameWhatExists(t *testing.T) {
	known := map[string]bool{"TextUnmarshaler": true, "Marshaler": true} // of other modules, and named in comments only
	all := packages(t)
	for _, p := range all {
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					known[id.Name] = true
				}
				return true
			})
		}
	}
	found := 0
	for _, p := range all {
		for _, f := range p.Files {
			for _, group := range f.Comments {
				for _, m := range named.FindAllStringSubmatch(group.Text(), -1) {
					name := m[1] + m[2]
					if found++; !known[name] && !onlyDigits.MatchString(name) {
						t.Errorf("%s: the comment names %q, which is not in the code", p.at(group.Pos()), name)
					}
				}
			}
		}
	}
	if found < 200 {
		t.Errorf("comments name %d things; want more", found)
	}
}

// onlyDigits matches an index, as in [1].
var onlyDigits = regexp.MustCompile(`^\d+$`)
