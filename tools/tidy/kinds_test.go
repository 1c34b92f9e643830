package tidy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// twins may ask which kind a space is: the reference restates them all.
var twins = []string{"space", "engine/internal/refworld"}

// TestNobodyAsksForKinds: a new kind of lattice touches package space alone, so the others
// may not compare the name of a kind, nor ask whether a space has the type of one. What
// they need to know they find among the lattice's directions and in its layout.
func TestNobodyAsksForKinds(t *testing.T) {
	all := packages(t)
	kinds := kindsOfSpace(all)
	if len(kinds) < 6 {
		t.Fatalf("package space has the kinds %v; want 6 at least", kinds)
	}
	for _, p := range all {
		if slices.Contains(twins, p.Path) {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				if what := asks(n, kinds); what != "" {
					t.Errorf("%s: asks whether a space is %s; ask for what is needed of it", p.at(n.Pos()), what)
				}
				return true
			})
		}
	}
}

// kindsOfSpace lists the types with a method Kind in package space.
func kindsOfSpace(all []*pkg) (kinds []string) {
	i := slices.IndexFunc(all, func(p *pkg) bool { return p.Path == "space" })
	for _, f := range all[i].Files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Kind" {
				continue
			}
			if name, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
				kinds = append(kinds, name.Name)
			}
		}
	}
	return kinds
}

// asks says which kind a node asks for; "" if none.
func asks(n ast.Node, kinds []string) string {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		return typeIn([]ast.Expr{n.Type}, kinds)
	case *ast.CaseClause:
		return typeIn(n.List, kinds)
	case *ast.BinaryExpr:
		if callsKind(n.X) || callsKind(n.Y) {
			return text(n.X, n.Y)
		}
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			if what := text(c.(*ast.CaseClause).List...); callsKind(n.Tag) && what != "" {
				return what
			}
		}
	}
	return ""
}

// typeIn finds the type of a kind.
func typeIn(list []ast.Expr, kinds []string) string {
	for _, e := range list {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "space" && slices.Contains(kinds, s.Sel.Name) {
				return "a " + s.Sel.Name
			}
		}
	}
	return ""
}

// text finds the name of a kind.
func text(list ...ast.Expr) string {
	for _, e := range list {
		if b, ok := e.(*ast.BasicLit); ok && b.Kind == token.STRING {
			return "of the kind " + b.Value
		}
	}
	return ""
}

func callsKind(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Kind"
}

// TestAsks: what the test above must find, and what it must let pass.
func TestAsks(t *testing.T) {
	for src, want := range map[string]string{
		`switch s.(type) { case space.Hex: }`:     "a Hex",
		`_, _ = s.(space.Hex)`:                    "a Hex",
		`_ = l.Kind() == "hex"`:                   `of the kind "hex"`,
		`switch l.Kind() { case "ring", "hex": }`: `of the kind "ring"`,
		`_ = l.Kind() == other`:                   "",
		`_ = space.Hex{}`:                         "",
		`switch s.(type) { case space.Disk: }`:    "",
		`switch file.Type { case "hex": }`:        "",
		`println("hex")`:                          "",
	} {
		got := ""
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+src+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if what := asks(n, []string{"Hex"}); what != "" {
				got = what
			}
			return true
		})
		if got != want {
			t.Errorf("%s asks whether it is %q, want %q", src, got, want)
		}
	}
}
