package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// packageVariables finds what writes to variables of packages after start: outside of
// init and of the declarations of variables. An address taken by & counts as writing,
// but not that of a struct or an array, for tables are passed so; a method with a pointer
// receiver counts, unless it is seen to leave its receiver alone.
func (c *checker) packageVariables() {
	for cur := range c.root.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.RangeStmt)(nil), (*ast.UnaryExpr)(nil),
		(*ast.CallExpr)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				c.written(cur, x, "is written")
			}
		case *ast.IncDecStmt:
			c.written(cur, n.X, "is written")
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				c.written(cur, n.Key, "is written")
				c.written(cur, n.Value, "is written")
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && !c.table(n.X) {
				c.written(cur, n.X, "has its address taken")
			}
		case *ast.CallExpr:
			switch c.builtin(n) {
			case "delete", "clear", "copy":
				c.written(cur, n.Args[0], "is written")
			}
			c.method(cur, n)
		}
	}
}

// method finds calls of methods that get the address of a package variable.
func (c *checker) method(cur inspector.Cursor, call *ast.CallExpr) {
	f := c.callee(call)
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || f == nil || f.Signature().Recv() == nil {
		return
	}
	if _, pointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer); !pointer {
		return
	}
	_, pointer := c.TypesInfo.TypeOf(s.X).Underlying().(*types.Pointer)
	if c.mutates(f) && (!pointer || f.Pkg() == c.Pkg || draws(f)) {
		c.written(cur, s.X, "may be written by its method "+f.Name())
	}
}

// draws reports whether a method is one of a random generator, all of which change it. Of
// what else other packages point to, most is only read: patterns, templates, big numbers.
func draws(f *types.Func) bool {
	switch f.Pkg().Path() {
	case "math/rand", "math/rand/v2", "golang.org/x/exp/rand":
		return true
	}
	return false
}

// table reports whether a value is large enough for it to be passed by its address.
func (c *checker) table(x ast.Expr) bool {
	switch c.TypesInfo.TypeOf(x).Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// mutates reports whether a method may write to its receiver: one of another package, or
// one that assigns to a part of it, takes its address, or hands it on.
func (c *checker) mutates(f *types.Func) bool {
	for cur := range c.root.Preorder((*ast.FuncDecl)(nil)) {
		d := cur.Node().(*ast.FuncDecl)
		if c.TypesInfo.Defs[d.Name] != f.Origin() || d.Body == nil {
			continue
		}
		for use := range cur.Preorder((*ast.Ident)(nil)) {
			if c.TypesInfo.Uses[use.Node().(*ast.Ident)] == f.Origin().Signature().Recv() && !reading(use) {
				return true
			}
		}
		return false
	}
	return true
}

// reading reports whether the use of a receiver is seen to read a field that is no more
// than that: an operand, an argument, or what is returned.
func reading(use inspector.Cursor) bool {
	if use.ParentEdgeKind() != edge.SelectorExpr_X {
		return false
	}
	at := use.Parent()
	for at.ParentEdgeKind() == edge.SelectorExpr_X || at.ParentEdgeKind() == edge.IndexExpr_X || at.ParentEdgeKind() == edge.ParenExpr_X {
		at = at.Parent()
	}
	switch p := at.Parent().Node().(type) {
	case *ast.UnaryExpr:
		return p.Op != token.AND
	case *ast.CallExpr:
		return at.ParentEdgeKind() == edge.CallExpr_Args
	case *ast.AssignStmt:
		return at.ParentEdgeKind() == edge.AssignStmt_Rhs
	case *ast.RangeStmt:
		return at.ParentEdgeKind() == edge.RangeStmt_X
	case *ast.BinaryExpr, *ast.ReturnStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.KeyValueExpr, *ast.CompositeLit,
		*ast.IndexExpr, *ast.ValueSpec, *ast.ForStmt:
		return true
	}
	return false
}

// written records that the variable at the root of x is, if it belongs to a package.
func (c *checker) written(cur inspector.Cursor, x ast.Expr, how string) {
	v, ok := c.variable(x)
	if !ok || c.starting(cur) && v.Pkg() == c.Pkg {
		return
	}
	c.add(x.Pos(), "pkgvar", "%s %s after start", v.Name(), how)
}

// variable returns the package variable that an addressable expression is a part of.
func (c *checker) variable(x ast.Expr) (*types.Var, bool) {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.SelectorExpr:
			if v, ok := c.TypesInfo.Uses[e.Sel].(*types.Var); !ok || v.IsField() {
				x = e.X
				continue
			}
			x = e.Sel
		case *ast.Ident:
			v, ok := c.TypesInfo.Uses[e].(*types.Var)
			return v, ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
		default:
			return nil, false
		}
	}
}

// starting reports whether code runs only before main: in an init, or in the declaration
// of a variable outside of functions, unless in a function that is kept there.
func (c *checker) starting(cur inspector.Cursor) bool {
	for up := range cur.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if f, ok := up.Node().(*ast.FuncDecl); ok {
			return f.Recv == nil && f.Name.Name == "init"
		}
		call, ok := up.Parent().Node().(*ast.CallExpr)
		if !ok || call.Fun != up.Node() {
			return false
		}
	}
	return true
}
