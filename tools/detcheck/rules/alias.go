package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// aliases finds package variables that are written through a local one: p := &state or
// m := cache, and then p.count++ or m[k] = v.
func (c *checker) aliases() {
	for cur := range c.root.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.AssignStmt:
			if (n.Tok == token.DEFINE || n.Tok == token.ASSIGN) && len(n.Lhs) == len(n.Rhs) {
				for i, x := range n.Rhs {
					c.alias(cur, n.Lhs[i], x)
				}
			}
		case *ast.ValueSpec:
			if len(n.Names) == len(n.Values) {
				for i, x := range n.Values {
					c.alias(cur, n.Names[i], x)
				}
			}
		}
	}
}

// alias looks at one local variable and what it is given.
func (c *checker) alias(cur inspector.Cursor, local, x ast.Expr) {
	v, ok := c.object(local).(*types.Var)
	if !ok || v.IsField() || v.Parent() == c.Pkg.Scope() {
		return
	}
	x = ast.Unparen(x)
	switch c.TypesInfo.TypeOf(x).Underlying().(type) {
	case *types.Pointer:
		if address, ok := x.(*ast.UnaryExpr); ok {
			x = address.X
		}
	case *types.Map, *types.Slice:
	default:
		return
	}
	if _, ok := c.variable(x); ok && c.throughIt(cur, v) {
		c.written(cur, x, "is written through "+v.Name())
	}
}

// throughIt reports whether the function around writes what a variable refers to.
func (c *checker) throughIt(cur inspector.Cursor, v *types.Var) bool {
	function := cur
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		function = up
	}
	part := func(x ast.Expr) bool {
		inner := ast.Unparen(x)
		for {
			switch e := ast.Unparen(inner).(type) {
			case *ast.IndexExpr:
				inner = e.X
			case *ast.SelectorExpr:
				inner = e.X
			case *ast.StarExpr:
				inner = e.X
			case *ast.SliceExpr:
				inner = e.X
			default:
				return inner != x && c.object(inner) == v
			}
		}
	}
	for at := range function.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := at.Node().(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if part(x) {
					return true
				}
			}
		case *ast.IncDecStmt:
			if part(n.X) {
				return true
			}
		case *ast.CallExpr:
			switch c.builtin(n) {
			case "delete", "clear", "copy":
				if c.object(n.Args[0]) == v || part(n.Args[0]) {
					return true
				}
			}
		}
	}
	return false
}
